"""An action of the command: its name, its arguments, what it does with the store, and what it prints of a run."""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dpcore.commands import Parser
from dpcore.privacy.report.numbers import percent
from dpcore.runs.in_words import finite
from dpcore.runs.kinds import event_to_json
from dpcore.runs.record import Run
from dpcore.runs.store import Store
from dpcore.training.events import Evaluated, Finished, Started


@dataclass(frozen=True)
class Action:
    """One action; what it does gives the exit status."""

    name: str
    help: str
    add: Callable[[Parser], None]  # its arguments, beside --json
    act: Callable[[Store, argparse.Namespace], int]
    check: Callable[[argparse.Namespace], None] = lambda _: None  # raises ValueError before there is a store
    begins: bool = False  # whether it makes a store where there is none


def add_id(parser: Parser) -> None:
    """Add the id of one run."""
    parser.add_argument("id", metavar="ID")


def add_ids(parser: Parser) -> None:
    """Add the ids of one run or more."""
    parser.add_argument("id", metavar="ID", nargs="+")


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
