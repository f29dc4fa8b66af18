"""A pasted text in plain letters: no marks of HTML, Markdown or LaTeX, one way to write a sign, and
words with blanks.

Each character keeps its place in the original, so that what is read can be shown there.
"""

import html
import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

from dpcore.claims.layout import lines_of
from dpcore.claims.vocabulary import FACTS, PATTERNS, RULES

MAKERS: dict[str, Callable[[str], str]] = {
    "unescaped": html.unescape,
    "folded": lambda each: (
        str(unicodedata.decimal(each)) if each.isdecimal() else unicodedata.normalize("NFKC", each)
    ),
    "power_of_two": lambda power: f"{2.0 ** int(power.partition('^')[2]):.17g}",
    "decimal": lambda number: number.replace(",", "."),
    "joined": lambda number: number.replace(" ", ""),
    "myriads": lambda number: f"{float(number[:-1]) * 10_000:.0f}",
    "counted": lambda word: FACTS["counts"][word.lower()],
}


class Plain(NamedTuple):
    """A plain text, and the place of each of its characters in the original."""

    text: str
    at: list[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the ends of a part in the original."""
        return self.at[start], self.at[max(start, end - 1)] + 1


def plain_text(original: str) -> Plain:
    """Return the plain form of a text.

    >>> plain_text("$\\\\varepsilon = 8$, δ＝10⁻⁵, max_steps: 1_000, σ ≤ 1,5").text.split()
    ['epsilon', '=', '8,', 'delta', '=10^-5,', 'max', 'steps:', '1000,', 'sigma', '<=', '1.5']
    """
    plain = Plain(original, list(range(len(original))))
    for pattern, new in RULES:
        plain = _changed(plain, pattern, new)
    return _in_cells(_with_points(plain))


def _changed(plain: Plain, pattern: re.Pattern[str], new: str) -> Plain:
    """Replace all matches; keep the group `kept`, if there is one, before the new text."""
    text, at, last = [], [], 0
    for each in pattern.finditer(plain.text):
        start, end = (
            each.span("kept") if "kept" in pattern.groupindex else (each.start(), each.start())
        )
        written = MAKERS[new](each[0]) if new in MAKERS else new
        text += [plain.text[last : each.start()], plain.text[start:end], written]
        at += plain.at[last : each.start()] + plain.at[start:end]
        places = [plain.at[min(each.start(), len(plain.at) - 1)]] * len(written)
        at += (
            [*places[:-1], plain.at[each.end() - 1]]
            if new in MAKERS and len(written) > 1
            else places
        )
        last = each.end()
    return Plain("".join([*text, plain.text[last:]]), at + plain.at[last:]) if text else plain


def _with_points(plain: Plain) -> Plain:
    """Write decimal commas as points if the text has more of them than of points, else those after
    a sign alone.
    """
    commas = list(PATTERNS.decimal_comma.finditer(plain.text))
    if len(commas) <= len(PATTERNS.decimal_point.findall(plain.text)):
        return _changed(plain, PATTERNS.comma_after_sign, "decimal")
    letters = list(plain.text)
    for each in PATTERNS.point_of_thousands.finditer(plain.text):
        letters[each.start()] = "_"  # to take out: it separates thousands
    for each in (*commas, *PATTERNS.comma_of_thousands.finditer(plain.text)):
        letters[plain.text.rindex(",", each.start(), each.end())] = "."
    return _changed(
        Plain("".join(letters), plain.at), re.compile(r"(?<=\d)[_ ](?=\d{3}(?!\d))"), ""
    )


def _in_cells(plain: Plain) -> Plain:
    """Separate columns by | in tables that use commas, tabs or wide blanks, each with a row of
    heads.
    """
    letters = list(plain.text)
    for each in PATTERNS.assigned.finditer(plain.text):  # n, batch = 60000, 256
        if each["names"].count(",") == each["values"].count(","):
            for place in range(*each.span()):
                letters[place] = {",": "|", "=": "\n"}.get(letters[place], letters[place])
    for mark in (re.compile(each) for each in (",", r"\t", ";", " {2,}")):
        heads: list[tuple[int, str]] = []
        count = 0
        for start, line in lines_of(plain.text):
            cells = mark.split(line.strip())
            if len(cells) > 1 and all(
                PATTERNS.column_head.fullmatch(each.strip()) for each in cells
            ):
                heads, count = [(start, line)], len(cells)
            elif (
                len(cells) == count
                and sum(each.strip()[:1].isdigit() for each in cells) > count // 2
            ):
                for at, row in (*heads, (start, line)):
                    for each in mark.finditer(row.rstrip(), len(row) - len(row.lstrip())):
                        letters[at + each.start()] = "|"
            else:
                count = 0
    return Plain("".join(letters), plain.at)
