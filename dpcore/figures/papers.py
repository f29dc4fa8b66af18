"""The papers' figures, drawn again: curves in their accountants' colours, and maps of areas."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import cycle
from textwrap import wrap

import numpy as np
import plotly.graph_objects as go
from numpy.lib.stride_tricks import sliding_window_view

from dpcore.figures.alt_texts import span_text
from dpcore.figures.epsilon import at_least, finite
from dpcore.figures.heatmap import cells_of, log_cells, map_note
from dpcore.figures.layout import (
    LINE_PIXELS,
    SCALES,
    Axis,
    Bounds,
    End,
    Note,
    Trace,
    axis,
    figure_of,
    hover_text,
    key,
    log_bounds,
    power_ticks,
)
from dpcore.figures.layout import line as trace_of
from dpcore.figures.style import (
    AREAS,
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
from dpcore.privacy.mechanism import FloatArray
from dpcore.privacy.report.numbers import marked, nearest, short

# Of lines that are no accountant's, beside some.
OTHERS = (SAMPLED_LOOK, ATTACK_LOOK._replace(dash="dash", glyph="╌╌"), PINNED_LOOK)
LETTER = 7.6  # pixels of a letter of normal text
NAME = 28  # letters in a line of a label
HEIGHT = 430
WORD = 12  # letters in a line of an area's word
ERROR = "type II error"  # on the y axis of trade-off functions, which all end in one point
EARLY = 0.1  # of the x axis: the alt text reads trade-off functions here
FEW = 20  # most points of a line with markers
MAX_POWERS = 8  # written on a logarithmic axis
MIN_SHOWN = 1e-12  # smallest number on a logarithmic axis


def drawing_figure(drawing: Drawing, lines: Sequence[Line]) -> go.Figure:
    """Draw the curves of a drawing, with their names beside their ends.

    Trade-off functions all end in one point: their names stand in a corner.
    """
    lines = sorted(lines, key=lambda each: each.accountant != CERTIFIED)  # which lies underneath
    styles = styles_of(lines)
    ends: list[End] = []
    notes: list[Note] = []
    if drawing.y == ERROR:
        means = [float(np.nanmean(each.y)) for each in lines]
        falling = np.argsort(np.negative(means), kind="stable")
        notes = key([styles[place] for place in falling])
    else:
        ends = _ends(lines, styles, drawing)
    most_rows = 2
    widest = 0
    for end in ends:
        parts = end.name.split("<br>")
        most_rows = max(most_rows, len(parts) + 1)
        widest = max(widest, *map(len, parts))
    across = _log_axis(lines) if drawing.log_x else _linear_axis(lines)
    return figure_of(
        _traces(lines, styles, drawing),
        axis(drawing.x, **across),
        axis(drawing.y, range=list(_bounds(lines, drawing)), type=SCALES[drawing.log_y]),
        ends=ends,
        notes=notes,
        height=max(HEIGHT, round(LINE_PIXELS * most_rows * len(ends) + 80)),
        right=round(LETTER * (widest + 3)),
    )


def _ends(lines: Sequence[Line], styles: Sequence[Style], drawing: Drawing) -> list[End]:
    """Return the labels of all lines that have a number."""
    ends = []
    for each, style in zip(lines, styles, strict=True):
        last = _last(each)
        if last:
            _, y = last
            name = "<br>".join(wrap(each.name, NAME))
            ends.append(End(style, max(y, MIN_SHOWN), _written(each, drawing)(y), name))
    return ends


def drawing_alt(drawing: Drawing, lines: Sequence[Line]) -> str:
    """Describe the end of each curve; if all end in one point, an earlier place.

    >>> one = Line("RDP", np.array([1.0, 100.0]), np.array([0.2, 1.0312]), "rdp")
    >>> drawing_alt(Drawing("Figure 2", "Epsilon", "epoch", "epsilon", lambda: (one,)), [one])
    'Line chart of epsilon against epoch. RDP ends at ≤ 1.04, at epoch 100.'
    """
    sentences = []
    for each in lines:
        verb = "ends at"
        point = _last(each)
        if drawing.y == ERROR:
            verb = "is"
            point = _at(each, EARLY)
        if point is None:
            sentences.append(f"{each.name} has no number")
            continue
        x, y = point
        height = _written(each, drawing)(y)
        sentences.append(f"{each.name} {verb} {height}, at {drawing.x} {nearest(x)}")
    return f"Line chart of {drawing.y} against {drawing.x}. {'; '.join(sentences)}."


def map_figure(drawn_map: Map, cells: Cells) -> go.Figure:
    """Draw cells in the colours of their areas; the areas' words stand on them."""
    count = len(drawn_map.areas)
    colors = []
    for place in range(count):
        color = AREAS[place % len(AREAS)]
        colors += [(place / count, color), ((place + 1) / count, color)]
    trace = cells_of(cells.x, cells.y, cells.area, (-0.5, count - 0.5), colors)
    trace |= {
        "xgap": 1,
        "ygap": 1,
        "text": list(map(list, cells.said)),
        "hovertemplate": "%{text}<extra></extra>",
        "name": drawn_map.place,
    }
    return figure_of(
        [trace],
        _map_axis(drawn_map.x, cells.x, drawn_map.log_x),
        _map_axis(drawn_map.y, cells.y, drawn_map.log_y),
        notes=_words(drawn_map, cells),
        height=HEIGHT,
        hovermode="closest",
    )


def _map_axis(title: str, values: FloatArray, log: bool) -> Axis:
    if log:
        return axis(title, **log_cells(values))
    return axis(title, showgrid=False)


def map_alt(drawn_map: Map, cells: Cells) -> str:
    """Describe the ends of both axes and the number of cells of each area."""
    counts = np.bincount(cells.area.ravel(), minlength=len(drawn_map.areas))
    shares = []
    for area, count in zip(drawn_map.areas, counts, strict=True):
        if count:
            shares.append(f"{area.word} {count}")
    where = f"{drawn_map.x} ({span_text(cells.x)}) and {drawn_map.y} ({span_text(cells.y)})"
    return f"Map over {where}. Of {cells.area.size} settings are: {'; '.join(shares)}."


def styles_of(lines: Sequence[Line]) -> list[Style]:
    """Return each line's look: its accountant's, with another dash for a second line.

    A lower bound looks like the line before it.
    """
    known = any(each.accountant for each in lines)
    free = cycle(OTHERS if known else (*RUNS, *OTHERS))
    used: Counter[str] = Counter()
    styles: list[Style] = []
    for each in lines:
        if each.lower and styles:
            style = styles[-1]
        elif each.accountant:
            style = _redashed(style_of(each.accountant), used[each.accountant])
        else:
            style = Style(*next(free), "")
        if not each.lower:
            used[each.accountant] += 1
        styles.append(style._replace(label=each.name))
    return styles


def _redashed(style: Style, again: int) -> Style:
    """Return the style with the dash so many places further on."""
    looks = [CERTIFIED_LOOK, *LOOKS]
    dashes = [look.dash for look in looks]
    look = looks[(dashes.index(style.dash) + again) % len(looks)]
    return style._replace(dash=look.dash, glyph=look.glyph)


def _log_axis(lines: Sequence[Line]) -> Axis:
    """Return the logarithmic x axis of lines, with powers of ten all written alike."""
    x = np.concatenate([np.empty(0), *(each.x for each in lines)])
    x = x[x > 0]
    if not x.size:
        return {"type": "log"}
    ticks = power_ticks(math.log10(x.min()), math.log10(x.max()), MAX_POWERS)
    return ticks if len(ticks["tickvals"]) > 1 else {"type": "log"}


def _linear_axis(lines: Sequence[Line]) -> Axis:
    """Return the x axis of lines with markers: up to the last x, known or not."""
    x = np.concatenate([np.empty(0), *(each.x for each in lines)])
    if not 0 < x.size <= FEW:
        return {}
    low = float(x.min())
    high = float(x.max())
    room = 0.04 * (high - low) or 0.04 * abs(high) or 1.0
    return {"range": [low - room, high + room]}


def _written(line: Line, drawing: Drawing) -> Callable[[float], str]:
    """Return the writer of heights: epsilons with their mark, bounds on the safe side."""
    if not line.accountant:
        return short
    kind = ACCOUNTANTS[line.accountant].kind
    if drawing.y == ERROR and kind.is_bound:
        return at_least
    if drawing.y != "epsilon":
        return short
    if line.lower:
        return lambda value: f"≥ {at_least(value)}"
    return lambda value: marked(value, kind)


def _traces(lines: Sequence[Line], styles: Sequence[Style], drawing: Drawing) -> list[Trace]:
    """Return a trace for each line, with the band between a line and its lower bound filled."""
    traces: list[Trace] = []
    for line, style in zip(lines, styles, strict=True):
        seen = finite(line.y)
        own = trace_of(line.x, seen, style) | hover_text(seen, _written(line, drawing))
        if len(line.x) <= FEW:  # a point alone is no line
            own["mode"] = "lines+markers"
        if line.lower and traces:
            traces[-1] |= {"fill": "tonexty", "fillcolor": BAND}
            traces.insert(-1, own)
        else:
            traces.append(own)
    return traces


def _last(line: Line) -> tuple[float, float] | None:
    """Return the last point that can be drawn."""
    places = np.flatnonzero(np.isfinite(line.y))
    if not places.size:
        return None
    return float(line.x[places[-1]]), float(line.y[places[-1]])


def _at(line: Line, share: float) -> tuple[float, float] | None:
    """Return the point of a curve at a share of its x axis."""
    place = int(np.argmin(np.abs(line.x - share * line.x.max())))
    if not math.isfinite(line.y[place]):
        return None
    return float(line.x[place]), float(line.y[place])


def _bounds(lines: Sequence[Line], drawing: Drawing) -> Bounds:
    """Return the ends of the y axis, in its own units."""
    heights = [each.y for each in lines]
    if drawing.log_y:
        return log_bounds(heights, MIN_SHOWN)
    values = np.concatenate([np.empty(0), *heights])
    seen = values[np.isfinite(values)]
    if not seen.size:
        return 0.0, 1.0
    low = float(seen.min())
    high = float(seen.max())
    if drawing.from_zero and low >= 0:
        return 0.0, high + (0.05 * high or 1.0)
    room = 0.05 * (high - low) or 1.0
    return low - room, high + room


def _words(drawn_map: Map, cells: Cells) -> list[Note]:
    """Place the word of each area with cells well within it, away from the other words."""
    rows, columns = np.indices(cells.area.shape)
    apart = np.full(cells.area.shape, cells.area.size)  # from the nearest word, in cells
    framed = np.pad(cells.area, 1, constant_values=-1)  # beyond its edges the map has no area
    around = sliding_window_view(framed, (3, 3))  # (Y, X, 3, 3)
    notes = []
    for place, area in enumerate(drawn_map.areas):
        own = cells.area == place
        if not own.any():
            continue
        within = (around == place).all(axis=(2, 3))
        score = np.where(own, apart + cells.area.size * within, -1)
        row, column = divmod(int(np.argmax(score)), cells.x.size)
        from_here = np.maximum(np.abs(rows - row), np.abs(columns - column))
        apart = np.minimum(apart, from_here)
        x = _in_axis(cells.x[column], drawn_map.log_x)
        y = _in_axis(cells.y[row], drawn_map.log_y)
        text = f"<b>{'<br>'.join(wrap(area.word, WORD))}</b>"
        side = ("left", "center", "right")[min(2, 3 * column // cells.x.size)]
        notes.append(map_note(x, y, text) | {"xanchor": side})
    return notes


def _in_axis(value: float, log: bool) -> float:
    """Return a value in the units of its axis."""
    return math.log10(value) if log else float(value)
