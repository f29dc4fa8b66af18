"""Text and numbers from elsewhere, as terminals, pages, spreadsheets and JSON can hold them."""

import csv
import io
import math
from collections.abc import Iterable
from typing import Any

SPECIAL = str.maketrans({each: f"\\{each}" for each in "\\`*_{}[]<>|&~$:#!"})  # to Markdown


def printable(words: str, *, lines: bool = False) -> str:
    """The words on one line, or with `lines` on theirs: without control characters, and without blanks at both ends.

    >>> printable("  two\\x1b[2J words\\n"), printable("two\\x00\\nlines ", lines=True)
    ('two [2J words', 'two \\nlines')
    """
    kept = "".join(each if each.isprintable() or (lines and each == "\n") else " " for each in words)
    return kept.strip() if lines else " ".join(kept.split())


def escaped(words: str) -> str:
    """Words as Markdown shows them as they are, on one line.

    >>> escaped("<b>[x](y)</b>")
    '\\\\<b\\\\>\\\\[x\\\\](y)\\\\</b\\\\>'
    """
    return printable(words).translate(SPECIAL)


FORMULA = ("=", "+", "-", "@")  # what a cell begins with that a spreadsheet would compute


def as_text(words: str) -> str:
    """Words that a spreadsheet does not take for a formula, on one line.

    >>> as_text("=1+1"), as_text("two words")
    ("'=1+1", 'two words')
    """
    line = printable(words)
    return f"'{line}" if line.startswith(FORMULA) else line


def as_csv(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table as CSV; NaN and None are empty, and no text is a formula.

    >>> as_csv(["q", "note"], [[1e-5, "a, b"], [float("nan"), "=1+1"]])
    'q,note\\n1e-05,"a, b"\\n,\\'=1+1\\n'
    """
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(columns)
    table.writerows(map(_cell, row) for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return as_text(value)
    return None if isinstance(value, float) and math.isnan(value) else value


def finite(value: Any) -> Any:
    """The value with null for NaN and infinities, which JSON has not; older stores may hold them.

    >>> finite({"loss": float("nan"), "rates": (1.0, float("inf"))})
    {'loss': None, 'rates': [1.0, None]}
    """
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
