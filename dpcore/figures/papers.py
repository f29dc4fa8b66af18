"""The papers' figures, drawn again: curves in the colours of their accountants, and maps of areas."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import cycle
from textwrap import wrap
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dpcore.figures.epsilon import at_least
from dpcore.figures.heatmap import INK, SHADE, cells_of, log_axis
from dpcore.figures.layout import (
    LINE_PIXELS,
    NORMAL,
    End,
    Size,
    figure_of,
    hover_text,
    labelled,
    layout,
    with_key,
)
from dpcore.figures.layout import line as trace_of
from dpcore.figures.style import (
    ATTACK_LOOK,
    BAND,
    CERTIFIED_LOOK,
    LOOKS,
    PINNED_LOOK,
    RUNS,
    SAMPLED_LOOK,
    Style,
    style_of,
)
from dpcore.papers.paper import Cells, Drawing, Line, Map
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.numbers import marked, nearest, short

# Of lines that are no accountant's, beside some.
OTHERS = (SAMPLED_LOOK, (ATTACK_LOOK[0], "dash", "╌╌"), PINNED_LOOK)
LETTER = 7.6  # pixels of a letter of normal text
NAME = 28  # letters in a line of a label
HEIGHT = 430
WORD = 12  # letters in a line of an area's word
# The worst first; white is legible on all of them.
AREAS = ("#9c2f4f", "#7d4a1e", "#2d5f9a", "#0f5c4c", "#55565a")
ERROR = "type II error"  # on the y axis of trade-off functions, which all end in one point
EARLY = 0.1  # of the x axis: the alt text reads trade-off functions here
FEW = 20  # most points of a line with markers
MIN_SHOWN = 1e-12  # smallest number on a logarithmic axis


def drawing_figure(drawing: Drawing, lines: Sequence[Line], *, size: Size = NORMAL) -> go.Figure:
    """Draw the curves of a drawing, named in a corner if they are trade-off functions, otherwise
    beside their ends.
    """
    lines = sorted(lines, key=lambda each: each.accountant != CERTIFIED)  # which lies underneath
    styles = styles_of(lines)
    bounds = _bounds(lines, drawing.log_y, drawing.from_zero)
    meeting = drawing.y == ERROR
    ends = [
        _end(each, style, _written(each, drawing))
        for each, style in zip(lines, styles, strict=True)
    ]
    ends = [each for each in ends if each.text and not meeting]
    rows = max((end.name.count("<br>") + 2 for end in ends), default=2)
    height = max(HEIGHT, round(LINE_PIXELS * rows * len(ends) + 80))
    widest = max((len(part) for end in ends for part in end.name.split("<br>")), default=0)
    shape = layout(
        drawing.x, drawing.y, height=height, right=round(LETTER * (widest + 3)), size=size
    )
    shape["yaxis"] |= {"range": list(bounds), "type": "log" if drawing.log_y else "linear"}
    shape["xaxis"] |= {"type": "log"} if drawing.log_x else _linear_axis(lines)
    if meeting:
        places = sorted(range(len(lines)), key=lambda place: -float(np.nanmean(lines[place].y)))
        shape = with_key(shape, [styles[place] for place in places], size)
    else:
        shape = labelled(shape, ends, bounds, size, log=drawing.log_y)
    return figure_of(_traces(lines, drawing), shape, size)


def drawing_alt(drawing: Drawing, lines: Sequence[Line]) -> str:
    """Describe the end of each curve; if all end in one point, an earlier place.

    >>> one = Line("RDP", np.array([1.0, 100.0]), np.array([0.2, 1.0312]), "rdp")
    >>> drawing_alt(Drawing("Figure 2", "Epsilon", "epoch", "epsilon", lambda: (one,)), [one])
    'Line chart of epsilon against epoch. RDP ends at ≤ 1.04, at epoch 100.'
    """
    meeting = drawing.y == ERROR
    said = []
    for each in lines:
        told = _at(each, EARLY) if meeting else _last(each)
        where = (
            f"{'is' if meeting else 'ends at'} {_written(each, drawing)(told[1])}"
            if told
            else "has no number"
        )
        said.append(
            f"{each.name} {where}, at {drawing.x} {nearest(told[0])}"
            if told
            else f"{each.name} {where}"
        )
    return f"Line chart of {drawing.y} against {drawing.x}. {'; '.join(said)}."


def map_figure(drawn_map: Map, cells: Cells, *, size: Size = NORMAL) -> go.Figure:
    """Draw cells in the colour of their area, with its word on it and the cell's text in the hover."""
    count = len(drawn_map.areas)
    colors = [
        ((place + end) / count, AREAS[place % len(AREAS)])
        for place in range(count)
        for end in (0, 1)
    ]
    texts = [list(row) for row in cells.said]
    said = {"text": texts, "hovertemplate": "%{text}<extra></extra>", "name": drawn_map.place}
    trace = cells_of(
        cells.x, cells.y, cells.area, (-0.5, count - 0.5), colors, xgap=1, ygap=1, **said
    )
    shape = layout(drawn_map.x, drawn_map.y, height=HEIGHT, size=size, hovermode="closest")
    for axis, values, log in (
        ("xaxis", cells.x, drawn_map.log_x),
        ("yaxis", cells.y, drawn_map.log_y),
    ):
        shape[axis] |= log_axis(values) if log else {"showgrid": False}
    shape["annotations"] = _words(drawn_map, cells, size)
    return figure_of([trace], shape, size)


def map_alt(drawn_map: Map, cells: Cells) -> str:
    """Describe the ends of both axes and the number of cells of each area."""
    ends = [
        f"from {nearest(float(each[0]))} to {nearest(float(each[-1]))}"
        for each in (cells.x, cells.y)
    ]
    counted = Counter(cells.area.ravel().tolist())
    shares = [
        f"{area.word} {counted[place]}"
        for place, area in enumerate(drawn_map.areas)
        if counted[place]
    ]
    where = f"{drawn_map.x} ({ends[0]}) and {drawn_map.y} ({ends[1]})"
    return f"Map over {where}. Of {cells.area.size} settings are: {'; '.join(shares)}."


def styles_of(lines: Sequence[Line]) -> list[Style]:
    """Return each line's look: its accountant's, with another dash for a second line; both bounds
    look the same.
    """
    free = cycle(OTHERS if any(each.accountant for each in lines) else (*RUNS, *OTHERS))
    used: Counter[str] = Counter()
    styles: list[Style] = []
    for each in lines:
        style = style_of(each.accountant) if each.accountant else Style(*next(free), "")
        if each.lower and styles:
            style = styles[-1]
        elif again := used[each.accountant] if each.accountant else 0:
            dashes = [CERTIFIED_LOOK, *LOOKS]
            place = [dash for _, dash, _ in dashes].index(style.dash)
            _, dash, glyph = dashes[(place + again) % len(dashes)]
            style = style._replace(dash=dash, glyph=glyph)
        used[each.accountant] += not each.lower
        styles.append(style._replace(label=each.name))
    return styles


def _linear_axis(lines: Sequence[Line]) -> dict[str, Any]:
    """Return the x axis of lines with markers: up to the last x, known or not."""
    x = np.concatenate([each.x for each in lines] or [np.empty(0)])
    if not 0 < x.size <= FEW:
        return {}
    room = 0.04 * float(x.max() - x.min()) or 0.04 * abs(float(x.max())) or 1.0
    return {"range": [float(x.min()) - room, float(x.max()) + room]}


def _written(line: Line, drawing: Drawing) -> Callable[[float], str]:
    """Return the writer of heights: epsilons with their mark, bounds on the safe side."""
    if drawing.y == ERROR and line.accountant and ACCOUNTANTS[line.accountant].kind.is_bound:
        return at_least
    if drawing.y != "epsilon" or not line.accountant:
        return short
    if line.lower:
        return lambda value: f"≥ {at_least(value)}"
    return lambda value: marked(value, ACCOUNTANTS[line.accountant].kind)


def _traces(lines: Sequence[Line], drawing: Drawing) -> list[dict[str, Any]]:
    """Return a trace for each line, with the band between a line and its lower bound filled."""
    traces: list[dict[str, Any]] = []
    for line, style in zip(lines, styles_of(lines), strict=True):
        seen = np.where(np.isfinite(line.y), line.y, np.nan)
        own = trace_of(line.x, seen, style) | hover_text(seen, _written(line, drawing))
        if len(line.x) <= FEW:  # a point alone is no line
            own |= {"mode": "lines+markers"}
        if line.lower and traces:
            traces[-1] |= {"fill": "tonexty", "fillcolor": BAND}
            traces.insert(-1, own)
        else:
            traces.append(own)
    return traces


def _last(line: Line) -> tuple[float, float] | None:
    """Return the last point that can be drawn."""
    finite = np.flatnonzero(np.isfinite(line.y))
    return (float(line.x[finite[-1]]), float(line.y[finite[-1]])) if finite.size else None


def _end(line: Line, style: Style, written: Callable[[float], str]) -> End:
    last = _last(line)
    if last is None:
        return End(style, 0.0, "", "")
    return End(style, max(last[1], MIN_SHOWN), written(last[1]), "<br>".join(wrap(line.name, NAME)))


def _at(line: Line, share: float) -> tuple[float, float] | None:
    """Return the point of a curve at a share of its x axis."""
    place = int(np.argmin(np.abs(line.x - share * line.x.max())))
    return (float(line.x[place]), float(line.y[place])) if math.isfinite(line.y[place]) else None


def _bounds(lines: Sequence[Line], log: bool, from_zero: bool = True) -> tuple[float, float]:
    """Return the ends of the y axis, in its own units."""
    every = np.concatenate([each.y for each in lines] or [np.empty(0)])
    finite = every[np.isfinite(every) & ((every > MIN_SHOWN) | (not log))]
    if not finite.size:
        return (-2.0, 2.0) if log else (0.0, 1.0)
    low, high = float(finite.min()), float(finite.max())
    if log:
        return math.log10(low) - 0.05, math.log10(high) + 0.08
    room = 0.05 * (high - (min(low, 0.0) if from_zero else low)) or 1.0
    return (low - room if low < 0 or not from_zero else 0.0), high + room


def _words(drawn_map: Map, cells: Cells, size: Size) -> list[dict[str, Any]]:
    """Place the word of each area with cells well within it, away from the other words."""
    taken: list[tuple[int, int]] = []
    words = []
    for place, area in enumerate(drawn_map.areas):
        own = [(row, column) for row, column in np.argwhere(cells.area == place).tolist()]
        if not own:
            continue
        framed = np.pad(cells.area, 1, constant_values=-1)  # beyond its edges the map has no area
        others = [(row - 1, column - 1) for row, column in np.argwhere(framed != place).tolist()]
        row, column = max(own, key=lambda cell: (min(2, _apart(cell, others)), _apart(cell, taken)))
        taken.append((row, column))
        x, y = float(cells.x[column]), float(cells.y[row])
        side = ("left", "center", "right")[min(2, 3 * column // cells.x.size)]
        at = {
            "x": math.log10(x) if drawn_map.log_x else x,
            "y": math.log10(y) if drawn_map.log_y else y,
        }
        look = {
            "showarrow": False,
            "bgcolor": SHADE,
            "borderpad": 2,
            "font": {"color": INK, "size": size.text},
        }
        words.append(
            at | look | {"xanchor": side, "text": f"<b>{'<br>'.join(wrap(area.word, WORD))}</b>"}
        )
    return words


def _apart(cell: tuple[int, int], others: Sequence[tuple[int, int]]) -> int:
    """Return the distance from a cell to the nearest of others, in cells."""
    return min(
        (max(abs(cell[0] - row), abs(cell[1] - column)) for row, column in others), default=0
    )
