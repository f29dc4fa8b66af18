"""A run as data: JSON, a tidy table of its figures, and its releases as a DpEvent."""

import json
import math
from collections.abc import Sequence
from typing import NamedTuple

from dpcore import __version__
from dpcore.claims.dp_event import event_of
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.numbers import finite
from dpcore.runs.export.base import TextForm
from dpcore.runs.history import RunRecord
from dpcore.runs.in_words import as_csv
from dpcore.runs.kinds import event_to_json
from dpcore.training.events import NORM_QUANTILES, Evaluated, Finished, Stepped
from dpcore.training.settings import SETTINGS

FORMAT, VERSION = "dpcore run", 1
MAX_REASON_CHARS = 500  # of the reason of a failure


def run_json(records: Sequence[RunRecord]) -> str:
    """One object with format, version, the run, settings, plan and events.

    It leaves out the secret seed, the worker, the owner, and all but the last line of a traceback.
    Numbers that are not finite, which older versions stored, are null.
    """
    (record,) = records
    run = record.run
    told = {
        name: getattr(run, name) for name in ("id", "name", "status", "created", "started", "ended")
    }
    lines = (run.error or "").strip().splitlines()  # the last has the error without paths
    told |= {
        "error": lines[-1][:MAX_REASON_CHARS] if lines else "",
        "tags": run.tags,
        "note": run.note,
    }
    told["origin"] = run.origin or {}
    whole = {
        "format": FORMAT,
        "version": VERSION,
        "program": f"dpcore {__version__}",
        "run": told,
        "settings": record.config.to_json(),
        "plan": record.plan.to_json(),
        "events": [event_to_json(event) for event in record.history.events],
    }
    return json.dumps(finite(whole), allow_nan=False, separators=(",", ":")) + "\n"


JSON = TextForm(
    "json", "The whole run as JSON, for import elsewhere", ".json", "application/json", run_json
)


class Figure(NamedTuple):
    """A measured number, with its name and its time."""

    sequence: int  # of its event
    step: int
    epoch: float
    name: str
    value: float


def figures_of(record: RunRecord) -> list[Figure]:
    """All figures in order, with the certified epsilon after each test, if there is one.

    Numbers that are not finite are left out, except an infinite epsilon.
    """
    mechanism, steps = record.plan.mechanism, [test.step for test in record.history.evaluated]
    at = [record.plan.compositions_at(step) for step in steps]
    curve = (
        ACCOUNTANTS[CERTIFIED].curve(mechanism, at, record.config.delta)
        if mechanism and at
        else None
    )
    spent = iter(curve.epsilon.tolist() if curve else ())
    found = []
    for sequence, event in enumerate(record.history.events, 1):
        match event:
            case Stepped():
                named, epoch = _of_steps(event), event.epoch
            case Evaluated():
                named, epoch = (
                    [*_of_test(event), ("privacy/epsilon", next(spent, None))],
                    event.epoch,
                )
            case Finished():
                named, epoch = [("run/seconds", event.seconds)], event.step * record.config.q
            case _:
                continue
        for name, value in named:
            if value is not None and (
                math.isfinite(value) or (name == "privacy/epsilon" and value == math.inf)
            ):
                found.append(Figure(sequence, event.step, epoch, name, value))
    return found


def _of_steps(event: Stepped) -> list[tuple[str, float | None]]:
    return [
        ("train/loss", event.loss),
        ("train/clipped", event.clipped),
        *(
            (f"train/norm {at:g}", norm)
            for at, norm in zip(NORM_QUANTILES, event.norms, strict=False)
        ),
        ("train/steps per second", event.steps_per_second),
        ("train/accepted", event.accepted),
    ]


def _of_test(event: Evaluated) -> list[tuple[str, float | None]]:
    return [
        ("test/accuracy", event.accuracy),
        ("test/loss", event.loss),
        ("test/averaged accuracy", event.averaged_accuracy),
        ("test/RMSE", event.rmse),
        *(
            (f"test/accuracy of class {place}", value)
            for place, value in enumerate(event.per_class)
        ),
    ]


def tidy_csv(records: Sequence[RunRecord]) -> str:
    """One row for each figure of each run, with a column for each setting that differs from its
    default.

    Epsilon is certified. A secret seed is empty. An imported run names its original.
    """
    chosen = {name for record in records for name in record.config.chosen()}
    settings = [name for name in SETTINGS if name in chosen]
    rows = [
        [
            record.run.id,
            record.run.name,
            record.run.status.value,
            record.run.imported,
            *figure,
            *(getattr(record.config, name) for name in settings),
        ]
        for record in records
        for figure in figures_of(record)
    ]
    return as_csv(
        [
            "run",
            "name",
            "status",
            "imported",
            "event",
            "step",
            "epoch",
            "figure",
            "value",
            *settings,
        ],
        rows,
    )


CSV = TextForm("csv", "Tidy CSV, a row for each figure", ".csv", "text/csv", tidy_csv, several=True)


def dp_event_json(records: Sequence[RunRecord]) -> str:
    """The DpEvent as JSON, with a note for an imported run; ValueError for a run without epsilon."""
    (record,) = records
    mechanism = record.needed_mechanism("to account for")
    told = {"note": record.not_measured} if record.not_measured else {}
    return json.dumps(event_of(mechanism) | told, allow_nan=False, indent=1) + "\n"


DP_EVENT = TextForm(
    "dp-event",
    "Its releases as a DpEvent of dp-accounting (JSON)",
    ".dp-event.json",
    "application/json",
    dp_event_json,
)
