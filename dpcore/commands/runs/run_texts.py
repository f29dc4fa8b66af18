"""What the terminal shows of a run beside its name and status: as JSON, how far it is, in columns."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from dpcore.privacy.report.numbers import percent
from dpcore.runs.kinds import event_to_json
from dpcore.runs.printable import finite
from dpcore.runs.record import Run
from dpcore.training.events import Evaluated, Finished, Started


def print_json(values: dict[str, Any]) -> None:
    """Print as JSON, which has no NaN and no infinity: older versions stored them, here they are null."""
    print(json.dumps(finite(values), allow_nan=False), flush=True)


def as_object(item: Run) -> dict[str, Any]:
    """A run as JSON has it."""
    values = asdict(item) | {"last": event_to_json(item.last) if item.last else None}
    del values["stored_plan"]
    return values


def progress_of(item: Run) -> str:
    """How far it has got."""
    event = item.last
    if event is None:
        return "-"
    if isinstance(event, Started):
        return "started"
    if (step := getattr(event, "step", None)) is None:  # it does not train
        return f"{item.sequence} results"
    accuracy = f", accuracy {percent(event.accuracy, gap='')}" if isinstance(event, Evaluated | Finished) else ""
    return f"step {step}{accuracy}"


def in_columns(rows: Sequence[Sequence[str]]) -> str:
    """Columns side by side, each as wide as its widest word."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
