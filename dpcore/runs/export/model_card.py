"""A run's model card in Markdown: its settings, results, privacy cost and limits."""

from collections.abc import Mapping, Sequence

from dpcore.data.catalogue import DATASETS
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.report.attack_risk import risks_of
from dpcore.privacy.report.numbers import nearest, percent
from dpcore.privacy.report.statement import NOT_COVERED, statement
from dpcore.runs.export.base import TextForm, filled
from dpcore.runs.export.scripts import where_trained
from dpcore.runs.followed.words import as_told
from dpcore.runs.history import RunRecord
from dpcore.runs.in_words import when
from dpcore.runs.plain_text import escaped
from dpcore.training.models import MODELS, WIDTH
from dpcore.training.optimizers import OPTIMIZERS

BEFORE = (
    "Earlier attempts of this run released {count:,} of the sums with other noise. All are charged."
)
NO_LINK = "<!-- -->@"  # an @ that a comment parts from the name before it


def _plain(words: str) -> str:
    """The words, so that a card shows them unchanged, without a link."""
    return escaped(words).replace("@", NO_LINK)


def model_card(records: Sequence[RunRecord]) -> str:
    (record,) = records
    run = record.run
    about_data = "" if record.followed else DATASETS[record.config.dataset].note
    return filled(
        "card.md",
        title=f"{run.id}: {_plain(run.name)}" if run.name else run.id,
        note=f"\n{_plain(run.note)}\n" if run.note else "",
        what=_table(_what(record)),
        results=_results(record),
        privacy=_privacy(record).strip(),
        provenance=_table(_provenance(record)),
        of_the_data=f"- {about_data}\n" if about_data else "",
    )


def _table(rows: Mapping[str, str]) -> str:
    lines = [f"| {label} | {text} |" for label, text in rows.items()]
    return "\n".join(["| | |", "| --- | --- |", *lines])


def _what(record: RunRecord) -> dict[str, str]:
    if record.followed:
        return _told(record)
    config = record.config
    history = record.history
    data = DATASETS[config.dataset]
    optimizer = OPTIMIZERS[config.optimizer]
    network = MODELS[config.model]
    usual_width = config.width == WIDTH and not config.pca
    about = network.note
    if network.wide and not usual_width:
        about = f"{config.width:,} hidden units."
    early = ""
    if history.finished is None:
        early = f", {record.run.status.value} after {history.step:,} of them"
    parameters = f"{history.started.parameters:,}" if history.started else "not said"
    chosen = [f"{name} = {value}" for name, value in config.chosen().items() if name != "seed"]
    return {
        "Data": (
            f"{data.title} ({config.source}): {config.examples:,} training examples,"
            f" {len(data.classes)} classes"
        ),
        "Origin of the data": f"{data.origin}. Licence: {data.licence}",
        "Network": f"{config.model}, {config.activation}. {about}",
        "Parameters": parameters,
        "Optimizer": f"{optimizer.title}. {optimizer.note}",
        "Training": f"{record.plan.steps:,} steps of an expected batch of {config.batch:,}{early}",
        "Settings that differ from their defaults": _plain(", ".join(chosen)) or "none",
    }


def _told(record: RunRecord) -> dict[str, str]:
    """What the program of a followed run told of it."""
    request = record.run.request
    rows = {
        "Program": record.run.mark,
        "Examples": f"{request.examples:,}",
        "Unit of privacy": f"one {_plain(request.unit)}",
        "Training": f"{record.step:,} steps of an expected batch of {nearest(request.batch)}",
        "Status": record.run.status.value,
    }
    if request.target_epsilon:
        rows["Target"] = f"epsilon {nearest(request.target_epsilon)}"
    return rows


def _results(record: RunRecord) -> str:
    if not record.history.evaluated:
        return "It was not tested."
    last = record.history.evaluated[-1]
    rows = {
        "Test accuracy": f"{percent(last.accuracy, 2)} after {last.step:,} steps",
    }
    if last.loss is not None:
        rows["Test loss"] = nearest(last.loss)
    if last.averaged_accuracy is not None:
        rows["Test accuracy of the averaged weights"] = percent(last.averaged_accuracy, 2)
    if last.rmse is not None:
        rows["Root mean square error of the expected class"] = nearest(last.rmse)
    classes = () if record.followed else DATASETS[record.config.dataset].classes
    for name, accuracy in zip(classes, last.per_class, strict=False):
        rows[f"Accuracy of {_plain(name)}"] = percent(accuracy)
    return _table(rows)


def _privacy(record: RunRecord) -> str:
    mechanism = record.released
    delta = record.delta
    if mechanism is None:
        return record.plan.unaccounted or "Nothing has been released yet."
    before = f"- {BEFORE.format(count=record.plan.repeated)}\n" if record.plan.spent else ""
    risks = risks_of(tradeoff_bounds(mechanism), delta)
    spent = ACCOUNTANTS[CERTIFIED].curve(mechanism, mechanism.steps, delta)
    made = statement(mechanism, spent, ACCOUNTANTS[CERTIFIED], risks, record.examples, record.seed)
    if record.followed:
        return as_told(made, record.run).markdown()
    return f"{made.markdown()}{before}- {NOT_COVERED}"


def _provenance(record: RunRecord) -> dict[str, str]:
    run = record.run
    rows = {"Run": run.id, "Status": run.status.value}
    if not record.followed:
        seed = record.config.seed
        rows["Seed"] = "secret" if seed is None else f"{seed}, chosen"
    moments = {"Submitted": run.created, "Started": run.started, "Ended": run.ended}
    for label, moment in moments.items():
        if moment is not None:
            rows[label] = when(moment, utc=True)
    if run.parent:
        rows["Continues run"] = run.parent
    if run.imported:
        rows["Imported"] = f"{_plain(run.imported)}; not measured here"
    machine = {}
    for name, text in where_trained(record).items():
        label = _plain(name.capitalize())
        if label not in rows:
            machine[label] = _plain(text)
    return rows | (machine or {"Machine and versions": "not recorded"})


CARD = TextForm(
    "card", "A model card with the privacy statement", ".md", "text/markdown", model_card
)
