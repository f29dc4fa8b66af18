"""Charts of many runs: accuracy against epsilon, classes and their confusions, and sweeps."""

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore.figures.heatmap import MAP_FONT, cells_of, log_cells
from dpcore.figures.layout import (
    FONT,
    NORMAL,
    Axis,
    Note,
    Numbers,
    Trace,
    axis,
    figure_of,
    line,
    percents,
    points,
)
from dpcore.figures.style import BASELINES, GREY, HEIGHTS, PRIVATE, Style
from dpcore.figures.training import Track, track_styles
from dpcore.privacy.mechanism import Kind
from dpcore.privacy.report.numbers import marked, percent, value_text
from dpcore.training.seed_summary import summary

FRONT = "Pareto front"
OTHERS = "other runs"
FRONT_COLOR = PRIVATE
OTHER_COLOR = GREY
LEVEL = Style(*BASELINES[0], "without privacy")
MAX_POINTS = 1000  # beside the front that are drawn
MAX_LABELLED = 8  # points of a front
RIGHT = 110  # pixels: "90.6 % at ≤ 2.37"
ALIKE = 1.1  # ratio of numbers up to which they stand in a column
SEEN = 1.02  # ratio of the ends of a bar from which on it is longer than its point is wide
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

    >>> outcomes = [Outcome("a", 0.9, 2.0), Outcome("b", 0.8, 1.0), Outcome("c", 0.7, 1.5)]
    >>> [each.label for each in front(outcomes)]
    ['b', 'a']
    """
    found: list[Outcome] = []
    for each in sorted(_private(outcomes), key=lambda each: (each.epsilon, -each.accuracy)):
        if not found or each.accuracy > found[-1].accuracy:
            found.append(each)
    return found


def front_figure(outcomes: Sequence[Outcome], accountant: str) -> go.Figure:
    """Test accuracy in percent over epsilon: a point for each run, with the front as a staircase.

    The best run without privacy is a line across. A front of few runs has its numbers beside its
    points.
    """
    best = front(outcomes)
    rest = [each for each in _private(outcomes) if each not in best][:MAX_POINTS]
    staircase = _points(best, FRONT, FRONT_COLOR)
    staircase["mode"] = "lines+markers"
    staircase["line"] = {"shape": "hv", "color": FRONT_COLOR, "width": NORMAL.pen}
    if len(best) <= MAX_LABELLED:  # below the steps there is room
        staircase |= {
            "mode": "lines+markers+text",
            "customdata": list(map(_reached, best)),
            "texttemplate": "%{customdata}",
            "textposition": ["bottom right"] * (len(best) - 1) + ["middle right"],
            "cliponaxis": False,
        }
    traces = [_points(rest, OTHERS, OTHER_COLOR), staircase]
    notes = []
    ends = [each.epsilon for each in (*best, *rest) if each.epsilon]
    least = min(ends, default=0.0)
    most = max(ends, default=1.0)
    across, whole = _epsilon_axis(least, most)
    level = level_of(outcomes)
    if level:
        hover = "without privacy, %{y:.1f} %<extra></extra>"
        traces.append(line(whole, [100 * level] * 2, LEVEL, hovertemplate=hover))
        notes.append(_level_label(level))
    heights = [100 * each.accuracy for each in outcomes]
    return figure_of(
        traces,
        axis(f"epsilon, {accountant}", **across),
        axis("test accuracy, %", range=_accuracy_range(heights)),
        notes=notes,
        height=420,
        right=RIGHT,
        hovermode="closest",
    )


def _epsilon_axis(least: float, most: float) -> tuple[Axis, Numbers]:
    """The axis of epsilons between these, and its ends: logarithmic if they lie far apart.

    Where all are about equal their column stands in the middle.
    """
    if most > WIDE * least > 0:
        across = log_cells(np.geomspace(least, most, 12))
        return across, [10**end for end in across["range"]]
    ends = [0.0, 1.05 * most]
    if most < ALIKE * least:
        ends = [0.0, 2 * most]
    return {"range": ends}, ends


def _level_label(level: float) -> Note:
    """The words above the line of the best run without privacy."""
    return {
        "xref": "paper",
        "x": 0,
        "xshift": 6,
        "xanchor": "left",
        "y": 100 * level,
        "yanchor": "bottom",
        "text": f"best without privacy {percent(level)}",
        "showarrow": False,
        "font": FONT,
    }


def seen_bars(outcomes: Sequence[Outcome]) -> bool:
    """True if the bar of some run is long enough to be seen."""
    for each in _private(outcomes):
        if each.epsilon and each.lower is not None and each.lower < each.epsilon / SEEN:
            return True
    return False


def _reached(outcome: Outcome) -> str:
    return f"{percent(outcome.accuracy)} at {_spent(outcome)}"


def _accuracy_range(percents: Numbers) -> list[float]:
    """An axis of at least 20 points, with room for a label over the highest value."""
    top = max(percents, default=98.0) + 4
    return [max(0.0, min(min(percents, default=0.0) - 4, top - 20)), top]


def front_alt(outcomes: Sequence[Outcome], accountant: str) -> str:
    """The front in words, from its first to its last run.

    >>> outcomes = [Outcome("a", 0.9, 2.0), Outcome("b", 0.8, 1.0)]
    >>> front_alt(outcomes, "PLD")  # doctest: +ELLIPSIS
    'Scatter chart ... of 2 runs. The best trade-offs: 80.0 % at ≤ 1.00; 90.0 % at ≤ 2.00.'
    """
    best = front(outcomes)
    count = len(_private(outcomes))
    first = (
        f"Scatter chart of test accuracy against epsilon, {accountant}, of {count:,}"
        f" run{'s' * (count != 1)}."
    )
    listed = best
    if len(best) > 8:
        listed = [*best[:4], *best[-4:]]
    trade_offs = "; ".join(map(_reached, listed)) or "none yet"
    level = level_of(outcomes)
    beside = f" Without privacy {percent(level)} was reached." if level else ""
    return f"{first} The best trade-offs: {trade_offs}.{beside}"


def level_of(outcomes: Sequence[Outcome]) -> float | None:
    """The best accuracy without privacy, if there is such a run."""
    return max((each.accuracy for each in outcomes if each.epsilon is None), default=None)


def classes_compared_figure(classes: Sequence[str], runs: Sequence[Track]) -> go.Figure:
    """Test accuracy of each class in percent: a mark for each run in the colour of its line."""
    traces = []
    for place, (run, style) in enumerate(zip(runs, track_styles(runs), strict=True)):
        symbol, _ = SYMBOLS[place % len(SYMBOLS)]
        marker = {"size": 10, "color": style.color, "symbol": symbol}
        heights = percents(run.y)
        hover = "%{x}: %{y:.1f} %"
        traces.append(points(list(classes), heights, marker, name=run.label, hovertemplate=hover))
    y = axis("test accuracy, %", range=[0, 104])
    return figure_of(traces, axis("class", type="category"), y, height=300)


MAX_WRITTEN = 20  # classes whose counts have room in their cells


def confusion_figure(classes: Sequence[str], counts: Sequence[Sequence[int]]) -> go.Figure:
    """Test examples by class (rows) and answer (columns); colours are shares of a row.

    >>> confusion_figure(["cat", "dog"], [[3, 1], [0, 4]]).data[0].z.tolist()
    [[0.75, 0.25], [0.0, 1.0]]
    """
    table = np.asarray(counts, dtype=float)  # (K, K)
    shares = table / np.maximum(table.sum(1, keepdims=True), 1)
    colors = [(share**2, color) for share, color in HEIGHTS]  # mistakes are rare
    cells = cells_of(list(classes), list(classes), shares, (0, 1), colors)
    cells["text"] = _in_cells(table, "{:,.0f}".format)
    cells["texttemplate"] = "%{text}" if len(classes) <= MAX_WRITTEN else ""
    cells["hovertemplate"] = "%{y} answered %{x}: %{text} (%{z:.1%})<extra></extra>"
    height = max(260, 80 + 32 * min(len(classes), MAX_WRITTEN))
    return _written_map(cells, "the model's answer", "class", height, autorange="reversed")


def _in_cells(table: Iterable[Iterable[Any]], of: Callable[[Any], Any]) -> list[list[Any]]:
    """A value for each cell of a table."""
    return [list(map(of, row)) for row in table]


def _written_map(cells: Trace, x: str, y: str, height: int, **up: Any) -> go.Figure:
    """A map over categories with its texts in the cells."""
    look = {"texttemplate": "%{text}", "textfont": MAP_FONT}
    plain = {"type": "category", "showgrid": False}
    return figure_of(
        [look | cells],
        axis(x, **plain),
        axis(y, **plain, **up),
        height=height,
        left=96,
        hovermode="closest",
    )


def confusion_alt(classes: Sequence[str], counts: Sequence[Sequence[int]]) -> str:
    """The most frequent mistakes, in a sentence.

    >>> confusion_alt(["cat", "dog"], [[3, 1], [0, 4]]).split(": ", 1)[1]
    '7 of 8 are right. Most often mistaken: cat for dog 1.'
    """
    table = np.asarray(counts)
    wrong = table - np.diag(table.diagonal())  # (K, K), only the mistakes
    most = []
    for place in np.argsort(-wrong, axis=None, kind="stable")[:3].tolist():
        row, column = divmod(place, len(classes))
        if wrong[row, column]:
            most.append(f"{classes[row]} for {classes[column]} {wrong[row, column]:,}")
    mistaken = f" Most often mistaken: {'; '.join(most)}." if most else ""
    return (
        f"Table of the test examples by class and answer: {table.trace():,} of {table.sum():,} are"
        f" right.{mistaken}"
    )


def _private(outcomes: Sequence[Outcome]) -> list[Outcome]:
    return [each for each in outcomes if each.epsilon is not None and math.isfinite(each.epsilon)]


def _points(outcomes: Sequence[Outcome], name: str, color: str) -> Trace:
    """The points of runs, with bars down to their proven lower bounds."""
    epsilons = []
    below = []
    heights = []
    texts = []
    for each in outcomes:
        epsilon = each.epsilon or 0.0
        epsilons.append(epsilon)
        below.append(0.0 if each.lower is None else epsilon - each.lower)
        heights.append(100 * each.accuracy)
        texts.append(f"{written_name(each.label)}<br>epsilon {_spent(each)}")
    bars = {
        "type": "data",
        "symmetric": False,
        "array": [0.0] * len(below),
        "arrayminus": below,
        "thickness": 1,
        "width": 2,
    }
    hover = {"text": texts, "hovertemplate": "%{text}, %{y:.1f} %<extra></extra>"}
    marker = {"size": 8, "color": color}
    return points(epsilons, heights, marker, name=name, error_x=bars) | hover


def written_name(name: str) -> str:
    """A user's name as the text of a chart, without markup.

    >>> written_name("<b>x</b>")
    '&lt;b&gt;x&lt;/b&gt;'
    """
    if len(name) > MAX_NAME_CHARS:
        name = f"{name[:MAX_NAME_CHARS]}…"
    return escape(name)


def _spent(outcome: Outcome) -> str:
    return marked(outcome.epsilon or 0.0, outcome.kind)


class Cell(NamedTuple):
    """A point of a sweep: its values on the axes, and the test accuracies of its finished runs."""

    values: tuple[Any, ...]
    accuracies: Numbers


def sweep_map(cells: Sequence[Cell], labels: tuple[str, str]) -> go.Figure:
    """Mean test accuracy over two settings, with mean and spread in each cell.

    A cell without a finished run is empty.

    >>> sweep_map([Cell((1, "a"), [0.5]), Cell((2, "a"), [])], ("x", "y"))["data"][0]["text"]
    (['50.0 %', ''],)
    """
    across: dict[Any, int] = {}  # value: column
    up: dict[Any, int] = {}
    for each in cells:
        x, y = each.values
        across.setdefault(x, len(across))
        up.setdefault(y, len(up))
    means = np.full((len(up), len(across)), np.nan)
    texts = np.full(means.shape, "", dtype=object)
    for each in cells:
        x, y = each.values
        if each.accuracies:
            means[up[y], across[x]] = 100 * summary(each.accuracies).mean
            texts[up[y], across[x]] = spread_text(each.accuracies)
    known = means[np.isfinite(means)].tolist()
    ends = min(known, default=0.0) - 0.5, max(known, default=100.0) + 0.5
    shown = cells_of([*map(value_text, across)], [*map(value_text, up)], means.tolist(), ends)
    shown["text"] = texts.tolist()
    shown["hovertemplate"] = "%{x}, %{y}: %{text}<extra></extra>"
    x_label, y_label = map(written_name, labels)
    return _written_map(shown, x_label, y_label, max(260, 100 + 44 * len(up)))


def sweep_line(cells: Sequence[Cell], label: str) -> go.Figure:
    """Test accuracy in percent over one setting: means with their spreads as bars, and runs.

    Without spreads the axis starts at 0, so that chance does not look large.
    """
    x: list[Any] = []
    means = []
    spreads = []
    texts = []
    run_x = []
    run_heights = []
    reach = []
    alone = False
    for each in cells:
        if not each.accuracies:
            continue
        place = each.values[0]
        if isinstance(place, bool | str):
            place = value_text(place)
        figures = summary(each.accuracies)
        x.append(place)
        means.append(100 * figures.mean)
        spreads.append(100 * figures.spread)
        texts.append(spread_text(each.accuracies))
        run_x += [place] * len(each.accuracies)
        run_heights += percents(each.accuracies)
        reach += [100 * (figures.mean - figures.spread), 100 * (figures.mean + figures.spread)]
        alone |= len(each.accuracies) == 1
    mean = points(x, means, {"size": 8}, name="mean", mode="lines+markers", text=texts) | {
        "line": {"color": FRONT_COLOR, "width": NORMAL.pen},
        "error_y": {"type": "data", "array": spreads, "width": 4, "thickness": 1.5},
        "hovertemplate": "%{x}: %{text}<extra></extra>",
    }
    faint = {"size": 5, "color": FRONT_COLOR, "opacity": 0.5}
    hover = "%{x}: %{y:.2f} %<extra></extra>"
    single = points(run_x, run_heights, faint, name="each run", hovertemplate=hover)
    heights = [0.0, 102.0]  # a run alone has no bar
    if not alone:
        heights = _accuracy_range([*run_heights, *reach])
    return figure_of(
        [single, mean],
        axis(written_name(label), **_setting_axis(x)),
        axis("test accuracy, %", range=heights),
        height=340,
        hovermode="closest",
    )


def _setting_axis(x: Sequence[Any]) -> Axis:
    """The type of the axis of a setting: categories, or logarithmic for a wide range."""
    if any(isinstance(each, str) for each in x):
        return {"type": "category"}
    if not x or min(x) <= 0 or max(x) <= WIDE * min(x):
        return {}
    return {"type": "log", "tickvals": x, "ticktext": [*map(value_text, x)]}


def sweep_alt(cells: Sequence[Cell], labels: Sequence[str]) -> str:
    """Every point of the sweep with its mean and spread, in words.

    >>> sweep_alt([Cell((1.0,), [0.5, 0.6]), Cell((2.0,), [])], ["sigma"])
    'Chart of test accuracy over sigma: 1: 55.0 % ± 7.1 %; 2: none finished.'
    """
    sentences = []
    for each in cells:
        where = ", ".join(map(value_text, each.values))
        sentences.append(f"{where}: {spread_text(each.accuracies) or 'none finished'}")
    return f"Chart of test accuracy over {' and '.join(labels)}: {'; '.join(sentences)}."


def spread_text(accuracies: Numbers) -> str:
    """Mean and spread of the accuracies; a single one alone, or "" for none."""
    if not accuracies:
        return ""
    figures = summary(accuracies)
    spread = f" ± {percent(figures.spread)}" if len(accuracies) > 1 else ""
    return f"{percent(figures.mean)}{spread}"
