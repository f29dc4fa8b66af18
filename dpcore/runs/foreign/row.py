"""One row of a table of runs, and its numbers."""

import math
from collections.abc import Mapping
from typing import Any

Row = Mapping[str, Any]  # by column; a text, a number or None
Rows = tuple[Row, ...]
MISSING = ("", "none", "null", "na", "n/a")  # as programs write it, in small letters


def number_in(row: Row, column: str) -> float | None:
    """The number in a column; None if the row has none.

    Errors: ValueError for what is no finite number.

    >>> number_in({"sigma": "1.1"}, "sigma"), number_in({"sigma": ""}, "sigma")
    (1.1, None)
    >>> number_in({"sigma": "nan"}, "sigma")
    Traceback (most recent call last):
    ...
    ValueError: Expected sigma='nan' to be a finite number.
    """
    value = row.get(column)
    if value is None or str(value).strip().lower() in MISSING:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number):
        raise ValueError(f"Expected {column}={value!r:.60} to be a finite number.")
    return number
