"""Every figure that a run has said, one by one, and runs as a tidy table of them: what a run is beside each."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dpcore.runs.export.base import RunRecord, TextForm
from dpcore.runs.printable import as_csv
from dpcore.training.events import NORM_QUANTILES, Evaluated, Finished, Stepped
from dpcore.training.settings import SETTINGS


class Figure(NamedTuple):
    """A number, what it is, and when it was measured."""

    sequence: int  # the number of the event that says it
    step: int
    epoch: float
    name: str
    value: float


def figures_of(record: RunRecord) -> list[Figure]:
    """All of them in their order; behind each test the certified epsilon until then, where there is one.

    A number that is not finite, as older versions stored some, is left out; an infinite epsilon is not.
    """
    spent = iter(record.epsilons([test.step for test in record.tests]) or ())
    found = []
    for sequence, event in enumerate(record.events, 1):
        match event:
            case Stepped():
                named, epoch = _of_steps(event), event.epoch
            case Evaluated():
                named, epoch = [*_of_test(event), *(("privacy/epsilon", each) for each in _next(spent))], event.epoch
            case Finished():
                named, epoch = [("run/seconds", event.seconds)], event.step * record.config.q
            case _:
                continue
        found += [Figure(sequence, event.step, epoch, name, value) for name, value in named if _said(name, value)]
    return found


def _of_steps(event: Stepped) -> list[tuple[str, float]]:
    named = [("train/loss", event.loss), ("train/clipped", event.clipped)]
    named += [(f"train/norm {at:g}", norm) for at, norm in zip(NORM_QUANTILES, event.norms, strict=False)]
    named.append(("train/steps per second", event.steps_per_second))
    return named if event.accepted is None else [*named, ("train/accepted", event.accepted)]


def _of_test(event: Evaluated) -> list[tuple[str, float]]:
    also = {"test/averaged accuracy": event.averaged_accuracy, "test/RMSE": event.rmse}
    named = [("test/accuracy", event.accuracy), ("test/loss", event.loss)]
    named += [(name, value) for name, value in also.items() if value is not None]
    return named + [(f"test/accuracy of class {place}", value) for place, value in enumerate(event.per_class)]


def _next(spent: Iterator[float]) -> list[float]:
    return [each for each in (next(spent, None),) if each is not None]


def _said(name: str, value: float) -> bool:
    return math.isfinite(value) or (name == "privacy/epsilon" and not math.isnan(value))


def tidy_csv(records: Sequence[RunRecord]) -> str:
    """One row for each figure of each run, and a column for each setting that a run does not have at its default.

    Epsilon is certified. A secret seed is empty. An imported run says which one it was.
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
    return as_csv(["run", "name", "status", "imported", "event", "step", "epoch", "figure", "value", *settings], rows)


CSV = TextForm("csv", "Tidy CSV, a row for each figure", ".csv", "text/csv", tidy_csv, several=True)
