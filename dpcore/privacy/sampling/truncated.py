"""Poisson batches that are cut to a largest size B, by a uniform choice of B of their records.

Given the other records that are left in a batch, a record is among them by a coin whose chance
depends on their number alone. So a step is dominated by a mixture of Poisson steps at these rates,
one of which is drawn and told. README.md has the proof. Source of the sampler: Ganesh 2025, arXiv
2508.15089; the bounds are derived here.
"""

from collections.abc import Callable
from functools import partial
from math import ceil, floor, inf, isfinite, log, log1p
from typing import NamedTuple, final

import numpy as np
from scipy.special import betainc, ndtri

from dpcore import check
from dpcore.privacy.certified.cells import loss_heights, position_at
from dpcore.privacy.certified.epsilon_bounds import EpsilonBounds, epsilon_bounds
from dpcore.privacy.certified.lattice import CUT_OFF
from dpcore.privacy.certified.step_law import StepLaws
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism
from dpcore.privacy.sampling.base import Poisson, Sampler, words_of
from dpcore.privacy.sampling.replace_one import deviation
from dpcore.privacy.sampling.round_laws import (
    MAX_SHARE_OF_DELTA,
    NODES,
    lattice,
    laws_of_halves,
    most_nodes,
    on_the_line,
    upper_bounds,
)

MAX_EXAMPLES = 10**9
TERMS = 10**6  # of the sum for the chance of a larger batch
MARGIN = 1e-9  # above the errors of the chances, and of what they leave of delta
MESH = 0.12  # in standard deviations of a step's loss
WIDE = 1.01  # upper over lower end above which the other pair is tried, too
HalvesOn = Callable[[FloatArray], FloatArray]


class Coins(NamedTuple):
    """The coin of a record, given the others that are left: q beside few of them, `rate` beside B -
    1, 0 beside B.
    """

    few: float  # chance of fewer than B - 1 others, not too small
    full: float  # chance of B - 1 others: times `rate` not too small
    rate: float  # not too small
    seen: float  # chance of the record in all, not too large


def coins_of(q: float, largest: int, examples: int) -> Coins:
    """The coins of each of n = `examples` records, for batches of at most B = `largest` < n.

    With M drawn from Bin(n, q), the record is there beside B - 1 others with chance (B/n) P(M >=
    B), and without it these are left with chance (B/n) P(M = B) (1-q)/q.
    """
    b, n = largest, examples
    told = b / n * float(betainc(b, n - b + 1, q))
    few = 1 - float(betainc(b - 1, n - b + 1, q)) if b > 1 else 0.0
    rate = 1.0 if q == 1 else min((1 + MARGIN) / (1 + (1 - q) / q / _larger(q, b, n)), 1.0)
    full = min(told / rate * (1 + MARGIN), 1.0)
    seen = q * max(few - MARGIN, 0.0) + told * (1 - MARGIN)
    return Coins(min(few + MARGIN, 1 - full), full, rate, seen)


def _larger(q: float, b: int, n: int) -> float:
    """P(M >= B) / P(M = B) from above: a sum of products of ratios, which fall."""
    odds = q / (1 - q)
    j = np.arange(1, min(n - b, TERMS) + 1, dtype=np.float64)
    with np.errstate(over="ignore"):
        products = np.cumprod((n - b + 1 - j) / (b + j) * odds)
        total = 1 + float(products.sum())
    ratio = max(n - b - TERMS, 0) / (b + TERMS) * odds
    return (
        total + float(products[-1]) * ratio / (1 - ratio) if isfinite(total) and ratio < 1 else inf
    )


def truncated_laws(
    coins: Coins, q: float, sigma: float, mesh: float, tail: float, most: int = NODES
) -> StepLaws:
    """The laws of a pair that dominates a step, in both directions, on about `most` nodes at most.

    Its dominated law is not valid for the step.

    Errors: RuntimeError if e^loss overflows.
    """
    rates = [
        (chance, rate) for chance, rate in ((coins.few, q), (coins.full, coins.rate)) if chance > 0
    ]
    ends = [_ends(rate, sigma, tail) for _, rate in rates]
    shares = [(chance, partial(_poisson, rate, sigma)) for chance, rate in rates]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    return _mixed(shares, low, high, sigma, max(mesh, (high - low) / most))


def displacing_laws(
    q: float,
    largest: int,
    examples: int,
    sigma: float,
    mesh: float,
    tail: float,
    most: int = NODES,
) -> StepLaws:
    """The laws of another such pair: in a batch that is cut, the record takes the place of another
    one.
    """
    b, n = largest, examples
    cut = min(b / n * float(betainc(b + 1, n - b, q)) / q * (1 + MARGIN), 1.0)
    few = min(1 - float(betainc(b, n - b, q)) + MARGIN, 1 - cut)
    low, high = _ends(q, sigma, tail)
    last = 2 - float(ndtri(tail)) * sigma
    far = max(high, (last - 1.5) / sigma**2)  # the loss is at most that of N(2) and N(1)
    near = min(low, -high)
    shares = [(few, partial(_poisson, q, sigma)), (cut, partial(_displacing, q, sigma))]
    return _mixed(shares, near, far, sigma, max(mesh, (far - near) / most))


def _ends(rate: float, sigma: float, tail: float) -> tuple[float, float]:
    """The losses of a Poisson step without about `tail` mass at either end."""
    low, high = loss_heights(rate, sigma, tail)
    return low + _least(rate), high + _least(rate)


def _least(rate: float) -> float:
    """The lowest loss, above which heights count."""
    return 0.0 if rate == 1 else log1p(-rate)


def _mixed(
    shares: list[tuple[float, HalvesOn]], low: float, high: float, sigma: float, mesh: float
) -> StepLaws:
    """The laws of pairs with these chances, one of which is drawn and told; what is left tells
    nothing.
    """
    first, last = floor(min(low / mesh, -1)), ceil(max(high / mesh, 1)) + 1
    y = lattice(first * mesh, last - first + 1, mesh, sigma)
    halves = np.sum([share * halves_on(y) for share, halves_on in shares], axis=0)
    # Beside the node of loss 0.
    halves[:, 1 - 2 * first] += max(1 - sum(share for share, _ in shares), 0.0)
    return laws_of_halves(halves, first * mesh, mesh)


def _poisson(rate: float, sigma: float, y: FloatArray) -> FloatArray:
    """The masses of a Poisson step under Q and P between (n,) losses, (2, n + 1)."""
    x = position_at(rate, sigma, y - _least(rate))
    none, own = on_the_line(x, sigma), on_the_line(x - 1, sigma)
    return np.stack([none, (1 - rate) * none + rate * own])


def _displacing(q: float, sigma: float, y: FloatArray) -> FloatArray:
    """The same of (1-q) N(0) + q N(2) and (1-q) N(0) + q N(1) at losses above 0, and below of N(0)
    and the latter.
    """
    below, x = _poisson(q, sigma, -y[y <= 0][::-1])[::-1, :0:-1], _far(q, sigma, y[y >= 0])
    none, one, two = (on_the_line(x - at, sigma)[1:] for at in (0, 1, 2))
    above = np.stack([(1 - q) * none + q * one, (1 - q) * none + q * two])
    above[:, 0] += max(1 - float(below[0].sum() + above[0].sum()), 0.0)  # the ratio is 1 elsewhere
    return np.concatenate([below, above], axis=1)


def _far(q: float, sigma: float, y: FloatArray) -> FloatArray:
    """The place of a loss y >= 0, from e^a u^2 - e^b u = (1-q) (e^y - 1) for u = e^(x/sigma^2)."""
    a, b = log(q) - 2 / sigma**2, y + log(q) - 0.5 / sigma**2
    with np.errstate(divide="ignore"):
        rise = np.log1p(-q) + np.log(np.expm1(y))
        return sigma**2 * (
            np.logaddexp(b, 0.5 * np.logaddexp(2 * b, log(4) + a + rise)) - log(2) - a
        )


@final
class TruncatedPoisson(Sampler):
    """Poisson batches of `examples` records, of which at most `largest` are kept.

    >>> curve = TruncatedPoisson(600, 60_000).curve(512 / 60_000, 1.068, 4680, 1e-5)
    >>> curve.lower.round(2), curve.epsilon.round(2)
    (array([3.]), array([3.01]))
    """

    name, title, source, phrase, note = words_of("truncated_poisson")
    form = "truncated_poisson:B:N, with batches of at most B of N records"
    adjacency = "zero-out"

    def __init__(self, largest: int = 1, examples: int = 1) -> None:
        check.whole(1, MAX_EXAMPLES, largest=largest, examples=examples)
        self.largest, self.examples = largest, examples

    def seen(self, q: float) -> float:
        """The chance that a record is left in a batch."""
        return q if self.largest >= self.examples else coins_of(q, self.largest, self.examples).seen

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
        if self.largest >= self.examples:
            return Poisson()._account(q, sigma, steps, delta)
        coins = coins_of(q, self.largest, self.examples)
        lower = epsilon_bounds(
            Mechanism.constant(coins.seen, sigma, int(steps[-1])), steps, delta
        ).lower
        tail = CUT_OFF * float(delta.min()) / int(steps[-1])
        spread = (
            coins.few * deviation(q, sigma) ** 2 + coins.full * deviation(coins.rate, sigma) ** 2
        )
        mesh, most = MESH * float(np.sqrt(spread)), most_nodes(steps.size)
        upper = upper_bounds(truncated_laws(coins, q, sigma, mesh, tail, most), steps, delta)
        if np.any(upper > WIDE * lower):
            mesh = MESH * deviation(q, sigma)
            laws = displacing_laws(q, self.largest, self.examples, sigma, mesh, tail, most)
            upper = np.minimum(upper, upper_bounds(laws, steps, delta))
        cut = steps * coins.full * coins.rate  # else a step diverges no more than a Poisson one
        rows = np.flatnonzero(cut < MAX_SHARE_OF_DELTA * delta)
        if rows.size:
            left = (delta - cut)[rows] * (1 - MARGIN)
            plain = epsilon_bounds(
                Mechanism.constant(q, sigma, int(steps[-1])), steps[rows], left
            ).upper
            upper[rows] = np.minimum(upper[rows], plain)
        return EpsilonBounds(lower, upper)
