"""Number lines of epsilon: a claim beside what is proven of it, and an audit's bounds beside what is certified."""

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from textwrap import wrap
from typing import Any, NamedTuple

import plotly.graph_objects as go

from dpcore.figures.style import (
    BAND,
    BELOW_BAND,
    DOUBTFUL,
    GREY,
    HOLDS,
    NORMAL,
    REFUTED,
    Size,
    Style,
    figure_of,
    layout,
    line,
    points,
    written,
)
from dpcore.privacy.report.numbers import outward, plain

HEIGHT = 150
PROVEN = Style(GREY, "solid", "━", "Proven")
WIDE = 1.05  # from this ratio of its ends on the band is an interval: hatched
HATCH = {"shape": "/", "size": 10, "solidity": 0.15, "fgcolor": GREY, "bgcolor": "rgba(128,128,128,0.12)"}
MAX_TICKS = 8
BEYOND = 2.5  # times the largest number, where a band without an upper end is cut off
LINE, MARK = 20, 18  # pixels of a line of text, and of the mark below the last of a row
MAX_LINE_CHARS = 46  # as many as a telephone shows
MARKS = {  # of each kind of evidence: plotly's symbol, and as text
    "bound": ("triangle-right", "▶"),
    "conditional": ("triangle-right-open", "▷"),
    "estimate": ("diamond-open", "◇"),
}
CLAIM = "line-ns-open"
FAR = 4.0  # from this ratio of the furthest numbers on the line is logarithmic


class Stretch(NamedTuple):
    """A number between two ends; the upper one may be infinite."""

    low: float
    high: float


def claim_figure(claimed: str, rounded: Stretch, proven: Stretch, *, size: Size = NORMAL) -> go.Figure:
    """The claim, as it is printed, with the numbers that round to it, and the stretch that is proven.

    Below the proven lower bound no epsilon is kept, and from the upper one on every one is.

    >>> figure = claim_figure("0.83", Stretch(0.825, 0.835), Stretch(0.862, 0.867))
    >>> [trace.name for trace in figure.data]
    ['Not kept', 'Proven', 'Rounds to it', 'Claimed']
    """
    value = float(claimed)
    room = lambda least, most: max(0.15 * (most - least), 0.01 * most)  # noqa: E731
    low, high = _ends([value, *rounded, *proven], room, BEYOND if math.isinf(proven.high) else 1.0)
    worth = REFUTED if rounded.high < proven.low else HOLDS if value >= proven.high else DOUBTFUL
    claim = Style(worth, "solid", "┃", "Claimed")
    look = {"fillpattern": HATCH} if proven.high > WIDE * proven.low else {"fillcolor": BAND}
    traces = [
        _filled("Not kept", low, proven.low, {"fillpattern": BELOW_BAND}),
        _filled("Proven", proven.low, min(proven.high, high), look),
        line([rounded.low, rounded.high], [0.5, 0.5], claim._replace(label="Rounds to it"), hoverinfo="skip"),
        line([value, value], [0.0, 1.0], claim, hovertemplate=f"claimed {claimed}<extra></extra>"),
    ]
    shape = layout("epsilon", "", height=HEIGHT, size=size, hovermode="closest")
    shape["margin"] |= {"l": size.scaled(12), "t": size.scaled(44)}
    shape["xaxis"] |= _axis(low, high)
    shape["yaxis"] |= {"visible": False, "range": [0, 1]}
    shape["annotations"] = [
        _key(PROVEN, f"proven: {_told(proven)}", 0.0, "left", size),
        _key(claim, f"claimed {claimed}", 1.0, "right", size),
    ]
    return figure_of(traces, shape, size)


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


def _ends(numbers: Sequence[float], room: Callable[[float, float], float], beyond: float = 1.0) -> tuple[float, float]:
    """The ends of the line: all finite numbers above 0 lie within, with `room` beside the smallest and the largest."""
    shown = [each for each in numbers if 0 < each < math.inf] or [1.0]
    least, most = min(shown), max(shown) * beyond
    if most / least > FAR:
        return least / 1.3, most * 1.3
    return max(0.0, least - room(least, most)), most + room(least, most)


def _axis(low: float, high: float) -> dict[str, Any]:
    """The x axis between two ends."""
    if low > 0 and high / low > FAR:
        return {"type": "log", "range": [math.log10(low), math.log10(high)]} | round_ticks(low, high)
    return {"range": [low, high], "nticks": 6}


def round_ticks(low: float, high: float) -> dict[str, Any]:
    """Round numbers along a logarithmic line: left to itself plotly writes their first digits alone.

    >>> round_ticks(3.0, 60.0)["ticktext"]
    ['5', '10', '20', '50']
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values = [digit * 10.0**power for power in powers for digit in (1, 2, 5) if low <= digit * 10.0**power <= high]
    every = -(-len(values) // MAX_TICKS)
    return {"tickvals": values[::every], "ticktext": [plain(each) for each in values[::every]]}


def _filled(name: str, low: float, high: float, look: dict[str, Any], height: float = 1.0) -> dict[str, Any]:
    """A stretch of the line, over its whole height."""
    x, y = [low, low, max(low, high), max(low, high)], [0.0, height, height, 0.0]
    outline = line(x, y, PROVEN._replace(label=name), fill="toself", hoverinfo="skip")
    return outline | {"line": {"width": 0, "color": PROVEN.color}} | look


def _key(style: Style, text: str, x: float, side: str, size: Size) -> dict[str, Any]:
    """The meaning of a mark of the line, above it."""
    place = {"x": x, "xanchor": side, "y": 1, "yref": "paper", "yanchor": "bottom", "yshift": 8}
    return written(style, text, size) | place


class Shown(NamedTuple):
    """A lower bound of epsilon that an audit shows, which may be infinite; in words, and what kind of number it is."""

    value: float
    words: str
    evidence: str
    fails: bool = False  # the audit rejects what is claimed


class Claimed(NamedTuple):
    """An accountant's number for what is charged; in words."""

    value: float
    words: str
    refuted: bool = False


class _Row(NamedTuple):
    """A row of the line: its mark, and what stands above it."""

    value: float
    words: str
    symbol: str
    glyph: str
    color: str


def audit_line_figure(
    shown: Sequence[Shown],
    certified: Stretch,
    claimed: Sequence[Claimed],
    words: str,
    *,
    kept: bool = True,
    size: Size = NORMAL,
) -> go.Figure:
    """Rows from above: lower bounds, the certified band with its words, and accountants' numbers.

    The band crosses all rows: what is shown should lie left of its end, what is claimed not left of its beginning. It
    is red where it is not kept.

    >>> shown, claimed = [Shown(2.0, "Noise", "bound")], [Claimed(1.0, "CLT", True)]
    >>> figure = audit_line_figure(shown, Stretch(2.5, 2.6), claimed, "Own")
    >>> [trace.name for trace in figure.data]
    ['Certified', 'Noise', 'Own', 'CLT']
    """
    above = [_Row(each.value, each.words, *MARKS[each.evidence], REFUTED if each.fails else HOLDS) for each in shown]
    below = [_Row(each.value, each.words, CLAIM, "┃", REFUTED if each.refuted else HOLDS) for each in claimed]
    rows = [*above, _Row(certified.high, words, CLAIM, "━", GREY if kept else REFUTED), *below]
    low, high = _ends([*(row.value for row in rows), certified.low], lambda _, most: 0.2 * most)
    tops = [0, *accumulate(_height(row) for row in rows)]  # in pixels of normal text, from the top
    marks = [_mark(row, top, high) for row, top in zip(rows, tops, strict=False)]
    look = {"fillcolor": BAND, "line": {"width": 1.2, "color": GREY if kept else REFUTED}}
    traces = [_filled("Certified", certified.low, min(certified.high, high), look, tops[-1]), *marks]
    shape = layout("epsilon", "", height=size.scaled(tops[-1] + 72), size=size, hovermode="closest")
    shape["margin"] |= {"l": size.scaled(8), "t": size.scaled(8)}
    shape["xaxis"] |= _axis(low, high)
    shape["yaxis"] |= {"visible": False, "range": [tops[-1] + 8, -8]}
    shape["annotations"] = [_text(row, top, size) for row, top in zip(rows, tops, strict=False)]
    return figure_of(traces, shape, size)


def audit_line_alt(shown: Sequence[Shown], words: str, claimed: Sequence[Claimed]) -> str:
    """The line in a sentence.

    >>> audit_line_alt([Shown(2.0, "Noise ≥ 2", "bound")], "certified 2.5 to 2.6", [Claimed(3.0, "Rényi DP ≤ 3")])
    'Number line of epsilon. Shown: Noise ≥ 2. In the middle: certified 2.5 to 2.6. Accountants: Rényi DP ≤ 3.'
    """
    audits = "; ".join(each.words for each in shown) or "nothing"
    counts = "; ".join(each.words for each in claimed) or "none"
    return f"Number line of epsilon. Shown: {audits}. In the middle: {words}. Accountants: {counts}."


def _lines(row: _Row) -> list[str]:
    return wrap(row.words, MAX_LINE_CHARS)


def _height(row: _Row) -> int:
    return LINE * len(_lines(row)) + MARK


def _mark(row: _Row, top: int, high: float) -> dict[str, Any]:
    """One number, below what is said of it; what is infinite stands at the right end."""
    x, y = min(row.value, high / 1.05), top + _height(row) - MARK / 2
    marker = {"symbol": row.symbol, "color": row.color, "size": 13, "line": {"width": 2.5, "color": row.color}}
    told = {"name": row.words, "hovertemplate": f"{row.words}<extra></extra>"}
    return points([x], [y], marker, cliponaxis=False, **told)


def _text(row: _Row, top: int, size: Size) -> dict[str, Any]:
    """The words of a row, above its mark and over the whole width."""
    note = written(Style(row.color, "solid", row.glyph, row.words), "<br>".join(_lines(row)), size)
    return note | {"x": 0, "xanchor": "left", "y": top, "yref": "y", "yanchor": "top"}
