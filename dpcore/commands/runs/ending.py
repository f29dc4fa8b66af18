"""The actions that end a run or go on with it: `cancel`, `resume`, `delete`."""

import argparse
import os
import sys

from dpcore.commands import Parser
from dpcore.commands.runs.action import Action, add_id, add_ids
from dpcore.commands.runs.run_texts import as_object, print_json
from dpcore.commands.train import STATUS, closing, follow, keeping, printer
from dpcore.runs.editing import delete
from dpcore.runs.in_process import with_first_event
from dpcore.runs.in_words import name_of, status_of
from dpcore.runs.record import Run, Status, checkpoint_path, worker_name
from dpcore.runs.resume import rest_of
from dpcore.runs.store import Store
from dpcore.training.begun import begun_by
from dpcore.training.events import Finished


def _cancel(store: Store, arguments: argparse.Namespace) -> int:
    before = store.run(arguments.id)
    store.cancel(arguments.id)
    now = store.run(arguments.id)
    if arguments.json:
        print_json(as_object(now))
    elif not before.active:
        print(f"Run {arguments.id} had ended before: {now.status}.")
    else:
        print(f"Run {arguments.id} is {status_of(now)}.")
    return 0


def _resume(store: Store, arguments: argparse.Namespace) -> int:
    from dpcore.training.loop import train  # late: loading torch takes seconds

    try:
        with rest_of(store, arguments.id) as rest:
            file = checkpoint_path(store.home, rest.id)
            # ValueError for its checkpoint: nothing recorded
            secret = store.secret(rest.before.id)
            known = begun_by(rest.said, rest.before.origin)
            events = with_first_event(
                train(rest.before.config, file=file, planned=rest.plan, secret=secret, begun=known)
            )
            rest.submit(store, worker_name(os.getpid()))
        print(f"Recorded as run {rest.id}.", file=sys.stderr)
        finals: list[Finished] = []
        status = follow(store, rest.id, events, keeping(printer(arguments.json), finals.append))
        if finals and not arguments.json:
            print("\n".join(closing([rest.before.config], finals, rest.plan)))
        return status
    except KeyboardInterrupt:
        print("Cancelled.", file=sys.stderr)
        return STATUS[Status.CANCELLED]


def _of_delete(parser: Parser) -> None:
    add_ids(parser)
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _delete(store: Store, arguments: argparse.Namespace) -> int:
    runs = [store.run(each) for each in dict.fromkeys(arguments.id)]
    for item in runs:  # all of them or none
        if item.active:
            raise ValueError(f"Expected run={item.id!r} to have ended, but it is {item.status}; cancel it first.")
    if not (arguments.yes or _agreed(runs)):
        print("Nothing was deleted.", file=sys.stderr)
        return 0
    for item in runs:
        delete(store, item.id)
    if arguments.json:
        print_json({"deleted": [item.id for item in runs]})
    else:
        print("\n".join(f"Deleted run {item.id} ({name_of(item)})." for item in runs))
    return 0


def _agreed(runs: list[Run]) -> bool:
    """Ask whoever sits at the terminal."""
    if not sys.stdin.isatty():
        raise ValueError("Expected --yes where nobody can be asked: a deleted run is gone for good.")
    named = ", ".join(f"{item.id} ({name_of(item)})" for item in runs)
    print(f"Delete {named} with all events and checkpoints, for good? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


CANCEL = Action("cancel", "cancel a run; it stops within one step", add_id, _cancel)
RESUME = Action("resume", "go on, here, with a run that ended early; it gets a new id", add_id, _resume)
DELETE = Action("delete", "take ended runs out of the store, for good", _of_delete, _delete)
