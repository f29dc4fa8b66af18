"""How each accountant looks, everywhere: one colour and one dash pattern, legible on light and on dark paper."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.types import FloatArray


class Style(NamedTuple):
    """A line: colour with a contrast of at least 3:1 against white and near-black, plotly dash, the dash as text."""

    color: str
    dash: str
    glyph: str
    label: str


LOOKS = (  # colour, dash, glyph of the accountants but the certified one, in their order
    ("#2b7bd3", "dash", "╌╌"),
    ("#d2601a", "dashdot", "╌·"),
    ("#c04fa8", "dot", "···"),
    ("#2e9150", "longdash", "— —"),
    ("#8a6fd1", "longdashdot", "—·"),
    ("#a07c10", "6px,2px,2px,2px", "-··"),
    ("#cf4a5a", "2px,6px", "· ·"),
)
CERTIFIED_LOOK = ("#808080", "solid", "━━")
BAND = "rgba(128,128,128,0.35)"
DEFAULT_ACCOUNTANTS = ("moments", "rdp", "mma", "gdp")
RUNS = ("#2b7bd3", "#d2601a", "#2e9150", "#c04fa8", "#8a6fd1", "#a07c10")  # overlaid runs, in order


def style_of(name: str) -> Style:
    """The line style of an accountant, by its place in the registry.

    Past the last look the colours begin again, each with another dash.
    """
    if name == CERTIFIED:
        return Style(*CERTIFIED_LOOK, ACCOUNTANTS[name].title)
    rounds, place = divmod([each for each in ACCOUNTANTS if each != CERTIFIED].index(name), len(LOOKS))
    color, (_, dash, glyph) = LOOKS[place][0], LOOKS[(place + rounds) % len(LOOKS)]
    return Style(color, dash, glyph, ACCOUNTANTS[name].title)


def layout(x: str, y: str, *, height: int = 430, right: int = 12, **more: Any) -> dict[str, Any]:
    """The layout that every chart shares; colours of paper and text are left to the theme."""
    return {
        "height": height,
        "margin": {"l": 56, "r": right, "t": 16, "b": 48},
        "showlegend": False,
        "hovermode": "x unified",
        "xaxis": {"title": {"text": x}, "zeroline": False},
        "yaxis": {"title": {"text": y}, "zeroline": False},
        **more,
    }


def told(values: FloatArray, written: Callable[[float], str]) -> dict[str, Any]:
    """What the hover says of bounds (n,): as they are written, since plotly's own formats round to the nearest."""
    texts = ["" if math.isnan(each) else written(each) for each in values.tolist()]
    return {"text": texts, "hovertemplate": "%{text}"}


def line(x: Any, y: Any, style: Style, **more: Any) -> dict[str, Any]:
    """A scatter trace in one style, as a plain dict: building plotly's own objects is several times slower."""
    pen = {"color": style.color, "dash": style.dash, "width": 2.2}
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": pen, "name": style.label, **more}
