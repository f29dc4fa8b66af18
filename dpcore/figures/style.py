"""The roles on the charts, each with its colour and dash."""

import tomllib
from collections.abc import Iterable, Sequence
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED


class Style(NamedTuple):
    """A line: colour, plotly dash, the dash as text, and its name."""

    color: str
    dash: str
    glyph: str
    label: str


Look = tuple[str, str, str]  # colour, plotly dash, the dash as text


def _looks(table: Iterable[Sequence[str]]) -> list[Look]:
    return [(color, dash, glyph) for color, dash, glyph in table]


ROLES = tomllib.loads(Path(__file__).with_name("roles.toml").read_text(encoding="utf-8"))
PRIVATE, NON_PRIVATE, GREY, HOLDS, DOUBTFUL, REFUTED = ROLES["colours"].values()
CERTIFIED_LOOK, PINNED_LOOK, ATTACK_LOOK, SAMPLED_LOOK = _looks(ROLES["looks"].values())
LOOKS, RUNS, BASELINES = map(_looks, ROLES["lines"].values())
BAND = "rgba(128,128,128,0.35)"
BELOW_BAND = ROLES["below_band"]
SIGNS = {  # mark and colour, by the kind of verdicts and the verdict
    kind: {verdict: (mark, ROLES["colours"][role]) for verdict, (mark, role) in signs.items()}
    for kind, signs in ROLES["signs"].items()
}
DEFAULT_ACCOUNTANTS = ("moments", "rdp", "mma", "gdp")


def style_of(name: str) -> Style:
    """The line style of an accountant, by its place in the registry."""
    label = ACCOUNTANTS[name].title.removesuffix(" accountant")
    if name == CERTIFIED:
        return Style(*CERTIFIED_LOOK, label)
    return Style(
        *look_at(LOOKS, [each for each in ACCOUNTANTS if each != CERTIFIED].index(name)), label
    )


def run_styles(private: Iterable[bool]) -> list[Style]:
    """The styles of runs on one chart, without labels: those without privacy share a colour.

    >>> [style.color for style in run_styles([False, True, True])] == [NON_PRIVATE, PRIVATE, RUNS[1][0]]
    True
    """
    looks = {True: cycle(RUNS), False: cycle(BASELINES)}
    return [Style(*next(looks[each]), "") for each in private]


def faded(color: str, opacity: float) -> str:
    """A colour as a filling.

    >>> faded("#2f70c4", 0.2)
    'rgba(47,112,196,0.2)'
    """
    red, green, blue = (int(color[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def look_at(looks: Sequence[Look], number: int) -> Look:
    """The look of the line of this number, from 0; past the last look, a colour comes again with
    another dash.

    >>> [" ".join(look_at((("red", "solid", "━━"), ("blue", "dot", "···")), number)[:2]) for number in range(3)]
    ['red solid', 'blue dot', 'red dot']
    """
    rounds, place = divmod(number, len(looks))
    _, dash, glyph = looks[(place + rounds) % len(looks)]
    return looks[place][0], dash, glyph
