"""Make foreign text and numbers safe for terminals, Markdown and spreadsheets."""

import csv
import io
import math
import re
from collections.abc import Iterable
from typing import Any

SPECIAL = str.maketrans({each: f"\\{each}" for each in "\\`*_{}[]<>|&~$:#!"})  # to Markdown

# Before these places: the sign of a list or a rule at the start, and a point of an address without
# a scheme
SPECIAL_PLACE = re.compile(r"^(?=[-+])|^[0-9]+(?=[.)])|www(?=\.)", re.IGNORECASE)


def printable(words: str, *, lines: bool = False) -> str:
    """The words without control characters and outer blanks, on one line unless `lines`.

    >>> printable("  two\\x1b[2J words\\n"), printable("two\\x00\\nlines ", lines=True)
    ('two [2J words', 'two \\nlines')
    """
    if lines:
        return "\n".join(map(_without_controls, words.split("\n"))).strip()
    return " ".join(_without_controls(words).split())


def _without_controls(words: str) -> str:
    return "".join(each if each.isprintable() else " " for each in words)


def escaped(words: str) -> str:
    """The words on one line, escaped so that Markdown shows them unchanged.

    An address with an @ is the exception: some readers make a link of it however it is escaped.

    >>> escaped("<b>[x](y)</b>")
    '\\\\<b\\\\>\\\\[x\\\\](y)\\\\</b\\\\>'
    """
    return SPECIAL_PLACE.sub(r"\g<0>\\", printable(words).translate(SPECIAL))


# A spreadsheet computes a cell that begins with such a sign, in full or small width, too.
FORMULA = "=+@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b-"
FORMULA_CELL = re.compile(rf"(^|[;|])(?=[ \"]*[{FORMULA}])")


def as_text(words: str) -> str:
    """The words on one line, quoted wherever a spreadsheet would compute them.

    Some spreadsheets also begin a cell at ; and |.

    >>> as_text("=1+1"), as_text("two words"), as_text("a;=1+1")
    ("'=1+1", 'two words', "a;'=1+1")
    """
    return FORMULA_CELL.sub(r"\1'", printable(words))


def as_csv(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table as CSV, with empty cells for NaN and None, and no formulas.

    >>> as_csv(["q", "note"], [[1e-5, "a, b"], [float("nan"), "=1+1"]])
    'q,note\\n1e-05,"a, b"\\n,\\'=1+1\\n'
    """
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(map(_cell, columns))
    table.writerows(map(_cell, row) for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return as_text(value)
    if isinstance(value, float) and math.isnan(value):
        return None
    return value
