"""What a sweep came to: a map over two settings, or a line over one with its spread over seeds."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import plotly.graph_objects as go

from dpcore.figures.heatmap import COLORS, INK
from dpcore.figures.runs import written_name
from dpcore.figures.style import NORMAL, RUNS, Size, drawn, layout
from dpcore.privacy.report.numbers import percent, value_text
from dpcore.training.seed_summary import summary

COLOR = RUNS[0]
WIDE = 10.0  # from this ratio of the largest to the smallest value on the axis is logarithmic


class Cell(NamedTuple):
    """Runs that differ in their seeds only: the values of the axes, and the test accuracies of those that finished."""

    values: tuple[Any, ...]
    accuracies: Sequence[float]


def sweep_map(cells: Sequence[Cell], labels: tuple[str, str], *, size: Size = NORMAL) -> go.Figure:
    """Mean test accuracy over two settings, each cell with its mean and spread; empty where none has finished.

    >>> sweep_map([Cell((1, "a"), [0.5]), Cell((2, "a"), [])], ("x", "y"))["data"][0]["text"]
    (['50.0 %', ''],)
    """
    across, up = (list(dict.fromkeys(each.values[axis] for each in cells)) for axis in (0, 1))
    found = {each.values: each.accuracies for each in cells}
    table = [[found.get((x, y), ()) for x in across] for y in up]
    means = [[100 * summary(each).mean if each else math.nan for each in row] for row in table]
    known = [each for row in means for each in row if not math.isnan(each)]
    shown: dict[str, Any] = {
        "type": "heatmap",
        "x": [value_text(each) for each in across],
        "y": [value_text(each) for each in up],
        "z": means,
        "zmin": min(known, default=0.0) - 0.5,
        "zmax": max(known, default=100.0) + 0.5,
        "colorscale": [list(each) for each in COLORS],
        "showscale": False,  # each cell tells its number
        "text": [[spread_text(each) for each in row] for row in table],
        "texttemplate": "%{text}",
        "textfont": {"color": INK, "size": size.text},
        "hovertemplate": "%{x}, %{y}: %{text}<extra></extra>",
    }
    height = max(260, 100 + 44 * len(up))
    shape = layout(written_name(labels[0]), written_name(labels[1]), height=height, size=size, hovermode="closest")
    for axis in ("xaxis", "yaxis"):
        shape[axis] |= {"type": "category", "showgrid": False}
    shape["margin"]["l"] = size.scaled(96)
    return drawn([shown], shape, size)


def sweep_line(cells: Sequence[Cell], label: str, *, size: Size = NORMAL) -> go.Figure:
    """Test accuracy in percent over one setting: the mean with its spread as a bar, and every run as a small mark."""
    done = [each for each in cells if each.accuracies]
    x = [_place(each.values[0]) for each in done]
    figures = [summary(each.accuracies) for each in done]
    mean: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "mean",
        "x": x,
        "y": [100 * each.mean for each in figures],
        "line": {"color": COLOR, "width": NORMAL.pen},
        "marker": {"size": 8},
        "error_y": {"type": "data", "array": [100 * each.spread for each in figures], "width": 4, "thickness": 1.5},
        "text": [spread_text(each.accuracies) for each in done],
        "hovertemplate": "%{x}: %{text}<extra></extra>",
    }
    single: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers",
        "name": "each run",
        "x": [place for place, each in zip(x, done, strict=True) for _ in each.accuracies],
        "y": [100 * accuracy for each in done for accuracy in each.accuracies],
        "marker": {"size": 5, "color": COLOR, "opacity": 0.5},
        "hovertemplate": "%{x}: %{y:.2f} %<extra></extra>",
    }
    shape = layout(written_name(label), "test accuracy, %", height=340, size=size, hovermode="closest")
    numbers = [each for each in x if not isinstance(each, str)]
    if len(numbers) < len(x):
        shape["xaxis"]["type"] = "category"
    elif numbers and min(numbers) > 0 and max(numbers) > WIDE * min(numbers):
        shape["xaxis"] |= {"type": "log", "tickvals": numbers, "ticktext": [value_text(each) for each in numbers]}
    return drawn([single, mean], shape, size)


def sweep_alt(cells: Sequence[Cell], labels: Sequence[str]) -> str:
    """Every point of the grid with its mean and spread.

    >>> sweep_alt([Cell((1.0,), [0.5, 0.6]), Cell((2.0,), [])], ["sigma"])
    'Chart of test accuracy over sigma: 1: 55.0 % ± 7.1 %; 2: none finished.'
    """
    said = [f"{', '.join(map(value_text, each.values))}: {spread_text(each.accuracies) or 'none finished'}"
            for each in cells]  # fmt: skip
    return f"Chart of test accuracy over {' and '.join(labels)}: {'; '.join(said)}."


def spread_text(accuracies: Sequence[float]) -> str:
    """Mean and spread of some runs, of one its accuracy, of none nothing."""
    if not accuracies:
        return ""
    figures = summary(accuracies)
    spread = f" ± {percent(figures.spread)}" if len(accuracies) > 1 else ""
    return f"{percent(figures.mean)}{spread}"


def _place(value: Any) -> Any:
    return value_text(value) if isinstance(value, bool | str) else value
