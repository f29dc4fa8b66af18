"""The roles on the charts, each with its colour and dash."""

import tomllib
from collections.abc import Iterable, Sequence
from itertools import cycle, starmap
from pathlib import Path
from typing import NamedTuple

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED


class Style(NamedTuple):
    """A line: colour, plotly dash, the dash as text, and its name."""

    color: str
    dash: str
    glyph: str
    label: str


class Look(NamedTuple):
    """A line without a name."""

    color: str
    dash: str
    glyph: str


def _look(color: str, dash: str, glyph: str) -> Look:
    """A look with a colour or the name of one."""
    return Look(COLOURS.get(color, color), dash, glyph)


def faded(color: str, opacity: float) -> str:
    """A colour as a filling.

    >>> faded(PRIVATE, 0.2).replace("rgba", "")
    '(47,112,196,0.2)'
    """
    red, green, blue = bytes.fromhex(color.removeprefix("#"))
    return f"rgba({red},{green},{blue},{opacity})"


ROLES = tomllib.loads(Path(__file__).with_name("roles.toml").read_text(encoding="utf-8"))
COLOURS = ROLES["colours"]
PRIVATE = COLOURS["private"]
NON_PRIVATE = COLOURS["non_private"]
GREY = COLOURS["grey"]
HOLDS = COLOURS["holds"]
DOUBTFUL = COLOURS["doubtful"]
REFUTED = COLOURS["refuted"]
WHITE = COLOURS["white"]
BLACK = COLOURS["black"]
THEMES = ROLES["themes"]  # name: colour on light and on dark paper
AREAS = ROLES["maps"]["areas"]
HEIGHTS = ROLES["maps"]["heights"]
CERTIFIED_LOOK = _look(*ROLES["looks"]["certified"])
PINNED_LOOK = _look(*ROLES["looks"]["pinned"])
ATTACK_LOOK = _look(*ROLES["looks"]["attack"])
SAMPLED_LOOK = _look(*ROLES["looks"]["sampled"])
LOOKS = list(starmap(_look, ROLES["lines"]["accountants"]))
RUNS = list(starmap(_look, ROLES["lines"]["runs"]))
BASELINES = list(starmap(_look, ROLES["lines"]["baselines"]))
BAND = faded(GREY, 0.35)
BELOW_BAND = {  # the hatching of numbers that claim too much privacy
    "shape": "/",
    "size": 12,
    "solidity": 0.1,
    "fgcolor": faded(REFUTED, 0.5),
    "bgcolor": faded(REFUTED, 0.05),
}
SIGNS: dict[str, dict[str, tuple[str, str]]] = {}  # kind of verdicts: verdict: mark and colour
for _kind, _signs in ROLES["signs"].items():
    SIGNS[_kind] = {each: (mark, COLOURS[role]) for each, (mark, role) in _signs.items()}
DEFAULT_ACCOUNTANTS = ("moments", "rdp", "mma", "gdp")


def style_of(name: str) -> Style:
    """The line style of an accountant, by its place in the registry."""
    label = ACCOUNTANTS[name].short or ACCOUNTANTS[name].title
    if name == CERTIFIED:
        return Style(*CERTIFIED_LOOK, label)
    others = [each for each in ACCOUNTANTS if each != CERTIFIED]
    return Style(*look_at(LOOKS, others.index(name)), label)


def run_styles(private: Iterable[bool]) -> list[Style]:
    """The styles of runs on one chart, without labels: those without privacy share a colour.

    >>> baseline, first, second = run_styles([False, True, True])
    >>> (baseline.color, first.color) == (NON_PRIVATE, PRIVATE), second.color == RUNS[1].color
    (True, True)
    """
    looks = {True: cycle(RUNS), False: cycle(BASELINES)}
    return [Style(*next(looks[each]), "") for each in private]


def look_at(looks: Sequence[Look], number: int) -> Look:
    """The look of the line of this number, from 0.

    Past the last look, a colour comes again with another dash.

    >>> looks = (Look("red", "solid", "━━"), Look("blue", "dot", "···"))
    >>> look_at(looks, 1).color, look_at(looks, 2)
    ('blue', Look(color='red', dash='dot', glyph='···'))
    """
    rounds, place = divmod(number, len(looks))
    dashed = looks[(place + rounds) % len(looks)]
    return dashed._replace(color=looks[place].color)
