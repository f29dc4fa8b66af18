"""Number lines of epsilon: of a claim with its proven bounds, and of an audit."""

import math
from collections.abc import Sequence
from itertools import pairwise
from textwrap import wrap
from typing import NamedTuple

import plotly.graph_objects as go

from dpcore.figures.layout import (
    Axis,
    Note,
    Numbers,
    Trace,
    axis,
    figure_of,
    line,
    log_axis,
    points,
    round_numbers,
    written,
)
from dpcore.figures.style import BAND, BELOW_BAND, DOUBTFUL, GREY, HOLDS, REFUTED, Style, faded
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
    "bgcolor": faded(GREY, 0.12),
}
MAX_TICKS = 8
RULED = {  # an axis is seen as one by its line and its ticks
    "showline": True,
    "linecolor": GREY,
    "ticks": "outside",
    "ticklen": 6,
    "tickcolor": GREY,
}
BEYOND = 2.5  # times the largest number, where a band without an upper end is cut off
ROW = 30  # pixels of a row
LINE = 18  # pixels of each further line of its label
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


class NumberLine(NamedTuple):
    """The x axis, logarithmic if it is long."""

    low: float
    high: float

    @property
    def log(self) -> bool:
        return self.low > 0 and self.high / self.low > FAR

    def place(self, value: float) -> float:
        """The share of the line's length that is left of a value; 0 for one left of the line."""
        value = max(value, self.low)
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    @property
    def axis(self) -> Axis:
        if not self.log:
            return axis("epsilon", range=[self.low, self.high], nticks=6, **RULED)
        ticks = round_numbers(self.low, self.high)  # Plotly alone writes their first digits
        kept = ticks[:: math.ceil(len(ticks) / MAX_TICKS)]
        return axis("epsilon", **log_axis(self.low, self.high, kept, plain), **RULED)


def claim_figure(claimed: str, rounded: Stretch, proven: Stretch) -> go.Figure:
    """Draw a claim as it is printed, the numbers that round to it, and the proven bounds.

    The bounds part the line into claims that are refuted, unproven, and that hold.

    >>> figure = claim_figure("0.83", Stretch(0.825, 0.835), Stretch(0.862, 0.867))
    >>> [trace.name for trace in figure.data]
    ['Refuted', 'Unproven', 'Rounds to it', 'Claimed']
    """
    value = float(claimed)
    least, most = _extremes([value, *rounded, *proven])
    if math.isinf(proven.high):
        most *= BEYOND
    ends = _line_over(least, most, max(0.15 * (most - least), 0.01 * most))
    shown = min(proven.high, ends.high)
    claim = Style(_judged(value, rounded, proven), "solid", "┃", "Claimed")
    between: Trace = {"fillcolor": BAND}
    if proven.high > WIDE * proven.low:
        between = {"fillpattern": HATCH}
    rounds = claim._replace(label="Rounds to it")
    hover = f"claimed {claimed}<extra></extra>"
    traces = [
        _filled("Refuted", ends.low, proven.low, {"fillpattern": BELOW_BAND}),
        _filled("Unproven", proven.low, shown, between),
        line([*rounded], [0.5, 0.5], rounds, hoverinfo="skip"),
        line([value, value], [0.0, 1.0], claim, hovertemplate=hover),
    ]
    at = ends.place(value)
    words = written(PROVEN, f"proven: {_in_words(proven)}")
    label = written(claim, "") | {"text": f"claimed {claimed}"}
    notes = [_note(words, 0.0, "left", 26), _note(label, at, _side(at), 4)]
    places = map(ends.place, (ends.low, proven.low, shown, ends.high))
    for word, (start, end) in zip(PARTS, pairwise(places), strict=True):
        if end - start > NAMED:
            text = written(PROVEN, "") | {"text": word}
            notes.append(_note(text, (start + end) / 2, "center", -64))
    return figure_of(
        traces,
        ends.axis,
        axis("", visible=False, range=[0, 1]),
        notes=notes,
        height=HEIGHT,
        left=12,
        top=56,
        hovermode="closest",
        dragmode=False,
    )


def _judged(value: float, rounded: Stretch, proven: Stretch) -> str:
    """The colour of a claim: refuted if all numbers that round to it are too small."""
    if rounded.high < proven.low:
        return REFUTED
    return HOLDS if value >= proven.high else DOUBTFUL


def _side(place: float) -> str:
    """The anchor of a text at a share of the line, which must not leave the line."""
    if place < 0.5 * NAMED:
        return "left"
    return "right" if place > 1 - 0.5 * NAMED else "center"


def claim_alt(claimed: str, proven: Stretch) -> str:
    """Say the claim and the proven bounds in a sentence.

    >>> claim_alt("0.83", Stretch(0.862, math.inf))
    'Number line of epsilon: at least 0.862 is proven, and 0.83 is claimed.'
    """
    return f"Number line of epsilon: {_in_words(proven)} is proven, and {claimed} is claimed."


def _in_words(proven: Stretch) -> str:
    if math.isinf(proven.high):
        return f"at least {outward(proven.low, math.floor)}"
    return f"{outward(proven.low, math.floor)} to {outward(proven.high, math.ceil)}"


def _line_over(least: float, most: float, room: float) -> NumberLine:
    """A line with `room` beside the smallest and the largest number."""
    if most / least > FAR:
        return NumberLine(least / 1.3, most * 1.3)
    return NumberLine(max(0.0, least - room), most + room)


def _extremes(numbers: Numbers) -> tuple[float, float]:
    """The smallest and the largest finite number above 0."""
    shown = [each for each in numbers if 0 < each < math.inf] or [1.0]
    return min(shown), max(shown)


def _filled(name: str, low: float, high: float, look: Trace, height: float = 1.0) -> Trace:
    """A stretch of the line, over its whole height."""
    end = max(low, high)
    style = PROVEN._replace(label=name)
    x = [low, low, end, end]
    y = [0.0, height, height, 0.0]
    return line(x, y, style, width=0, fill="toself", hoverinfo="skip") | look


def _note(text: Note, x: float, side: str, up: int) -> Note:
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
    """A number on the line of an audit: a test's lower bound or an accountant's epsilon."""

    value: float  # infinite if a test shows that no epsilon holds
    label: str  # beside it
    kind: str  # one of MARKS
    color: str = HOLDS
    refuted: bool = False  # a test that fails, or the claim that it refutes


def audit_line_figure(
    measured: Sequence[Mark],
    certified: Stretch,
    claim: Mark,
    accountants: Sequence[Mark],
) -> go.Figure:
    """Draw a row for each number, with its label left of the plot.

    The rows are those of tests, of the certified claim and of accountants.
    The certified band crosses all rows: a correct trainer's tests lie left of its end, and sound
    accountants do not lie left of its beginning. A dotted line leads down from the test that
    refutes the claim.

    >>> tests = [Mark(2.0, "Noise", "bound")]
    >>> accountants = [Mark(3.0, "Moments", CLAIM)]
    >>> claim = Mark(2.6, "Certified", CLAIM)
    >>> figure = audit_line_figure(tests, Stretch(2.5, 2.6), claim, accountants)
    >>> [trace.name for trace in figure.data]
    ['Certified', 'Noise', 'Certified', 'Moments']
    """
    rows = [*measured, claim, *accountants]
    least, most = _extremes([*(row.value for row in rows), certified.low])
    ends = _line_over(least, most, 0.2 * most)
    labels = []
    middles = []  # of the rows, in pixels from the top
    marks = []
    bottom = 0
    for row in rows:
        lines = wrap(row.label, LABEL_CHARS)
        height = ROW + LINE * max(len(lines) - 1, 0)
        middle = bottom + height / 2
        sign = f'<span style="color:{REFUTED}">✕</span> ' if row.refuted else ""
        labels.append(f"{sign}{'  <br>'.join(lines)}  ")
        middles.append(middle)
        marks.append(_mark(row, middle, ends.high))
        bottom += height
    edge = {"width": 1.2, "color": REFUTED if claim.refuted else GREY}
    look = {"fillcolor": BAND, "line": edge}
    traces = [_filled("Certified", certified.low, min(certified.high, ends.high), look, bottom)]
    if claim.refuted:
        traces += _refutation(measured, claim, middles, bottom, ends.high)
    up = axis("", range=[bottom + 4, -4], tickvals=middles, ticktext=labels)
    return figure_of(
        [*traces, *marks],
        ends.axis,
        up | {"automargin": True, "showgrid": False},
        height=bottom + 60,
        left=8,
        top=8,
        hovermode="closest",
        dragmode=False,
    )


def _refutation(
    measured: Sequence[Mark], claim: Mark, middles: Numbers, bottom: float, high: float
) -> list[Trace]:
    """A dotted line from the first test that refutes the claim down to the axis."""
    dotted = PROVEN._replace(color=REFUTED, dash="dot")
    for row, middle in zip(measured, middles, strict=False):
        if row.refuted and row.value > claim.value:
            x = min(row.value, high / 1.05)
            return [line([x, x], [middle, bottom], dotted, width=1.5, hoverinfo="skip")]
    return []


def audit_line_alt(measured: Sequence[Mark], claim: Mark, accountants: Sequence[Mark]) -> str:
    """Say the line in a sentence.

    >>> claim = Mark(2.6, "Certified 2.5 to 2.6", CLAIM)
    >>> audit_line_alt([Mark(2.0, "Noise ≥ 2", "bound")], claim, [])
    'Number line of epsilon. Tests: Noise ≥ 2. Claim: Certified 2.5 to 2.6. Accountants: none.'
    """
    tests = "; ".join(each.label for each in measured) or "none"
    others = "; ".join(each.label for each in accountants) or "none"
    return f"Number line of epsilon. Tests: {tests}. Claim: {claim.label}. Accountants: {others}."


def _mark(row: Mark, y: float, high: float) -> Trace:
    """Draw one number; an infinite one stands at the right end."""
    color = REFUTED if row.refuted else row.color
    symbol, _ = MARKS[row.kind]
    edge = {"width": 2.5, "color": color}
    return points(
        [min(row.value, high / 1.05)],
        [y],
        {"symbol": symbol, "color": color, "size": 13, "line": edge},
        cliponaxis=False,
        name=row.label,
        hovertemplate=f"{row.label}<extra></extra>",
    )
