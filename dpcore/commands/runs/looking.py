"""The actions that look: `list` and `show`, once or until nothing changes any more."""

import argparse
import sys

from dpcore.commands import Parser
from dpcore.commands.runs.action import Action, add_id, as_object, in_columns, print_json, progress_of
from dpcore.runs.expected import start_of
from dpcore.runs.in_words import name_of, status_of, when
from dpcore.runs.kinds import KINDS, TRAINING
from dpcore.runs.store import PAUSED, Store

EVERY_KIND = "all"
WAITS = "The queue is paused: what is queued waits. 'python -m dpcore app' lets it go on, on its page Runs."


def _of_list(parser: Parser) -> None:
    kinds = [*KINDS, EVERY_KIND]
    parser.add_argument("--kind", choices=kinds, default=TRAINING.name, help="list jobs of this kind instead")
    parser.add_argument("--watch", action="store_true", help="show those that run until you press Ctrl-C")


def _check_list(arguments: argparse.Namespace) -> None:
    if arguments.watch and (arguments.json or arguments.kind != TRAINING.name):
        raise ValueError("Expected no --json and no --kind with list --watch: it draws training runs in a terminal.")


def _list(store: Store, arguments: argparse.Namespace) -> int:
    if arguments.watch:
        from dpcore.commands.runs.watching import watch_all  # late: only who watches waits for rich

        return watch_all(store)
    runs = store.runs(kind=None if arguments.kind == EVERY_KIND else arguments.kind)
    if arguments.json:
        print_json({"runs": [as_object(item) for item in runs]})
        return 0
    rows = [("ID", "STATUS", "SUBMITTED", "PROGRESS", "NAME")]
    rows += [(item.id, status_of(item), when(item.created), progress_of(item), name_of(item)) for item in runs]
    print(in_columns(rows) if runs else "No runs yet.")
    if store.board(PAUSED):
        print(WAITS, file=sys.stderr)
    return 0


def _of_show(parser: Parser) -> None:
    add_id(parser)
    parser.add_argument("--watch", action="store_true", help="show it until it has ended, with its accuracy as a curve")


def _show(store: Store, arguments: argparse.Namespace) -> int:
    item = store.run(arguments.id)
    if arguments.watch:
        from dpcore.commands.runs.watching import watch_one

        return watch_one(store, item, as_json=arguments.json)
    if arguments.json:
        print_json(as_object(item))
        return 0
    starts = f", {start_of(store, item.id)}" if item.position else ""
    status = f"{status_of(item)}{starts}"
    rows = [("id", item.id), ("name", name_of(item)), ("status", status), ("progress", progress_of(item))]
    for label, moment in (("submitted", item.created), ("started", item.started), ("ended", item.ended)):
        rows.append((label, "-" if moment is None else when(moment)))
    rows.append(("events", str(item.sequence)))
    if item.imported:
        rows.append(("imported", f"{item.imported}: nothing here has measured its figures"))
    rows += [(key, "secret" if value is None else str(value)) for key, value in item.settings.items()]
    print(in_columns(rows))
    if item.error:
        print(item.error.rstrip())
    return 0


LIST = Action("list", "every training run, newest first", _of_list, _list, _check_list)
SHOW = Action("show", "one run, with its settings", _of_show, _show)
