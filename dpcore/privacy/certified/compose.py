"""Epsilon of many steps from the laws of one: exponential tilting, one Fourier transform, one root per horizon.

For a loss S that is a sum of independent lattice losses, delta(eps) = E[(1 - e^(eps - S))_+] + P(S = inf). Tilting by
e^(order S) moves the mass to where delta is decided, so that tiny deltas keep full relative precision; the inner
product of that tilted law with the hockey stick is taken in the Fourier domain, where few frequencies survive many
steps.

Source: tilted characteristic functions as in Zhu, Dong, Wang 2022 (arXiv 2106.08567); the error terms are derived here.
"""

from collections.abc import Iterator, Sequence
from math import inf, pi

import numpy as np

from dpcore.privacy.certified import log_moments, rounding
from dpcore.privacy.certified.log_moments import LogMoments
from dpcore.privacy.certified.loss_law import LossLaw
from dpcore.privacy.certified.tilted import TiltedLaw, tilted_laws
from dpcore.privacy.types import FloatArray, IntArray

GROUP = 0.2  # a tilt serves horizons down to this fraction of its longest
SETTLED = 1e-7  # in ln delta: how close to its target a root must come
MAX_ROUNDS = 60
MAX_TILTS = 5


def composed_epsilons(
    losses: Sequence[LossLaw],
    counts: IntArray,
    delta: FloatArray,
    moments: LogMoments,
    side: int,
    ceiling: FloatArray | float = inf,
) -> FloatArray:
    """Epsilon at each of (n, L) counts and (n,) deltas, not too small (side +1) or not too large (side -1); (n,).

    The infinite part of the loss is charged in full; where it alone exceeds delta, epsilon is +inf (side +1).
    A `ceiling` is an epsilon known to suffice.
    """
    infinite = -np.expm1(counts @ np.array([np.log1p(-loss.infinite) for loss in losses]))
    allowed = rounding.ALLOWANCE + rounding.MASS * counts.sum(axis=1)
    target = delta * (1 - side * allowed) - infinite
    result = np.where(target > 0, 0.0, inf if side > 0 else 0.0)
    log_target = np.log(np.where(target > 0, target, 1.0))
    known = np.ndim(ceiling) > 0
    ceiling = np.minimum(moments.chernoff(counts, log_target), ceiling)
    left = np.flatnonzero(target > 0)
    for _ in range(MAX_TILTS):
        again = []
        for rows, law in _tilts(losses, counts, left, log_target, ceiling, moments):
            guess = ceiling[rows] if known else _first_guess(law, log_target[rows], ceiling[rows])
            result[rows] = _roots(law, log_target[rows], ceiling[rows], guess, side)
            spare = law.spare(result[rows], log_target[rows])
            again.append(rows[(spare > moments.precision(counts[rows]) + 1) & (result[rows] < ceiling[rows])])
        left = np.sort(np.concatenate([*again, left[:0]]))
        if side < 0 or left.size == 0:
            break
        ceiling[left], known = result[left], True  # far below what chose the tilt: it left too little precision there
    misplaced = rounding.POSITION * (counts @ moments.reaching)
    return np.where(result > 0, np.maximum(result + side * misplaced, 0.0), result)


def _tilts(
    losses: Sequence[LossLaw],
    counts: IntArray,
    left: IntArray,
    log_target: FloatArray,
    ceiling: FloatArray,
    moments: LogMoments,
) -> Iterator[tuple[IntArray, TiltedLaw]]:
    """The rows `left`, under few tilts: the longest horizon chooses, for all others that can spare the precision."""
    used, longest = counts.sum(axis=1), log_moments.longest(len(losses)) * losses[0].mesh
    while left.size:
        order = moments.tilt(counts[left[-1]], float(log_target[left[-1]]), float(ceiling[left[-1]]), longest)
        spare = moments.spare(counts[left], log_target[left], ceiling[left], np.array([order]))[:, 0]
        enough = np.maximum(moments.precision(counts[left]), spare[-1] + 1)
        fits = (spare <= enough) & (used[left] >= GROUP * used[left[-1]])
        yield from tilted_laws(losses, counts, left[fits], order, moments)
        left = left[~fits]


def _roots(law: TiltedLaw, log_target: FloatArray, ceiling: FloatArray, guess: FloatArray, side: int) -> FloatArray:
    """Where ln delta meets its target: Newton inside a bracket, ending on the safe side.

    `low` has delta above the target (or is 0), `high` below it; both are evaluated or proven, never extrapolated.
    """
    aim = log_target - side * 0.5 * SETTLED
    low, high = np.full_like(ceiling, -1.0), ceiling.copy()  # -1: not even 0 was tried
    epsilon, done = guess, np.zeros(ceiling.shape, dtype=bool)
    for _ in range(MAX_ROUNDS):
        log_delta, slope = law.log_delta(epsilon, side)
        above = log_delta > log_target if side > 0 else log_delta >= log_target
        low, high = np.where(above, np.maximum(low, epsilon), low), np.where(above, high, np.minimum(high, epsilon))
        good = ~above if side > 0 else above
        done |= (good & (np.abs(log_delta - log_target) < SETTLED)) | (high - low <= 1e-12 * high) | (high == 0)
        if done.all():
            break
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # a slope near 0: bisect
            step = epsilon - (log_delta - aim) / slope
        inside = np.isfinite(step) & (step > low) & (step < high)
        following = np.maximum(np.where(inside, step, 0.5 * (low + high)), 0.0)
        epsilon = np.where(done, epsilon, following)
    return high if side > 0 else np.maximum(low, 0.0)


def _first_guess(law: TiltedLaw, log_target: FloatArray, ceiling: FloatArray) -> FloatArray:
    """Saddle-point estimate: the Chernoff bound is high by about ln(order (order + 1) std sqrt(2 pi)) / order."""
    order = law.order
    excess = np.log(order * (order + 1) * np.maximum(ceiling - law.low, law.mesh) / 8 * np.sqrt(2 * pi))
    chernoff = (law.log_total - log_target) / order
    return np.clip(chernoff - np.maximum(excess, 0.0) / order, 0.0, ceiling)
