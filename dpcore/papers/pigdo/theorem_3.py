"""Theorem 3 of paper 000: MMA's claim, settings that refute it, and the gaps of its proof."""

import itertools
import math
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import numpy as np

from dpcore.papers.paper import Area, Cells, Map
from dpcore.papers.words import rounded_down, rounded_up, words_of
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.accountants.mma import failing_conditions
from dpcore.privacy.mechanism import FloatArray, Mechanism
from dpcore.privacy.renyi import binomial_log_moments
from dpcore.privacy.report.numbers import nearest, short


def least_order(q: float) -> float:
    """Return the order below which inequality (8) of the proof fails, for every sigma.

    It needs (e - 1) (lambda + 1) / (2 (1 - q) lambda) <= 1, so lambda >= 1 / (2 (1 - q) / (e - 1) -
    1); never where q > (3 - e)/2 = 0.14.

    >>> round(least_order(0.01), 2), least_order(0.2)
    (6.57, inf)
    """
    room = 2 * (1 - q) / (math.e - 1) - 1
    return 1 / room if room > 0 else math.inf


def bounded_moment(q: float, sigma: float, order: int) -> float:
    """Integrate the log-moment that the proof bounds: ln E_{z ~ u0} [(u0(z)/u(z))^lambda].

    u0 = N(0, sigma^2) and u = (1 - q) u0 + q N(1, sigma^2) are the laws without and with the
    example.

    >>> round(bounded_moment(0.01, 1.0, 10), 5)
    0.0075
    """
    z = np.arange(-40.0, 40.0, 1 / 64)  # in standard deviations of the noise
    loss = -np.logaddexp(math.log1p(-q), math.log(q) + z / sigma - 0.5 / sigma**2)
    integral = np.sum(np.exp(order * loss - z * z / 2)) / 64 / math.sqrt(2 * math.pi)
    return float(np.log(integral))


def omitted_moment(q: float, sigma: float, order: int) -> float:
    """Return the log-moment that the proof omits: ln E_{z ~ u} [(u(z)/u0(z))^lambda].

    It is that of the other direction, the larger one (Mironov, Talwar and Zhang 2019, arXiv
    1908.10530, Theorem 5). Orders 1 to 127.

    >>> round(omitted_moment(0.01, 1.0, 10), 2)
    4.41
    """
    return float(binomial_log_moments(q, sigma)[order - 1])


def assumed_moment(q: float, sigma: float, order: int) -> float:
    """Return the log-moment that the theorem takes for both: ln(1 + q^2 lambda^2 / sigma^2).

    >>> round(assumed_moment(0.01, 1.0, 10), 5)
    0.00995
    """
    return math.log1p((q * order / sigma) ** 2)


def dropped_bounds(q: float, sigma: float, t: int) -> tuple[float, float, float]:
    """Return the proof's bounds (14), (16) and (27) on the parts of the term t that it drops.

    t is at least 3.

    >>> [round(each / 0.01**3, 1) for each in dropped_bounds(0.01, 1.0, 3)]
    [12.2, 1.0, 2377.2]
    """
    spread = sigma**t * math.prod(range(t - 1, 0, -2))  # sigma^t (t - 1)!!
    outer = (2 * q) ** t / (2 * (1 - q) ** (t - 1) * sigma ** (2 * t))
    bound_14 = outer * (spread + 1)
    bound_16 = q**t / ((1 - q) ** t * sigma ** (2 * t))
    bound_27 = outer * math.exp((t * t - t) / (2 * sigma**2)) * (spread + t**t)
    return bound_14, bound_16, bound_27


def dominant_from(delta: float) -> float:
    """Return the steps above which sigma / (q lambda) > 10 holds at the proof's order.

    It holds there for every q and sigma, since sigma / (q lambda) = (delta^(-1/T) - 1)^(-1/2),
    which is above 10 where T > ln(1/delta) / ln(1.01).

    >>> round(dominant_from(1e-5), 2)
    1157.04
    """
    return -math.log(delta) / math.log1p(DOMINANT**-2)


WORDS = words_of("pigdo")
DELTA = 1e-5
# The grid of settings where counterexamples are sought.
RATES = (0.1, 0.05, 0.02, 0.01)
SIGMAS = (1.0, 1.2, 1.5, 2.0)
STEPS = (1, 10, 100, 1000, 1500, 5000, 11_500)
# The proof needs sigma / (q lambda) above it, so that each term is that many times the next.
DOMINANT = 10
# A claimed epsilon is tested at 13 deltas up to 0.5, and then between two of these.
MAX_DELTA = 0.5
DELTAS = 13
MAP_SIGMAS = np.geomspace(0.5, 8, 13).round(6)  # rounded, so that 1 is 1
MAP_EPOCHS = np.array([0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 200, 400])
MAP_RATE = 0.01  # of Figure 4


class Lambda(StrEnum):
    """The order lambda of the conditions, which the theorem does not name."""

    ANY = "some order"  # any that meets the conditions
    OWN = "its own order"  # the one that the proof eliminates: 2 ln(1/delta) / epsilon
    PROOF = "its own order, and sigma / (q lambda) > 10"  # the source of two of the conditions


@dataclass(frozen=True)
class Counterexample:
    """A setting that meets the conditions and is refuted."""

    q: float
    sigma: float
    steps: int
    claimed: float  # epsilon by the theorem
    lower: float  # proven lower bound of epsilon

    @property
    def excess(self) -> float:
        """The proven epsilon over the promised one."""
        return self.lower / self.claimed

    @property
    def delta(self) -> float:
        """A proven lower bound of the delta that goes with the claimed epsilon.

        The claim is false at each delta whose lower bound of epsilon is larger.
        """
        mechanism = Mechanism.constant(self.q, self.sigma, self.steps)
        low = DELTA
        high = MAX_DELTA
        for _ in range(2):
            deltas = np.geomspace(low, high, DELTAS)  # (DELTAS,)
            band = ACCOUNTANTS[CERTIFIED].profile(mechanism, deltas)
            assert band.lower is not None
            last = int(np.flatnonzero(band.lower > self.claimed)[-1])
            low = float(deltas[last])
            high = float(deltas[min(last + 1, DELTAS - 1)])
        return low


def claimed(q: float, sigma: float, steps: int) -> float:
    """Return epsilon by Theorem 3: 2 q ln(1/delta) / (sigma sqrt(delta^(-1/T) - 1)).

    >>> round(claimed(0.01, 2.0, 40_000), 3)
    6.786
    """
    return ACCOUNTANTS["mma"].spent(Mechanism.constant(q, sigma, steps), DELTA).value


def closed_form(constant: int, q: float, sigma: float, steps: FloatArray | int) -> FloatArray:
    """Return constant q sqrt(T ln(1/delta)) / sigma at each T.

    With 2 it is MMA's epsilon with gamma instead of log(1 + gamma), with 3 the curve that the paper
    calls moments accountant. Source: paper 000, section 5.2, "Comparing Privacy Accounting". Abadi
    et al. 2016, Theorem 1, leaves the constant open; no accountant computes this.

    >>> [float(closed_form(constant, 0.01, 2.0, 40_000).round(4)) for constant in (2, 3)]
    [6.7861, 10.1792]
    """
    return constant * q * np.sqrt(steps * -math.log(DELTA)) / sigma


def own_order(q: float, sigma: float, steps: int) -> float:
    """Return the lambda that the proof eliminates: 2 ln(1/delta) / epsilon.

    >>> round(own_order(0.01, 2.0, 40_000), 2)
    3.39
    """
    return -2 * math.log(DELTA) / claimed(q, sigma, steps)


def conditions_hold(q: float, sigma: float, steps: int, which: Lambda) -> bool:
    """Return True if the theorem's own conditions are met.

    >>> [conditions_hold(0.01, 2.0, 1, which) for which in (Lambda.ANY, Lambda.OWN)]
    [True, False]
    """
    if which is Lambda.ANY:
        largest = 0.1 / q**2  # the larger the order, the weaker the condition on epsilon
        order_exists = sigma >= 1 and q * sigma < 1 <= largest
        return order_exists and claimed(q, sigma, steps) > 0.002 * steps / largest
    if failing_conditions(Mechanism.constant(q, sigma, steps), steps, DELTA):
        return False
    if which is Lambda.OWN:
        return True
    return sigma / (q * own_order(q, sigma, steps)) > DOMINANT


@cache
def _below() -> tuple[Counterexample, ...]:
    """Return the settings of the grid that are promised less than is proven, the worst first."""
    found = []
    for q, sigma in itertools.product(RATES, SIGMAS):
        whole = Mechanism.constant(q, sigma, STEPS[-1])
        band = ACCOUNTANTS[CERTIFIED].curve(whole, STEPS, DELTA)
        promises = ACCOUNTANTS["mma"].curve(whole, STEPS, DELTA).epsilon
        assert band.lower is not None
        rows = zip(STEPS, promises.tolist(), band.lower.tolist(), strict=True)
        for steps, promise, lower in rows:
            if lower > promise:
                found.append(Counterexample(q, sigma, steps, promise, lower))
    return tuple(sorted(found, key=lambda each: -each.excess))


@cache
def counterexamples(which: Lambda) -> tuple[Counterexample, ...]:
    """Return the refuted settings that meet the conditions, the worst first."""
    return tuple(
        each for each in _below() if conditions_hold(each.q, each.sigma, each.steps, which)
    )


AREAS = tuple(Area(**each) for each in WORDS["areas"])
REFUTED, BELOW, INSIDE, SAFE, OUTSIDE = range(len(AREAS))


def _cells() -> Cells:
    steps = np.round(MAP_EPOCHS / MAP_RATE)  # (X,)
    area = np.empty((MAP_SIGMAS.size, steps.size), dtype=np.int64)  # (Y, X)
    texts = []
    for row, sigma in enumerate(MAP_SIGMAS.tolist()):
        whole = Mechanism.constant(MAP_RATE, sigma, int(steps[-1]))
        promises = ACCOUNTANTS["mma"].curve(whole, steps, DELTA).epsilon  # (X,)
        band = ACCOUNTANTS[CERTIFIED].curve(whole, steps, DELTA)
        assert band.lower is not None
        texts_of_row = []
        for column, count in enumerate(band.steps.tolist()):
            failing = failing_conditions(Mechanism.constant(MAP_RATE, sigma, count), count, DELTA)
            promise = float(promises[column])
            low = float(band.lower[column])
            high = float(band.epsilon[column])
            area[row, column] = _area(promise, low, high, bool(failing))
            conditions = f"fails {', '.join(failing)}" if failing else "all conditions met"
            texts_of_row.append(
                f"sigma {nearest(sigma)}, {nearest(MAP_EPOCHS[column])} epochs ({count:,} steps):"
                f" MMA claims {short(promise)}, proven {rounded_down(low)} to"
                f" {rounded_up(high)}; {conditions}"
            )
        texts.append(tuple(texts_of_row))
    return Cells(MAP_EPOCHS, MAP_SIGMAS, area, tuple(texts))


def _area(promise: float, low: float, high: float, failing: bool) -> int:
    if promise < low:
        return BELOW if failing else REFUTED
    if promise <= high:
        return INSIDE
    return OUTSIDE if failing else SAFE


MAP = Map(**WORDS["map"], areas=AREAS, cells=_cells)
