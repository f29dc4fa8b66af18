"""Curves of mechanisms, in bounded caches that all sessions share."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from dpcore.figures import charted
from dpcore.figures.epsilon import DELTAS
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Curve, Kind
from dpcore.privacy.accountants.gdp import mu_of
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.attack_risk import Risks, risks_of
from dpcore.privacy.tradeoff import Pairs, Tradeoff

# Where pairs are asked for.
ALL_DELTAS = np.concatenate([np.logspace(-12, -1, 120), np.linspace(0.11, 0.99, 60)])
TINY = 1e-20  # a delta below takes seconds
LENGTHS = 5  # mechanisms of growing length
COMING = (
    "The certified band takes a moment at this setting: until it is there, the chart shows the"
    " other curves."
)


# A slider has a hundred stops, a class moves it to all of them; each takes some kB.
@lru_cache(maxsize=2048)
def curve(name: str, mechanism: Mechanism, delta: float) -> Curve:
    """Epsilon by one accountant at the steps of the charts; +inf and a note without an answer.

    Certified bounds depend on the horizons that are asked for together: the last one is asked for
    alone, so that the end of a chart is the number that any other place has for the mechanism.
    """
    found = ACCOUNTANTS[name].curve(mechanism, charted(mechanism), delta)
    if name != CERTIFIED:
        return found
    return _ending_with(found, final(name, mechanism, delta))


def _ending_with(found: Curve, last: Curve) -> Curve:
    """A certified curve with the last point of another one."""
    if found.lower is None or last.lower is None:  # nothing is certified
        return found
    epsilon = np.append(found.epsilon[:-1], last.epsilon[-1])
    lower = np.append(found.lower[:-1], last.lower[-1])
    return replace(found, epsilon=epsilon, lower=lower, note=last.note)


def slow(mechanism: Mechanism, delta: float) -> bool:
    """True if the certified curve takes long: many kinds of steps, many steps, or a tiny delta."""
    return len(mechanism.releases) > 8 or mechanism.steps > 2_000_000 or delta < TINY


@lru_cache(maxsize=128)
def profile(name: str, mechanism: Mechanism) -> Curve:
    """Epsilon by one accountant after the whole mechanism, at each of `DELTAS`."""
    return ACCOUNTANTS[name].profile(mechanism, DELTAS)


def epsilons(
    name: str, mechanism: Mechanism, delta: float, steps: Sequence[int]
) -> tuple[float, ...]:
    """Epsilon by one accountant after exactly these steps, +inf where it has no answer.

    A live run asks again and again: only new steps are computed.
    """
    known = _epsilons_after(name, mechanism, delta)
    missing = sorted(set(steps).difference(known))
    if missing:
        new = ACCOUNTANTS[name].curve(mechanism, missing, delta).epsilon.tolist()
        known.update(zip(missing, new, strict=True))
    return tuple(known[each] for each in steps)


@lru_cache(maxsize=256)
def _epsilons_after(name: str, mechanism: Mechanism, delta: float) -> dict[int, float]:
    """The known epsilons by steps; `epsilons` adds to them."""
    return {}


# Of the central limit theorem after the whole mechanism; +inf where it has none.
mu = lru_cache(maxsize=256)(mu_of)
# The certified trade-off function of the whole mechanism.
band = lru_cache(maxsize=128)(tradeoff_bounds)


@lru_cache(maxsize=256)
def final(name: str, mechanism: Mechanism, delta: float) -> Curve:
    """Epsilon by one accountant after the whole mechanism alone."""
    return ACCOUNTANTS[name].curve(mechanism, mechanism.steps, delta)


@lru_cache(maxsize=256)
def risks(mechanism: Mechanism, delta: float) -> Risks:
    """The certified bounds on any attacker."""
    return risks_of(band(mechanism), delta)


@lru_cache(maxsize=128)
def pairs(name: str, mechanism: Mechanism) -> tuple[Tradeoff, Kind]:
    """The curve of all pairs of one accountant; the certified one has the band's lower edge."""
    if name == CERTIFIED:
        return band(mechanism).lower, Kind.CERTIFIED
    spent = ACCOUNTANTS[name].profile(mechanism, ALL_DELTAS)
    return Pairs(spent.epsilon, spent.delta), spent.kind


def growing(mechanism: Mechanism) -> dict[int, Mechanism]:
    """Mechanisms of growing T with the same q sqrt(T), the given one last; none if sigma or q vary.

    >>> found = growing(Mechanism.constant(0.01, 1.0, 10_000))
    >>> [round(each.releases[0].q, 3) for each in found.values()]
    [1.0, 0.316, 0.1, 0.032, 0.01]
    """
    if len(mechanism.releases) != 1:
        return {}
    q = mechanism.releases[0].q
    sigma = mechanism.releases[0].sigma
    steps = mechanism.steps
    fewest = max(1, int(np.ceil(q * q * steps - 1e-9)))
    lengths = np.unique(np.geomspace(fewest, steps, LENGTHS).round().astype(int)).tolist()
    found = {}
    for t in lengths[:-1]:
        found[t] = Mechanism.constant(min(q * (steps / t) ** 0.5, 1.0), sigma, t)
    found[steps] = mechanism
    return found
