"""The actions that queue, end and resume runs: sweep, cancel, resume, delete."""

import argparse
import os
import sys
from typing import Any

from dpcore import check
from dpcore.commands import Parser, whole
from dpcore.commands.runs.action import Action, add_id, add_ids, as_object, print_json
from dpcore.commands.train import add_settings, closing, config_of, follow, option, printer
from dpcore.runs.editing import LONGEST_NAME, delete, text
from dpcore.runs.in_process import with_first_event
from dpcore.runs.in_words import name_of, status_of
from dpcore.runs.record import Run, checkpoint_path, worker_name
from dpcore.runs.resume import rest_of
from dpcore.runs.store import Store
from dpcore.runs.sweeps import MOST, submit_sweep, sweep_in, sweep_of, values_of
from dpcore.training.events import Finished
from dpcore.training.resume_point import resume_point_of

PRICE = "To release one of them, or the best, costs more than it alone: each of them uses the data."


def _of_sweep(parser: Parser) -> None:
    add_settings(parser)
    parser.add_argument(
        "--grid",
        action="append",
        required=True,
        metavar="SETTING=VALUE,...",
        help="a setting and its values, as sigma=1,2,4; once or twice",
    )
    parser.add_argument("--seeds", type=whole, default=1, metavar="COUNT", help="how many runs of each combination")
    parser.add_argument("--name", default="", help="what the runs are called, before their settings")


def _check_sweep(arguments: argparse.Namespace) -> None:
    """Read the grid before there is a store. What is not swept has the defaults that suit its first values."""
    check.whole(1, MOST, seeds=arguments.seeds)
    axes: dict[str, list[Any]] = {}
    for each in arguments.grid:
        name, between, values = each.partition("=")
        setting = name.strip().replace("-", "_")
        if not between or setting in axes:
            raise ValueError(f"Expected --grid {each[:80]!r} to be a setting, =, and values, each setting once.")
        axes[setting] = values_of(setting, values)
        if getattr(arguments, setting, None) is not None:
            raise ValueError(f"Expected no {option(setting)} beside --grid {setting}: it would change nothing.")
        setattr(arguments, setting, axes[setting][0])
    arguments.name = text(arguments.name, LONGEST_NAME, "name")
    arguments.axes, arguments.configs = list(axes), sweep_of(config_of(arguments), axes, arguments.seeds)


def _sweep(store: Store, arguments: argparse.Namespace) -> int:
    sweep = submit_sweep(store, arguments.configs, arguments.axes, arguments.name)
    queued = sweep_in(store, sweep)
    runs = queued.runs if queued else []
    if arguments.json:
        print_json({"sweep": sweep, "runs": [run.id for run in runs]})
        return 0
    print("\n".join(f"{run.id}  {run.name}" for run in runs))
    print(f"Queued {len(runs)} runs as sweep {sweep}; 'python -m dpcore app' trains what is queued. {PRICE}")
    return 0


SWEEP = Action(
    "sweep", "queue a grid over one or two settings, with several seeds", _of_sweep, _sweep, _check_sweep, True
)


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

    with rest_of(store, arguments.id) as rest:
        config, file = rest.before.config, checkpoint_path(store.home, rest.id)
        secret = store.secret(rest.before.id)
        point = resume_point_of(rest.said, rest.before.origin)
        # ValueError for its checkpoint: nothing recorded
        events = with_first_event(train(config, file=file, planned=rest.plan, secret=secret, resume_point=point))
        rest.submit(store, worker_name(os.getpid()))
    print(f"Recorded as run {rest.id}.", file=sys.stderr)
    finals: list[Finished] = []
    status = follow(store, rest.id, events, printer(arguments.json, finals))
    if finals and not arguments.json:
        print("\n".join(closing([config], finals, rest.plan)))
    return status


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
