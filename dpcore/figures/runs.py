"""Charts of many runs: accuracy against epsilon, classes and their confusions, and sweeps."""

import math
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore.figures.heatmap import COLORS, INK, cells_of, log_axis
from dpcore.figures.layout import NORMAL, Size, figure_of, layout, line, points
from dpcore.figures.style import BASELINES, GREY, PRIVATE, Style
from dpcore.figures.training import Track, track_styles
from dpcore.privacy.mechanism import Kind
from dpcore.privacy.report.numbers import marked, percent, value_text
from dpcore.training.seed_summary import summary

FRONT, OTHERS = "Pareto front", "other runs"
FRONT_COLOR, OTHER_COLOR = PRIVATE, GREY
LEVEL = Style(*BASELINES[0], "without privacy")
MAX_POINTS = 1000  # beside the front that are drawn
MAX_LABELLED = 8  # points of a front
RIGHT = 110  # pixels: "90.6 % at ≤ 2.37"
WIDE = 10.0  # ratio of numbers from which an axis is logarithmic
SYMBOLS = (
    ("circle", "●"),
    ("square", "■"),
    ("diamond", "◆"),
    ("triangle-up", "▲"),
    ("cross", "✚"),
    ("x", "✖"),
)
MAX_NAME_CHARS = 60  # beside a point


class Outcome(NamedTuple):
    """A finished run: its test accuracy, its epsilon, and a proven lower bound of it, if any."""

    label: str
    accuracy: float
    epsilon: float | None  # None without privacy
    lower: float | None = None
    kind: Kind = Kind.CERTIFIED


def front(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The runs that no other beats in accuracy and epsilon, by growing epsilon and accuracy.

    >>> [each.label for each in front([Outcome("a", 0.9, 2.0), Outcome("b", 0.8, 1.0), Outcome("c", 0.7, 1.5)])]
    ['b', 'a']
    """
    found: list[Outcome] = []
    for each in sorted(_private(outcomes), key=lambda each: (each.epsilon, -each.accuracy)):
        if not found or each.accuracy > found[-1].accuracy:
            found.append(each)
    return found


def front_figure(outcomes: Sequence[Outcome], accountant: str, *, size: Size = NORMAL) -> go.Figure:
    """Test accuracy in percent over epsilon: a point for each run, with the front as a staircase.

    The best run without privacy is a line across. A front of few runs has its numbers beside its
    points.
    """
    best = front(outcomes)
    rest = [each for each in _private(outcomes) if each not in best][:MAX_POINTS]
    ends = [each.epsilon for each in (*best, *rest) if each.epsilon]
    traces = [_points(rest, OTHERS, OTHER_COLOR), _points(best, FRONT, FRONT_COLOR)]
    traces[1] |= {
        "mode": "lines+markers",
        "line": {"shape": "hv", "color": FRONT_COLOR, "width": NORMAL.pen},
    }
    titles = f"epsilon, {accountant}", "test accuracy, %"
    shape = layout(*titles, height=420, right=RIGHT, size=size, hovermode="closest")
    if level := level_of(outcomes):
        span = [min(ends), max(ends)] if ends else [0.0, 1.0]
        hover = "without privacy, %{y:.1f} %<extra></extra>"
        traces.append(line(span, [100 * level] * 2, LEVEL, hovertemplate=hover))
        place = {
            "xref": "paper",
            "x": 0,
            "xshift": 6,
            "xanchor": "left",
            "y": 100 * level,
            "yanchor": "bottom",
        }
        text = {
            "text": f"best without privacy {percent(level)}",
            "showarrow": False,
            "font": {"size": size.text},
        }
        shape["annotations"] = [place | text]
    shape["yaxis"]["range"] = _accuracy_range([100 * each.accuracy for each in outcomes])
    if ends and max(ends) > WIDE * min(ends):
        shape["xaxis"] |= log_axis(np.geomspace(min(ends), max(ends), 12))
    else:
        shape["xaxis"] |= {"range": [0.0, 1.05 * max(ends, default=1.0)]}
    if len(best) <= MAX_LABELLED:  # below the steps there is room
        labels = [f"{percent(each.accuracy)} at {_spent(each)}" for each in best]
        traces[1] |= {"customdata": labels, "texttemplate": "%{customdata}"}
        traces[1] |= {
            "mode": "lines+markers+text",
            "textposition": "bottom right",
            "cliponaxis": False,
        }
    return figure_of(traces, shape, size)


def _accuracy_range(percents: Sequence[float]) -> list[float]:
    """An axis of at least 20 points, with room for a label over the highest value."""
    top = max(percents, default=98.0) + 4
    return [max(0.0, min(min(percents, default=0.0) - 4, top - 20)), top]


def front_alt(outcomes: Sequence[Outcome], accountant: str) -> str:
    """The front in words, from its first to its last run.

    >>> front_alt([Outcome("a", 0.9, 2.0), Outcome("b", 0.8, 1.0)], "PLD")
    'Scatter chart of test accuracy against epsilon, PLD, of 2 runs. The best trade-offs: 80.0 % at ≤ 1.00; 90.0 % at ≤ 2.00.'
    """  # noqa: E501
    best = front(outcomes)
    count = len(_private(outcomes))
    first = (
        f"Scatter chart of test accuracy against epsilon, {accountant}, of {count:,}"
        f" run{'s' * (count != 1)}."
    )
    listed = best if len(best) <= 8 else [*best[:4], *best[-4:]]
    said = "; ".join(f"{percent(each.accuracy)} at {_spent(each)}" for each in listed) or "none yet"
    level = level_of(outcomes)
    beside = f" Without privacy {percent(level)} was reached." if level else ""
    return f"{first} The best trade-offs: {said}.{beside}"


def level_of(outcomes: Sequence[Outcome]) -> float | None:
    """The best accuracy without privacy, if there is such a run."""
    return max((each.accuracy for each in outcomes if each.epsilon is None), default=None)


def classes_compared_figure(
    classes: Sequence[str], runs: Sequence[Track], *, size: Size = NORMAL
) -> go.Figure:
    """Test accuracy of each class in percent, with a mark for each run in the colour of its line."""
    traces = []
    for place, (run, style) in enumerate(zip(runs, track_styles(runs), strict=True)):
        marker = {"size": 10, "color": style.color, "symbol": SYMBOLS[place % len(SYMBOLS)][0]}
        heights = [100 * each for each in run.y]
        traces.append(
            points(list(classes), heights, marker, name=run.label, hovertemplate="%{x}: %{y:.1f} %")
        )
    shape = layout("class", "test accuracy, %", height=300, size=size)
    shape["xaxis"]["type"] = "category"
    shape["yaxis"]["range"] = [0, 104]
    return figure_of(traces, shape, size)


MAX_WRITTEN = 20  # classes whose counts have room in their cells


def confusion_figure(
    classes: Sequence[str], counts: Sequence[Sequence[int]], *, size: Size = NORMAL
) -> go.Figure:
    """Test examples by class (rows) and answer (columns); colours are shares of a row.

    >>> confusion_figure(["cat", "dog"], [[3, 1], [0, 4]]).data[0].z.tolist()
    [[0.75, 0.25], [0.0, 1.0]]
    """
    table = np.asarray(counts, dtype=float)  # (K, K)
    shares = table / np.maximum(table.sum(1, keepdims=True), 1)
    colors = [(share**2, color) for share, color in COLORS]  # mistakes are rare
    cells = cells_of(list(classes), list(classes), shares, (0, 1), colors)
    cells |= {"text": [[f"{int(each):,}" for each in row] for row in table]}
    cells |= {"hovertemplate": "%{y} answered %{x}: %{text} (%{z:.1%})<extra></extra>"}
    if len(classes) > MAX_WRITTEN:
        cells |= {"texttemplate": ""}
    shape = layout(
        "taken for", "is", height=max(260, 80 + 32 * min(len(classes), MAX_WRITTEN)), size=size
    )
    shape["yaxis"]["autorange"] = "reversed"
    return _written_map(cells, shape, size)


def _written_map(cells: dict[str, Any], shape: dict[str, Any], size: Size) -> go.Figure:
    """A map over categories with its texts in the cells."""
    for axis in (shape["xaxis"], shape["yaxis"]):
        axis |= {"type": "category", "showgrid": False}
    shape["margin"]["l"] = size.scaled(96)
    look = {"texttemplate": "%{text}", "textfont": {"color": INK, "size": size.text}}
    return figure_of([look | cells], shape | {"hovermode": "closest"}, size)


def confusion_alt(classes: Sequence[str], counts: Sequence[Sequence[int]]) -> str:
    """The most frequent mistakes, in a sentence.

    >>> confusion_alt(["cat", "dog"], [[3, 1], [0, 4]])
    'Table of the test examples by class and answer: 7 of 8 are right. Most often mistaken: cat for dog 1.'
    """
    table = np.asarray(counts)
    wrong = [
        (int(table[i, j]), f"{a} for {b}")
        for i, a in enumerate(classes)
        for j, b in enumerate(classes)
        if i != j
    ]
    most = [
        f"{what} {count:,}" for count, what in sorted(wrong, key=lambda each: -each[0])[:3] if count
    ]
    said = f" Most often mistaken: {'; '.join(most)}." if most else ""
    return (
        f"Table of the test examples by class and answer: {table.trace():,} of {table.sum():,} are"
        f" right.{said}"
    )


def _private(outcomes: Sequence[Outcome]) -> list[Outcome]:
    return [each for each in outcomes if each.epsilon is not None and math.isfinite(each.epsilon)]


def _points(outcomes: Sequence[Outcome], name: str, color: str) -> dict[str, Any]:
    ends = [
        (each.epsilon or 0.0, each.epsilon if each.lower is None else each.lower)
        for each in outcomes
    ]
    below = [epsilon - (lower or 0.0) for epsilon, lower in ends]
    bars = {"type": "data", "symmetric": False, "array": [0.0] * len(below), "arrayminus": below}
    texts = [f"{written_name(each.label)}<br>epsilon {_spent(each)}" for each in outcomes]
    told = {"name": name, "text": texts, "hovertemplate": "%{text}, %{y:.1f} %<extra></extra>"}
    x, y = [each.epsilon for each in outcomes], [100 * each.accuracy for each in outcomes]
    return points(
        x, y, {"size": 8, "color": color}, error_x=bars | {"thickness": 1, "width": 2}, **told
    )


def written_name(name: str) -> str:
    """A user's name as the text of a chart, without markup.

    >>> written_name("<b>x</b>")
    '&lt;b&gt;x&lt;/b&gt;'
    """
    return escape(name if len(name) <= MAX_NAME_CHARS else f"{name[:MAX_NAME_CHARS]}…")


def _spent(outcome: Outcome) -> str:
    return marked(outcome.epsilon or 0.0, outcome.kind)


class Cell(NamedTuple):
    """A point of a sweep: its values on the axes, and the test accuracies of its finished runs."""

    values: tuple[Any, ...]
    accuracies: Sequence[float]


def sweep_map(cells: Sequence[Cell], labels: tuple[str, str], *, size: Size = NORMAL) -> go.Figure:
    """Mean test accuracy over two settings, with mean and spread in each cell, empty without a
    finished run.

    >>> sweep_map([Cell((1, "a"), [0.5]), Cell((2, "a"), [])], ("x", "y"))["data"][0]["text"]
    (['50.0 %', ''],)
    """
    across, up = (list(dict.fromkeys(each.values[axis] for each in cells)) for axis in (0, 1))
    found = {each.values: each.accuracies for each in cells}
    table = [[found.get((x, y), ()) for x in across] for y in up]
    means = [[100 * summary(each).mean if each else math.nan for each in row] for row in table]
    known = [each for row in means for each in row if not math.isnan(each)]
    ends = min(known, default=0.0) - 0.5, max(known, default=100.0) + 0.5
    shown = cells_of(
        [value_text(each) for each in across], [value_text(each) for each in up], means, ends
    )
    shown |= {"text": [[spread_text(each) for each in row] for row in table]}
    shown |= {"hovertemplate": "%{x}, %{y}: %{text}<extra></extra>"}
    shape = layout(
        written_name(labels[0]),
        written_name(labels[1]),
        height=max(260, 100 + 44 * len(up)),
        size=size,
    )
    return _written_map(shown, shape, size)


def sweep_line(cells: Sequence[Cell], label: str, *, size: Size = NORMAL) -> go.Figure:
    """Test accuracy in percent over one setting: means with their spreads as bars, and runs as
    small marks.

    Without spreads the axis starts at 0, so that chance does not look large.
    """
    done = [each for each in cells if each.accuracies]
    x = [
        value_text(each.values[0]) if isinstance(each.values[0], bool | str) else each.values[0]
        for each in done
    ]
    figures = [summary(each.accuracies) for each in done]
    spreads = {
        "type": "data",
        "array": [100 * each.spread for each in figures],
        "width": 4,
        "thickness": 1.5,
    }
    told = {
        "text": [spread_text(each.accuracies) for each in done],
        "hovertemplate": "%{x}: %{text}<extra></extra>",
    }
    mean = points(
        x, [100 * each.mean for each in figures], {"size": 8}, name="mean", error_y=spreads, **told
    )
    mean |= {"mode": "lines+markers", "line": {"color": FRONT_COLOR, "width": NORMAL.pen}}
    across = [place for place, each in zip(x, done, strict=True) for _ in each.accuracies]
    heights = [100 * accuracy for each in done for accuracy in each.accuracies]
    faint = {"size": 5, "color": FRONT_COLOR, "opacity": 0.5}
    single = points(
        across, heights, faint, name="each run", hovertemplate="%{x}: %{y:.2f} %<extra></extra>"
    )
    shape = layout(
        written_name(label), "test accuracy, %", height=340, size=size, hovermode="closest"
    )
    alone = any(len(each.accuracies) == 1 for each in done)
    bars = [100 * (each.mean + way * each.spread) for each in figures for way in (-1, 1)]
    # A run alone has no bar.
    shape["yaxis"]["range"] = [0.0, 102.0] if alone else _accuracy_range([*heights, *bars])
    numbers = [each for each in x if not isinstance(each, str)]
    if len(numbers) < len(x):
        shape["xaxis"]["type"] = "category"
    elif numbers and min(numbers) > 0 and max(numbers) > WIDE * min(numbers):
        shape["xaxis"] |= {
            "type": "log",
            "tickvals": numbers,
            "ticktext": [value_text(each) for each in numbers],
        }
    return figure_of([single, mean], shape, size)


def sweep_alt(cells: Sequence[Cell], labels: Sequence[str]) -> str:
    """Every point of the sweep with its mean and spread, in words.

    >>> sweep_alt([Cell((1.0,), [0.5, 0.6]), Cell((2.0,), [])], ["sigma"])
    'Chart of test accuracy over sigma: 1: 55.0 % ± 7.1 %; 2: none finished.'
    """
    said = [f"{', '.join(map(value_text, each.values))}: {spread_text(each.accuracies) or 'none finished'}"
            for each in cells]  # fmt: skip
    return f"Chart of test accuracy over {' and '.join(labels)}: {'; '.join(said)}."


def spread_text(accuracies: Sequence[float]) -> str:
    """Mean and spread of the accuracies; a single one alone, or "" for none."""
    if not accuracies:
        return ""
    figures = summary(accuracies)
    spread = f" ± {percent(figures.spread)}" if len(accuracies) > 1 else ""
    return f"{percent(figures.mean)}{spread}"
