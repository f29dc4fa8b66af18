"""Theoretical laws of a canary's best score, in and out of the training data.

The best score is the log-likelihood ratio of all releases along the canary's gradient: the sum over
steps of ln(1 - q + q e^((2 o - 1) / (2 sigma^2))). Without the canary o is Normal(0, sigma^2); with
it o is, with probability q, Normal(1, sigma^2) instead. The law is the composed law of the privacy
loss, on the nearest nodes of a lattice, by one power in the Fourier domain: it serves drawings, not
bounds.
"""

from dataclasses import dataclass
from math import ceil, log, sqrt

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtr

from dpcore import check
from dpcore.privacy.mechanism import FloatArray, Mechanism, Release, read_only

FINE = 16  # least nodes in the standard deviation of one step's score
COARSE = 400  # least nodes in the standard deviation of the summed score
WIDE = 10.0  # standard deviations on either side
MAX_NODES = 2**20


@dataclass(frozen=True, eq=False)
class ScoreLaws:
    """Probabilities of scores on a lattice."""

    score: FloatArray  # (n,) rising, evenly spaced
    outside: FloatArray  # (n,) without the canary; sums to 1
    inside: FloatArray  # (n,) with it

    @property
    def mesh(self) -> float:
        """The distance of neighbouring scores: probability over mesh is density."""
        return float(self.score[1] - self.score[0])

    def shares_above(self) -> tuple[FloatArray, FloatArray]:
        """Return (false-positive rate, true-positive rate) of each score as a threshold, (n,)."""
        return _from_above(self.outside), _from_above(self.inside)


def _from_above(law: FloatArray) -> FloatArray:
    """Return the probability of each score and all larger ones, (n,)."""
    return np.cumsum(law[::-1])[::-1]


def step_score(released: FloatArray, q: float, sigma: float) -> FloatArray:
    """Return the score of one step's release along the canary's gradient, in clipping norms.

    >>> step_score(np.array([0.5, 1.5]), 1.0, 1.0).tolist()
    [0.0, 1.0]
    """
    ratio = (2 * np.asarray(released, dtype=np.float64) - 1) / (2 * sigma**2)
    return ratio if q == 1 else np.logaddexp(log(1 - q), log(q) + ratio)


def score_laws(mechanism: Mechanism) -> ScoreLaws:
    """Return the laws of the summed score.

    Errors: ValueError if a small sigma makes the lattice too long.

    >>> mechanism = Mechanism.constant(q=1.0, sigma=2.0, steps=4)
    >>> laws = score_laws(mechanism)  # Normal(-1/2, 1) and Normal(1/2, 1)
    >>> [round(float(law @ laws.score), 3) for law in (laws.outside, laws.inside)]
    [-0.5, 0.5]
    """
    moments = [_moments(release) for release in mechanism.releases]
    out_mean, in_mean, variance = np.array(moments).T.copy()  # (releases,) each
    counts = np.array([release.count for release in mechanism.releases])
    deviation = sqrt(float(counts @ variance))
    mesh = min(sqrt(variance.min()) / FINE, deviation / COARSE)
    low = float(counts @ out_mean) - WIDE * deviation
    high = float(counts @ in_mean) + WIDE * deviation
    size = int(next_fast_len(max(ceil((high - low) / mesh), 2), real=True) or 2)
    check.whole(2, MAX_NODES, nodes=size)
    start = round(low / mesh)
    score = read_only(mesh * (start + np.arange(size, dtype=np.float64)))
    outside = _composed(mechanism, mesh, size, start, inside=False)
    inside = _composed(mechanism, mesh, size, start, inside=True)
    return ScoreLaws(score, outside, inside)


def _moments(release: Release) -> tuple[float, float, float]:
    """Return the means of one step's score without and with the canary, and its larger variance."""
    q = release.q
    sigma = release.sigma
    x = np.linspace(-9 * sigma, 1 + 9 * sigma, 20_001)
    score = step_score(x, q, sigma)
    without = np.exp(-((x / sigma) ** 2) / 2)
    present = (1 - q) * without + q * np.exp(-(((x - 1) / sigma) ** 2) / 2)
    out_mean, out_variance = _mean_and_variance(without, score)
    in_mean, in_variance = _mean_and_variance(present, score)
    return out_mean, in_mean, max(out_variance, in_variance)


def _mean_and_variance(law: FloatArray, score: FloatArray) -> tuple[float, float]:
    mean = float(law @ score / law.sum())
    return mean, float(law @ (score - mean) ** 2 / law.sum())


def _composed(
    mechanism: Mechanism, mesh: float, size: int, start: int, *, inside: bool
) -> FloatArray:
    """Return the probabilities of the sum on nodes start ... start + size - 1, computed on a
    circle.
    """
    transform = np.ones(size // 2 + 1, dtype=np.complex128)
    for release in mechanism.releases:
        cells = _cells(release, mesh, size, inside=inside)
        transform *= np.asarray(rfft(cells)) ** release.count
    law = np.asarray(irfft(transform, size))
    law = np.maximum(np.roll(law, -start), 0.0)
    return read_only(law / law.sum())


def _cells(release: Release, mesh: float, size: int, *, inside: bool) -> FloatArray:
    """Return the probabilities of one step's score at its nearest nodes, on a circle of `size`
    nodes.
    """
    q = release.q
    sigma = release.sigma
    ends = step_score(np.array([-9 * sigma, 1 + 9 * sigma]), q, sigma) / mesh
    first = int(np.floor(ends[0])) - 1
    last = int(np.ceil(ends[1])) + 1
    halfway = mesh * (np.arange(first, last + 2, dtype=np.float64) - 0.5)
    edge = _released(halfway, release) / sigma
    mass = np.diff(ndtr(edge))
    if inside:
        mass = (1 - q) * mass + q * np.diff(ndtr(edge - 1 / sigma))
    circle = np.zeros(size)
    np.add.at(circle, np.arange(first, last + 1) % size, mass)
    return circle


def _released(score: FloatArray, release: Release) -> FloatArray:
    """Invert `step_score`: return the release with this score, -inf below the least score."""
    ratio = score
    if release.q < 1:
        with np.errstate(divide="ignore"):
            ratio = np.log(np.maximum(np.expm1(score) + release.q, 0.0)) - log(release.q)
    return release.sigma**2 * ratio + 0.5
