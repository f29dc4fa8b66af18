"""Batches that are not Poisson on the charts: a band, or a hatched area between two distant bounds."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpcore.figures.epsilon import (
    LIE,
    Content,
    Ghost,
    at_least,
    at_most,
    bounds_traces,
    curve_line,
    lie,
    profile_parts,
)
from dpcore.figures.layout import NORMAL, End, Size, figure_of
from dpcore.figures.style import SAMPLED_LOOK, Style, faded
from dpcore.privacy.accountants import CERTIFIED, Curve
from dpcore.privacy.certified.tradeoff_bounds import Band
from dpcore.privacy.mechanism import FloatArray, Kind
from dpcore.privacy.report.numbers import marked
from dpcore.privacy.report.statement import SAME
from dpcore.privacy.sampling import OtherCurve, Sampler

COLOR = SAMPLED_LOOK[0]
OTHERS = {Kind.APPROXIMATE: (COLOR, "dot", "···"), Kind.UPPER: (COLOR, "dash", "╌╌")}
BETWEEN = faded(COLOR, 0.25)  # of a certified band
HATCHED = {
    "shape": "\\",
    "size": 10,
    "solidity": 0.18,
    "fgcolor": faded(COLOR, 0.75),
    "bgcolor": "rgba(0,0,0,0)",
}
FAINT = 0.45  # opacity of the curves for Poisson batches
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

        >>> curve = Curve(np.array([10]), np.array([1e-5]), np.array([4.2]), np.array([1.3]), Kind.CERTIFIED)
        >>> from dpcore.privacy.sampling import SAMPLERS
        >>> Sampled(SAMPLERS["shuffle"], curve, np.array([1.0])).words
        'Shuffled every epoch, proven, zero-out: between 1.30 and 4.20'
        """
        last, sampler = self.curve.last, self.sampler
        named = (
            f"{sampler.title}, {'proven' if sampler.interval else 'certified'}, {sampler.adjacency}"
        )
        return f"{named}: between {at_least(last.lower or 0.0)} and {at_most(last.value)}"


class SampledBand(NamedTuple):
    """The trade-off function for the batches of one sampler, between two proven curves."""

    sampler: Sampler
    band: Band

    @property
    def style(self) -> Style:
        return Style(*SAMPLED_LOOK, f"{self.sampler.title}, {self.sampler.adjacency}")


def with_sampled(content: Content, shown: Sampled, *, log: bool) -> Content:
    """A plot of epsilon for Poisson batches, which become faint, with another sampler in front."""
    most = np.log10(max(highest(shown), TINY)) + 0.08 if log else 1.05 * highest(shown)
    bounds = content.bounds[0], max(content.bounds[1], float(most))
    beside = [faint(each) for each in content.traces if each["name"] != LIE]
    words = (
        lie({CERTIFIED: shown.curve}, shown.epochs, bounds, log)
        if shown.sampler.adjacency in SAME
        else []
    )
    poisson = [each._replace(name="Poisson") for each in content.ends]
    return Content(
        [*sampled_traces(shown), *beside, *words], [*sampled_ends(shown), *poisson], bounds
    )


def profile_figure(
    profiles: Mapping[str, Curve],
    shown: Sampled | None = None,
    *,
    log: bool = False,
    height: int = 430,
    ghost: Ghost | None = None,
    size: Size = NORMAL,
) -> go.Figure:
    """Delta (logarithmic) against epsilon after the whole mechanism, from the profile of each
    accountant.

    Another sampler, if one is `shown`, stands in front of these curves for Poisson batches.
    """
    plain, shape = profile_parts(profiles, log=log, height=height, ghost=ghost, size=size)
    if shown is None:
        return figure_of(plain, shape, size)
    both = _bounds(shown, f"{shown.sampler.title}, {shown.sampler.adjacency}, at most", None)
    if not log:
        shape["xaxis"]["range"] = [0, max(shape["xaxis"]["range"][1], 1.05 * highest(shown))]
    return figure_of([*both, *map(faint, plain)], shape, size)


def sampled_traces(shown: Sampled) -> list[dict[str, Any]]:
    """Epsilon over epochs: both bounds, and the numbers of others."""
    below, above = _bounds(shown, shown.words, shown.epochs)
    # The lower bound counts whole epochs, the upper one those that have begun.
    if shown.sampler.by_epoch:
        below["line"]["shape"], above["line"]["shape"] = "hv", "vh"
    others = [
        (curve, shown.epochs, Style(*OTHERS[curve.kind], title)) for title, curve in shown.others
    ]
    return [below, above, *(curve_line(*each) for each in others)]


def _bounds(shown: Sampled, label: str, epochs: FloatArray | None) -> list[dict[str, Any]]:
    above = Style(*SAMPLED_LOOK, label)
    below = above._replace(label=f"{shown.sampler.title}, at least")
    lower, upper = bounds_traces(shown.curve, epochs, (below, above), between(shown.sampler))
    # A number for Poisson batches below it claims nothing about it.
    if shown.sampler.adjacency not in SAME:
        lower = unfilled(lower)
    return [lower, upper]


def sampled_ends(shown: Sampled) -> list[End]:
    """The labels at the ends of the lines, each with its mark and name."""
    last, style, sampler = shown.curve.last, Style(*SAMPLED_LOOK, shown.words), shown.sampler
    least = f"≥ {at_least(last.lower or 0.0)}, {sampler.adjacency}"
    found = [
        End(
            style._replace(label=f"{sampler.title}, at least"),
            last.lower or 0.0,
            least,
            sampler.title,
        )
    ]
    if np.isfinite(last.value):
        found.append(
            End(style, last.value, f"≤ {at_most(last.value)}, {sampler.adjacency}", sampler.title)
        )
    for title, curve in shown.others:
        if np.isfinite(curve.epsilon[-1]):
            style = Style(*OTHERS[curve.kind], title)
            found.append(
                End(
                    style,
                    float(curve.epsilon[-1]),
                    marked(float(curve.epsilon[-1]), curve.kind),
                    title,
                )
            )
    return found


def highest(shown: Sampled) -> float:
    curves = [shown.curve, *(each.curve for each in shown.others)]
    return max(
        float(np.max(each.epsilon, where=np.isfinite(each.epsilon), initial=0.0)) for each in curves
    )


def faint(trace: dict[str, Any]) -> dict[str, Any]:
    """A curve for Poisson batches beside another sampler, without the region below its band."""
    return unfilled(trace) | {"opacity": FAINT, "name": f"{trace['name']}, Poisson"}


def unfilled(trace: dict[str, Any]) -> dict[str, Any]:
    """A curve without the hatched region below it, if it has one."""
    left_out = ("fill", "fillpattern") if "fillpattern" in trace else ()
    return {key: value for key, value in trace.items() if key not in left_out}


def between(sampler: Sampler) -> dict[str, Any]:
    """The filling between both bounds."""
    return {"fillpattern": HATCHED} if sampler.interval else {"fillcolor": BETWEEN}
