"""What an action of the command is: its name, its arguments, and what it does with the store."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from dpcore.commands import Parser
from dpcore.runs.store import Store


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
