"""The figures in words and numbers, for readers who cannot see them."""

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from dpcore.figures.epsilon import Curves
from dpcore.figures.heatmap import Mark, contour
from dpcore.figures.layout import Numbers, percents
from dpcore.figures.sampled import Sampled, SampledBand
from dpcore.figures.tradeoff import Line, gaussian_line
from dpcore.figures.training import Track
from dpcore.privacy.accountants import ACCOUNTANTS, Curve
from dpcore.privacy.certified.tradeoff_bounds import Band
from dpcore.privacy.mechanism import FloatArray, Mechanism
from dpcore.privacy.report.numbers import (
    MARKS,
    epochs_of,
    marked,
    nearest,
    outward,
    percent,
    plain,
    raised,
    short,
)
from dpcore.privacy.tradeoff import Tradeoff

# The point of a trade-off chart that is read, on linear and on logarithmic axes.
RATE = {False: 0.1, True: 0.001}
AXES = {
    False: ("least type II error against type I error", "At a type I error of 10 %"),
    True: (
        "largest true-positive rate against false-positive rate, both logarithmic",
        "At 0.1 % false positives",
    ),
}
BLIND = {False: "blind guessing 90 %", True: "blind guessing 0.1 %"}
DELTA = 1e-5  # the point of a profile that is read, or the nearest one
GOES_ON = "goes on"  # in place of a number that would soon be out of date


def curves_alt(curves: Curves, epochs: FloatArray) -> str:
    """The end of each curve and of the band.

    >>> from dpcore.privacy.accountants import ACCOUNTANTS
    >>> from dpcore.privacy.mechanism import Mechanism
    >>> mechanism = Mechanism.constant(q=0.01, sigma=4.0, steps=10_000)
    >>> curve = ACCOUNTANTS["rdp"].curve(mechanism, [10_000], 1e-5)
    >>> curves_alt({"rdp": curve}, np.array([100.0]))
    'Line chart of epsilon against epoch. After 100 epochs: Rényi DP ≤ 1.04.'
    """
    after = epochs_of(float(epochs[-1]))
    return f"Line chart of epsilon against epoch. After {after}: {_listed(curves, -1)}."


def profile_alt(profiles: Curves, otherwise: Sampled | None = None) -> str:
    """The epsilon of each curve at one delta."""
    if not profiles:
        return "Empty line chart of delta against epsilon."
    place, delta = _read_at(next(iter(profiles.values())).delta)
    ends = _listed(profiles, place)
    if otherwise:
        ends += f"; {_of_sampled(otherwise)}"
    return f"Line chart of delta against epsilon. At delta = {delta}, epsilon is: {ends}."


def tradeoff_alt(
    band: Band | None,
    lines: Sequence[Line],
    *,
    otherwise: SampledBand | None = None,
    log: bool = False,
) -> str:
    """The height of each curve at one rate; a bound is rounded to the safe side."""
    heights = []
    if band is not None and not band.empty:
        heights.append(_of_band("Certified", band, log))
    elif band is not None and not otherwise:
        heights.append("nothing proven limits the attacker")
    if otherwise:
        heights.append(_of_band(otherwise.style.label, otherwise.band, log))
    heights += [f"{each.style.label} {_of_line(each, log)}" for each in lines]
    what, at = AXES[log]
    return f"Line chart of the {what}. {at}: {'; '.join([*heights, BLIND[log]])}."


def growth_alt(
    bands: Mapping[int, Band], mu: float, beside: Sequence[Line] = (), *, log: bool = False
) -> str:
    """The certified band of each length at one rate, the limit, and other curves."""
    heights = []
    for steps, band in bands.items():
        if not band.empty:
            heights.append(_of_band(f"T = {steps:,}", band, log))
    heights.append(f"their limit, G_mu with mu = {short(mu)}, {_of_line(gaussian_line(mu), log)}")
    heights += [f"{each.style.label} {_of_line(each, log)}" for each in beside]
    what, at = AXES[log]
    return f"Line chart of the {what}, for growing numbers of steps T. {at}: {'; '.join(heights)}."


def heatmap_alt(
    sigmas: FloatArray,
    rows: Sequence[Curve],
    epochs: FloatArray,
    target: float | None,
    marks: Sequence[Mark],
) -> str:
    """The axes of a map of epsilon, the ends of the contour of the target, and the marks.

    >>> from dpcore.privacy.accountants import ACCOUNTANTS
    >>> curve, steps = ACCOUNTANTS["gdp"].curve, np.array([1_000, 10_000])
    >>> rows = [curve(Mechanism.constant(0.01, sigma, 10_000), steps, 1e-5) for sigma in (2.0, 8.0)]
    >>> said = heatmap_alt(np.array([2.0, 8.0]), rows, steps * 0.01, None, [])
    >>> said.split(". ")[0]
    'Map of epsilon over epochs (from 10 to 100) and sigma (from 2 to 8), both logarithmic'
    """
    high = _corner(sigmas, rows, epochs, -1, 0)
    low = _corner(sigmas, rows, epochs, 0, -1)
    sentences = [
        f"Map of epsilon over epochs ({span_text(epochs)}) and sigma ({span_text(sigmas)}),"
        " both logarithmic",
        f"Epsilon is {high} and {low}",
        *_of_contour(sigmas, rows, epochs, target),
    ]
    for each in marks:
        at = f"sigma {nearest(each.sigma, 6)} and {epochs_of(each.epochs)}"
        sentences.append(f"“{each.word}” is at {at}")
    return f"{'. '.join(sentences)}."


def span_text(values: FloatArray) -> str:
    """The ends of rising numbers."""
    return f"from {nearest(float(values[0]))} to {nearest(float(values[-1]))}"


def _corner(
    sigmas: FloatArray, rows: Sequence[Curve], epochs: FloatArray, row: int, column: int
) -> str:
    """One cell of a map."""
    epsilon = marked(float(rows[row].epsilon[column]), rows[row].kind)
    after = epochs_of(float(epochs[column]))
    return f"{epsilon} at sigma {nearest(float(sigmas[row]))} after {after}"


def accuracy_alt(tracks: Sequence[Track], x: str, going_on: Collection[int] = ()) -> str:
    """The last accuracy of each run, except of those in the places `going_on`.

    >>> tracks = [Track("SGD", [1.0, 2.0], [0.5, 0.9]), Track("Adam", [1.0], [0.6])]
    >>> accuracy_alt(tracks, "epoch", [1])
    'Line chart of test accuracy against epoch. At the end: 1: SGD 90.0 %; 2: Adam goes on.'
    """
    ends = _by_run(tracks, [_reached(track) for track in tracks], going_on)
    return f"Line chart of test accuracy against {x}. At the end: {ends}."


def track_alt(
    tracks: Sequence[Track], what: str, going_on: Collection[int] = (), *, rate: bool = False
) -> str:
    """The first, last, smallest and largest value of each run; a rate in percent.

    >>> track_alt([Track("SGD", [1.0, 2.0, 3.0], [2.3, 0.4, 0.5])], "loss").split(". ", 1)[1]
    'SGD began at 2.30, ended at 0.500, between 0.400 and 2.30.'
    """
    write = percent if rate else short
    courses = []
    for track in tracks:
        if not track.y:
            courses.append("has no values")
            continue
        ends = f"began at {write(track.y[0])}, ended at {write(track.y[-1])}"
        courses.append(f"{ends}, between {write(min(track.y))} and {write(max(track.y))}")
    return f"Line chart of the {what} against epoch. {_by_run(tracks, courses, going_on)}."


def classes_alt(names: Sequence[str], accuracy: Numbers, *, going_on: bool = False) -> str:
    """The accuracy of each class, once the run has ended.

    >>> classes_alt(["cat", "dog"], [0.5, 0.25])
    'Bar chart of the test accuracy of each class: cat 50 %, dog 25 %.'
    """
    pairs = [f"{name} {percent(each, 0)}" for name, each in zip(names, accuracy, strict=False)]
    said = ", ".join(pairs) or "no test yet"
    if going_on:
        said = f"the run {GOES_ON}"
    return f"Bar chart of the test accuracy of each class: {said}."


def norms_alt(
    epochs: Numbers, norms: Sequence[Numbers], clip_norm: float, *, going_on: bool
) -> str:
    """C, and the median and the highest quantile of the last report.

    >>> norms_alt([1.0], [[0.1, 0.2, 0.3, 0.4, 0.5]], 0.25, going_on=False).split(". ")[1]
    'After 1 epoch half of the gradients are below 0.300 and 95 % below 0.500.'
    """
    first = (
        "Fan chart of the gradients' norms before clipping against epoch, with C ="
        f" {nearest(clip_norm)} as a line."
    )
    if going_on:
        return f"{first} The run {GOES_ON}."
    if not epochs:
        return f"{first} No step has been reported yet."
    *_, half, _, most = norms[-1]
    after = epochs_of(epochs[-1])
    return (
        f"{first} After {after} half of the gradients are below {short(half)} and 95 % below"
        f" {short(most)}."
    )


def schedule_alt(mechanism: Mechanism) -> str:
    """The first and the last sigma.

    >>> from dpcore.privacy.schedule import Recipe
    >>> mechanism = Recipe("exponential", 0.1, 100).mechanism(0.01, 10.0, 500)
    >>> schedule_alt(mechanism).split(": ")[1]
    'from 10 at first to 6.703 after 5 epochs.'
    """
    first, last = mechanism.releases[0].sigma, mechanism.releases[-1].sigma
    epochs = sum(release.count * release.q for release in mechanism.releases)
    ends = f"from {nearest(first)} at first to {nearest(last)} after {epochs_of(epochs)}"
    return f"Line chart of the noise multiplier sigma against epoch: {ends}."


def _reached(track: Track) -> str:
    if not track.y:
        return "has no point"
    averaged = f", averaged weights {percent(track.averaged[-1])}" if track.averaged else ""
    return f"{percent(track.y[-1])}{averaged}"


def _by_run(tracks: Sequence[Track], words: Sequence[str], going_on: Collection[int]) -> str:
    """The words for each run behind its label, numbered as on the chart."""
    parts = []
    for place, (track, own) in enumerate(zip(tracks, words, strict=True)):
        number = f"{place + 1}: " if len(tracks) > 1 else ""
        end = GOES_ON if place in going_on else own
        parts.append(f"{number}{track.label} {end}")
    return "; ".join(parts)


def _of_contour(
    sigmas: FloatArray, rows: Sequence[Curve], epochs: FloatArray, target: float | None
) -> list[str]:
    """The two ends of the thick contour, if there is one."""
    path = contour(sigmas, np.stack([each.epsilon for each in rows]), target or np.nan)
    points = []
    for sigma, epoch in zip(path.tolist(), epochs.tolist(), strict=True):
        if math.isfinite(sigma):
            points.append(f"sigma {short(sigma)} after {epochs_of(epoch)}")
    if not points:
        return []
    runs = f"runs about from {points[0]} to {points[-1]}"
    return [f"The thick contour of the target, epsilon {target:g}, {runs}"]


def _listed(curves: Curves, place: int) -> str:
    """One point of each curve."""
    ends = [f"{ACCOUNTANTS[name].title} {_at(curve, place)}" for name, curve in curves.items()]
    return "; ".join(ends) or "no curve"


def _at(curve: Curve, place: int) -> str:
    """One point of a curve, with both bounds if it is certified."""
    value = float(curve.epsilon[place])
    if curve.lower is None or not math.isfinite(value):
        return marked(value, curve.kind)
    return f"from {outward(float(curve.lower[place]), math.floor)} to {outward(value, math.ceil)}"


def _of_band(name: str, band: Band, log: bool) -> str:
    low, high = sorted(percents([_height(band.lower, log), _height(band.upper, log)]))
    return f"{name} from {outward(low, math.floor)} to {outward(high, math.ceil)} %"


def _of_sampled(shown: Sampled) -> str:
    place, at = _read_at(shown.curve.delta)
    name = f"{shown.sampler.title}, {shown.sampler.adjacency}"
    return f"{name}, {_at(shown.curve, place)} at delta = {at}"


def _read_at(deltas: FloatArray) -> tuple[int, str]:
    """The place of the delta that is read, and the delta."""
    place = int(np.argmin(np.abs(np.log(deltas / DELTA))))
    return place, plain(raised(float(deltas[place])))


def _of_line(each: Line, log: bool) -> str:
    height = 100 * _height(each.f, log)
    if not each.kind.is_bound:
        return f"{MARKS[each.kind]} {short(height)} %"
    if log:
        return f"≤ {outward(height, math.ceil)} %"
    return f"≥ {outward(height, math.floor)} %"


def _height(f: Tradeoff, log: bool) -> float:
    return float(f.power(RATE[log]) if log else f.beta(RATE[log]))
