"""Accuracy and optimality gap against epsilon, over seeds, of methods that add noise at different
places.
"""

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore import check
from dpcore.figures.layout import NORMAL, End, Size, figure_of, labelled, layout, line, power_ticks
from dpcore.figures.style import BASELINES, RUNS, Style, faded, look_at
from dpcore.privacy.report.numbers import percent, short
from dpcore.training.perturbation.methods import METHODS

LOOKS = (BASELINES[0], RUNS[1], RUNS[2], RUNS[0], *RUNS[3:])  # of the methods, in their order
HEIGHT = 340
RIGHT = 176  # pixels: a dash and "Objective 98.7 %"
MEASURES = {"accuracy": "test accuracy, %", "gap": "optimality gap L(θ) − L*"}
PROVEN = "epsilon, proven"
NOT_PROVEN = "epsilon requested, not proven"
SHADE, BARS = 0.22, 0.4  # opacity of what lies between the worst and the best seed
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
    """Return colour and dash of a method by its place in the registry, and its label or shortened
    title.
    """
    label = METHODS[name].label or METHODS[name].title.partition(",")[0].removesuffix(
        " perturbation"
    )
    return Style(*look_at(LOOKS, list(METHODS).index(name)), label)


def perturbation_figure(
    spreads: Sequence[Spread],
    measure: str,
    *,
    levels: Sequence[Level] = (),
    kept: bool = True,
    picked: Collection[str] = (),
    epsilons: Sequence[float] = (),
    size: Size = NORMAL,
) -> go.Figure:
    """Draw a measure ("accuracy" as a share, or "gap") against epsilon: means over seeds, from
    worst to best.

    `kept` names the axis: do the methods keep the epsilon requested? The `picked` ones are shaded
    in front of the others, which are faint and have bars. The axis spans all `epsilons`, measured
    or not. That of a gap is logarithmic and leaves out values of 0 or less.

    >>> figure = perturbation_figure([Spread("output", [0.5, 1.0], [[0.7, 0.9], [0.8, 1.0]])], "accuracy")
    >>> [trace.name for trace in figure.data], [round(each) for each in figure.data[0].y]
    (['Output'], [80, 90])
    """
    check.one_of(MEASURES, measure=measure)
    log = measure == "gap"
    across = sorted({*epsilons, *(each for spread in spreads for each in spread.epsilons)}) or [
        0.01,
        10.0,
    ]
    traces, ends = [], []
    for level in levels:
        value = level.value if log else 100 * level.value
        traces.append(
            line(
                _span(across),
                [value] * 2,
                level.style,
                hovertemplate="%{y:.3g}" if log else "%{y:.1f} %",
            )
        )
        ends.append(_end(level.style, value, log))
    for spread in sorted(
        (each for each in spreads if each.values), key=lambda each: each.method in picked
    ):
        style, means = method_style(spread.method), _over_seeds(spread, log)[0]
        traces += _traces(spread, style, log, spread.method in picked if picked else None)
        ends.append(_end(style, float(means[-1]), log))
    bounds = _bounds(spreads, levels, log)
    shape = layout(
        PROVEN if kept else NOT_PROVEN, MEASURES[measure], height=HEIGHT, right=RIGHT, size=size
    )
    shape = labelled(shape, [each for each in ends if math.isfinite(each.y)], bounds, size, log=log)
    shape["yaxis"] |= {"range": list(bounds), **(power_ticks(*bounds) if log else {})}
    shape["xaxis"] |= _epsilon_axis(across)
    return figure_of(traces, shape, size)


def perturbation_alt(
    spreads: Sequence[Spread], measure: str, *, levels: Sequence[Level] = (), kept: bool = True
) -> str:
    """Describe the mean of each method at its smallest and its largest epsilon, and every level.

    >>> perturbation_alt([Spread("output", [0.5, 1.0], [[0.7, 0.9], [0.8, 1.0]])], "accuracy")
    'Line chart of test accuracy against epsilon, means of 2 seeds. Output: 80.0 % at 0.5, 90.0 % at 1.'
    """
    log = measure == "gap"
    write = short if log else percent
    told = [
        f"{method_style(each.method).label}: {_two_ends(each, write)}"
        for each in spreads
        if each.values
    ]
    told += [f"{each.style.label}: {write(each.value)} throughout" for each in levels]
    seeds = max((len(values) for each in spreads for values in each.values), default=0)
    means = f", means of {seeds} seeds" if seeds > 1 else ""
    what = "the optimality gap" if log else "test accuracy"
    against = "epsilon" if kept else "an epsilon that was requested and is not proven"
    return f"Line chart of {what} against {against}{means}. {'; '.join(told) or 'Nothing yet'}."


def _epsilon_axis(across: Sequence[float]) -> dict[str, Any]:
    """Return a logarithmic axis over these epsilons, with powers of ten written without exponents."""
    low, high = math.log10(across[0]), math.log10(across[-1])
    powers = [10.0**power for power in range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)]
    ticks = powers if len(powers) > 1 else sorted({across[0], across[-1]})
    told = {"tickvals": ticks, "ticktext": [f"{each:g}" for each in ticks]}
    return {"type": "log", "range": [math.log10(each) for each in _span(across)], **told}


def _span(across: Sequence[float]) -> list[float]:
    """Return the ends of the axis over these epsilons, with room for levels beside a single one."""
    low, high = math.log10(across[0]), math.log10(across[-1])
    edge = 0.03 * max(high - low, 1)
    return [10 ** (low - edge), 10 ** (high + edge)]


def _traces(spread: Spread, style: Style, log: bool, picked: bool | None) -> list[dict[str, Any]]:
    """Return the mean with what lies between the worst and the best seed: a shade if picked, else
    bars.
    """
    means, low, high = _over_seeds(spread, log)
    told = [f"{_written(each, log)}, from {_written(least, log)} to {_written(most, log)}"
            for each, least, most in zip(means, low, high, strict=True)]  # fmt: skip
    mean = line(spread.epsilons, means, style, mode="lines+markers", marker={"size": 5})
    mean |= {"text": told, "hovertemplate": "%{text}", "opacity": FAINT if picked is False else 1.0}
    if not picked:
        bars = {"array": high - means, "arrayminus": means - low, "thickness": 1, "width": 0}
        return [mean | {"error_y": bars | {"color": faded(style.color, BARS)}}]
    x, y = [*spread.epsilons, *reversed(spread.epsilons)], [*high, *low[::-1]]
    filled = {"fill": "toself", "fillcolor": faded(style.color, SHADE), "hoverinfo": "skip"}
    return [line(x, y, style._replace(label=""), width=0, **filled), mean]


def _over_seeds(spread: Spread, log: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean, smallest and largest over the seeds, in percent; NaN where a logarithmic axis
    cannot show it.
    """
    values = np.array(spread.values, dtype=float)  # (E, S)
    rows = values.mean(axis=1), values.min(axis=1), values.max(axis=1)
    mean, low, high = (np.where(each > 0, each, np.nan) if log else 100 * each for each in rows)
    return mean, low, high


def _written(value: float, log: bool) -> str:
    if math.isnan(value):
        return "0 or less"
    return short(value) if log else percent(value / 100)


def _end(style: Style, value: float, log: bool) -> End:
    return End(style, value, f"{style.label} {_written(value, log)}")


def _bounds(spreads: Sequence[Spread], levels: Sequence[Level], log: bool) -> tuple[float, float]:
    """Return the ends of the y axis, in its own units."""
    own = [each for spread in spreads if spread.values for each in _over_seeds(spread, log)]
    drawn_here = np.concatenate([*own, [(1 if log else 100) * each.value for each in levels]])
    finite = drawn_here[np.isfinite(drawn_here)]
    if log:
        low, high = (np.log10(finite.min()), np.log10(finite.max())) if finite.size else (-3.0, 0.0)
        return float(low) - 0.1, float(high) + 0.1
    low = min(float(finite.min()), 50.0) if finite.size else 40.0
    return 10.0 * math.floor(max(low - 1, 0) / 10), 102.0


def _two_ends(spread: Spread, write: Callable[[float], str]) -> str:
    means = np.array(spread.values, dtype=float).mean(axis=1)
    places = [0, -1] if len(means) > 1 else [0]
    return ", ".join(
        f"{write(float(means[place]))} at {spread.epsilons[place]:g}" for place in places
    )
