"""What charts are made of: traces, axes, labels beside lines, and the figure around them."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore.figures.style import Style
from dpcore.privacy.mechanism import FloatArray

Trace = dict[str, Any]  # as plotly has them: plain dicts are several times faster than its objects
Axis = dict[str, Any]
Note = dict[str, Any]
Numbers = Sequence[float]
Bounds = tuple[float, float]  # of an axis, in its (log) units


class Size(NamedTuple):
    """The size of text and lines, in pixels."""

    text: int = 14
    pen: float = 2.2

    def scaled(self, pixels: float) -> int:
        """Pixels beside text of this size, from pixels beside normal text.

        >>> NORMAL.scaled(48), PRESENT.scaled(48)
        (48, 96)
        """
        return round(pixels * self.text / Size().text)


NORMAL = Size()
PRESENT = Size(text=28, pen=5.0)  # on a projector 1920 pixels wide: large type, thick lines
FONT = {"size": NORMAL.text}
SCALES = {False: "linear", True: "log"}  # of an axis
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# Plotly does not check the attributes of a figure, which would take longer than all else.
CHECKED = False
LINE_PIXELS = 19  # of a line of normal text


class End(NamedTuple):
    """The label at the end of a line: its height there, its text, and a name on the line below."""

    style: Style
    y: float
    text: str
    name: str = ""
    axis: str = "y"


def figure_of(
    traces: Sequence[Trace],
    x: Axis,
    y: Axis,
    *,
    ends: Sequence[End] = (),
    notes: Sequence[Note] = (),
    height: int = 430,
    left: int = 56,
    right: int = 12,
    top: int = 16,
    **more: Any,
) -> go.Figure:
    """The figure of traces over two axes; around the plot there is room of so many pixels.

    In the browser figure_growth.js moves the labels to the `ends` of their lines.
    """
    falling = sorted(ends, key=lambda end: -end.y)
    shape = {
        "height": height,
        "margin": {"l": left, "r": right, "t": top, "b": 48},
        "font": FONT,
        "hoverlabel": {"font": FONT},
        "showlegend": False,
        "hovermode": "x unified",
        "xaxis": x,
        "yaxis": y,
        "annotations": [*_labels(falling), *notes],
        "meta": {"ends": [end.y for end in falling]},
        **more,
    }
    return go.Figure({"data": list(traces), "layout": shape}, _validate=CHECKED)


def axis(title: str, **more: Any) -> Axis:
    """An axis without a line at 0, in type as large as the other text."""
    return {"zeroline": False, "tickfont": FONT, "title": {"text": title, "font": FONT}, **more}


def sized(figure: go.Figure, size: Size) -> go.Figure:
    """The figure with text and lines of this size, and room for them; its height stays."""
    if size == NORMAL:
        return figure
    drawn = figure.to_dict()
    drawn["layout"].pop("template", None)
    _enlarge(drawn, size)
    for trace in drawn["data"]:
        pen = trace.get("line", {})
        if "width" in pen:
            pen["width"] *= size.pen / NORMAL.pen
    return go.Figure(drawn, _validate=CHECKED)


def _enlarge(part: Any, size: Size) -> None:
    """Change all fonts, margins and shifts of labels within a part of a figure, in place."""
    if isinstance(part, list | tuple):
        for each in part:
            _enlarge(each, size)
    if not isinstance(part, dict):
        return
    for name, value in part.items():
        if name.endswith("font"):
            value["size"] = size.text
        elif name == "margin":
            part[name] = {side: size.scaled(pixels) for side, pixels in value.items()}
        elif name == "yshift":
            part[name] = size.scaled(value)
        else:
            _enlarge(value, size)


def power_ticks(low: float, high: float, most: int = 7) -> Axis:
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


def round_numbers(low: float, high: float, digits: Sequence[int] = (1, 2, 5)) -> list[float]:
    """The numbers from `low` to `high` with one of these digits and zeros.

    >>> round_numbers(0.3, 6.0), round_numbers(0.3, 60.0, [1])
    ([0.5, 1.0, 2.0, 5.0], [1.0, 10.0])
    """
    found = []
    for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        for digit in digits:
            number = float(f"{digit}e{power}")
            if low <= number <= high:
                found.append(number)
    return found


def log_axis(low: float, high: float, ticks: Numbers, written: Callable[[float], str]) -> Axis:
    """A logarithmic axis between two numbers with these ticks."""
    ends = [math.log10(low), math.log10(high)]
    return {"type": "log", "range": ends, "tickvals": ticks, "ticktext": [*map(written, ticks)]}


def log_bounds(heights: Sequence[FloatArray], least: float) -> Bounds:
    """The exponents at the ends of an axis, from `least` or more to the largest height."""
    values = np.concatenate([np.empty(0), *heights])
    seen = values[np.isfinite(values) & (values > 0)]
    if not seen.size:
        return -2.0, 2.0
    lowest = max(float(seen.min()), least)
    return math.log10(lowest) - 0.05, math.log10(seen.max()) + 0.08


def percents(shares: Numbers) -> list[float]:
    """Shares in percent."""
    return [100 * each for each in shares]


def hover_text(values: FloatArray, written: Callable[[float], str]) -> Trace:
    """The hover of bounds (n,), rounded outwards: plotly's own formats round to the nearest."""
    texts = ["" if math.isnan(each) else written(each) for each in values.tolist()]
    return {"text": texts, "hovertemplate": "%{text}"}


def marked_line(x: Any, y: Any, style: Style, **more: Any) -> Trace:
    """A line with a small marker at each point."""
    return line(x, y, style, **more) | {"mode": "lines+markers", "marker": {"size": 5}}


def line(x: Any, y: Any, style: Style, *, width: float = NORMAL.pen, **more: Any) -> Trace:
    """A scatter trace of a line."""
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


def points(x: Any, y: Any, marker: dict[str, Any], **more: Any) -> Trace:
    """A scatter trace of points that no line joins."""
    return {"type": "scatter", "mode": "markers", "x": x, "y": y, "marker": marker, **more}


def written(style: Style, text: str) -> Note:
    """An annotation without a place: a piece of the line and a text, with the name of the line."""
    marked = f'<span style="color:{style.color}">{style.glyph}</span> {text}'
    look = {"showarrow": False, "align": "left", "font": FONT}
    return {"name": style.label, "xref": "paper", "text": marked, **look}


def _labels(ends: Sequence[End]) -> list[Note]:
    """The labels right of their plots, one below the other."""
    notes = []
    rows: Counter[str] = Counter()  # of each plot
    for end in ends:
        text = f"{end.text}<br>{end.name}".removesuffix("<br>")
        place = {
            "x": 1,
            "xanchor": "left",
            "xshift": 6,
            "y": 1,
            "yref": f"{end.axis} domain",
            "yanchor": "top",
            "yshift": -LINE_PIXELS * rows[end.axis],
        }
        notes.append(written(end.style, text) | place)
        rows[end.axis] += 1 + text.count("<br>")
    return notes


def key(styles: Sequence[Style], *, right: bool = True, top: bool = True) -> list[Note]:
    """The names of the curves in a corner of the plot, the first uppermost."""
    at = {"x": 0, "xanchor": "left", "y": 0, "yref": "paper", "yanchor": "middle"}
    first = len(styles) - 0.6  # in lines from the corner upwards
    if right:
        at |= {"x": 1, "xanchor": "right"}
    if top:
        at["y"] = 1
        first = -0.3
    notes = []
    for place, style in enumerate(styles):
        up = {"yshift": round(20 * (first - place))}
        notes.append(written(style, style.label) | at | up)
    return notes
