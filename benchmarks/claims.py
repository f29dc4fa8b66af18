"""Count how many texts are read in full, and the presses on page Check that complete the others.

A folder has texts, and `expected.json` with what a careful person reads in each. A text is complete
where one run has all that is read in it, and nothing else. A press opens a run, takes a value under
its name, or takes all of those that may be of one training, or those of a paragraph; a number
without a name needs two, one on it and one on its field, and so does a choice that no word says.

    python -m benchmarks.claims tests/claims/texts
"""

import argparse
import json
from collections import Counter
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from dpcore.claims.claim import values_of
from dpcore.claims.reading import Read, read
from dpcore.written_number import read_number
from pages.parts.check.claim_fields import CHOICES, FIELDS, claim_of, text_of, texts_of
from pages.parts.check.marked_text import (
    MAX_PARAGRAPHS,
    by_paragraph,
    offered_values,
    offers_of,
    together,
)

TYPED = 99  # presses do not do it: a value has to be typed
ENOUGH = 3
NAMES = (*FIELDS, *CHOICES)
SPELT = {"add/remove": "add_remove", "prv": "pld"}


def same(one: Any, other: Any) -> bool:
    """True for two texts of one number, or of one choice."""
    try:
        first, second = (float(read_number(str(each), "value")) for each in (one, other))
    except ValueError:
        return one == SPELT.get(str(other), other)
    return abs(first - second) <= 1e-6 * max(abs(first), abs(second))


def presses(found: Read, text: str, run: int, wanted: Mapping[str, Any]) -> int:
    """Presses until a run has all values that are wanted; TYPED if one has to be typed."""
    now = texts_of(found.runs[run].claim)
    lacking = {name: wanted[name] for name in wanted if not same(now.get(name, ""), wanted[name])}
    count = min(run, 1)
    offered = offered_values(found, now)
    groups = [together(offered, now)]
    for each in islice(by_paragraph(found, text, now), MAX_PARAGRAPHS):
        groups.append(each.values)
    for group in sorted(groups, key=len, reverse=True):
        right = {name for name in group if name in wanted and same(group[name], wanted[name])}
        more = right & set(lacking)
        if len(more) > 1 and len(right) == len(group):
            count += 1
            lacking = {name: lacking[name] for name in lacking if name not in right}
    for name, value in lacking.items():
        if any(name == field and same(shown, value) for field, shown in offered):
            count += 1
        elif name in CHOICES or _is_in_menu(found, name, value):
            count += 2
        else:
            return TYPED
    return count


def _is_in_menu(found: Read, name: str, value: Any) -> bool:
    for each in found.passed:
        offers = dict(offers_of(each, []))
        if name in offers and same(text_of(_value(name, offers[name])), value):
            return True
    return False


def _value(name: str, text: str) -> object:
    return values_of(claim_of({name: text})).get(name, text)


def wanted_of(expected: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The values of each run of a text, of those fields that the page has."""
    runs = expected.get("runs", [expected.get("read", expected)])
    may = expected.get("may", [])
    found = []
    for each in runs:
        found.append({name: each[name] for name in NAMES if name in each and name not in may})
    return found or [{}]


def count_of(text: str, expected: Mapping[str, Any]) -> int:
    """The most presses that a run of a text needs."""
    found = read(text)
    needed = []
    for wanted in wanted_of(expected):
        ways = [presses(found, text, number, wanted) for number in range(len(found.runs))]
        needed.append(min(ways))
    return max(needed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    counts: Counter[int] = Counter()
    for name, expected in json.loads((folder / "expected.json").read_text("utf-8")).items():
        needed = count_of((folder / name).read_text("utf-8"), expected)
        counts[needed] += 1
        if needed > ENOUGH:
            print(f"{name}: {'to be typed' if needed == TYPED else f'{needed} presses'}")
    for needed in sorted(counts):
        print("to be typed" if needed == TYPED else f"{needed} presses", counts[needed], sep=": ")


if __name__ == "__main__":
    main()
