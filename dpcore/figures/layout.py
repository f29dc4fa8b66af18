"""What charts are made of: sizes, layouts, axes, traces, and the labels beside them."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore.figures.style import Style
from dpcore.privacy.mechanism import FloatArray


class Size(NamedTuple):
    """The size of text and lines, in pixels."""

    text: int = 14
    pen: float = 2.2

    def scaled(self, pixels: float) -> int:
        """Pixels beside text of this size, from pixels beside normal text.

        >>> NORMAL.scaled(48), PRESENT.scaled(48)
        (48, 62)
        """
        return round(pixels * self.text / Size().text)


NORMAL = Size()
PRESENT = Size(text=18, pen=4.0)  # on a projector: large type, thick lines
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# Plotly does not check the attributes of a figure, which would take longer than all else.
CHECKED = False
LINE_PIXELS = 19  # of a line of normal text


def layout(
    x: str, y: str, *, height: int = 430, right: int = 12, size: Size = NORMAL, **more: Any
) -> dict[str, Any]:
    """The layout of every chart; `right` is the room beside the plot, in pixels of normal text."""
    font = {"size": size.text}
    axis = {"zeroline": False, "tickfont": font}
    return {
        "height": height,
        "margin": {"l": size.scaled(56), "r": size.scaled(right), "t": 16, "b": size.scaled(48)},
        "font": font,
        "hoverlabel": {"font": font},
        "showlegend": False,
        "hovermode": "x unified",
        "xaxis": axis | {"title": {"text": x, "font": font}},
        "yaxis": axis | {"title": {"text": y, "font": font}},
        **more,
    }


def power_ticks(low: float, high: float, most: int = 7) -> dict[str, Any]:
    """Ticks of a logarithmic axis at powers of ten between two exponents.

    Plotly's own are larger than other text.

    >>> power_ticks(-3, 0)["ticktext"], power_ticks(-12, -1, 4)["ticktext"]
    (['1', '10⁻¹', '10⁻²', '10⁻³'], ['10⁻¹', '10⁻⁴', '10⁻⁷', '10⁻¹⁰'])
    """
    first = math.ceil(low - 1e-9)
    last = math.floor(high + 1e-9)
    every = max(1, math.ceil((last - first + 1) / most))
    values = []
    texts = []
    for power in range(last, first - 1, -every):
        values.append(10.0**power)
        raised = f"10{str(power).translate(RAISED)}"
        texts.append({0: "1", 1: "10"}.get(power, raised))
    return {"type": "log", "tickvals": values, "ticktext": texts}


def figure_of(
    traces: list[dict[str, Any]], shape: dict[str, Any], size: Size = NORMAL
) -> go.Figure:
    """The figure of traces and a layout, with lines of this size."""
    thicker = size.pen / NORMAL.pen
    drawn = []
    for trace in traces:
        pen = trace.get("line", {})
        if thicker != 1 and "width" in pen:
            trace = trace | {"line": pen | {"width": thicker * pen["width"]}}
        drawn.append(trace)
    return go.Figure({"data": drawn, "layout": shape}, _validate=CHECKED)


def plot_height(shape: dict[str, Any]) -> float:
    """The height of a chart without its margins, in pixels."""
    return shape["height"] - shape["margin"]["t"] - shape["margin"]["b"]


def hover_text(values: FloatArray, written: Callable[[float], str]) -> dict[str, Any]:
    """The hover of bounds (n,), rounded outwards: plotly's own formats round to the nearest."""
    texts = ["" if math.isnan(each) else written(each) for each in values.tolist()]
    return {"text": texts, "hovertemplate": "%{text}"}


def line(x: Any, y: Any, style: Style, *, width: float = NORMAL.pen, **more: Any) -> dict[str, Any]:
    """A scatter trace as a plain dict, several times faster than plotly's own objects."""
    pen = {"color": style.color, "dash": style.dash, "width": width}
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": y,
        "line": pen,
        "name": style.label,
        **more,
    }


def points(x: Any, y: Any, marker: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A scatter trace of points that no line joins."""
    return {"type": "scatter", "mode": "markers", "x": x, "y": y, "marker": marker, **more}


class End(NamedTuple):
    """The end of a curve: its style, its height, its text, and a name on the line below."""

    style: Style
    y: float
    text: str
    name: str = ""


def moved_apart(positions: list[float], gap: float, low: float, high: float) -> list[float]:
    """The positions, moved so that neighbours are `gap` apart within [low, high].

    Those that do not fit run out at the top.

    >>> moved_apart([3.0, 3.5, 5.0], 1.0, 0.0, 5.0)
    [2.5, 3.5, 5.0]
    >>> moved_apart([4.9, 5.0], 1.0, 0.0, 5.0)
    [4.0, 5.0]
    """
    order = np.argsort(positions, kind="stable")
    placed = [min(max(positions[i], low), high) for i in order]
    for i in range(len(placed) - 2, -1, -1):  # downwards from the top
        placed[i] = min(placed[i], placed[i + 1] - gap)
    least = low
    for i, value in enumerate(placed):  # and up again from the bottom
        placed[i] = max(value, least)
        least = placed[i] + gap
    moved = [0.0] * len(placed)
    for value, i in zip(placed, order, strict=True):
        moved[i] = float(value)
    return moved


def end_labels(
    ends: Sequence[End],
    bounds: tuple[float, float],
    height: float,
    *,
    log: bool = False,
    size: Size = NORMAL,
) -> list[dict[str, Any]]:
    """Annotations right of a plot of this height, one for each end.

    `bounds` are in the (log) units of the axis.
    """
    low, high = bounds
    lines = 2 if any(each.name for each in ends) else 1
    gap = (high - low) * lines * size.scaled(LINE_PIXELS) / max(height, 1)
    below = gap * (lines - 1) / (2 * lines)  # a second line reaches so much further down
    heights = [each.y for each in ends]
    if log:
        heights = [float(np.log10(each)) for each in heights]
    place = {"x": 1, "xanchor": "left", "xshift": 6, "yanchor": "middle"}
    notes = []
    for each, y in zip(ends, moved_apart(heights, gap, low + below, high), strict=True):
        text = each.text
        if each.name:
            text += f"<br>{each.name}"
        notes.append(written(each.style, text, size) | place | {"y": y})
    return notes


def labelled(
    shape: dict[str, Any],
    ends: Sequence[End],
    bounds: tuple[float, float],
    size: Size,
    *,
    log: bool = False,
) -> dict[str, Any]:
    """The layout of one plot with labels at the ends of its curves."""
    notes = end_labels(ends, bounds, plot_height(shape), log=log, size=size)
    return shape | {"annotations": notes}


def with_key(
    shape: dict[str, Any],
    styles: Sequence[Style],
    size: Size,
    *,
    right: bool = True,
    top: bool = True,
) -> dict[str, Any]:
    """The layout with the names of the curves in a corner of the plot, the first uppermost."""
    at = {
        "x": int(right),
        "xanchor": "right" if right else "left",
        "y": int(top),
        "yref": "paper",
        "yanchor": "middle",
    }
    first = -0.3 if top else len(styles) - 0.6  # in lines from the corner upwards
    notes = []
    for place, style in enumerate(styles):
        up = {"yshift": size.scaled(20 * (first - place))}
        notes.append(written(style, style.label, size) | at | up)
    return shape | {"annotations": notes}


def written(style: Style, text: str, size: Size) -> dict[str, Any]:
    """An annotation without a place: a piece of the line and a text, with the name of the line."""
    marked = f'<span style="color:{style.color}">{style.glyph}</span> {text}'
    look = {"showarrow": False, "align": "left", "font": {"size": size.text}}
    return {"name": style.label, "xref": "paper", "text": marked} | look
