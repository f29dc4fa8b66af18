"""Poisson batches that are cut to a largest size B, by a uniform choice of B of their records.

Given the other records that are left in a batch, a record is among them by a coin whose chance depends on their number
alone. So a step is dominated by a mixture of Poisson steps at these rates, one of which is drawn and told. README.md
has the proof. Source of the sampler: Ganesh 2025, arXiv 2508.15089; the bounds are derived here.
"""

from math import ceil, floor, inf, isfinite, log1p
from typing import NamedTuple, final

import numpy as np
from scipy.special import betainc

from dpcore import check
from dpcore.privacy.accountants.base import Curve
from dpcore.privacy.certified.cells import loss_heights, position_at
from dpcore.privacy.certified.epsilon_bounds import epsilon_bounds
from dpcore.privacy.certified.lattice import CUT_OFF
from dpcore.privacy.certified.step_law import HIGHEST, StepLaws
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism
from dpcore.privacy.sampling.base import Poisson, Sampler, certified, words_of
from dpcore.privacy.sampling.replace_one import deviation
from dpcore.privacy.sampling.round_laws import laws_of_halves, on_the_line, upper_bounds

MAX_EXAMPLES = 10**9
TERMS = 10**6  # of the sum for the chance of a larger batch
MARGIN = 1e-9  # above the errors of the chances
MESH = 0.12  # in standard deviations of a step's loss


class Coins(NamedTuple):
    """The coin of a record, given the others that are left: q beside few of them, `rate` beside B - 1, 0 beside B."""

    few: float  # chance of fewer than B - 1 others, not too small
    full: float  # chance of B - 1 others: times `rate` not too small
    rate: float  # not too small
    seen: float  # chance of the record in all, not too large


def coins_of(q: float, largest: int, examples: int) -> Coins:
    """The coins of each of n = `examples` records, for batches of at most B = `largest` < n.

    With M drawn from Bin(n, q), the record is there beside B - 1 others with chance (B/n) P(M >= B), and without it
    these are left with chance (B/n) P(M = B) (1-q)/q.
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
    return total + float(products[-1]) * ratio / (1 - ratio) if isfinite(total) and ratio < 1 else inf


def truncated_laws(coins: Coins, q: float, sigma: float, mesh: float, tail: float) -> StepLaws:
    """The laws of a pair that dominates a step, in both directions; its dominated law is not valid for the step.

    Errors: RuntimeError if e^loss overflows.
    """
    steps = [(chance, r, log1p(-r) if r < 1 else 0.0) for chance, r in ((coins.few, q), (coins.full, coins.rate))]
    steps = [each for each in steps if each[0] > 0]
    ends = np.array([np.add(loss_heights(r, sigma, tail), least) for _, r, least in steps])
    first, last = floor(min(ends[:, 0].min() / mesh, -1)), ceil(max(ends[:, 1].max() / mesh, 1)) + 1
    if max(-first, last) * mesh > HIGHEST:
        raise RuntimeError(f"At sigma={sigma:g} one step reveals so much that its ratios overflow.")
    y = 0.5 * mesh * np.arange(2 * first, 2 * last + 1)
    halves = np.zeros((2, y.size + 1))
    for chance, r, least in steps:
        x = position_at(r, sigma, y - least)
        without, own = on_the_line(x, sigma), on_the_line(x - 1, sigma)
        halves += chance * np.stack([without, (1 - r) * without + r * own])
    halves[:, 1 - 2 * first] += max(1 - coins.few - coins.full, 0.0)  # above the node of loss 0, at that node
    return laws_of_halves(halves, first * mesh, mesh)


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

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> Curve:
        if self.largest >= self.examples:
            return Poisson()._account(q, sigma, steps, delta)
        coins = coins_of(q, self.largest, self.examples)
        lower = epsilon_bounds(Mechanism.constant(coins.seen, sigma, int(steps[-1])), steps, delta).lower
        tail = CUT_OFF * float(delta.min()) / int(steps[-1])
        spread = coins.few * deviation(q, sigma) ** 2 + coins.full * deviation(coins.rate, sigma) ** 2
        upper = upper_bounds(truncated_laws(coins, q, sigma, MESH * float(np.sqrt(spread)), tail), steps, delta)
        left = delta - steps * coins.full * coins.rate  # else a step diverges no more than a Poisson one
        rows = np.flatnonzero(left > 0)
        if rows.size:
            plain = epsilon_bounds(Mechanism.constant(q, sigma, int(steps[-1])), steps[rows], left[rows]).upper
            upper[rows] = np.minimum(upper[rows], plain)
        return certified(steps, delta, np.minimum(lower, upper), upper)
