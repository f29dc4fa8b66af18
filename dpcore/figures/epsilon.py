"""Epsilon against epoch, and delta against epsilon, by accountants; a ghost is the curve of another
setting.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore import check
from dpcore.figures.layout import (
    NORMAL,
    End,
    Size,
    figure_of,
    hover_text,
    labelled,
    layout,
    line,
    power_ticks,
)
from dpcore.figures.style import (
    BAND,
    BELOW_BAND,
    DEFAULT_ACCOUNTANTS,
    GREY,
    PINNED_LOOK,
    SIGNS,
    Style,
    style_of,
)
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Curve
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism, horizons
from dpcore.privacy.report.numbers import marked, outward
from dpcore.privacy.report.verdict import verdict

GHOST_NAME = "Pinned"
POINTS = 100
DELTAS = np.logspace(-12, -1, 67)
FLOOR = 1e-4  # the smallest epsilon on a logarithmic axis
FAR = 10.0  # times the certified value: a higher curve may leave a linear axis
RIGHT = 224  # pixels of the longest label, with its mark and number
LIE = "claims too much privacy"
THIN = 1.4  # width of the lines over the certified band, which leads
# Proven bounds.
at_least, at_most = partial(outward, towards=math.floor), partial(outward, towards=math.ceil)
ROOM = 0.12  # of the axis, for these words


class Ghost(NamedTuple):
    """The curve of another setting, over epochs (n,) or over epsilon."""

    label: str
    curve: Curve
    epochs: FloatArray | None = None


def ghost_style(label: str) -> Style:
    """The style of a pinned setting."""
    return Style(*PINNED_LOOK, label)


def curve_line(curve: Curve, epochs: FloatArray | None, look: Style, **more: Any) -> dict[str, Any]:
    """The line of a curve without bounds over epochs, or over epsilon where there are none."""
    seen = finite(curve.epsilon)
    x, y = (seen, curve.delta) if epochs is None else (epochs, seen)
    return line(x, y, look, **more) | hover_text(seen, lambda epsilon: marked(epsilon, curve.kind))


def end_of(
    curve: Curve, look: Style, name: str, top: float | None = None, worth: str = ""
) -> list[End]:
    """The label: mark of the kind, value, mark of the verdict, ↑ above `top`, name; none for an
    infinite epsilon.
    """
    value = float(curve.epsilon[-1])
    if not (np.isfinite(value) and value > 0):
        return []
    above = " ↑" if top is not None and value > top else ""
    return [End(look, value, f"{marked(value, curve.kind)}{worth}{above} {name}")]


def charted(mechanism: Mechanism, steps: int | None = None) -> IntArray:
    """The numbers of steps on a chart of the first `steps` (all): evenly spaced, and the first."""
    last = mechanism.steps if steps is None else steps
    return np.union1d([1], horizons(last, POINTS - 1)).astype(np.int64)


def epochs_at(mechanism: Mechanism, steps: IntArray) -> FloatArray:
    """Epochs, the expected uses of each example, after each of (n,) step counts -> (n,).

    Releases of all data (q = 1) before sampled steps, such as DP-PCA's, stand at epoch 0: they are
    no training.

    >>> from dpcore.privacy.mechanism import Release
    >>> epochs_at(Mechanism((Release(1.0, 7.0), Release(0.5, 4.0, 10))), np.array([1, 2, 11])).tolist()
    [0.0, 0.5, 5.0]
    """
    rates = np.array([release.q for release in mechanism.releases])  # (L,)
    if rates.min() < 1:  # else full-batch training
        rates[: np.argmax(rates < 1)] = 0.0
    return np.asarray(mechanism.compositions(steps) @ rates, dtype=np.float64)


def epsilon_figure(
    mechanism: Mechanism,
    delta: float = 1e-5,
    epochs: float | None = None,
    accountants: Iterable[str] = DEFAULT_ACCOUNTANTS,
    *,
    log: bool = False,
    size: Size = NORMAL,
) -> go.Figure:
    """Epsilon against epoch by each accountant, over the certified band; a notebook draws it as a
    last line.

    `epochs` ends the axis before the mechanism. Errors: ValueError for an unknown accountant.

    >>> from dpcore.figures import epsilon_figure
    >>> from dpcore.privacy.mechanism import Mechanism
    >>> figure = epsilon_figure(Mechanism.constant(q=0.01, sigma=4.0, steps=10_000), delta=1e-5, epochs=50)
    >>> figure.layout.xaxis.title.text
    'epoch'
    """
    names = list(dict.fromkeys([*accountants, CERTIFIED]))
    for name in names:
        check.one_of(ACCOUNTANTS, accountant=name)
    last = mechanism.steps
    if epochs is not None:
        check.positive(epochs=epochs)
        seen = epochs * (1 + 1e-9)
        last = bisect_right(
            range(1, last + 1), seen, key=lambda step: epochs_at(mechanism, np.array([step]))[0]
        )
    if not last:
        raise ValueError(f"Expected epochs={epochs!r} to hold at least one step.")
    steps = charted(mechanism, last)
    curves = {name: ACCOUNTANTS[name].curve(mechanism, steps, delta) for name in names}
    return curves_figure(curves, epochs_at(mechanism, steps), log=log, size=size)


def curves_figure(
    curves: Mapping[str, Curve],
    epochs: FloatArray,
    *,
    log: bool = False,
    height: int = 430,
    now: float | None = None,
    size: Size = NORMAL,
) -> go.Figure:
    """Epsilon against epoch from curves that were computed already, all over the same (n,) epochs;
    `now` is marked.
    """
    content = curves_content(curves, epochs, log=log)
    shape = layout("epoch", "epsilon", height=height, right=RIGHT, size=size)
    shape["yaxis"] |= content.axis(log)
    shape = labelled(shape, content.ends, content.bounds, size, log=log)
    if now is not None:
        mark = {"color": GREY, "width": 1.5}
        shape["shapes"] = [
            {"type": "line", "x0": now, "x1": now, "yref": "paper", "y0": 0, "y1": 1, "line": mark}
        ]
    return figure_of(content.traces, shape, size)


class Content(NamedTuple):
    """A plot of epsilon over epochs: traces, labels at their ends, and the bounds of the y axis."""

    traces: list[dict[str, Any]]
    ends: list[End]
    bounds: tuple[float, float]

    def axis(self, log: bool) -> dict[str, Any]:
        return {"range": list(self.bounds), "type": "log" if log else "linear"}


def curves_content(
    curves: Mapping[str, Curve],
    epochs: FloatArray,
    *,
    log: bool = False,
    ghost: Ghost | None = None,
    beside: Mapping[str, Curve] | None = None,
) -> Content:
    """The content of `curves_figure`, with a ghost over epochs of its own, and room for curves
    `beside`.
    """
    others = dict(beside or {}) | ({"ghost": ghost.curve} if ghost else {})
    bounds = _bounds({**curves, **others}, log)
    traces = [curve_line(ghost.curve, ghost.epochs, ghost_style(ghost.label))] if ghost else []
    for name in sorted(curves, key=lambda each: each != CERTIFIED):  # the band lies underneath
        if np.isfinite(curves[name].epsilon).any():
            traces += _traces(name, curves[name], epochs)
    traces += lie(curves, epochs, bounds, log)
    ends = _ends(curves, None if log else bounds[1])
    ends += end_of(ghost.curve, ghost_style(ghost.label), GHOST_NAME) if ghost else []
    return Content(traces, ends, bounds)


def profile_parts(
    profiles: Mapping[str, Curve], *, log: bool, height: int, ghost: Ghost | None, size: Size
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The traces and the layout of `profile_figure` for Poisson batches."""
    traces = [curve_line(ghost.curve, ghost.epochs, ghost_style(ghost.label))] if ghost else []
    for name in sorted(profiles, key=lambda each: each != CERTIFIED):
        traces += _traces(name, profiles[name])
    shape = layout("epsilon", "delta", height=height, size=size, hovermode="y unified")
    shape["showlegend"] = True
    shape["legend"] = {
        "orientation": "h",
        "y": 1.02,
        "yanchor": "bottom",
        "x": 0,
        "font": {"size": size.text},
    }
    shape["xaxis"] |= {"type": "log"} if log else {"range": [0, 1.05 * _top(profiles)]}
    shape["yaxis"] |= power_ticks(*np.log10(DELTAS[[0, -1]]))
    return traces, shape


def _traces(name: str, curve: Curve, epochs: FloatArray | None = None) -> list[dict[str, Any]]:
    """The lines of an accountant over epochs, or over epsilon where there are none."""
    style, seen = style_of(name), finite(curve.epsilon)
    if curve.lower is not None:
        above = style if epochs is None else style._replace(label="Proven upper bound")
        below = style._replace(label="Proven lower bound")
        return bounds_traces(curve, epochs, (below, above), {"fillcolor": BAND})
    trace = (
        line(seen, curve.delta, style) if epochs is None else line(epochs, seen, style, width=THIN)
    )
    plain = {"hovertemplate": "%{x:.3g}" if epochs is None else "%{y:.3g}"}
    return [trace | (hover_text(seen, at_most) if curve.kind.is_bound else plain)]


def bounds_traces(
    curve: Curve, epochs: FloatArray | None, styles: tuple[Style, Style], between: dict[str, Any]
) -> list[dict[str, Any]]:
    """The lower and the upper bound over epochs, or over epsilon where there are none, with their
    fillings.
    """
    upper = finite(curve.epsilon)
    lower = np.zeros(upper.shape) if curve.lower is None else curve.lower
    axis = "x" if epochs is None else "y"
    at = lambda bound: (bound, curve.delta) if epochs is None else (epochs, bound)  # noqa: E731
    below = line(*at(lower), styles[0], fill=f"tozero{axis}", fillpattern=BELOW_BAND)
    above = line(*at(upper), styles[1], fill=f"tonext{axis}", **between)
    return [below | hover_text(lower, at_least), above | hover_text(upper, at_most)]


def finite(values: FloatArray) -> FloatArray:
    """The values, NaN in place of infinity: a line has a gap there."""
    return np.where(np.isfinite(values), values, np.nan)


def lie(
    curves: Mapping[str, Curve], epochs: FloatArray, bounds: tuple[float, float], log: bool
) -> list[dict[str, Any]]:
    """A text in the lower right corner, below the certified band, if it has room there."""
    lower = curves[CERTIFIED].lower if CERTIFIED in curves else None
    low, high = bounds
    end = 0.0 if lower is None else float(lower[-1])
    if end <= 0 or ((np.log10(end) if log else end) - low) < ROOM * (high - low):
        return []
    height = low + 0.01 * (high - low)
    words = {
        "type": "scatter",
        "mode": "text",
        "x": [float(epochs[-1])],
        "y": [10**height if log else height],
    }
    return [words | {"text": [LIE], "textposition": "top left", "hoverinfo": "skip", "name": LIE}]


def _ends(curves: Mapping[str, Curve], top: float | None) -> list[End]:
    found, band = [], curves.get(CERTIFIED)
    for name, curve in curves.items():
        worth = (
            f" {SIGNS['worth'][verdict(curve, band).worth][0]}"
            if band and band.lower is not None
            else ""
        )
        found += end_of(curve, style_of(name), style_of(name).label, top, worth)
    return found


def _bounds(curves: Mapping[str, Curve], log: bool) -> tuple[float, float]:
    if not log:
        return 0.0, 1.05 * _top(curves)
    values = np.concatenate([curve.epsilon for curve in curves.values()] or [np.empty(0)])
    finite = values[np.isfinite(values) & (values > 0)]
    if not finite.size:
        return -2.0, 2.0
    return np.log10(max(float(finite.min()), FLOOR)) - 0.05, np.log10(finite.max()) + 0.08


def _top(curves: Mapping[str, Curve]) -> float:
    """The largest epsilon of a linear axis: curves far above the certified one (or the lowest) may
    leave it.
    """
    highest = {name: float(np.max(curve.epsilon, where=np.isfinite(curve.epsilon), initial=0.0))
               for name, curve in curves.items()}  # fmt: skip
    seen = [value for value in highest.values() if value > 0]
    if not seen:
        return 1.0 / 1.05
    most = FAR * (highest.get(CERTIFIED) or min(seen))
    return max(value for value in seen if value <= most)
