"""The table that comes with the package: that of the lab's own n and delta.

    python -m dpcore.labfile.shipped

computes it again, in some minutes, and writes it here. Do so when an accountant changes a number,
or the sliders or the defaults change; a test compares drawn stops with the program.
"""

import json
import sys
from functools import cache
from pathlib import Path

from dpcore.labfile.stops import opening, stops_of
from dpcore.labfile.table import Table, computed, unpacked
from dpcore.training.settings import Settings
from dpcore.whole_file import whole_file

FILE = Path(__file__).with_name("shipped.table")


def usual_n() -> int:
    """The number of examples of the lab's own data set."""
    return opening(Settings().dataset).examples


def fits(n: int, delta: float) -> bool:
    """True if the shipped table is that of this n and delta."""
    table = shipped()
    return (table.n, table.delta) == (n, delta)


@cache
def shipped() -> Table:
    """Read the table that comes with the package."""
    head, _, packed = FILE.read_bytes().partition(b"\n")
    return unpacked(json.loads(head), packed)


def write(table: Table, path: Path) -> None:
    """Write a table: a line of JSON, then the packed numbers; the whole file or none."""
    with whole_file(path, shared=True) as file:
        file.write(json.dumps(table.head).encode() + b"\n" + table.packed())


def main() -> None:
    """Compute the table and write it."""

    def say(share: float) -> None:
        print(f"\r{100 * share:.0f} %", end="", file=sys.stderr, flush=True)

    n = usual_n()
    write(computed(n, Settings().delta, stops_of(Settings().dataset, n), report=say), FILE)


if __name__ == "__main__":
    main()
