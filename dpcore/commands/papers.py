"""`python -m dpcore papers`: recompute the numbers that the papers print."""

import argparse
import textwrap
from itertools import zip_longest
from typing import Any

from dpcore import check
from dpcore.commands import Parser, parser_of, print_json
from dpcore.papers.catalogue import PAPERS, comparisons
from dpcore.papers.comparison import Comparison, Outcome
from dpcore.papers.paper import Paper

COLUMNS = {  # head: width, and True for numbers
    "place": (22, False),
    "quantity": (43, False),
    "theirs": (11, True),
    "ours": (14, True),
    "at least": (9, True),
    "verdict": (10, False),
}
GAP = "  "
# Below 120 columns.
WIDTH = sum(width for width, _ in COLUMNS.values()) + len(GAP) * (len(COLUMNS) - 1)


def parser() -> Parser:
    made = parser_of("papers", "Recompute every number that the papers print.")
    made.add_argument(
        "--paper",
        metavar="ID",
        action="append",
        help=f"{', '.join(PAPERS)} (default: all); repeatable",
    )
    made.add_argument("--json", action="store_true", help="print one JSON list")
    return made


def run(arguments: argparse.Namespace) -> int:
    asked = list(dict.fromkeys(arguments.paper or PAPERS))
    for name in asked:
        check.one_of(PAPERS, paper=name)
    papers = [PAPERS[name] for name in asked]
    if arguments.json:
        found: list[dict[str, Any]] = []
        for paper in papers:
            found += map(_object, comparisons(paper))
        print_json(found)
    else:
        print("\n\n".join(_table(paper) for paper in papers))
    return 0


def _object(found: Comparison) -> dict[str, Any]:
    entry = found.entry
    return {
        "paper": found.paper,
        "place": entry.place,
        "quantity": entry.quantity,
        "theirs": entry.theirs,
        "ours": found.ours,
        "lower": found.lower,
        "verdict": str(found.outcome),
        "why": found.why,
    }


def _table(paper: Paper) -> str:
    """Return a paper's numbers, each with the reason for its verdict below it."""
    head = f"{paper.id}  " + ". ".join(filter(None, (paper.title, paper.authors, paper.published)))
    lines = textwrap.wrap(head, WIDTH, subsequent_indent="     ")
    lines += _row(*COLUMNS)
    for each in comparisons(paper):
        entry = each.entry
        lines += _row(
            entry.place,
            entry.quantity,
            entry.printed,
            each.ours_text,
            each.lower_text,
            str(each.outcome),
        )
        indent = " " * (COLUMNS["place"][0] + len(GAP))
        why = "" if each.outcome is Outcome.UNTRAINED else each.why  # its name says it
        lines += textwrap.wrap(why, WIDTH, initial_indent=indent, subsequent_indent=indent)
    return "\n".join(lines)


def _row(*cells: str) -> list[str]:
    """Return the lines of one row, each cell wrapped in its column."""
    wrapped = []  # the lines of each cell
    for cell, (width, _) in zip(cells, COLUMNS.values(), strict=True):
        wrapped.append(textwrap.wrap(cell, width))
    rows = []
    for parts in zip_longest(*wrapped, fillvalue=""):
        padded = []
        for part, (width, is_number) in zip(parts, COLUMNS.values(), strict=True):
            padded.append(part.rjust(width) if is_number else part.ljust(width))
        rows.append(GAP.join(padded).rstrip())
    return rows
