"""Text from elsewhere, without what would move a cursor or break a line."""

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
