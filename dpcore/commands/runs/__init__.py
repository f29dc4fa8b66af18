"""`python -m dpcore runs ACTION`: work with the runs in the store, also beside a running server."""

import argparse

from dpcore.commands import Parser, parser_of
from dpcore.commands.runs.actions import add_actions
from dpcore.commands.train import open_store
from dpcore.runs.pool import recover_dead


def parser() -> Parser:
    made = parser_of("runs", "Work with the runs in the store (DPCORE_HOME).")
    add_actions(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    """Do the action and return its exit status."""
    arguments.check(arguments)
    with open_store() as store:
        recover_dead(store)
        return arguments.act(store, arguments)
