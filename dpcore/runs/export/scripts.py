"""Scripts that repeat a run, here or with Opacus, or recompute its epsilon with dp-accounting.

Each fills a template in `templates`.
"""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import indent
from typing import Any

from dpcore.data.catalogue import DATASETS
from dpcore.runs.export.base import TextForm, check_own, filled
from dpcore.runs.history import RunRecord
from dpcore.runs.record import IMPORTED
from dpcore.training.config import RunConfig
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.settings import settings_of

WORDS = tomllib.loads(Path(__file__).with_name("scripts.toml").read_text(encoding="utf-8"))


def script(records: Sequence[RunRecord]) -> str:
    """A script that trains a run again with this program.

    It repeats the run bit for bit if its seed was chosen, else with fresh noise. It holds the
    settings, origin and result of the run, and no secret.
    """
    (record,) = records
    check_own(record, "script that trains it again")
    steps = record.plan.steps
    finished = record.history.finished
    origin = where_trained(record)
    about = [WORDS["secret"] if record.config.seed is None else WORDS["chosen"]]
    if finished is None:
        status = record.run.status.value
        about.append(WORDS["part"].format(status=status, done=record.history.step, steps=steps))
    if record.not_measured:
        about.append(record.not_measured)
    if not origin:
        about.append(WORDS["unknown"])
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
    """The recorded origin of the run; empty if there is none."""
    origin = dict(record.run.origin or {})
    origin.pop(IMPORTED, None)
    return origin


def as_code(values: Mapping[str, Any]) -> str:
    """A dictionary of plain values as Python code, one line each; any text stays text.

    >>> print(as_code({"dataset": "mnist", "sigma": 2.0}))
    {
        'dataset': 'mnist',
        'sigma': 2.0,
    }
    """
    if not values:
        return "{}"
    lines = [f"    {name!r}: {value!r}," for name, value in values.items()]
    return "\n".join(["{", *lines, "}"])


SCRIPT = TextForm(
    "script", "A script that trains it again with dpcore", ".py", "text/x-python", script
)


def opacus_script(records: Sequence[RunRecord]) -> str:
    """A script that repeats a run with Opacus, on the same data and model.

    Opacus is another implementation of the private step. Errors: ValueError says why it cannot.
    """
    (record,) = records
    check_own(record, "script for Opacus")
    why = obstacle(record.config)
    if why:
        raise ValueError(f"Opacus cannot repeat run {record.run.id}: {why}.")
    return filled(
        "opacus.py",
        run=record.run.id,
        settings=as_code(record.config.chosen()),
        optimizer=indent(OPTIMIZERS[record.config.optimizer].in_torch, "    "),
        imported=_last_line(record.not_measured),
        accuracy=record.history.finished and record.history.finished.accuracy,
    )


def _last_line(sentence: str) -> str:
    return f"{sentence}\n" if sentence else ""


def obstacle(config: RunConfig) -> str:
    """The reason why there is no such script, as a clause; empty if there is one.

    >>> obstacle(RunConfig(optimizer="pi_adam")), obstacle(RunConfig())
    ('it has no optimizer pi_adam', '')
    """
    if not config.private or config.sigma == 0:
        return "the run has no noise"
    if not OPTIMIZERS[config.optimizer].in_torch:
        return f"it has no optimizer {config.optimizer}"
    if config.clipping != "flat":
        return f"it has no clipping {config.clipping} with the sensitivity of this one"
    if config.pca > 0:
        return "it has no DP-PCA"
    if config.acceptance != "none":
        return "it accepts every step"
    if DATASETS[config.dataset].ids > 0:
        return "its gradients of ids were never compared with those of this program"
    chosen = config.chosen()
    for name, setting in settings_of(type(config)).items():
        has_effect = name in chosen and setting.is_used(config)
        if has_effect and name not in WORDS["repeated"]:
            return f"the script does not use {name} ({setting.label})"
    return ""


OPACUS = TextForm(
    "opacus", "A script that repeats it with Opacus", ".py", "text/x-python", opacus_script
)


def dp_accounting_script(records: Sequence[RunRecord]) -> str:
    """A script that recomputes a run's epsilon with dp-accounting.

    Errors: ValueError for a run without epsilon.
    """
    (record,) = records
    releases = record.needed_mechanism("to recompute").releases
    rows = [f"    ({float(each.q)!r}, {float(each.sigma)!r}, {each.count})," for each in releases]
    several = WORDS["alike"]
    if len(releases) > 1:
        several = WORDS["unalike"].format(kinds=len(releases))
    return filled(
        "dp-accounting.py",
        run=record.run.id,
        steps=record.step,
        before=WORDS["before"].format(count=record.plan.repeated) if record.plan.spent else "",
        imported=_last_line(record.not_measured),
        several=several,
        delta=float(record.delta),
        releases="\n".join(rows),
    )


DP_ACCOUNTING = TextForm(
    "dp-accounting",
    "A script that recomputes epsilon with dp-accounting",
    ".py",
    "text/x-python",
    dp_accounting_script,
)
