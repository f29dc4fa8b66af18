"""What the figures show, in a sentence with its numbers, for those who cannot see them."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from dpcore.figures.style import style_of
from dpcore.figures.tradeoff import Line, gaussian_line
from dpcore.privacy.accountants import Curve
from dpcore.privacy.certified.tradeoff_bounds import Band
from dpcore.privacy.report.kinds import marked
from dpcore.privacy.report.numbers import epochs_of, outward, plain, raised, short
from dpcore.privacy.tradeoff import Tradeoff
from dpcore.privacy.types import FloatArray, Kind

RATE = {False: 0.1, True: 0.001}  # where a trade-off chart is read, on linear and on logarithmic axes
AXES = {
    False: ("least type II error against type I error", "At a type I error of 10 %"),
    True: ("largest true-positive rate against false-positive rate, both logarithmic", "At 0.1 % false positives"),
}
BLIND = {False: "blind guessing 90 %", True: "blind guessing 0.1 %"}
DELTA = 1e-5  # and a profile, or at the nearest delta that it has


def curves_alt(curves: Mapping[str, Curve], epochs: FloatArray) -> str:
    """The end of each curve and of the band.

    >>> from dpcore.privacy.accountants import ACCOUNTANTS
    >>> from dpcore.privacy.mechanism import Mechanism
    >>> curve = ACCOUNTANTS["rdp"].curve(Mechanism.constant(q=0.01, sigma=4.0, steps=10_000), [10_000], 1e-5)
    >>> curves_alt({"rdp": curve}, np.array([100.0]))
    'Line chart of epsilon against epoch. After 100 epochs: Rényi DP ≤ 1.04.'
    """
    ends = _listed({name: _at(curve, -1) for name, curve in curves.items()})
    return f"Line chart of epsilon against epoch. After {epochs_of(float(epochs[-1]))}: {ends}."


def profile_alt(profiles: Mapping[str, Curve]) -> str:
    """Every curve's epsilon at one delta."""
    if not profiles:
        return "Empty line chart of delta against epsilon."
    deltas = next(iter(profiles.values())).delta
    place = int(np.argmin(np.abs(np.log(deltas / DELTA))))
    ends = _listed({name: _at(curve, place) for name, curve in profiles.items()})
    return f"Line chart of delta against epsilon. At delta = {plain(raised(float(deltas[place])))}, epsilon is: {ends}."


def tradeoff_alt(band: Band | None, lines: Sequence[Line], *, log: bool = False) -> str:
    """Every curve's height at one rate; a bound is rounded to the attacker's side."""
    found = [] if band is None or band.empty else [_of_band("Certified", band, log)]
    found += [f"{each.style.label} {_of_line(each, log)}" for each in lines]
    what, at = AXES[log]
    return f"Line chart of the {what}. {at}: {'; '.join([*found, BLIND[log]])}."


def growth_alt(bands: Mapping[int, Band], mu: float, *, log: bool = False) -> str:
    """Every length's certified band at one rate, beside the limit."""
    found = [_of_band(f"T = {steps:,}", band, log) for steps, band in bands.items() if not band.empty]
    what, at = AXES[log]
    limit = f"their limit, G_mu with mu = {short(mu)}, {_of_line(gaussian_line(mu), log)}"
    return f"Line chart of the {what}, for growing numbers of steps T. {at}: {'; '.join([*found, limit])}."


def _listed(ends: Mapping[str, str]) -> str:
    return "; ".join(f"{style_of(name).label} {end}" for name, end in ends.items()) or "no curve"


def _at(curve: Curve, place: int) -> str:
    """One point of a curve; of the certified one both bounds."""
    value = float(curve.epsilon[place])
    if curve.lower is None or not math.isfinite(value):
        return marked(value, curve.kind)
    return f"from {outward(float(curve.lower[place]), math.floor)} to {outward(value, math.ceil)}"


def _of_band(name: str, band: Band, log: bool) -> str:
    low, high = sorted(_height(f, log) for f in (band.lower, band.upper))
    return f"{name} from {outward(100 * low, math.floor)} to {outward(100 * high, math.ceil)} %"


def _of_line(each: Line, log: bool) -> str:
    height = 100 * _height(each.f, log)
    if not each.kind.is_bound:
        return f"{'claims' if each.kind is Kind.CLAIMED else '≈'} {short(height)} %"
    return f"≤ {outward(height, math.ceil)} %" if log else f"≥ {outward(height, math.floor)} %"


def _height(f: Tradeoff, log: bool) -> float:
    return float(f.power(RATE[log]) if log else f.beta(RATE[log]))
