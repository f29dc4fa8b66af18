"""A pasted text in plain letters: no marks of HTML, Markdown or LaTeX, and one way to write a sign.

Each character keeps its place in the original, so that what is read can be shown there.
"""

import html
import re
import tomllib
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

FACTS = tomllib.loads(Path(__file__).with_name("plain_text.toml").read_text(encoding="utf-8"))
RULES = tuple((re.compile(pattern), new) for pattern, new in FACTS["rules"])
# Nobody writes 1,5 for a number of thousands, nor 0,001.
_WITH_COMMA = r"(?:0,\d+|\d+,\d{1,2})(?:[eE][-+]?\d+)?(?=[.,;:]?(?:[^\w.,]|$))(?!\]|,? ?\d)"
DECIMAL_COMMA = re.compile(rf"(?<![\w.,(\[]){_WITH_COMMA}|(?<=[(\[]){_WITH_COMMA}(?![)\]])")
DECIMAL_POINT = re.compile(r"(?<![\w.,])\d*\.\d+(?![\d.])(?<!\.\d{3})")
THOUSANDS_POINT = re.compile(r"(?<=\d)\.(?=\d{3}(?!\d))")
ANY_COMMA = re.compile(r"(?<=\d),(?=\d+(?:[eE][-+]?\d+)?(?:[^\w,]|,(?!\d)|$))")


def _folded(each: str) -> str:
    if each.isdecimal():
        return str(unicodedata.decimal(each))
    return unicodedata.normalize("NFKC", each)


MAKERS: dict[str, Callable[[str], str]] = {
    "unescaped": html.unescape,
    "folded": _folded,
    "power_of_two": lambda power: f"{2.0 ** int(power.partition('^')[2]):.17g}",
    "joined": lambda number: number.replace(" ", ""),
}


class Plain(NamedTuple):
    """A plain text, and the place of each of its characters in the original."""

    text: str
    at: list[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The ends of a part in the original."""
        return self.at[start], self.at[max(start, end - 1)] + 1


def plain_text(original: str) -> Plain:
    """The plain form of a text.

    >>> plain_text("$\\\\varepsilon = 8$, δ＝10⁻⁵, max_steps: 1_000, σ ≤ 1,5").text.split()
    ['ε', '=', '8,', 'δ=10^-5,', 'max_steps:', '1000,', 'σ', '<=', '1.5']
    """
    plain = Plain(original, list(range(len(original))))
    for pattern, new in RULES:
        plain = _changed(plain, pattern, new)
    return _with_points(plain)


def _changed(plain: Plain, pattern: re.Pattern[str], new: str) -> Plain:
    """Replace all matches; keep the group `kept`, if there is one, before the new text."""
    text: list[str] = []
    at: list[int] = []
    last = 0
    for each in pattern.finditer(plain.text):
        start = end = each.start()
        if "kept" in pattern.groupindex:
            start, end = each.span("kept")
        written = new
        if new in MAKERS:
            written = MAKERS[new](each[0])
        text += [plain.text[last : each.start()], plain.text[start:end], written]
        at += plain.at[last : each.start()] + plain.at[start:end]
        places = [plain.at[min(each.start(), len(plain.at) - 1)]] * len(written)
        if new in MAKERS and len(written) > 1:
            places[-1] = plain.at[each.end() - 1]
        at += places
        last = each.end()
    if not text:
        return plain
    return Plain("".join([*text, plain.text[last:]]), at + plain.at[last:])


def _with_points(plain: Plain) -> Plain:
    """Write commas as points where a text writes decimals with commas, and join its thousands."""
    commas = DECIMAL_COMMA.findall(plain.text)
    if not commas or len(commas) < len(DECIMAL_POINT.findall(plain.text)):
        return plain
    joined = _changed(plain, THOUSANDS_POINT, "")
    return _changed(joined, ANY_COMMA, ".")
