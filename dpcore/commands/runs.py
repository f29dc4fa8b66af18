"""`python -m dpcore runs list | show ID | cancel ID | resume ID`: the training runs of this machine, also of pages."""

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from dpcore.commands import Parser
from dpcore.commands.train import STATUS, closing, follow, keeping, printer
from dpcore.privacy.report.numbers import percent
from dpcore.runs.in_process import begun
from dpcore.runs.kinds import KINDS, TRAINING, event_to_json
from dpcore.runs.pool import lose_dead
from dpcore.runs.record import Run, Status, StoreError, UnknownRun, checkpoint_path, state_directory, worker_name
from dpcore.runs.resume import rest_of
from dpcore.runs.store import Store
from dpcore.runs.store_file import FILE
from dpcore.training.events import Evaluated, Finished, Started

EVERY_KIND = "all"


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser(
        prog="python -m dpcore runs", description="The training runs of this machine; DPCORE_HOME says where."
    )
    actions = made.add_subparsers(dest="action", required=True, metavar="ACTION", parser_class=Parser)
    listing = actions.add_parser("list", help="every training run, newest first")
    kinds = [*KINDS, EVERY_KIND]
    listing.add_argument("--kind", choices=kinds, default=TRAINING.name, help="list jobs of this kind instead")
    actions.add_parser("show", help="one run, with its settings").add_argument("id", metavar="ID")
    actions.add_parser("cancel", help="cancel a run; it stops within one step").add_argument("id", metavar="ID")
    again = actions.add_parser("resume", help="go on, here, with a run that ended early; it gets a new id")
    again.add_argument("id", metavar="ID")
    for action in actions.choices.values():
        action.add_argument("--json", action="store_true", help="print one JSON object")
    return made


def run(arguments: argparse.Namespace) -> int:
    """Do the action; exit status 0."""
    try:
        if not os.path.exists(state_directory() / FILE):  # asking must not make a store
            return _nothing(arguments)
        with Store() as store:
            lose_dead(store)
            if arguments.action == "resume":
                return _resume(store, arguments)
            {"list": _list, "show": _show, "cancel": _cancel}[arguments.action](store, arguments)
    except StoreError as error:
        raise ValueError(str(error)) from error
    return 0


def _nothing(arguments: argparse.Namespace) -> int:
    if arguments.action != "list":
        path = state_directory() / FILE
        raise UnknownRun(f"Expected run={arguments.id!r} to be the id of a run; there is no store {path} yet.")
    print(json.dumps({"runs": []}) if arguments.json else "No runs yet.")
    return 0


def _list(store: Store, arguments: argparse.Namespace) -> None:
    runs = store.runs(kind=None if arguments.kind == EVERY_KIND else arguments.kind)
    if arguments.json:
        _printed({"runs": [_object(item) for item in runs]})
        return
    rows = [("ID", "STATUS", "SUBMITTED", "PROGRESS", "NAME")]
    rows += [(item.id, _status(item), _when(item.created), _progress(item), _name(item)) for item in runs]
    print(_table(rows) if runs else "No runs yet.")


def _show(store: Store, arguments: argparse.Namespace) -> None:
    item = store.run(arguments.id)
    if arguments.json:
        _printed(_object(item))
        return
    rows = [("id", item.id), ("name", _name(item)), ("status", _status(item)), ("progress", _progress(item))]
    for label, moment in (("submitted", item.created), ("started", item.started), ("ended", item.ended)):
        rows.append((label, _when(moment)))
    rows += [
        ("events", str(item.sequence)),
        *((key, "secret" if value is None else str(value)) for key, value in item.settings.items()),
    ]
    print(_table(rows))
    if item.error:
        print(item.error.rstrip())


def _cancel(store: Store, arguments: argparse.Namespace) -> None:
    before = store.run(arguments.id)
    status = store.cancel(arguments.id)
    if arguments.json:
        _printed(_object(store.run(arguments.id)))
    elif not before.active:
        print(f"Run {arguments.id} had ended before: {status}.")
    else:
        print(f"Run {arguments.id} is {'stopping' if status is Status.RUNNING else status}.")


def _resume(store: Store, arguments: argparse.Namespace) -> int:
    from dpcore.training.loop import train  # late: loading torch takes seconds

    try:
        with rest_of(store, arguments.id) as rest:
            file = checkpoint_path(store.home, rest.id)
            # ValueError for its checkpoint: nothing recorded
            secret = store.secret(rest.before.id)
            events = begun(train(rest.before.config, file=file, planned=rest.before.plan, secret=secret))
            rest.submit(store, worker_name(os.getpid()))
        print(f"Recorded as run {rest.id}.", file=sys.stderr)
        finals: list[Finished] = []
        status = follow(store, rest.id, events, keeping(printer(arguments.json), finals.append))
        if finals and not arguments.json:
            print("\n".join(closing([rest.before.config], finals, rest.before.plan)))
        return status
    except KeyboardInterrupt:
        print("Cancelled.", file=sys.stderr)
        return STATUS[Status.CANCELLED]


def _printed(values: dict[str, Any]) -> None:
    """Print as JSON, which has no NaN and no infinity: older versions stored them, here they are null."""
    print(json.dumps(_finite(values), allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _object(item: Run) -> dict[str, Any]:
    values = asdict(item) | {"last": event_to_json(item.last) if item.last else None}
    del values["stored_plan"]
    return values


def _status(item: Run) -> str:
    if item.position:
        return f"queued ({item.position})"
    return "stopping" if item.cancelling and item.active else item.status


def _name(item: Run) -> str:
    """The run's name, or what it trains; of a job of another kind, that and its data."""
    if item.kind != TRAINING.name:
        return item.name or f"{item.kind} {item.settings.get('dataset', '')}".rstrip()
    return item.name or " ".join(str(item.settings.get(key, "?")) for key in ("dataset", "model", "optimizer"))


def _progress(item: Run) -> str:
    event = item.last
    if event is None:
        return "-"
    if isinstance(event, Started):
        return "started"
    if (step := getattr(event, "step", None)) is None:  # it does not train
        return f"{item.sequence} results"
    accuracy = f", accuracy {percent(event.accuracy, gap='')}" if isinstance(event, Evaluated | Finished) else ""
    return f"step {step}{accuracy}"


def _when(moment: float | None) -> str:
    return "-" if moment is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))


def _table(rows: Sequence[Sequence[str]]) -> str:
    """Columns side by side, each as wide as its widest word."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
