"""Batches that are not Poisson on the charts: a band, hatched between two distant bounds."""

import math
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore.figures.epsilon import (
    DELTAS,
    EVERYWHERE,
    OVERCLAIMED,
    Curves,
    Ghost,
    Panel,
    arrow,
    at_least,
    at_most,
    bounds_traces,
    curve_line,
    greatest,
    highest,
    profile_traces,
)
from dpcore.figures.layout import FONT, Bounds, End, Trace, axis, figure_of, power_ticks
from dpcore.figures.style import BLACK, SAMPLED_LOOK, Style, faded
from dpcore.privacy.accountants import Curve
from dpcore.privacy.certified.tradeoff_bounds import Band
from dpcore.privacy.mechanism import FloatArray, Kind
from dpcore.privacy.report.numbers import marked
from dpcore.privacy.report.statement import SAME
from dpcore.privacy.sampling import OtherCurve, Sampler

COLOR = SAMPLED_LOOK.color
OTHERS = {Kind.APPROXIMATE: (COLOR, "dot", "···"), Kind.UPPER: (COLOR, "dash", "╌╌")}
BETWEEN = faded(COLOR, 0.25)  # of a certified band
HATCHED = {
    "shape": "\\",
    "size": 10,
    "solidity": 0.18,
    "fgcolor": faded(COLOR, 0.75),
    "bgcolor": faded(BLACK, 0),
}
FAINT = 0.45  # opacity of the curves for Poisson batches
MAX_LINE_CHARS = 25  # of a label beside a plot
TINY = 1e-9  # an epsilon of 0, on a logarithmic axis


class Sampled(NamedTuple):
    """Proven bounds for the batches of one sampler, and the numbers of others for them."""

    sampler: Sampler
    curve: Curve  # both bounds
    epochs: FloatArray  # (n,) of the curve
    others: tuple[OtherCurve, ...] = ()

    @property
    def words(self) -> str:
        """The sampler, its adjacency, and both bounds after the last epoch.

        >>> from dpcore.privacy.sampling import SAMPLERS
        >>> upper, lower = np.array([4.2]), np.array([1.3])
        >>> curve = Curve(np.array([10]), np.array([1e-5]), upper, lower, Kind.CERTIFIED)
        >>> Sampled(SAMPLERS["shuffle"], curve, np.array([1.0])).words
        'Shuffled every epoch, proven, zero-out: between 1.30 and 4.20'
        """
        last = self.curve.last
        status = "proven" if self.sampler.interval else "certified"
        bounds = f"between {at_least(last.lower or 0.0)} and {at_most(last.value)}"
        return f"{self.sampler.title}, {status}, {self.sampler.adjacency}: {bounds}"


class SampledBand(NamedTuple):
    """The trade-off function for the batches of one sampler, between two proven curves."""

    sampler: Sampler
    band: Band

    @property
    def style(self) -> Style:
        return Style(*SAMPLED_LOOK, f"{self.sampler.title}, {self.sampler.adjacency}")


def with_sampled(panel: Panel, shown: Sampled) -> Panel:
    """A plot of epsilon for Poisson batches, which become faint, with another sampler in front."""
    low, high = panel.bounds
    most = highest_of(shown)
    top = 1.05 * most
    if panel.log:
        top = math.log10(max(most, TINY)) + 0.08
    # What is claimed for Poisson batches claims nothing about others.
    behind = [each for each in panel.behind if each["name"] != OVERCLAIMED]
    poisson = list(map(_of_poisson, panel.ends))
    panel = panel._replace(bounds=(low, max(high, top)))
    return panel._replace(
        behind=[*sampled_traces(shown), *map(faint, behind)],
        curves=list(map(faint, panel.curves)),
        ends=[*sampled_ends(shown, panel.seen), *poisson],
    )


def _of_poisson(end: End) -> End:
    """The label of a curve for Poisson batches, on one line if it fits."""
    text = f"{end.text}, Poisson"
    if len(text) > MAX_LINE_CHARS:
        return end._replace(name="Poisson")
    return end._replace(text=text)


def profile_figure(
    profiles: Curves,
    shown: Sampled | None = None,
    *,
    log: bool = False,
    height: int = 430,
    ghost: Ghost | None = None,
) -> go.Figure:
    """Delta (logarithmic) against epsilon after the whole mechanism, from the profile of each
    accountant.

    Another sampler, if one is `shown`, stands in front of these curves for Poisson batches.
    """
    traces = profile_traces(profiles, ghost)
    most = highest(profiles)
    if shown:
        above = f"{shown.sampler.title}, {shown.sampler.adjacency}, at most"
        traces = [*_bounds(shown, above, None), *map(faint, traces)]
        most = max(most, highest_of(shown))
    across = {"type": "log", "dtick": 1} if log else {"range": [0, 1.05 * most]}
    return figure_of(
        traces,
        axis("epsilon", **across),
        axis("delta", **power_ticks(*np.log10(DELTAS[[0, -1]]))),
        height=height,
        hovermode="y unified",
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": FONT},
    )


def sampled_traces(shown: Sampled) -> list[Trace]:
    """Epsilon over epochs: both bounds, and the numbers of others."""
    below, above = _bounds(shown, shown.words, shown.epochs)
    # The lower bound counts whole epochs, the upper one those that have begun.
    if shown.sampler.by_epoch:
        below["line"]["shape"] = "hv"
        above["line"]["shape"] = "vh"
    traces = [below, above]
    for title, curve in shown.others:
        traces.append(curve_line(curve, shown.epochs, Style(*OTHERS[curve.kind], title)))
    return traces


def _bounds(shown: Sampled, label: str, epochs: FloatArray | None) -> list[Trace]:
    above = Style(*SAMPLED_LOOK, label)
    below = above._replace(label=f"{shown.sampler.title}, at least")
    lower, upper = bounds_traces(shown.curve, epochs, (below, above), between(shown.sampler))
    # A number for Poisson batches below it claims nothing about it.
    if shown.sampler.adjacency not in SAME:
        lower = unfilled(lower)
    return [lower, upper]


def sampled_ends(shown: Sampled, seen: Bounds = EVERYWHERE) -> list[End]:
    """The labels at the ends of the lines, each with its mark, an arrow beyond `seen`, and name."""
    sampler = shown.sampler
    last = shown.curve.last
    above = Style(*SAMPLED_LOOK, shown.words)
    below = above._replace(label=f"{sampler.title}, at least")
    least = last.lower or 0.0
    lower = f"≥ {at_least(least)}{arrow(least, seen)}, {sampler.adjacency}"
    ends = [End(below, least, lower, sampler.title)]
    if np.isfinite(last.value):
        upper = f"≤ {at_most(last.value)}{arrow(last.value, seen)}, {sampler.adjacency}"
        ends.append(End(above, last.value, upper, sampler.title))
    for title, curve in shown.others:
        value = float(curve.epsilon[-1])
        if np.isfinite(value):
            style = Style(*OTHERS[curve.kind], title)
            text = f"{marked(value, curve.kind)}{arrow(value, seen)}"
            ends.append(End(style, value, text, title))
    return ends


def highest_of(shown: Sampled) -> float:
    """The largest finite epsilon of all curves."""
    most = greatest(shown.curve)
    for each in shown.others:
        most = max(most, greatest(each.curve))
    return most


def faint(trace: Trace) -> Trace:
    """A curve for Poisson batches beside another sampler, without the region below its band."""
    return unfilled(trace) | {"opacity": FAINT, "name": f"{trace['name']}, Poisson"}


def unfilled(trace: Trace) -> Trace:
    """A curve without the hatched region below it, if it has one."""
    if "fillpattern" not in trace:
        return trace
    return {key: value for key, value in trace.items() if key not in ("fill", "fillpattern")}


def between(sampler: Sampler) -> Trace:
    """The filling between both bounds."""
    return {"fillpattern": HATCHED} if sampler.interval else {"fillcolor": BETWEEN}
