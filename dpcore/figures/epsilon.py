"""Epsilon against epoch, and delta against epsilon, for any choice of accountants.

A ghost is the curve of another setting, such as one that was pinned, beside those of the present one.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore import check
from dpcore.figures.style import (
    BAND,
    BELOW_BAND,
    DEFAULT_ACCOUNTANTS,
    GREY,
    NORMAL,
    PINNED_LOOK,
    End,
    Size,
    Style,
    figure_of,
    hover_text,
    labelled,
    layout,
    line,
    power_ticks,
    style_of,
)
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Curve
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism, horizons
from dpcore.privacy.report.numbers import marked, outward
from dpcore.privacy.report.verdict import SIGNS, verdict

GHOST_NAME = "Pinned"
POINTS = 100
DELTAS = np.logspace(-12, -1, 67)
FLOOR = 1e-4  # the smallest epsilon on a logarithmic axis
FAR = 10.0  # times the certified value, from which on a curve may leave a linear axis
RIGHT = 214  # pixels: the longest of the labels, with its mark and number
LIE = "claims too much privacy"
THIN = 1.4  # width of the lines over the certified band, which leads
ROOM = 0.12  # of the axis that is needed to write it


class Ghost(NamedTuple):
    """One accountant's curve of a setting that is not the present one; epochs (n,) where it goes over those."""

    label: str
    curve: Curve
    epochs: FloatArray | None = None


def ghost_style(label: str) -> Style:
    """The line style of every ghost."""
    return Style(*PINNED_LOOK, label)


def ghost_trace(ghost: Ghost, look: Style | None = None) -> dict[str, Any]:
    """Epsilon over epochs, or delta over epsilon where there are none; the hover says epsilon with its mark."""
    curve = ghost.curve
    seen = np.where(np.isfinite(curve.epsilon), curve.epsilon, np.nan)
    x, y = (seen, curve.delta) if ghost.epochs is None else (ghost.epochs, seen)
    trace = line(x, y, look or ghost_style(ghost.label))
    return trace | hover_text(seen, lambda epsilon: marked(epsilon, curve.kind))


def ghost_end(ghost: Ghost, look: Style, name: str, top: float | None = None) -> list[End]:
    """Its label at the end of a curve, ↑ where that lies above `top`; none where its last epsilon is infinite."""
    value = float(ghost.curve.epsilon[-1])
    if not (np.isfinite(value) and value > 0):
        return []
    above = " ↑" if top is not None and value > top else ""
    return [End(look, value, f"{marked(value, ghost.curve.kind)}{above} {name}")]


def at_least(bound: float) -> str:
    """A proven lower bound."""
    return outward(bound, math.floor)


def at_most(bound: float) -> str:
    """A proven upper bound."""
    return outward(bound, math.ceil)


def charted(mechanism: Mechanism, steps: int | None = None) -> IntArray:
    """The numbers of steps that a chart shows of the first `steps` (all of them): evenly spaced, and the first."""
    last = mechanism.steps if steps is None else steps
    return np.union1d([1], horizons(last, POINTS - 1)).astype(np.int64)


def epochs_at(mechanism: Mechanism, steps: IntArray) -> FloatArray:
    """Epochs, the expected uses of each example in training, after each of (n,) step counts -> (n,).

    Releases of the whole data (q = 1) before sampled steps, as DP-PCA's, are no training: their cost lies at epoch 0.

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
    """Epsilon against epoch by each accountant, over the certified band; in a notebook the last line draws it.

    `epochs` cuts the axis short of the mechanism's end. An unknown accountant is a ValueError.

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
        last = bisect_right(range(1, last + 1), seen, key=lambda step: epochs_at(mechanism, np.array([step]))[0])
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
    ghost: Ghost | None = None,
    size: Size = NORMAL,
) -> go.Figure:
    """Epsilon against epoch from curves that were computed already, all over the same (n,) epochs; `now` is marked.

    A `ghost` is the curve of another setting, over epochs of its own.
    """
    content = curves_content(curves, epochs, log=log, ghost=ghost)
    shape = layout("epoch", "epsilon", height=height, right=RIGHT, size=size)
    shape["yaxis"] |= content.axis(log)
    shape = labelled(shape, content.ends, content.bounds, size, log=log)
    if now is not None:
        mark = {"color": GREY, "width": 1.5}
        shape["shapes"] = [{"type": "line", "x0": now, "x1": now, "yref": "paper", "y0": 0, "y1": 1, "line": mark}]
    return figure_of(content.traces, shape, size)


class Content(NamedTuple):
    """The content of a plot of epsilon over epochs: traces, labels at their ends, and the bounds of its y axis."""

    traces: list[dict[str, Any]]
    ends: list[End]
    bounds: tuple[float, float]

    def axis(self, log: bool) -> dict[str, Any]:
        """The y axis."""
        return {"range": list(self.bounds), "type": "log" if log else "linear"}


def curves_content(
    curves: Mapping[str, Curve],
    epochs: FloatArray,
    *,
    log: bool = False,
    ghost: Ghost | None = None,
    beside: Mapping[str, Curve] | None = None,
) -> Content:
    """The content of `curves_figure`, with room for other curves that are drawn beside."""
    others = dict(beside or {}) | ({"ghost": ghost.curve} if ghost else {})
    bounds = _bounds({**curves, **others}, log)
    traces: list[dict[str, Any]] = [ghost_trace(ghost)] if ghost else []
    for name in sorted(curves, key=lambda each: each != CERTIFIED):  # the band lies underneath
        traces += _traces(name, curves[name], epochs)
    traces += lie(curves, epochs, bounds, log)
    ends = _ends(curves, None if log else bounds[1])
    ends += ghost_end(ghost, ghost_style(ghost.label), GHOST_NAME) if ghost else []
    return Content(traces, ends, bounds)


def profile_figure(
    profiles: Mapping[str, Curve],
    *,
    log: bool = False,
    height: int = 430,
    ghost: Ghost | None = None,
    size: Size = NORMAL,
) -> go.Figure:
    """Delta (logarithmic) against epsilon after the whole mechanism, from each accountant's profile and a `ghost`'s."""
    traces: list[dict[str, Any]] = [ghost_trace(ghost)] if ghost else []
    for name in sorted(profiles, key=lambda each: each != CERTIFIED):
        curve, style = profiles[name], style_of(name)
        seen = np.where(np.isfinite(curve.epsilon), curve.epsilon, np.nan)
        hover = "%{x:.3g}"
        if curve.lower is not None:
            lower = line(curve.lower, curve.delta, style, name="Proven lower bound")
            lower |= {"fill": "tozerox", "fillpattern": BELOW_BAND}
            traces.append(lower | hover_text(curve.lower, at_least))
            traces.append(line(seen, curve.delta, style, fill="tonextx", fillcolor=BAND) | hover_text(seen, at_most))
        else:
            traces.append(line(seen, curve.delta, style) | _hover_of(seen, curve, hover))
    shape = layout("epsilon", "delta", height=height, size=size, hovermode="y unified")
    shape["showlegend"] = True
    shape["legend"] = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": size.text}}
    shape["xaxis"] |= {"type": "log"} if log else {"range": [0, 1.05 * _top(profiles)]}
    shape["yaxis"] |= power_ticks(*np.log10(DELTAS[[0, -1]]))
    return figure_of(traces, shape, size)


def _traces(name: str, curve: Curve, epochs: FloatArray) -> list[dict[str, Any]]:
    style = style_of(name)
    seen = np.where(np.isfinite(curve.epsilon), curve.epsilon, np.nan)
    if not np.isfinite(seen).any():
        return []
    if curve.lower is None:
        trace = line(epochs, seen, style)
        return [trace | {"line": trace["line"] | {"width": THIN}} | _hover_of(seen, curve, "%{y:.3g}")]
    lower = line(epochs, curve.lower, style, name="Proven lower bound", fill="tozeroy", fillpattern=BELOW_BAND)
    upper = line(epochs, seen, style, name="Proven upper bound", fill="tonexty", fillcolor=BAND)
    return [lower | hover_text(curve.lower, at_least), upper | hover_text(seen, at_most)]


def lie(
    curves: Mapping[str, Curve], epochs: FloatArray, bounds: tuple[float, float], log: bool
) -> list[dict[str, Any]]:
    """The meaning of lying below the certified band, written there, in the lower right corner, where it has room."""
    lower = curves[CERTIFIED].lower if CERTIFIED in curves else None
    low, high = bounds
    end = 0.0 if lower is None else float(lower[-1])
    if end <= 0 or ((np.log10(end) if log else end) - low) < ROOM * (high - low):
        return []
    height = low + 0.01 * (high - low)
    words = {"type": "scatter", "mode": "text", "x": [float(epochs[-1])], "y": [10**height if log else height]}
    return [words | {"text": [LIE], "textposition": "top left", "hoverinfo": "skip", "name": LIE}]


def _hover_of(values: FloatArray, curve: Curve, hover: str) -> dict[str, Any]:
    """The hover of one accountant's epsilons: a bound is rounded up, any other number to the nearest."""
    return hover_text(values, at_most) if curve.kind.is_bound else {"hovertemplate": hover}


def _ends(curves: Mapping[str, Curve], top: float | None) -> list[End]:
    """Labels at the ends: the value between the marks of its kind and worth, ↑ where it lies above `top`, the name."""
    found, band = [], curves.get(CERTIFIED)
    for name, curve in curves.items():
        value, style = float(curve.epsilon[-1]), style_of(name)
        if np.isfinite(value) and value > 0:
            above = " ↑" if top is not None and value > top else ""
            worth = f" {SIGNS[verdict(curve, band).worth]}" if band and band.lower is not None else ""
            found.append(End(style, value, f"{marked(value, curve.kind)}{worth}{above} {style.label}"))
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
    """The largest epsilon that a linear axis must show: curves far above the certified one would flatten the rest.

    Where nothing is certified, the lowest curve takes its place.
    """
    highest = {name: float(np.max(curve.epsilon, where=np.isfinite(curve.epsilon), initial=0.0))
               for name, curve in curves.items()}  # fmt: skip
    seen = [value for value in highest.values() if value > 0]
    if not seen:
        return 1.0 / 1.05
    most = FAR * (highest.get(CERTIFIED) or min(seen))
    return max(value for value in seen if value <= most)
