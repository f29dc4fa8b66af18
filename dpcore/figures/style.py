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


def _look(row: Sequence[str]) -> Look:
    color, dash, glyph = row
    return color, dash, glyph


ROLES = tomllib.loads(Path(__file__).with_name("roles.toml").read_text(encoding="utf-8"))
COLOURS = ROLES["colours"]
PRIVATE = COLOURS["private"]
NON_PRIVATE = COLOURS["non_private"]
GREY = COLOURS["grey"]
HOLDS = COLOURS["holds"]
DOUBTFUL = COLOURS["doubtful"]
REFUTED = COLOURS["refuted"]
CERTIFIED_LOOK = _look(ROLES["looks"]["certified"])
PINNED_LOOK = _look(ROLES["looks"]["pinned"])
ATTACK_LOOK = _look(ROLES["looks"]["attack"])
SAMPLED_LOOK = _look(ROLES["looks"]["sampled"])
LOOKS = [*map(_look, ROLES["lines"]["accountants"])]
RUNS = [*map(_look, ROLES["lines"]["runs"])]
BASELINES = [*map(_look, ROLES["lines"]["baselines"])]
BAND = "rgba(128,128,128,0.35)"
BELOW_BAND = ROLES["below_band"]
SIGNS: dict[str, dict[str, tuple[str, str]]] = {}  # kind of verdicts: verdict: mark and colour
for _kind, _signs in ROLES["signs"].items():
    SIGNS[_kind] = {each: (mark, COLOURS[role]) for each, (mark, role) in _signs.items()}
DEFAULT_ACCOUNTANTS = ("moments", "rdp", "mma", "gdp")


def style_of(name: str) -> Style:
    """The line style of an accountant, by its place in the registry."""
    label = ACCOUNTANTS[name].title.removesuffix(" accountant")
    if name == CERTIFIED:
        return Style(*CERTIFIED_LOOK, label)
    others = [each for each in ACCOUNTANTS if each != CERTIFIED]
    return Style(*look_at(LOOKS, others.index(name)), label)


def run_styles(private: Iterable[bool]) -> list[Style]:
    """The styles of runs on one chart, without labels: those without privacy share a colour.

    >>> baseline, first, second = run_styles([False, True, True])
    >>> (baseline.color, first.color) == (NON_PRIVATE, PRIVATE), second.color == RUNS[1][0]
    (True, True)
    """
    looks = {True: cycle(RUNS), False: cycle(BASELINES)}
    return [Style(*next(looks[each]), "") for each in private]


def faded(color: str, opacity: float) -> str:
    """A colour as a filling.

    >>> faded("#2f70c4", 0.2)
    'rgba(47,112,196,0.2)'
    """
    red = int(color[1:3], 16)
    green = int(color[3:5], 16)
    blue = int(color[5:7], 16)
    return f"rgba({red},{green},{blue},{opacity})"


def look_at(looks: Sequence[Look], number: int) -> Look:
    """The look of the line of this number, from 0.

    Past the last look, a colour comes again with another dash.

    >>> looks = (("red", "solid", "━━"), ("blue", "dot", "···"))
    >>> look_at(looks, 1), look_at(looks, 2)
    (('blue', 'dot', '···'), ('red', 'dot', '···'))
    """
    rounds, place = divmod(number, len(looks))
    color, _, _ = looks[place]
    _, dash, glyph = looks[(place + rounds) % len(looks)]
    return color, dash, glyph
