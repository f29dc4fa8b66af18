"""Accuracy and optimality gap against epsilon, over seeds, of methods of perturbation."""

import math
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore import check
from dpcore.figures.layout import (
    Axis,
    End,
    Trace,
    axis,
    figure_of,
    line,
    log_axis,
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
MEASURES = {"accuracy": "test accuracy, %", "gap": "optimality gap L(θ) − L*"}
PROVEN = "epsilon, proven"
NOT_PROVEN = "epsilon requested, not proven"
SHADE = 0.22  # opacity of the area from the worst to the best seed
BARS = 0.4  # opacity of bars in its place
FAINT = 0.45  # opacity of the lines beside those that are picked out


class Spread(NamedTuple):
    """The results of a method: at each epsilon, rising, one value for each seed."""

    method: str
    epsilons: Sequence[float]
    values: Sequence[Sequence[float]]


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
    epsilons: Sequence[float] = (),
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
    log = measure == "gap"
    seen = set(epsilons)
    for spread in spreads:
        seen |= {*spread.epsilons}
    across = sorted(seen) or [0.01, 10.0]
    traces, ends = [], []
    for level in levels:
        value = level.value if log else 100 * level.value
        hover = "%{y:.3g}" if log else "%{y:.1f} %"
        traces.append(line(_span(across), [value] * 2, level.style, hovertemplate=hover))
        ends.append(_end(level.style, value, log))
    measured = [each for each in spreads if each.values]
    for spread in sorted(measured, key=lambda each: each.method in picked):
        style = method_style(spread.method)
        means, _, _ = _over_seeds(spread, log)
        faint = bool(picked) and spread.method not in picked
        shaded = spread.method in picked
        traces += _traces(spread, style, log, shaded=shaded, opacity=FAINT if faint else 1.0)
        ends.append(_end(style, float(means[-1]), log))
    bounds = _bounds(measured, levels, log)
    up = {"range": list(bounds)}
    if log:
        up |= power_ticks(*bounds)
    return figure_of(
        traces,
        axis(PROVEN if kept else NOT_PROVEN, **_epsilon_axis(across)),
        axis(MEASURES[measure], **up),
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
    log = measure == "gap"
    write = short if log else percent
    sentences = []
    seeds = 0
    for each in spreads:
        if each.values:
            sentences.append(f"{method_style(each.method).label}: {_two_ends(each, write)}")
            seeds = max(seeds, *map(len, each.values))
    sentences += [f"{each.style.label}: {write(each.value)} throughout" for each in levels]
    means = f", means of {seeds} seeds" if seeds > 1 else ""
    what = "the optimality gap" if log else "test accuracy"
    against = "epsilon" if kept else "an epsilon that was requested and is not proven"
    return (
        f"Line chart of {what} against {against}{means}. {'; '.join(sentences) or 'Nothing yet'}."
    )


def _epsilon_axis(across: Sequence[float]) -> Axis:
    """Return a logarithmic axis over these epsilons; powers of ten have no exponents."""
    low, high = across[0], across[-1]
    ticks = round_numbers(low, high, [1])
    if len(ticks) < 2:
        ticks = sorted({low, high})
    return log_axis([math.log10(each) for each in _span(across)], ticks, "{:g}".format)


def _span(across: Sequence[float]) -> list[float]:
    """Return the ends of the axis over these epsilons, with room for levels beside a single one."""
    low, high = math.log10(across[0]), math.log10(across[-1])
    edge = 0.03 * max(high - low, 1)
    return [10 ** (low - edge), 10 ** (high + edge)]


def _traces(
    spread: Spread, style: Style, log: bool, *, shaded: bool, opacity: float
) -> list[Trace]:
    """Return the mean, with a shade from the worst to the best seed or with bars."""
    means, low, high = _over_seeds(spread, log)
    texts = []
    for mean, least, most in zip(means, low, high, strict=True):
        ends = f"from {_written(least, log)} to {_written(most, log)}"
        texts.append(f"{_written(mean, log)}, {ends}")
    trace = line(
        spread.epsilons,
        means,
        style,
        mode="lines+markers",
        marker={"size": 5},
        text=texts,
        hovertemplate="%{text}",
        opacity=opacity,
    )
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


def _over_seeds(spread: Spread, log: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, smallest and largest over the seeds, in percent, each (E,).

    On a logarithmic axis they have no percent, and NaN where it cannot show them.
    """
    values = np.array(spread.values, dtype=float)  # (E, S)
    mean, low, high = values.mean(axis=1), values.min(axis=1), values.max(axis=1)
    if not log:
        return 100 * mean, 100 * low, 100 * high
    return _positive(mean), _positive(low), _positive(high)


def _positive(values: FloatArray) -> FloatArray:
    return np.where(values > 0, values, np.nan)


def _written(value: float, log: bool) -> str:
    if math.isnan(value):
        return "0 or less"
    return short(value) if log else percent(value / 100)


def _end(style: Style, value: float, log: bool) -> End:
    return End(style, value, f"{style.label} {_written(value, log)}")


def _bounds(spreads: Sequence[Spread], levels: Sequence[Level], log: bool) -> tuple[float, float]:
    """Return the ends of the y axis, in its own units."""
    heights: list[float] = []
    for spread in spreads:
        heights += np.ravel(_over_seeds(spread, log)).tolist()
    for level in levels:
        heights.append(level.value if log else 100 * level.value)
    seen = [each for each in heights if math.isfinite(each)]
    if log:
        if not seen:
            return -3.1, 0.1
        return float(np.log10(min(seen))) - 0.1, float(np.log10(max(seen))) + 0.1
    low = min([*seen, 50.0]) if seen else 40.0
    return 10.0 * math.floor(max(low - 1, 0) / 10), 102.0


def _two_ends(spread: Spread, write: Callable[[float], str]) -> str:
    means = np.array(spread.values, dtype=float).mean(axis=1).tolist()
    ends = [f"{write(means[0])} at {spread.epsilons[0]:g}"]
    if len(means) > 1:
        ends.append(f"{write(means[-1])} at {spread.epsilons[-1]:g}")
    return ", ".join(ends)
