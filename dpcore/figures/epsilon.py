"""Epsilon against epoch, and delta against epsilon, by accountants.

A ghost is the curve of another setting.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore import check
from dpcore.figures.layout import (
    SCALES,
    Axis,
    Bounds,
    End,
    Trace,
    axis,
    figure_of,
    hover_text,
    line,
    log_bounds,
)
from dpcore.figures.style import (
    BAND,
    BELOW_BAND,
    DEFAULT_ACCOUNTANTS,
    GREY,
    PINNED_LOOK,
    REFUTED,
    SIGNS,
    Style,
    faded,
    style_of,
)
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Curve
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism, horizons
from dpcore.privacy.report.numbers import marked, outward
from dpcore.privacy.report.verdict import Worth, verdict

Curves = Mapping[str, Curve]  # by accountants
GHOST_NAME = "Pinned"
POINTS = 100
DELTAS = np.logspace(-12, -1, 67)
FLOOR = 1e-4  # the smallest epsilon on a logarithmic axis
FAR = 10.0  # times the certified value: a higher curve may leave a linear axis
RIGHT = 176  # pixels of the longest label, with its mark and number
THIN = 1.4  # width of the lines over the certified band, which leads
OVERCLAIMED = "claims too much privacy"
OVERCLAIM = Style(faded(REFUTED, 0.4), "solid", "", OVERCLAIMED)

BARELY = 0.5  # times the lower end of the axis: out of sight
EVERYWHERE: Bounds = (0.0, math.inf)


class Ghost(NamedTuple):
    """The curve of another setting, over epochs (n,) or over epsilon."""

    label: str
    curve: Curve
    epochs: FloatArray | None = None


def at_least(value: float) -> str:
    """A proven lower bound, rounded down."""
    return outward(value, math.floor)


def at_most(value: float) -> str:
    """A proven upper bound, rounded up."""
    return outward(value, math.ceil)


def ghost_style(label: str) -> Style:
    """The style of a pinned setting."""
    return Style(*PINNED_LOOK, label)


def curve_line(curve: Curve, epochs: FloatArray | None, look: Style, **more: Any) -> Trace:
    """The line of a curve without bounds over epochs, or over epsilon where there are none."""
    seen = finite(curve.epsilon)
    hover = hover_text(seen, lambda epsilon: marked(epsilon, curve.kind))
    return _drawn(curve, seen, epochs, look, **more) | hover


def end_of(
    curve: Curve, look: Style, name: str, *, seen: Bounds = EVERYWHERE, worth: str = ""
) -> list[End]:
    """The label: mark of the kind, value, mark of the verdict, an arrow beyond `seen`, and name.

    None for an infinite epsilon.
    """
    value = float(curve.epsilon[-1])
    if not np.isfinite(value) or value <= 0:
        return []
    return [End(look, value, f"{marked(value, curve.kind)}{worth}{arrow(value, seen)} {name}")]


def arrow(value: float, seen: Bounds) -> str:
    """The sign of a value beyond an end of the axis.

    >>> [arrow(value, (0.01, 100.0)) for value in (0.0086, 0.01, 100.0, 168.0)]
    [' ↓', '', '', ' ↑']
    """
    least, most = seen
    if value > most:
        return " ↑"
    return " ↓" if value < least else ""


def charted(mechanism: Mechanism, steps: int | None = None) -> IntArray:
    """The numbers of steps on a chart of the first `steps` (all): evenly spaced, and the first."""
    last = steps or mechanism.steps
    return np.union1d([1], horizons(last, POINTS - 1)).astype(np.int64)


def epochs_at(mechanism: Mechanism, steps: IntArray) -> FloatArray:
    """Epochs, the expected uses of each example, after each of (n,) step counts -> (n,).

    Releases of all data (q = 1) before sampled steps, such as DP-PCA's, stand at epoch 0: they are
    no training.

    >>> from dpcore.privacy.mechanism import Release
    >>> mechanism = Mechanism((Release(1.0, 7.0), Release(0.5, 4.0, 10)))
    >>> epochs_at(mechanism, np.array([1, 2, 11])).tolist()
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
) -> go.Figure:
    """Epsilon against epoch by each accountant, over the certified band.

    A notebook draws it as the last line of a cell. `epochs` ends the axis before the mechanism.
    Errors: ValueError for an unknown accountant.

    >>> from dpcore.figures import epsilon_figure
    >>> from dpcore.privacy.mechanism import Mechanism
    >>> mechanism = Mechanism.constant(q=0.01, sigma=4.0, steps=10_000)
    >>> figure = epsilon_figure(mechanism, delta=1e-5, epochs=50)
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
        counts = range(1, last + 1)
        last = bisect_right(counts, seen, key=lambda n: epochs_at(mechanism, np.array([n]))[0])
    if not last:
        raise ValueError(f"Expected epochs={epochs!r} to hold at least one step.")
    steps = charted(mechanism, last)
    curves = {name: ACCOUNTANTS[name].curve(mechanism, steps, delta) for name in names}
    return curves_figure(curves, epochs_at(mechanism, steps), log=log)


def curves_figure(
    curves: Curves,
    epochs: FloatArray,
    *,
    log: bool = False,
    height: int = 430,
    now: float | None = None,
) -> go.Figure:
    """Epsilon against epoch from curves over the same (n,) epochs; `now` is marked."""
    panel = curves_panel(curves, epochs, log=log)
    return figure_of(
        panel.traces,
        axis("epoch"),
        panel.axis,
        ends=panel.ends,
        height=height,
        right=RIGHT,
        shapes=through(now),
    )


def through(x: float | None) -> list[dict[str, Any]]:
    """A vertical line through all plots, which marks the present, if there is one."""
    if x is None:
        return []
    pen = {"color": GREY, "width": 1.5}
    return [{"type": "line", "x0": x, "x1": x, "yref": "paper", "y0": 0, "y1": 1, "line": pen}]


class Panel(NamedTuple):
    """A plot of epsilon: traces from the back to the front, their labels, and the y axis."""

    behind: list[Trace]
    curves: list[Trace]  # on which a mark may walk
    ends: list[End]
    bounds: Bounds  # in the (log) units of the axis
    log: bool = False

    @property
    def traces(self) -> list[Trace]:
        return [*self.behind, *self.curves]

    @property
    def axis(self) -> Axis:
        return axis("epsilon", range=list(self.bounds), type=SCALES[self.log])

    @property
    def seen(self) -> Bounds:
        """The ends of the axis as epsilons, which high and low curves leave."""
        least, most = self.bounds
        return (10**least, 10**most) if self.log else self.bounds


def curves_panel(
    curves: Curves,
    epochs: FloatArray,
    *,
    log: bool = False,
    ghost: Ghost | None = None,
    beside: Sequence[Curve] = (),
    bounds: Bounds | None = None,
    judged: bool = True,
) -> Panel:
    """The plot of `curves_figure`, with a ghost over epochs of its own.

    It has room for curves `beside`, unless the `bounds` of its axis are given. Labels have the
    marks of verdicts only if the curves are `judged`, which hold for Poisson batches alone.
    """
    if ghost:
        beside = [*beside, ghost.curve]
    panel = Panel([], [], [], bounds or _bounds(curves, beside, log), log)
    behind: list[Trace] = []
    ends = _ends(curves, panel.seen, judged)
    if ghost:
        style = ghost_style(ghost.label)
        behind.append(curve_line(ghost.curve, ghost.epochs, style))
        ends += end_of(ghost.curve, style, GHOST_NAME, seen=panel.seen)
    claimed: list[Trace] = []
    lines: list[Trace] = []
    for name in _certified_first(curves):
        curve = curves[name]
        if np.isfinite(curve.epsilon).any():
            *below, above = _traces(name, curve, epochs)
            behind += below
            lines.append(above)
            if name != CERTIFIED and CERTIFIED in curves:
                claimed += _claimed(name, curve, curves[CERTIFIED], epochs, panel.seen)
    return panel._replace(behind=[*claimed, *behind], curves=lines, ends=ends)


def _certified_first(curves: Curves) -> list[str]:
    """The names in the order of drawing: the certified band lies underneath."""
    return sorted(curves, key=lambda name: name != CERTIFIED)


def profile_traces(profiles: Curves, ghost: Ghost | None) -> list[Trace]:
    """The traces of `profile_figure` for Poisson batches."""
    traces = []
    if ghost:
        traces.append(curve_line(ghost.curve, ghost.epochs, ghost_style(ghost.label)))
    for name in _certified_first(profiles):
        traces += _traces(name, profiles[name])
    return traces


def _traces(name: str, curve: Curve, epochs: FloatArray | None = None) -> list[Trace]:
    """The lines of an accountant over epochs, or over epsilon where there are none."""
    style = style_of(name)
    if curve.lower is not None:
        below = style._replace(label="Proven lower bound")
        if epochs is not None:
            style = style._replace(label="Proven upper bound")
        lower, upper = bounds_traces(curve, epochs, (below, style), {"fillcolor": BAND})
        if epochs is not None:  # there only what an accountant claims is hatched
            for name in ("fill", "fillpattern"):
                lower.pop(name)
        return [lower, upper]
    seen = finite(curve.epsilon)
    if epochs is None:
        trace = line(seen, curve.delta, style, hovertemplate="%{x:.3g}")
    else:
        trace = line(epochs, seen, style, width=THIN, hovertemplate="%{y:.3g}")
    if curve.kind.is_bound:
        trace |= hover_text(seen, at_most)
    return [trace]


def bounds_traces(
    curve: Curve, epochs: FloatArray | None, styles: tuple[Style, Style], between: Trace
) -> list[Trace]:
    """The lower and the upper bound with their fillings, over epochs or else over epsilon."""
    lower_style, upper_style = styles
    upper = finite(curve.epsilon)
    lower = np.zeros(upper.shape) if curve.lower is None else curve.lower
    across = "x" if epochs is None else "y"
    below = _drawn(curve, lower, epochs, lower_style, fill=f"tozero{across}")
    above = _drawn(curve, upper, epochs, upper_style, fill=f"tonext{across}")
    return [
        below | {"fillpattern": BELOW_BAND} | hover_text(lower, at_least),
        above | between | hover_text(upper, at_most),
    ]


def _claimed(name: str, curve: Curve, band: Curve, epochs: FloatArray, seen: Bounds) -> list[Trace]:
    """The hatching between an accountant's claims and the proven lower bound above, if it is seen.

    In a browser live_chart.js draws it while a reader points at the accountant's label, or at the
    word for the mark of such claims.
    """
    if band.lower is None:
        return []
    least, most = seen
    claimed = np.minimum(curve.epsilon, band.lower)
    too_little = claimed < band.lower
    if not (too_little & (band.lower > least) & (claimed < most)).any():
        return []
    x: list[float] = []
    y: list[float] = []
    for first, end in np.flatnonzero(np.diff(too_little, prepend=0, append=0)).reshape(-1, 2):
        across = epochs[first:end]
        x += [*across, *across[::-1], across[0], math.nan]
        y += [*claimed[first:end], *band.lower[first:end][::-1], claimed[first], math.nan]
    meta = {"claims": style_of(name).label}
    area = line(
        np.array(x), np.maximum(y, least * BARELY), OVERCLAIM, hoverinfo="skip", visible=False
    )
    return [area | {"fill": "toself", "fillpattern": BELOW_BAND, "meta": meta}]


def _drawn(
    curve: Curve, epsilon: FloatArray, epochs: FloatArray | None, style: Style, **more: Any
) -> Trace:
    """The line of epsilons (n,) over epochs, or of delta over epsilon where there are none."""
    if epochs is None:
        return line(epsilon, curve.delta, style, **more)
    return line(epochs, epsilon, style, **more)


def finite(values: FloatArray) -> FloatArray:
    """The values, NaN in place of infinity: a line has a gap there."""
    return np.where(np.isfinite(values), values, np.nan)


def _ends(curves: Curves, seen: Bounds, judged: bool) -> list[End]:
    """The labels of all curves, with the marks of their verdicts if a band is to judge them."""
    band = curves.get(CERTIFIED)
    ends: list[End] = []
    for name, curve in curves.items():
        worth = ""
        if judged and band and band.lower is not None:
            worth = f" {_marks(curve, band)}"
        style = style_of(name)
        ends += end_of(curve, style, style.label, seen=seen, worth=worth)
    return ends


def _marks(curve: Curve, band: Curve) -> str:
    """The mark of a curve's last number, behind that of earlier ones which claim too much privacy.

    >>> from dpcore.privacy.mechanism import Mechanism
    >>> mechanism = Mechanism.constant(q=0.0256, sigma=1.0, steps=196)
    >>> mma, band = (ACCOUNTANTS[name].curve(mechanism, [20, 196], 1e-5) for name in ("mma", "pld"))
    >>> _marks(mma, band)
    '✕→✓'
    """
    worth = verdict(curve, band).worth
    sign, _ = SIGNS["worth"][worth]
    below = curve.epsilon < np.asarray(band.lower)
    if worth == Worth.CLAIMS_LESS or not below.any():
        return sign
    unsafe, _ = SIGNS["worth"][Worth.CLAIMS_LESS]
    return f"{unsafe}→{sign}"


def _bounds(curves: Curves, beside: Sequence[Curve], log: bool) -> Bounds:
    """The ends of the y axis, in its own units."""
    if not log:
        return 0.0, 1.05 * highest(curves, beside)
    heights = [curve.epsilon for curve in (*curves.values(), *beside)]
    return log_bounds(heights, FLOOR)


def greatest(curve: Curve) -> float:
    """The largest finite epsilon of a curve, or 0."""
    return float(np.max(curve.epsilon, where=np.isfinite(curve.epsilon), initial=0.0))


def highest(curves: Curves, beside: Sequence[Curve] = ()) -> float:
    """The largest epsilon of a linear axis.

    Curves far above the certified one (or the lowest) may leave it.
    """
    seen = [value for value in map(greatest, (*curves.values(), *beside)) if value > 0]
    if not seen:
        return 1.0 / 1.05
    certified = greatest(curves[CERTIFIED]) if CERTIFIED in curves else 0.0
    most = FAR * (certified or min(seen))
    return max(value for value in seen if value <= most)
