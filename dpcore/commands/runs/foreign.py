"""`python -m dpcore runs import` of a table that another program wrote, as a person reads it."""

import argparse
import os
from collections.abc import Sequence

from dpcore.commands import Parser, option
from dpcore.privacy.report.numbers import percent
from dpcore.runs.foreign.price import ASSUMED, named, price_in_words, price_of, recounted
from dpcore.runs.foreign.runs import Columns, Found, found_in
from dpcore.runs.foreign.table import read_table

STUDY = "study"
ABOUT = {
    "sigma": "noise multiplier",
    "q": "sampling rate",
    "batch": "expected batch, in place of q",
    "steps": "number of steps T",
    "delta": "delta",
    "examples": "number of examples n",
    "epsilon": "epsilon that the program told, to compare",
    "accuracy": "accuracy, a share from 0 to 1, by which the best is named",
}
OPTIONS = (*ABOUT, STUDY)


def add_columns(parser: Parser) -> None:
    """Add the options that name the columns of a table."""
    for name, about in ABOUT.items():
        words = f"of a table: the column that has the {about}, or the number that all runs have"
        parser.add_argument(option(name), metavar="COLUMN", help=words)
    parser.add_argument(
        option(STUDY), metavar="NAME", help="the study of Optuna, of several in a file"
    )


def given(arguments: argparse.Namespace) -> list[str]:
    """The options of a table that were given."""
    return [option(name) for name in OPTIONS if getattr(arguments, name) is not None]


def read_foreign(arguments: argparse.Namespace, content: bytes) -> Found:
    """The runs of a table. Errors: ValueError if it has none that can be counted."""
    for name in OPTIONS:
        if getattr(arguments, name) == "":
            raise ValueError(f"Expected {option(name)}='' to be a name.")
    table = read_table(content, arguments.study or "")
    columns = Columns(**{name: getattr(arguments, name) or "" for name in ABOUT})
    found = found_in(table, columns)
    if not found.runs:
        first = found.left_out[0]
        raise ValueError(
            f"Expected a row of which epsilon can be counted, but none of {len(table.rows)} is such"
            f" a row. First, {named(first)}: {first.why}"
        )
    return found


def rows_of(ids: Sequence[str], found: Found) -> list[tuple[str, ...]]:
    """A table of the runs, with its heads."""
    rows = [("ROW", "ID", "NAME", "SIGMA", "Q", "STEPS", "ACCURACY", "TOLD", "CERTIFIED EPSILON")]
    for run, each in zip(ids, map(recounted, found.runs), strict=True):
        release = each.run.release
        told = each.run.epsilon
        accuracy = each.run.accuracy
        rows.append(
            (
                str(each.run.place),
                run,
                each.run.label or "-",
                f"{release.sigma:g}",
                f"{release.q:g}",
                f"{release.count:,}",
                "-" if accuracy is None else percent(accuracy, 2, gap=""),
                "-" if told is None else f"{told.shown}, {each.standing}",
                str(each.reading),
            )
        )
    return rows


def remarks_on(found: Found) -> list[str]:
    """What was left out, row by row."""
    lines = [f"Left out {named(each)}: {each.why}" for each in found.left_out]
    lines += [f"Left out of {named(each)}: {each.why}" for each in found.remarks]
    return lines


def closing(found: Found, file: str) -> list[str]:
    """How many runs were imported, and the price of the best."""
    count = len(found.runs)
    several = "run" if count == 1 else "runs"
    return [
        f"Imported {count} {several} of {os.path.basename(file)}. {ASSUMED}",
        price_in_words(price_of(found.runs), found),
    ]
