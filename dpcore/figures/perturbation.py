"""Accuracy and optimality gap against epsilon, over seeds, of methods of perturbation."""

import math
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore import check
from dpcore.figures.layout import (
    Axis,
    Bounds,
    End,
    Numbers,
    Trace,
    axis,
    figure_of,
    line,
    log_axis,
    marked_line,
    power_ticks,
    round_numbers,
)
from dpcore.figures.style import BASELINES, RUNS, Style, faded, look_at
from dpcore.privacy.mechanism import FloatArray
from dpcore.privacy.report.numbers import percent, short
from dpcore.training.perturbation.methods import METHODS

LOOKS = (BASELINES[0], RUNS[1], RUNS[2], RUNS[0], *RUNS[3:])  # of the methods, in their order
HEIGHT = 340
RIGHT = 176  # pixels: a dash and "Objective 98.7 %"
PROVEN = "epsilon, proven"
NOT_PROVEN = "epsilon requested, not proven"
SHADE = 0.22  # opacity of the area from the worst to the best seed
BARS = 0.4  # opacity of bars in its place
FAINT = 0.45  # opacity of the lines beside those that are picked out


class Measure(NamedTuple):
    """A quantity on the y axis."""

    title: str
    words: str
    scale: float
    hover: str  # of a level
    log: bool
    write: Callable[[float], str]  # of a value without the scale

    def written(self, value: float) -> str:
        """The text of a value on the axis; a logarithmic one cannot show the rest."""
        return "0 or less" if math.isnan(value) else self.write(value / self.scale)

    def end(self, style: Style, value: float) -> End:
        return End(style, value, f"{style.label} {self.written(value)}")


MEASURES = {
    "accuracy": Measure("test accuracy, %", "test accuracy", 100.0, "%{y:.1f} %", False, percent),
    "gap": Measure("optimality gap L(θ) − L*", "the optimality gap", 1.0, "%{y:.3g}", True, short),
}


class Spread(NamedTuple):
    """The results of a method: at each epsilon, rising, one value for each seed."""

    method: str
    epsilons: Numbers
    values: Sequence[Numbers]


class Level(NamedTuple):
    """A line that does not depend on epsilon."""

    style: Style
    value: float


def method_style(name: str) -> Style:
    """Return colour and dash of a method by its place in the registry, and its short name."""
    method = METHODS[name]
    first = method.title.partition(",")[0]
    label = method.label or first.removesuffix(" perturbation")
    return Style(*look_at(LOOKS, list(METHODS).index(name)), label)


def perturbation_figure(
    spreads: Sequence[Spread],
    measure: str,
    *,
    levels: Sequence[Level] = (),
    kept: bool = True,
    picked: Collection[str] = (),
    epsilons: Numbers = (),
) -> go.Figure:
    """Draw a measure ("accuracy" as a share, or "gap") against epsilon: means over seeds, from
    worst to best.

    `kept` names the axis: do the methods keep the epsilon requested? The `picked` ones are shaded
    in front of the others, which are faint and have bars. The axis spans all `epsilons`, measured
    or not. That of a gap is logarithmic and leaves out values of 0 or less.

    >>> spread = Spread("output", [0.5, 1.0], [[0.7, 0.9], [0.8, 1.0]])
    >>> figure = perturbation_figure([spread], "accuracy")
    >>> [trace.name for trace in figure.data], [round(each) for each in figure.data[0].y]
    (['Output'], [80, 90])
    """
    check.one_of(MEASURES, measure=measure)
    shown = MEASURES[measure]
    seen = set(epsilons)
    for spread in spreads:
        seen.update(spread.epsilons)
    across = sorted(seen) or [0.01, 10.0]
    traces = []
    ends = []
    for level in levels:
        value = shown.scale * level.value
        traces.append(line(_span(across), [value] * 2, level.style, hovertemplate=shown.hover))
        ends.append(shown.end(level.style, value))
    measured = [each for each in spreads if each.values]
    for spread in sorted(measured, key=lambda each: each.method in picked):
        shaded = spread.method in picked
        traces += _traces(spread, shown, shaded, FAINT if picked and not shaded else 1.0)
        means, _, _ = _over_seeds(spread, shown)
        ends.append(shown.end(method_style(spread.method), float(means[-1])))
    bounds = _bounds(measured, levels, shown)
    ticks = power_ticks(*bounds) if shown.log else {}
    return figure_of(
        traces,
        axis(PROVEN if kept else NOT_PROVEN, **_epsilon_axis(across)),
        axis(shown.title, range=list(bounds), **ticks),
        ends=[each for each in ends if math.isfinite(each.y)],
        height=HEIGHT,
        right=RIGHT,
    )


def perturbation_alt(
    spreads: Sequence[Spread], measure: str, *, levels: Sequence[Level] = (), kept: bool = True
) -> str:
    """Describe the mean of each method at its smallest and its largest epsilon, and every level.

    >>> spread = Spread("output", [0.5, 1.0], [[0.7, 0.9], [0.8, 1.0]])
    >>> perturbation_alt([spread], "accuracy").split(", ", 1)[1]
    'means of 2 seeds. Output: 80.0 % at 0.5, 90.0 % at 1.'
    """
    shown = MEASURES[measure]
    sentences = []
    seeds = 0
    for each in spreads:
        if each.values:
            sentences.append(f"{method_style(each.method).label}: {_two_ends(each, shown.write)}")
            seeds = max(seeds, *map(len, each.values))
    sentences += [f"{each.style.label}: {shown.write(each.value)} throughout" for each in levels]
    means = f", means of {seeds} seeds" if seeds > 1 else ""
    against = "epsilon" if kept else "an epsilon that was requested and is not proven"
    said = "; ".join(sentences) or "Nothing yet"
    return f"Line chart of {shown.words} against {against}{means}. {said}."


def _epsilon_axis(across: Numbers) -> Axis:
    """Return a logarithmic axis over these epsilons; powers of ten have no exponents."""
    low, high = across[0], across[-1]
    ticks = round_numbers(low, high, [1])
    if len(ticks) < 2:
        ticks = sorted({low, high})
    start, end = _span(across)
    return log_axis(start, end, ticks, "{:g}".format)


def _span(across: Numbers) -> list[float]:
    """Return the ends of the axis over these epsilons, with room for levels beside a single one."""
    low, high = math.log10(across[0]), math.log10(across[-1])
    edge = 0.03 * max(high - low, 1)
    return [10 ** (low - edge), 10 ** (high + edge)]


def _traces(spread: Spread, shown: Measure, shaded: bool, opacity: float) -> list[Trace]:
    """Return the mean, with a shade from the worst to the best seed or with bars."""
    style = method_style(spread.method)
    means, low, high = _over_seeds(spread, shown)
    texts = []
    for mean, least, most in zip(means, low, high, strict=True):
        ends = f"from {shown.written(least)} to {shown.written(most)}"
        texts.append(f"{shown.written(mean)}, {ends}")
    hover = {"text": texts, "hovertemplate": "%{text}"}
    trace = marked_line(spread.epsilons, means, style, opacity=opacity) | hover
    if not shaded:
        bars = {"array": high - means, "arrayminus": means - low, "thickness": 1, "width": 0}
        return [trace | {"error_y": bars | {"color": faded(style.color, BARS)}}]
    shade = line(
        [*spread.epsilons, *reversed(spread.epsilons)],
        [*high, *low[::-1]],
        style._replace(label=""),
        width=0,
        fill="toself",
        fillcolor=faded(style.color, SHADE),
        hoverinfo="skip",
    )
    return [shade, trace]


def _over_seeds(spread: Spread, shown: Measure) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, smallest and largest over the seeds, each (E,), in the units of the axis.

    They are NaN where a logarithmic axis cannot show them.
    """
    values = np.array(spread.values, dtype=float)  # (E, S)
    mean, low, high = shown.scale * np.stack([values.mean(1), values.min(1), values.max(1)])
    if not shown.log:
        return mean, low, high
    return _positive(mean), _positive(low), _positive(high)


def _positive(values: FloatArray) -> FloatArray:
    return np.where(values > 0, values, np.nan)


def _bounds(spreads: Sequence[Spread], levels: Sequence[Level], shown: Measure) -> Bounds:
    """Return the ends of the y axis, in its own units."""
    heights = [shown.scale * level.value for level in levels]
    for spread in spreads:
        heights += np.ravel(_over_seeds(spread, shown)).tolist()
    seen = [each for each in heights if math.isfinite(each)]
    if not shown.log:
        low = min([*seen, 50.0]) if seen else 40.0
        return 10.0 * math.floor(max(low - 1, 0) / 10), 102.0
    if not seen:
        return -3.1, 0.1
    return math.log10(min(seen)) - 0.1, math.log10(max(seen)) + 0.1


def _two_ends(spread: Spread, write: Callable[[float], str]) -> str:
    means = np.array(spread.values, dtype=float).mean(axis=1).tolist()
    ends = [f"{write(means[0])} at {spread.epsilons[0]:g}"]
    if len(means) > 1:
        ends.append(f"{write(means[-1])} at {spread.epsilons[-1]:g}")
    return ", ".join(ends)
