"""Poisson batches that are cut to a largest size B, by a uniform choice of B of their records.

Given the other records that are left in a batch, a record is among them by a coin whose chance
depends on their number alone. So a step is dominated by a mixture of Poisson steps at these rates,
of which one is drawn and made known. README.md has the proof. Source of the sampler: Ganesh 2025,
arXiv 2508.15089; the bounds are derived here.
"""

from math import ceil, floor, inf, isfinite, log, log1p, sqrt
from typing import NamedTuple, final

import numpy as np
from scipy.special import betainc, ndtri

from dpcore import check
from dpcore.privacy.certified.cells import loss_heights, position_at
from dpcore.privacy.certified.epsilon_bounds import EpsilonBounds
from dpcore.privacy.certified.step_law import StepLaws
from dpcore.privacy.mechanism import FloatArray, IntArray
from dpcore.privacy.sampling.base import ZERO_OUT, Parameter, Sampler, poisson_bounds
from dpcore.privacy.sampling.replace_one import deviation
from dpcore.privacy.sampling.round_laws import (
    MAX_SHARE_OF_DELTA,
    NODES,
    lattice,
    laws_of_halves,
    most_nodes,
    on_the_line,
    tail_mass,
    upper_bounds,
)

MAX_EXAMPLES = 10**9
TERMS = 10**6  # of the sum for the chance of a larger batch
MARGIN = 1e-9  # above the errors of the chances, and of what they leave of delta
MESH = 0.12  # in standard deviations of a step's loss
WIDE = 1.01  # upper over lower end above which the other pair is tried, too


class Coins(NamedTuple):
    """The coin of a record, given the other records that are left.

    Its chance is q if they are fewer than B - 1, `rate` if they are B - 1, and 0 if they are B.
    """

    few: float  # chance of fewer than B - 1 others, not too small
    full: float  # chance of B - 1 others: times `rate` not too small
    rate: float  # not too small
    seen: float  # chance of the record in all, not too large


def coins_of(q: float, largest: int, examples: int) -> Coins:
    """The coins of each of n = `examples` records, for batches of at most B = `largest` < n.

    Let M be drawn from Bin(n, q). The record and B - 1 others are left with chance (B/n) P(M >= B),
    and B - 1 others without it with chance (B/n) P(M = B) (1-q)/q.
    """
    b = largest
    n = examples
    with_others = b / n * float(betainc(b, n - b + 1, q))
    few = 0.0
    if b > 1:
        few = 1 - float(betainc(b - 1, n - b + 1, q))
    rate = 1.0
    if q < 1:
        rate = min((1 + MARGIN) / (1 + (1 - q) / q / _larger(q, b, n)), 1.0)
    full = min(with_others / rate * (1 + MARGIN), 1.0)
    seen = q * max(few - MARGIN, 0.0) + with_others * (1 - MARGIN)
    return Coins(min(few + MARGIN, 1 - full), full, rate, seen)


def _larger(q: float, b: int, n: int) -> float:
    """P(M >= B) / P(M = B) from above: a sum of products of ratios, which fall."""
    odds = q / (1 - q)
    j = np.arange(1, min(n - b, TERMS) + 1, dtype=np.float64)
    with np.errstate(over="ignore"):
        products = np.cumprod((n - b + 1 - j) / (b + j) * odds)
        total = 1 + float(products.sum())
    ratio = max(n - b - TERMS, 0) / (b + TERMS) * odds  # of the next product to the last one
    if not isfinite(total) or ratio >= 1:
        return inf
    return total + float(products[-1]) * ratio / (1 - ratio)


def truncated_laws(
    coins: Coins, q: float, sigma: float, mesh: float, tail: float, most: int = NODES
) -> StepLaws:
    """The laws of a pair that dominates a step, in both directions, on about `most` nodes at most.

    Its dominated law is not valid for the step. Errors: RuntimeError if e^loss overflows.
    """
    low = inf
    high = -inf
    steps = []  # the Poisson steps that have a chance: (chance, rate)
    for chance, rate in ((coins.few, q), (coins.full, coins.rate)):
        if chance > 0:
            lowest, highest = _ends(rate, sigma, tail)
            low = min(low, lowest)
            high = max(high, highest)
            steps.append((chance, rate))
    mesh = max(mesh, (high - low) / most)
    first, y = _losses(low, high, mesh, sigma)
    parts = [(chance, _poisson(rate, sigma, y)) for chance, rate in steps]
    return _mixed(parts, first, mesh)


def displacing_laws(
    q: float,
    largest: int,
    examples: int,
    sigma: float,
    mesh: float,
    tail: float,
    most: int = NODES,
) -> StepLaws:
    """The laws of another such pair.

    In a batch that is cut, the record takes the place of another one.
    """
    b = largest
    n = examples
    cut = min(b / n * float(betainc(b + 1, n - b, q)) / q * (1 + MARGIN), 1.0)
    few = min(1 - float(betainc(b, n - b, q)) + MARGIN, 1 - cut)
    low, high = _ends(q, sigma, tail)
    last = 2 - float(ndtri(tail)) * sigma
    far = max(high, (last - 1.5) / sigma**2)  # the loss is at most that of N(2) and N(1)
    near = min(low, -high)
    mesh = max(mesh, (far - near) / most)
    first, y = _losses(near, far, mesh, sigma)
    parts = [(few, _poisson(q, sigma, y)), (cut, _displacing(q, sigma, y))]
    return _mixed(parts, first, mesh)


def _ends(rate: float, sigma: float, tail: float) -> tuple[float, float]:
    """The losses of a Poisson step without about `tail` mass at either end."""
    low, high = loss_heights(rate, sigma, tail)
    least = _least(rate)
    return low + least, high + least


def _least(rate: float) -> float:
    """The lowest loss of a Poisson step, from which heights are measured."""
    return 0.0 if rate == 1 else log1p(-rate)


def _losses(low: float, high: float, mesh: float, sigma: float) -> tuple[int, FloatArray]:
    """The number of the first node, counted from loss 0, and all losses of the lattice."""
    first = floor(min(low / mesh, -1))
    last = ceil(max(high / mesh, 1)) + 1
    return first, lattice(first * mesh, last - first + 1, mesh, sigma)


def _mixed(parts: list[tuple[float, FloatArray]], first: int, mesh: float) -> StepLaws:
    """The laws of a mixture of pairs, given as their chances and halves (2, 2 N).

    One pair is drawn and made known; with the remaining chance nothing is released.
    """
    halves = np.sum([chance * masses for chance, masses in parts], axis=0)
    remaining = 1 - sum(chance for chance, _ in parts)
    halves[:, 1 - 2 * first] += max(remaining, 0.0)  # at the node of loss 0
    return laws_of_halves(halves, first * mesh, mesh)


def _poisson(rate: float, sigma: float, y: FloatArray) -> FloatArray:
    """The masses of a Poisson step under Q and P between (n,) losses, (2, n + 1)."""
    x = position_at(rate, sigma, y - _least(rate))
    none = on_the_line(x, sigma)
    own = on_the_line(x - 1, sigma)
    return np.stack([none, (1 - rate) * none + rate * own])


def _displacing(q: float, sigma: float, y: FloatArray) -> FloatArray:
    """The masses of a step that displaces a record under Q and P between (n,) losses, (2, n + 1).

    At losses above 0 the pair is (1-q) N(0) + q N(2) and (1-q) N(0) + q N(1), at losses below 0 it
    is N(0) and the latter.
    """
    mirrored = -y[y <= 0][::-1]  # (k,) rising from 0
    poisson = _poisson(q, sigma, mirrored)[:, 1:]  # (2, k) beyond each of these losses
    below = poisson[::-1, ::-1]  # (2, k): the mirror image, in which P and Q change places
    x = _far(q, sigma, y[y >= 0])  # (m,)
    none = on_the_line(x, sigma)[1:]  # (m,) beyond each of these places
    one = on_the_line(x - 1, sigma)[1:]
    two = on_the_line(x - 2, sigma)[1:]
    above = np.stack([(1 - q) * none + q * one, (1 - q) * none + q * two])  # (2, m)
    elsewhere = 1 - float(below[0].sum() + above[0].sum())  # there the ratio is 1
    above[:, 0] += max(elsewhere, 0.0)
    return np.concatenate([below, above], axis=1)


def _far(q: float, sigma: float, y: FloatArray) -> FloatArray:
    """The place of a loss y >= 0, from e^a u^2 - e^b u = (1-q) (e^y - 1) for u = e^(x/sigma^2)."""
    a = log(q) - 2 / sigma**2
    b = y + log(q) - 0.5 / sigma**2
    with np.errstate(divide="ignore"):
        rise = np.log1p(-q) + np.log(np.expm1(y))
        root = 0.5 * np.logaddexp(2 * b, log(4) + a + rise)
        log_u = np.logaddexp(b, root) - log(2) - a
    return sigma**2 * log_u


@final
class TruncatedPoisson(Sampler):
    """Poisson batches of `examples` records, of which at most `largest` are kept.

    >>> curve = TruncatedPoisson(600, 60_000).curve(512 / 60_000, 1.068, 4680, 1e-5)
    >>> curve.lower.round(2), curve.epsilon.round(2)
    (array([3.]), array([3.01]))
    """

    name = "truncated_poisson"
    title = "Truncated Poisson"
    source = (
        "Ganesh 2025, arXiv 2508.15089, for the sampler; bounds:"
        " dpcore/privacy/sampling/README.md, Theorems 15, 16"
    )
    phrase = "truncated Poisson batches"
    note = (
        "Poisson batches, but of a batch with more than B of the N records only B are kept, chosen"
        " uniformly. Others may tell that a batch is full, and then a record in it is easier to"
        " find. If hardly any batch is cut, the cost is that of Poisson batches."
    )
    form = "truncated_poisson:B:N, with batches of at most B of N records"
    parameters = (
        Parameter(
            name="largest",
            label="Largest batch B",
            note="A larger batch is cut to B records, chosen uniformly.",
            start=320,
            most=MAX_EXAMPLES,
            far=10**5,
            fewer="more is cut",
            more="less is cut",
        ),
        Parameter(
            name="examples",
            label="Records N",
            note="Of the whole data.",
            start=60_000,
            most=MAX_EXAMPLES,
            far=10**7,
            fewer="fewer people",
            more="more people",
        ),
    )
    adjacency = ZERO_OUT

    def __init__(self, largest: int = 1, examples: int = 1) -> None:
        check.whole(1, MAX_EXAMPLES, largest=largest, examples=examples)
        self.largest = largest
        self.examples: int = examples

    def seen(self, q: float) -> float:
        """The chance that a record is left in a batch."""
        if self.largest >= self.examples:
            return q
        return coins_of(q, self.largest, self.examples).seen

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
        if self.largest >= self.examples:
            return poisson_bounds(q, sigma, steps, delta)
        coins = coins_of(q, self.largest, self.examples)
        lower = poisson_bounds(coins.seen, sigma, steps, delta).lower
        tail = tail_mass(steps, delta)
        most = most_nodes(steps.size)
        spread = deviation(q, sigma)
        variance = coins.few * spread**2 + coins.full * deviation(coins.rate, sigma) ** 2
        mesh = MESH * sqrt(variance)
        laws = truncated_laws(coins, q, sigma, mesh, tail, most)
        upper = upper_bounds(laws, steps, delta)
        if np.any(upper > WIDE * lower):
            mesh = MESH * spread
            laws = displacing_laws(q, self.largest, self.examples, sigma, mesh, tail, most)
            upper = np.minimum(upper, upper_bounds(laws, steps, delta))
        # A step that cuts no batch with the record diverges no more than a Poisson step.
        cut = steps * coins.full * coins.rate
        rows = np.flatnonzero(cut < MAX_SHARE_OF_DELTA * delta)
        if rows.size > 0:
            rest = (delta - cut)[rows] * (1 - MARGIN)
            plain = poisson_bounds(q, sigma, steps[rows], rest).upper
            upper[rows] = np.minimum(upper[rows], plain)
        return EpsilonBounds(lower, upper)
