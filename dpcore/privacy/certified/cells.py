"""The geometry of one step: heights of its privacy loss, places on the x line, and masses of the
cells between them.

One step is the pair P = (1-q) N(0, sigma^2) + q N(1, sigma^2) and Q = N(0, sigma^2). The height y
of a loss is its distance from the lower bound ln(1-q); at q = 1 there is no bound, and the height
is the loss itself.

Here w is the ratio N(1, sigma^2)/N(0, sigma^2), so that the likelihood ratio P/Q is t = 1 - q + q
w. A cell is split between its two ends by the same linear system for w as for t, but w avoids the
cancellation of 1 - q at small q.
"""

from math import expm1, inf, log, log1p
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from dpcore.privacy.mechanism import FloatArray

MIN_REACH = 3.0  # standard deviations above N(1) that every lattice covers


class Cells(NamedTuple):
    """Consecutive pieces of the x line, piece i between nodes i and i+1 of a lattice of losses."""

    w: FloatArray  # (m,) ratio at the nodes
    middle: FloatArray  # (m-1,) ratio between the halves of a cell
    left: FloatArray  # (2, m-1) masses of the left halves under N(0) and N(1)
    right: FloatArray  # (2, m-1)

    @property
    def width(self) -> FloatArray:
        """Width of each cell in w, (m-1,)."""
        return np.diff(self.w)

    def split(self) -> tuple[FloatArray, FloatArray]:
        """Masses under N(0) that each cell gives to its two nodes, so that both of its masses stay
        the same.
        """
        mass, tilted = self.left + self.right
        high = np.clip((tilted - mass * self.w[:-1]) / self.width, 0.0, mass)
        return mass - high, high

    def chord_error(self) -> FloatArray:
        """Upper bound of the gap of the hockey-stick curve to its chord in each cell, in w."""
        _, high = self.split()
        mass, tilted = self.right
        # The gap is concave over the cell, so its tangent at the middle bounds it.
        gap = high * (self.w[1:] - self.middle) - (tilted - mass * self.middle)
        slope = mass - high
        return np.maximum(gap, 0.0) + np.maximum(
            slope * (self.w[1:] - self.middle), -slope * (self.middle - self.w[:-1])
        )


def step_deviation(q: float, sigma: float) -> float:
    """Root of the order-2 Renyi divergence of one step, about the standard deviation of its loss.

    >>> round(step_deviation(0.01, 4.0), 6)
    0.00254
    """
    inverse = sigma**-2
    log_excess = inverse + log1p(-np.exp(-inverse)) if inverse > 1 else log(expm1(inverse))
    return float(np.sqrt(np.logaddexp(0.0, 2 * log(q) + log_excess)))


def step_span(q: float, sigma: float, tail: float) -> float:
    """Range of the losses of one step, without `tail` mass at either end."""
    low, high = loss_heights(q, sigma, tail)
    return high - low


def loss_heights(q: float, sigma: float, tail: float) -> tuple[float, float]:
    """Heights with at most `tail` mass of Q below the first and of q N(1, sigma^2) above the
    second.
    """
    low = -ndtri(tail)
    high = max(-ndtri(min(tail / q, 0.5)), MIN_REACH)
    return height_of(q, sigma, -low * sigma), height_of(q, sigma, 1 + high * sigma)


def height_of(q: float, sigma: float, x: float) -> float:
    """Height y = loss - ln(1-q) (the loss itself at q = 1) at a place on the x line."""
    log_w = (x - 0.5) / sigma**2
    return log_w if q == 1 else float(np.logaddexp(0.0, log(q) - log1p(-q) + log_w))


def ratio_at(q: float, y: FloatArray) -> FloatArray:
    """The ratio w at losses of these heights; negative below the bound, where there is no mass."""
    return np.exp(y) if q == 1 else (1 - q) / q * np.expm1(y)


def position_at(q: float, sigma: float, y: FloatArray) -> FloatArray:
    """The place on the x line of a loss of this height; -infinity at or below the bound."""
    if q == 1:
        log_w = y
    else:
        log_w = np.full(y.shape, -inf)
        up = y > 0
        log_w[up] = y[up] + np.log(-np.expm1(-y[up])) - (log(q) - log1p(-q))
    return sigma**2 * log_w + 0.5


def normal_between(z: FloatArray) -> FloatArray:
    """Standard normal mass between neighbours of z, (k,) -> (k-1,), to full relative precision in
    both tails.
    """
    far = ndtr(-np.abs(z))
    left = z[:-1]
    right = z[1:]
    mass = np.where(left >= 0, far[:-1] - far[1:], far[1:] - far[:-1])
    return np.where((left < 0) & (right > 0), 1.0 - far[1:] - far[:-1], mass)


def suffix_sum(x: FloatArray) -> FloatArray:
    """The sum of each element and all after it, (K,) -> (K,).

    >>> suffix_sum(np.array([1.0, 2.0, 4.0])).tolist()
    [7.0, 6.0, 4.0]
    """
    return np.cumsum(x[::-1])[::-1]


def cells_between(q: float, sigma: float, y: FloatArray) -> Cells:
    """Cells between the heights y[0], y[2], .., halved at y[1], y[3], ..."""
    x = position_at(q, sigma, y)
    w = ratio_at(q, y)
    mass = np.stack([normal_between(x / sigma), normal_between((x - 1) / sigma)])  # (2, 2m-2)
    return Cells(w[::2], w[1::2], mass[:, ::2], mass[:, 1::2])


def mass_below(q: float, sigma: float, cut: float) -> tuple[float, float]:
    """Mass under N(0) of losses below a height, and the height of all that mass as one atom."""
    x = sigma**2 * (cut + log(-expm1(-cut)) - log(q) + log1p(-q)) + 0.5
    core = float(ndtr(x / sigma))
    tilted = float(ndtr((x - 1) / sigma))
    return core, log1p(q / (1 - q) * tilted / core) if core > 0 else 0.5 * cut


class Beyond(NamedTuple):
    """Mass right of the last node: under N(0), and the excess under N(1) over the node's ratio."""

    mass: float
    excess: float


def cut_above(q: float, sigma: float, height: float) -> Beyond:
    """The mass above `height`, the height of the last node."""
    end = float(position_at(q, sigma, np.array([height]))[0])
    ratio = float(ratio_at(q, np.array([height]))[0])
    mass = float(ndtr(-end / sigma))
    return Beyond(mass, max(float(ndtr((1 - end) / sigma)) - mass * ratio, 0.0))
