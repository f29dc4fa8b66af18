"""`python -m dpcore runs ACTION`: work with the runs in the store, also beside a running server."""

import argparse
import os

from dpcore.commands import Parser, parser_of, print_json
from dpcore.commands.runs.actions import add_actions
from dpcore.commands.train import open_store
from dpcore.runs.record import UnknownRun, state_directory
from dpcore.runs.store_file import FILE
from dpcore.runs.supervision import recover_dead


def parser() -> Parser:
    made = parser_of("runs", "Work with the runs in the store (DPCORE_HOME).")
    add_actions(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    """Do the action and return its exit status."""
    arguments.check(arguments)
    # A question makes no store.
    if not arguments.begins and not os.path.exists(state_directory() / FILE):
        return _nothing(arguments)
    with open_store() as store:
        recover_dead(store)
        return arguments.act(store, arguments)


def _nothing(arguments: argparse.Namespace) -> int:
    run = getattr(arguments, "id", None)
    if isinstance(run, list):  # an action on several runs
        run = run[0]
    if run is not None:
        path = state_directory() / FILE
        raise UnknownRun(
            f"Expected run={run!r} to be the id of a run; there is no store {path} yet."
        )
    if arguments.json:
        print_json({"runs": []})
    else:
        print("No runs yet.")
    return 0
