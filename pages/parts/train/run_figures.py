"""The present figures of a run: accuracy, epsilon, loss, clipped and accepted shares."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.numbers import marked, percent, short
from dpcore.runs.record import Run, UnknownRun
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.defaults import described
from dpcore.training.seed_summary import in_words
from pages.parts.components.elements import LiveNumber, Table, live_figures
from pages.parts.controls.widgets import titled
from pages.parts.results import cache
from pages.parts.results.exports import Columns, address, csv_button
from pages.parts.train.run_charts import evaluations_columns, file_of, spent_table
from pages.parts.train.run_history import Watched, watched_runs

NONE = "–"  # before the first number
INVALID = "invalid: the paper's count of accepted steps"


def run_figures(watched: Watched, accountant: str) -> None:
    """Draw accuracy, epsilon, loss and the clipped share, which keep up with an active run."""
    last, test = watched.history.stepped[-1:], watched.history.evaluated[-1:]
    readings = [_tested("Test accuracy", test[0].accuracy if test else None, "accuracy")]
    readings += [
        LiveNumber(f"Epsilon, {titled(name)}", _spent(watched, name), texts=spent_by_step(watched, name))
        for name in dict.fromkeys((CERTIFIED, accountant))
    ]
    readings.append(LiveNumber("Training loss", f"{last[0].loss:.3f}" if last else NONE, y="loss", digits=3))
    if watched.config.private:
        clipped = percent(last[0].clipped, 0) if last else NONE
        readings.append(LiveNumber("Gradients clipped", clipped, y="clipped", scale=100.0, digits=0, unit=" %"))
    if watched.averages:
        averaged = test[0].averaged_accuracy if test else None
        readings.append(_tested("Averaged accuracy", averaged, "averaged_accuracy"))
    if watched.run.active:
        readings = [replace(each, run=watched.run.id, after=watched.history.sequence) for each in readings]
    live_figures(readings, "run_figures")


def _tested(label: str, value: float | None, field: str) -> LiveNumber:
    shown = NONE if value is None else percent(value)
    return LiveNumber(label, shown, event="evaluated", y=field, scale=100.0, unit=" %")


def accepted_figures(watched: Watched, accountant: str) -> None:
    """Draw the accepted proposals of simulated annealing, and the epsilon that the paper would charge."""
    last = watched.history.stepped[-1:]
    accepted = last[0].accepted if last else None
    counted = f"{accepted:,} / {last[0].step - accepted:,}" if accepted is not None else NONE
    if watched.run.active:
        count = LiveNumber("Accepted / rejected", counted, *watched.since, y="accepted", of="step", digits=0)
        table = spent_table(watched, accountant)
        texts = Table(table.steps, tuple(map(short, table.values)), "accepted") if table else None
        claim = LiveNumber(INVALID.capitalize(), _claim(watched, accountant, accepted), *watched.since, texts=texts)
        live_figures([count, claim], "accepted_figures")
        st.caption("All proposals are charged, the rejected ones too.")
    elif accepted is not None:
        st.metric("Accepted / rejected", counted, width="content")
        st.caption(_claimed(watched, accountant, last[0].step, accepted))


def _claim(watched: Watched, accountant: str, accepted: int | None) -> str:
    """The epsilon that the SA-DPSGD paper would charge for so many accepted steps."""
    mechanism = watched.plan.claimed(accepted)
    if mechanism is None:
        return NONE
    claim = cache.epsilons(accountant, mechanism, watched.config.delta, (mechanism.steps,))[0]
    return short(claim) if claim < float("inf") else "n/a"


def _claimed(watched: Watched, accountant: str, step: int, accepted: int) -> str:
    """The epsilon that the SA-DPSGD paper would charge, beside the true one."""
    spent = watched.epsilons(accountant, [step])
    if not (accepted and spent):
        return f"{accepted:,} of {step:,} proposals accepted."
    charged = f"epsilon {marked_epsilon(watched, accountant, spent[0])} ({titled(accountant)})"
    return (
        f"All {step:,} proposals are charged: {charged}. "
        f"**{INVALID}**, {accepted:,}, would give {_claim(watched, accountant, accepted)}."
    )


def _spent(watched: Watched, accountant: str) -> str:
    """The epsilon of the run's releases so far."""
    if watched.plan.mechanism is None:
        return "none"
    released = watched.released
    spent = cache.final(accountant, released, watched.config.delta).last.value if released else 0.0
    return marked_epsilon(watched, accountant, spent)


def spent_by_step(watched: Watched, accountant: str) -> Table | None:
    """The written epsilon after some of the run's steps; None without one."""
    table = spent_table(watched, accountant)
    if table is None:
        return None
    return Table(table.steps, tuple(marked_epsilon(watched, accountant, each) for each in table.values))


def marked_epsilon(watched: Watched, accountant: str, epsilon: float) -> str:
    """An epsilon with the mark of its kind, by this accountant for this run."""
    mechanism = watched.plan.mechanism
    kind = cache.curve(accountant, mechanism, watched.config.delta).kind if mechanism else ACCOUNTANTS[accountant].kind
    return marked(epsilon, kind)


def evaluations_table(watched: Sequence[Watched], accountant: str) -> None:
    """Draw every test of the runs with the epsilon so far, in an expander."""
    table = st.expander("The numbers in the charts", key="evaluations", on_change="rerun")
    if not table.open:
        return
    columns = evaluations_columns(watched, accountant, "")
    places = enumerate(watched, 1)
    labels = {each.run.id: f"{place}: {each.label}" if len(watched) > 1 else each.label for place, each in places}
    shown = {"run": [labels[run] for run in columns.get("run", ())]}  # as on the charts
    shown |= {name: columns.get(name, []) for name in ("sigma", "step", "epoch", "accuracy", "loss")}
    shown |= {f"epsilon, {titled(accountant)}": columns.get("epsilon", []), "id": columns.get("run", [])}
    if any(each is not None for each in columns.get("averaged_accuracy", ())):
        shown["averaged accuracy"] = columns["averaged_accuracy"]
    table.dataframe(shown, hide_index=True)
    if any(each.run.active for each in watched):
        table.caption("Open this again to see later tests.")


def evaluations_download(store: Store, watched: Sequence[Watched], accountant: str) -> None:
    """Draw the button for all tests of the runs as CSV, with their settings, as of the click."""
    link = address()

    def columns() -> Columns:
        try:
            now = watched_runs(store, [each.run.id for each in watched])
        except UnknownRun:  # deleted: keep what was shown
            now = watched
        return evaluations_columns(now, accountant, link)

    csv_button("Download the runs (CSV)", columns, f"{file_of('tests', watched)}.csv", "download_runs")


def seed_summaries(watched: Sequence[Watched]) -> None:
    """Draw the average of each ended configuration with several seeds, without imported runs."""
    groups: dict[RunConfig, list[Watched]] = {}
    for each in [each for each in watched if not each.run.imported]:
        groups.setdefault(replace(each.config, seed=None), []).append(each)
    for config, group in groups.items():
        seeds = {_seed(each.run, each.config) for each in group}
        ended = [each for each in group if each.history.finished]
        finals = {
            _seed(each.run, each.config): each.history.finished for each in ended
        }  # one that ran twice counts once
        if len(finals) < 2 or any(each.run.active for each in group):
            continue
        early = len(seeds) - len(finals)
        left_out = f" Left out, since unfinished: {early} of {len(seeds)} seeds." if early else ""
        st.markdown(f"**{described(config)}** · {in_words(list(finals.values())).replace(chr(10), '; ')}.{left_out}")


def _seed(run: Run, config: RunConfig) -> int | str:
    """The identity of the run's seed; the run itself stands for a secret one."""
    return run.id if config.seed is None else config.seed
