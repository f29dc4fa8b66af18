"""The number line of an audit: what was shown is at most what is certified, which is at most what is claimed."""

import math
from collections.abc import Sequence
from itertools import accumulate
from textwrap import wrap
from typing import Any, NamedTuple

import plotly.graph_objects as go

from dpcore.figures.claim import Stretch, round_ticks
from dpcore.figures.labels import written
from dpcore.figures.style import BAND, NORMAL, Size, Style, drawn, layout

LINE, MARK = 20, 18  # pixels of a line of text, and of the mark below the last of a row
LONGEST = 46  # characters of a line: as many as a telephone shows
BROKEN = "#cf4a5a"  # a claim that lies below what is proven, or shown
KEPT = "#2469a6"
GREY = "#808080"
MARKS = {"bound": "triangle-right", "conditional": "triangle-right-open", "estimate": "diamond-open"}
GLYPHS = {"bound": "▶", "conditional": "▷", "estimate": "◇"}
CLAIM = "line-ns-open"
FAR = 4.0  # from this ratio of the furthest numbers on the line is logarithmic


class Shown(NamedTuple):
    """A lower bound of epsilon that an audit shows, which may be infinite; in words, and what kind of number it is."""

    value: float
    words: str
    evidence: str
    fails: bool = False  # the audit rejects what is claimed


class Claimed(NamedTuple):
    """What an accountant gives for what is charged; in words."""

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
    certified: Stretch | None,
    claimed: Sequence[Claimed],
    words: str = "",
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
    above = [
        _Row(each.value, each.words, MARKS[each.evidence], GLYPHS[each.evidence], _color(each.fails)) for each in shown
    ]
    below = [_Row(each.value, each.words, CLAIM, "┃", _color(each.refuted)) for each in claimed]
    middle = [] if certified is None else [_Row(certified.high, words, CLAIM, "━", GREY if kept else BROKEN)]
    rows = [*above, *middle, *below]
    low, high = _ends([row.value for row in rows] + ([] if certified is None else [certified.low]))
    log = low > 0 and high / low > FAR
    tops = [0, *accumulate(_height(row) for row in rows)]  # in pixels of normal text, from the top
    traces = [_mark(row, top, high) for row, top in zip(rows, tops, strict=False)]
    if certified is not None:
        traces.insert(0, _stretch(certified, tops[-1], high, kept))
    shape = layout("epsilon", "", height=size.scaled(tops[-1] + 72), size=size, hovermode="closest")
    shape["margin"] |= {"l": size.scaled(8), "t": size.scaled(8)}
    ends = [math.log10(low), math.log10(high)] if log else [low, high]
    shape["xaxis"] |= {"range": ends} | ({"type": "log"} | round_ticks(low, high) if log else {"nticks": 6})
    shape["yaxis"] |= {"visible": False, "range": [tops[-1] + 8, -8]}
    shape["annotations"] = [_text(row, top, size) for row, top in zip(rows, tops, strict=False)]
    return drawn(traces, shape, size)


def audit_line_alt(shown: Sequence[Shown], words: str, claimed: Sequence[Claimed]) -> str:
    """The line in a sentence.

    >>> audit_line_alt([Shown(2.0, "Noise ≥ 2", "bound")], "certified 2.5 to 2.6", [Claimed(3.0, "Rényi DP ≤ 3")])
    'Number line of epsilon. Shown: Noise ≥ 2. In the middle: certified 2.5 to 2.6. Accountants: Rényi DP ≤ 3.'
    """
    audits = "; ".join(each.words for each in shown) or "nothing"
    counts = "; ".join(each.words for each in claimed) or "none"
    middle = f" In the middle: {words}." if words else ""
    return f"Number line of epsilon. Shown: {audits}.{middle} Accountants: {counts}."


def _color(wrong: bool) -> str:
    return BROKEN if wrong else KEPT


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """The ends of the line: all finite numbers above 0 lie within, with room beside them."""
    some = [each for each in values if 0 < each < math.inf] or [1.0]
    least, most = min(some), max(some)
    if most / least > FAR:
        return least / 1.3, most * 1.3
    return max(0.0, least - 0.2 * most), 1.2 * most


def _lines(row: _Row) -> list[str]:
    return wrap(row.words, LONGEST)


def _height(row: _Row) -> int:
    return LINE * len(_lines(row)) + MARK


def _mark(row: _Row, top: int, high: float) -> dict[str, Any]:
    """One number, below what is said of it; what is infinite stands at the right end."""
    x, y = min(row.value, high / 1.05), top + _height(row) - MARK / 2
    marker = {"symbol": row.symbol, "color": row.color, "size": 13, "line": {"width": 2.5, "color": row.color}}
    return {"type": "scatter", "mode": "markers", "x": [x], "y": [y], "marker": marker, "name": row.words,
            "hovertemplate": f"{row.words}<extra></extra>", "cliponaxis": False}  # fmt: skip


def _stretch(certified: Stretch, below: int, high: float, kept: bool) -> dict[str, Any]:
    """The certified band, over all rows."""
    end, pen = min(certified.high, high), {"width": 1.2, "color": GREY if kept else BROKEN}
    return {"type": "scatter", "mode": "lines", "x": [certified.low, certified.low, end, end],
            "y": [below, 0, 0, below], "line": pen, "fill": "toself", "fillcolor": BAND, "name": "Certified",
            "hoverinfo": "skip"}  # fmt: skip


def _text(row: _Row, top: int, size: Size) -> dict[str, Any]:
    """What a row says, above its mark and over the whole width."""
    note = written(Style(row.color, "solid", row.glyph, row.words), "<br>".join(_lines(row)), size)
    return note | {"x": 0, "xanchor": "left", "y": top, "yref": "y", "yanchor": "top"}
