"""A claimed epsilon on the number line, beside what is proven of it."""

import math
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore.figures.labels import written
from dpcore.figures.style import BAND, BELOW_BAND, NORMAL, Size, Style, drawn, layout, line
from dpcore.privacy.report.numbers import outward, plain

HEIGHT = 150
CLAIMED = Style("#427db7", "solid", "┃", "Claimed")
PROVEN = Style("#808080", "solid", "━", "Proven")
WIDE = 1.05  # from this ratio of its ends on the band is an interval: hatched
FAR = 4.0  # from this ratio of the furthest numbers on the line is logarithmic
HATCH = {"shape": "/", "size": 10, "solidity": 0.15, "fgcolor": "#808080", "bgcolor": "rgba(128,128,128,0.12)"}
MOST_TICKS = 8
BEYOND = 2.5  # times the largest number, where a band without an upper end is cut off


class Stretch(NamedTuple):
    """A number between two ends; the upper one may be infinite."""

    low: float
    high: float


def claim_figure(
    claimed: str, rounded: Stretch, proven: Stretch, *, height: int = HEIGHT, size: Size = NORMAL
) -> go.Figure:
    """What is claimed, as it is printed, with the numbers that round to it, and the stretch that is proven.

    Below the proven lower bound no epsilon is kept, and from the upper one on every one is.

    >>> figure = claim_figure("0.83", Stretch(0.825, 0.835), Stretch(0.862, 0.867))
    >>> [trace.name for trace in figure.data]
    ['Not kept', 'Proven', 'Rounds to it', 'Claimed']
    """
    value = float(claimed)
    low, high = _ends(value, rounded, proven)
    log = low > 0 and high / low > FAR
    upper = min(proven.high, high)
    traces = [
        _filled("Not kept", low, proven.low, {"fillpattern": BELOW_BAND}),
        _filled("Proven", proven.low, upper, {"fillpattern": HATCH} if _wide(proven) else {"fillcolor": BAND}),
        line([rounded.low, rounded.high], [0.5, 0.5], CLAIMED._replace(label="Rounds to it"), hoverinfo="skip"),
        line([value, value], [0.0, 1.0], CLAIMED, hovertemplate=f"claimed {claimed}<extra></extra>"),
    ]
    shape = layout("epsilon", "", height=height, size=size, hovermode="closest")
    shape["margin"] |= {"l": size.scaled(12), "t": size.scaled(44)}
    ends = [math.log10(low), math.log10(high)] if log else [low, high]
    shape["xaxis"] |= {"range": ends} | ({"type": "log"} | round_ticks(low, high) if log else {"nticks": 6})
    shape["yaxis"] |= {"visible": False, "range": [0, 1]}
    shape["annotations"] = [
        _key(PROVEN, f"proven: {_told(proven)}", 0.0, "left", size),
        _key(CLAIMED, f"claimed {claimed}", 1.0, "right", size),
    ]
    return drawn(traces, shape, size)


def claim_alt(claimed: str, proven: Stretch) -> str:
    """The claim and the stretch in a sentence.

    >>> claim_alt("0.83", Stretch(0.862, math.inf))
    'Number line of epsilon: at least 0.862 is proven, and 0.83 is claimed.'
    """
    return f"Number line of epsilon: {_told(proven)} is proven, and {claimed} is claimed."


def _told(proven: Stretch) -> str:
    if math.isinf(proven.high):
        return f"at least {outward(proven.low, math.floor)}"
    return f"{outward(proven.low, math.floor)} to {outward(proven.high, math.ceil)}"


def _ends(value: float, rounded: Stretch, proven: Stretch) -> tuple[float, float]:
    """The ends of the line: all of its numbers lie within, with room beside them."""
    shown = [each for each in (value, rounded.low, rounded.high, *proven) if 0 < each < math.inf]
    least, most = min(shown), max(shown)
    if math.isinf(proven.high):
        most *= BEYOND
    if most / least > FAR:
        return least / 1.3, most * 1.3
    room = max(0.15 * (most - least), 0.01 * most)
    return max(0.0, least - room), most + room


def round_ticks(low: float, high: float) -> dict[str, Any]:
    """Round numbers along a logarithmic line: left to itself plotly writes their first digits alone.

    >>> round_ticks(3.0, 60.0)["ticktext"]
    ['5', '10', '20', '50']
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values = [digit * 10.0**power for power in powers for digit in (1, 2, 5) if low <= digit * 10.0**power <= high]
    every = -(-len(values) // MOST_TICKS)
    return {"tickvals": values[::every], "ticktext": [plain(each) for each in values[::every]]}


def _wide(proven: Stretch) -> bool:
    return proven.high > WIDE * proven.low


def _filled(name: str, low: float, high: float, look: dict[str, Any]) -> dict[str, Any]:
    """A stretch of the line, over its whole height."""
    x = np.array([low, low, max(low, high), max(low, high)])
    pen = {"width": 0, "color": PROVEN.color}
    outline = {"type": "scatter", "mode": "lines", "x": x, "y": np.array([0.0, 1.0, 1.0, 0.0]), "line": pen}
    return outline | {"fill": "toself", "name": name, "hoverinfo": "skip"} | look


def _key(style: Style, text: str, x: float, side: str, size: Size) -> dict[str, Any]:
    """What a mark of the line means, above it."""
    place = {"x": x, "xanchor": side, "y": 1, "yref": "paper", "yanchor": "bottom", "yshift": 8}
    return written(style, text, size) | place
