"""Words of others in a table that may be opened in a spreadsheet."""

from dpcore.runs.printable import printable

FORMULA = ("=", "+", "-", "@")  # what a cell begins with that a spreadsheet would compute


def as_text(words: str) -> str:
    """Words that a spreadsheet does not take for a formula, on one line.

    >>> as_text("=1+1"), as_text("two words")
    ("'=1+1", 'two words')
    """
    line = printable(words)
    return f"'{line}" if line.startswith(FORMULA) else line
