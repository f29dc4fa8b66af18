"""Number lines of epsilon: a claim beside its proven bounds, and an audit's bounds beside the
certified value.
"""

import math
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from textwrap import wrap
from typing import Any, NamedTuple

import plotly.graph_objects as go

from dpcore.figures.layout import NORMAL, Size, figure_of, layout, line, points, written
from dpcore.figures.style import BAND, BELOW_BAND, DOUBTFUL, GREY, HOLDS, REFUTED, Style
from dpcore.privacy.report.numbers import outward, plain

HEIGHT = 170
PARTS = ("refuted", "unproven", "holds")  # of the line of a claim
NAMED = 0.2  # share of the line from which on a part has room for its name, on a telephone too
PROVEN = Style(GREY, "solid", "━", "Proven")
WIDE = 1.05  # from this ratio of its ends on the band is an interval: hatched
HATCH = {
    "shape": "/",
    "size": 10,
    "solidity": 0.15,
    "fgcolor": GREY,
    "bgcolor": "rgba(128,128,128,0.12)",
}
MAX_TICKS = 8
BEYOND = 2.5  # times the largest number, where a band without an upper end is cut off
ROW, LINE = 30, 18  # pixels of a row, and of each further line of its label
LABEL_CHARS = 26  # in a line of a label: a telephone has room for the plot beside it
CLAIM = "claim"
MARKS = {  # of each kind of number: plotly's symbol, and as text
    "bound": ("triangle-right", "▶"),
    "conditional": ("triangle-right-open", "▷"),
    "estimate": ("diamond-open", "◇"),
    CLAIM: ("line-ns-open", "┃"),
}
FAR = 4.0  # from this ratio of the furthest numbers on the line is logarithmic


class Stretch(NamedTuple):
    """A number between two ends; the upper one may be infinite."""

    low: float
    high: float


def claim_figure(
    claimed: str, rounded: Stretch, proven: Stretch, *, size: Size = NORMAL
) -> go.Figure:
    """Draw a claim as it is printed, the numbers that round to it, and the proven bounds.

    The bounds part the line into claims that are refuted, unproven, and that hold.

    >>> figure = claim_figure("0.83", Stretch(0.825, 0.835), Stretch(0.862, 0.867))
    >>> [trace.name for trace in figure.data]
    ['Refuted', 'Unproven', 'Rounds to it', 'Claimed']
    """
    value = float(claimed)
    room = lambda least, most: max(0.15 * (most - least), 0.01 * most)  # noqa: E731
    low, high = _ends([value, *rounded, *proven], room, BEYOND if math.isinf(proven.high) else 1.0)
    worth = REFUTED if rounded.high < proven.low else HOLDS if value >= proven.high else DOUBTFUL
    claim = Style(worth, "solid", "┃", "Claimed")
    look = {"fillpattern": HATCH} if proven.high > WIDE * proven.low else {"fillcolor": BAND}
    traces = [
        _filled("Refuted", low, proven.low, {"fillpattern": BELOW_BAND}),
        _filled("Unproven", proven.low, min(proven.high, high), look),
        line(
            [rounded.low, rounded.high],
            [0.5, 0.5],
            claim._replace(label="Rounds to it"),
            hoverinfo="skip",
        ),
        line([value, value], [0.0, 1.0], claim, hovertemplate=f"claimed {claimed}<extra></extra>"),
    ]
    shape = layout("epsilon", "", height=HEIGHT, size=size, hovermode="closest", dragmode=False)
    shape["margin"] |= {"l": size.scaled(12), "t": size.scaled(56)}
    shape["xaxis"] |= _axis(low, high)
    shape["yaxis"] |= {"visible": False, "range": [0, 1]}
    places = [
        _place(each, low, high) for each in (low, proven.low, min(proven.high, high), high, value)
    ]
    side = (
        "left"
        if places[-1] < 0.5 * NAMED
        else "right"
        if places[-1] > 1 - 0.5 * NAMED
        else "center"
    )
    shape["annotations"] = [
        _note(written(PROVEN, f"proven: {_told(proven)}", size), 0.0, "left", size.scaled(26)),
        _note(written(claim, "", size) | {"text": f"claimed {claimed}"}, places[-1], side, size.scaled(4)),
        *(_note(written(PROVEN, "", size) | {"text": word}, (start + end) / 2, "center", -size.scaled(64))
          for word, start, end in zip(PARTS, places[:3], places[1:4], strict=True) if end - start > NAMED),
    ]  # fmt: skip
    return figure_of(traces, shape, size)


def claim_alt(claimed: str, proven: Stretch) -> str:
    """Say the claim and the proven bounds in a sentence.

    >>> claim_alt("0.83", Stretch(0.862, math.inf))
    'Number line of epsilon: at least 0.862 is proven, and 0.83 is claimed.'
    """
    return f"Number line of epsilon: {_told(proven)} is proven, and {claimed} is claimed."


def _told(proven: Stretch) -> str:
    if math.isinf(proven.high):
        return f"at least {outward(proven.low, math.floor)}"
    return f"{outward(proven.low, math.floor)} to {outward(proven.high, math.ceil)}"


def _place(value: float, low: float, high: float) -> float:
    """The share of the line's length that is left of a value; 0 for a value left of the line."""
    value = max(value, low)
    return (
        math.log(value / low) / math.log(high / low)
        if _logarithmic(low, high)
        else (value - low) / (high - low)
    )


def _ends(
    numbers: Sequence[float], room: Callable[[float, float], float], beyond: float = 1.0
) -> tuple[float, float]:
    """Ends of the line: all finite numbers above 0 lie within, with `room` beside the smallest and
    the largest.
    """
    shown = [each for each in numbers if 0 < each < math.inf] or [1.0]
    least, most = min(shown), max(shown) * beyond
    if most / least > FAR:
        return least / 1.3, most * 1.3
    return max(0.0, least - room(least, most)), most + room(least, most)


def _logarithmic(low: float, high: float) -> bool:
    return low > 0 and high / low > FAR


def _axis(low: float, high: float) -> dict[str, Any]:
    if _logarithmic(low, high):
        return {"type": "log", "range": [math.log10(low), math.log10(high)]} | round_ticks(
            low, high
        )
    return {"range": [low, high], "nticks": 6}


def round_ticks(low: float, high: float) -> dict[str, Any]:
    """Round numbers along a logarithmic line: left to itself plotly writes their first digits
    alone.

    >>> round_ticks(3.0, 60.0)["ticktext"]
    ['5', '10', '20', '50']
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values = [
        digit * 10.0**power
        for power in powers
        for digit in (1, 2, 5)
        if low <= digit * 10.0**power <= high
    ]
    every = -(-len(values) // MAX_TICKS)
    return {"tickvals": values[::every], "ticktext": [plain(each) for each in values[::every]]}


def _filled(
    name: str, low: float, high: float, look: dict[str, Any], height: float = 1.0
) -> dict[str, Any]:
    """A stretch of the line, over its whole height."""
    x, y = [low, low, max(low, high), max(low, high)], [0.0, height, height, 0.0]
    return line(x, y, PROVEN._replace(label=name), width=0, fill="toself", hoverinfo="skip") | look


def _note(text: dict[str, Any], x: float, side: str, up: int) -> dict[str, Any]:
    """Place a text at a share of the line's length, `up` pixels above its upper edge."""
    return text | {
        "x": x,
        "xanchor": side,
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "yshift": up,
    }


class Mark(NamedTuple):
    """A number on the line of an audit: a test's lower bound, which may be infinite, or an
    accountant's epsilon.
    """

    value: float
    label: str  # beside it
    kind: str  # one of MARKS
    color: str = HOLDS
    refuted: bool = False  # a test that fails, or the claim that it refutes


def audit_line_figure(
    measured: Sequence[Mark],
    certified: Stretch,
    claim: Mark,
    accountants: Sequence[Mark],
    *,
    size: Size = NORMAL,
) -> go.Figure:
    """Draw a row for each number, with its label left of the plot: tests, the certified claim,
    accountants.

    The certified band crosses all rows: a correct trainer's tests lie left of its end, and sound
    accountants do not lie left of its beginning. A dotted line leads down from the test that
    refutes the claim.

    >>> tests, accountants = [Mark(2.0, "Noise", "bound")], [Mark(3.0, "Moments", CLAIM)]
    >>> figure = audit_line_figure(tests, Stretch(2.5, 2.6), Mark(2.6, "Certified", CLAIM), accountants)
    >>> [trace.name for trace in figure.data]
    ['Certified', 'Noise', 'Certified', 'Moments']
    """
    rows = [*measured, claim, *accountants]
    low, high = _ends([*(row.value for row in rows), certified.low], lambda _, most: 0.2 * most)
    texts = ["  <br>".join(wrap(row.label, LABEL_CHARS)) for row in rows]
    # In pixels of normal text, from the top.
    ends = [0, *accumulate(ROW + LINE * text.count("<br>") for text in texts)]
    middles = [(start + end) / 2 for start, end in pairwise(ends)]
    edge = {"fillcolor": BAND, "line": {"width": 1.2, "color": REFUTED if claim.refuted else GREY}}
    traces = [_filled("Certified", certified.low, min(certified.high, high), edge, ends[-1])]
    if claim.refuted:
        first = next(
            place for place, row in enumerate(measured) if row.refuted and row.value > claim.value
        )
        x, dotted = min(rows[first].value, high / 1.05), PROVEN._replace(color=REFUTED, dash="dot")
        traces.append(line([x, x], [middles[first], ends[-1]], dotted, width=1.5, hoverinfo="skip"))
    traces += [_mark(row, middle, high) for row, middle in zip(rows, middles, strict=True)]
    shape = layout(
        "epsilon",
        "",
        height=size.scaled(ends[-1] + 60),
        size=size,
        hovermode="closest",
        dragmode=False,
    )
    shape["margin"] |= {"l": size.scaled(8), "t": size.scaled(8)}
    shape["xaxis"] |= _axis(low, high)
    signs = [f'<span style="color:{REFUTED}">✕</span> ' if row.refuted else "" for row in rows]
    labels = [f"{sign}{text}  " for sign, text in zip(signs, texts, strict=True)]
    shape["yaxis"] |= {"range": [ends[-1] + 4, -4], "tickvals": middles, "ticktext": labels, "automargin": True,
                       "showgrid": False}  # fmt: skip
    return figure_of(traces, shape, size)


def audit_line_alt(measured: Sequence[Mark], claim: Mark, accountants: Sequence[Mark]) -> str:
    """Say the line in a sentence.

    >>> audit_line_alt([Mark(2.0, "Noise ≥ 2", "bound")], Mark(2.6, "Certified 2.5 to 2.6", CLAIM), [])
    'Number line of epsilon. Tests: Noise ≥ 2. Claim: Certified 2.5 to 2.6. Accountants: none.'
    """
    tests, counts = (
        "; ".join(each.label for each in rows) or "none" for rows in (measured, accountants)
    )
    return f"Number line of epsilon. Tests: {tests}. Claim: {claim.label}. Accountants: {counts}."


def _mark(row: Mark, y: float, high: float) -> dict[str, Any]:
    """Draw one number; an infinite one stands at the right end."""
    color = REFUTED if row.refuted else row.color
    marker = {
        "symbol": MARKS[row.kind][0],
        "color": color,
        "size": 13,
        "line": {"width": 2.5, "color": color},
    }
    told = {"name": row.label, "hovertemplate": f"{row.label}<extra></extra>"}
    return points([min(row.value, high / 1.05)], [y], marker, cliponaxis=False, **told)
