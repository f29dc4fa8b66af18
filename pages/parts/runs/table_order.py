"""How the table of runs is sorted and where it begins, kept in the address."""

from typing import NamedTuple

from dpcore.runs.run_table import ORDERS
from pages.parts.controls.url_state import Remembered

SORT, FIRST = Remembered("sort", "-started"), Remembered("first", "0")  # -name is downwards
KNOWN = (*ORDERS, "epsilon")


class Order(NamedTuple):
    """By what the table is sorted, and which way."""

    by: str
    descending: bool


def order_shown() -> Order:
    """How the table is sorted: as was chosen, or as the address says, which is else what was submitted last first."""
    by = SORT.value.removeprefix("-")
    return Order(by, SORT.value.startswith("-")) if by in KNOWN else Order(SORT.default[1:], True)


def first_shown() -> int:
    """How many runs lie before the first of the table."""
    text = FIRST.value
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def show_in_order(by: str, *, descending: bool) -> None:
    """Sort the table from its first run on, the other way where it is sorted so already; as a callback."""
    before = order_shown()
    descending = not before.descending if before.by == by else descending
    SORT.set(f"{'-' if descending else ''}{by}")
    show_from(0)


def show_from(first: int) -> None:
    """Begin the table with the run behind so many others; as a callback."""
    FIRST.set(str(max(first, 0)))
