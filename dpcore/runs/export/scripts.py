"""Scripts that repeat a run, with this program or with Opacus, or recompute its epsilon with dp-accounting.

The text of each is the file of its name in `templates`, in which $ marks what differs from run to run.
"""

from collections.abc import Mapping, Sequence
from textwrap import indent
from typing import Any

from dpcore.data.catalogue import DATASETS
from dpcore.runs.export.base import RunRecord, TextForm, filled
from dpcore.runs.record import IMPORTED
from dpcore.training.config import RunConfig
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.settings import settings_of

CHOSEN = """Its seed was chosen: where origin and program are the same, parameters and accuracy are bit for bit those of
the run, and repeating it costs nothing. Elsewhere its sums are rounded otherwise and its noise is other noise: to
release both models is to release twice, and costs both epsilons."""
SECRET = """Its seed is a secret that never leaves the record of the run. This draws fresh noise: accuracy differs as it
does between seeds, and to release both models is to release twice, and costs both epsilons."""
PART = "The run ended early, {status} after {done} of {steps} steps; this takes all of them."
UNKNOWN = "Where it was trained is not recorded, so nothing can be compared with here."


def script(records: Sequence[RunRecord]) -> str:
    """A script that trains a run again with this program: bit for bit where its seed was chosen, else with fresh noise.

    It holds settings, where the run was trained, and what came of it; no secret.
    """
    (record,) = records
    steps, finished = record.plan.steps, record.finished
    origin = where_trained(record)
    about = [SECRET if record.config.seed is None else CHOSEN]
    if finished is None:
        about.append(PART.format(status=record.run.status.value, done=record.steps, steps=steps))
    if record.not_measured:
        about.append(record.not_measured)
    if not origin:
        about.append(UNKNOWN)
    return filled(
        "script.py",
        run=record.run.id,
        about="\n\n".join(about),
        settings=as_code(record.config.chosen()),
        origin=as_code(origin),
        steps=steps,
        accuracy=finished and finished.accuracy,
    )


def where_trained(record: RunRecord) -> dict[str, str]:
    """What the run's `origin_of` said; empty where it is not recorded."""
    return {name: said for name, said in (record.run.origin or {}).items() if name != IMPORTED}


def as_code(values: Mapping[str, Any]) -> str:
    """A dictionary of plain values as Python has it, a line for each: text stays text, whatever it holds.

    >>> print(as_code({"dataset": "mnist", "sigma": 2.0}))
    {
        'dataset': 'mnist',
        'sigma': 2.0,
    }
    """
    lines = [f"    {name!r}: {value!r}," for name, value in values.items()]
    return "\n".join(["{", *lines, "}"]) if lines else "{}"


SCRIPT = TextForm("script", "A script that trains it again with dpcore", ".py", "text/x-python", script)

# fmt: off
REPEATED = frozenset({  # the settings that Opacus' script heeds, and `ema`, which is an average beside the weights
    "dataset", "source", "public", "model", "activation", "width", "optimizer", "lr", "momentum", "lr_schedule",
    "lr_end", "lr_epochs", "sigma", "schedule", "rate", "level_steps", "batch", "clip_norm", "epochs", "delta",
    "stop_epsilon", "stop_accountant", "seed", "device", "ema",
})
# fmt: on


def opacus_script(records: Sequence[RunRecord]) -> str:
    """A script that repeats a run with Opacus: another implementation of the private step, on the same data and model.

    Errors: ValueError for a run that is no DP-SGD as Opacus has it, which says why.
    """
    (record,) = records
    if why := obstacle(record.config):
        raise ValueError(f"Expected run={record.run.id!r} to be one that Opacus can repeat, but {why}.")
    return filled(
        "opacus.py",
        run=record.run.id,
        settings=as_code(record.config.chosen()),
        optimizer=indent(OPTIMIZERS[record.config.optimizer].in_torch, "    "),
        imported=_last_line(record.not_measured),
        accuracy=record.finished and record.finished.accuracy,
    )


def _last_line(sentence: str) -> str:
    return f"{sentence}\n" if sentence else ""


def obstacle(config: RunConfig) -> str:
    """Why there is no such script, as a clause; empty where there is one.

    >>> obstacle(RunConfig(optimizer="pi_adam")), obstacle(RunConfig())
    ('it has no optimizer pi_adam', '')
    """
    against = {
        "the run has no noise": not config.private or config.sigma == 0,
        f"it has no optimizer {config.optimizer}": not OPTIMIZERS[config.optimizer].in_torch,
        f"it has no clipping {config.clipping} with the sensitivity of this one": config.clipping != "flat",
        "it has no DP-PCA": config.pca > 0,
        "it accepts every step": config.acceptance != "none",
        "its gradients of ids were never compared with those of this program": DATASETS[config.dataset].ids > 0,
    }
    for name, setting in settings_of(type(config)).items():
        new = name not in REPEATED and name in config.chosen() and setting.is_used(config)
        against[f"the script does not heed {name} ({setting.label})"] = new
    return next((why for why, holds in against.items() if holds), "")


OPACUS = TextForm("opacus", "A script that repeats it with Opacus", ".py", "text/x-python", opacus_script)

ALIKE = "All of them have the same noise."
UNALIKE = "It composes {kinds} kinds of releases one by one, which takes its time."
BEFORE = """
The first {count} releases are those of runs that this one began anew with fresh noise."""


def dp_accounting_script(records: Sequence[RunRecord]) -> str:
    """A script that recomputes a run's epsilon by dp-accounting. Errors: ValueError for one that has no epsilon."""
    (record,) = records
    releases = record.needed_mechanism("to recompute").releases
    return filled(
        "dp-accounting.py",
        run=record.run.id,
        steps=record.steps,
        before=BEFORE.format(count=record.plan.repeated) if record.plan.spent else "",
        imported=_last_line(record.not_measured),
        several=ALIKE if len(releases) == 1 else UNALIKE.format(kinds=len(releases)),
        delta=float(record.config.delta),
        releases="\n".join(f"    ({float(each.q)!r}, {float(each.sigma)!r}, {each.count})," for each in releases),
    )


DP_ACCOUNTING = TextForm(
    "dp-accounting", "A script that recomputes epsilon with dp-accounting", ".py", "text/x-python", dp_accounting_script
)
