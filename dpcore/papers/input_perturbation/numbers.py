"""What of paper 003's comparisons can be recomputed, and the noise at each of the four places."""

import math
from dataclasses import replace

import numpy as np

from dpcore.papers.entry import Computed
from dpcore.papers.input_perturbation.noise_formulas import (
    Learning,
    bassily_noise,
    gradient_noise,
    own_noise,
    rooted,
)
from dpcore.papers.paper import Drawing, Line
from dpcore.privacy import gaussian

BREAST_CANCER = Learning(n=699, p=9, d=9, epsilon=0.1, delta=1e-5, steps=100, convexity=0.01)  # T and Delta are ours
EPSILONS = (0.01, 0.05, 0.1, 0.25)  # the ends of section 6's range and two between
MANY = replace(BREAST_CANCER, n=10**9)  # so many rows that n - 1 is n


def power_of_n(above: float, below: float, few: Learning, many: Learning) -> float:
    """The power of n by which a quantity grows from few rows to many.

    >>> round(power_of_n(9.0, 1.0, replace(BREAST_CANCER, n=300), replace(BREAST_CANCER, n=100)), 9)
    2.0
    """
    return math.log(above / below) / math.log(few.n / many.n)


def _power_to_bassily(per_row: bool) -> float:
    """Of Bassily's noise variance over theirs, without the logarithm of n/delta."""
    ratios = []
    for given in (MANY, replace(MANY, n=10 * MANY.n)):
        noise = bassily_noise(given) / math.sqrt(math.log(given.n / given.delta))
        ratios.append((noise / (1 if per_row else given.n) / own_noise(given)) ** 2)
    return power_of_n(ratios[1], ratios[0], replace(MANY, n=10 * MANY.n), MANY)


def _power_to_fukuchi() -> float:
    ratios = []
    for given in (MANY, replace(MANY, n=10 * MANY.n)):
        theirs = rooted((math.log(16 / given.delta) + given.epsilon) / given.n, given)
        ratios.append((theirs / own_noise(given)) ** 2)
    return power_of_n(ratios[1], ratios[0], replace(MANY, n=10 * MANY.n), MANY)


def _power_of_convexity() -> float:
    """Of their noise variance over that of gradient descent."""
    ratios = [(own_noise(given) / gradient_noise(given)) ** 2 for given in (MANY, replace(MANY, convexity=1.0))]
    return math.log(ratios[1] / ratios[0]) / math.log(1.0 / MANY.convexity)


def local_epsilon(noise: float, delta: float) -> float:
    """What Gaussian noise of this standard deviation promises for one row of norm at most 1, exactly.

    >>> round(local_epsilon(2 * 30.75, 1e-5), 3)
    0.1
    """
    return float(gaussian.epsilon_of(delta, 2 / noise))


ENTRIES = (
    Computed(
        place="Section 2",
        quantity="power of n by which Bassily's noise variance exceeds theirs, as Table 1 prints both",
        printed="4",
        within=0.01,
        note="The text has “n^4 sqrt(Delta) log(n/delta) / T”. The one noise lies on n times a gradient and the "
        "other on features, so the comparison has no meaning.",
        ours=lambda: _power_to_bassily(per_row=True),
    ),
    Computed(
        place="Section 2",
        quantity="the same, with Bassily's noise taken on the scale of a mean gradient, as it is used",
        printed="4",
        within=0.01,
        because="Bassily's algorithm adds its noise to n times a row's gradient. On the scale of a mean gradient its "
        "variance is n^2 times smaller.",
        ours=lambda: _power_to_bassily(per_row=False),
    ),
    Computed(
        place="Section 2",
        quantity="power of n by which Fukuchi's noise variance exceeds theirs",
        printed="1",
        within=0.01,
        note="The text has “a factor of n”.",
        ours=_power_to_fukuchi,
    ),
    Computed(
        place="Section 2",
        quantity="power of Delta in their noise variance over that of gradient descent (Wang et al. 2017)",
        printed="0.5",
        because="The text has “better” by sqrt(Delta). By Table 1 theirs has sqrt(Delta) in the denominator: at a "
        "strong convexity below 1, as a regulariser has it, their noise is larger, not smaller.",
        ours=_power_of_convexity,
    ),
)


def _places() -> tuple[Line, ...]:
    epsilons = np.geomspace(EPSILONS[0], EPSILONS[-1], 41)
    given = BREAST_CANCER
    exact = 1 / gaussian.mu_of(epsilons, given.delta)  # at sensitivity 1
    claimed = np.array([own_noise(replace(given, epsilon=each)) for each in epsilons.tolist()])
    return (
        Line("input, exact, for each row", epsilons, 2 * exact),
        Line("input, the paper's formula with c = 1: no guarantee", epsilons, claimed),
        Line("gradient, exact, in each of T steps", epsilons, 2 / given.n * math.sqrt(given.steps) * exact),
        Line("output, exact, on each parameter", epsilons, 2 / (given.n * given.convexity) * exact),
    )


DRAWINGS = (
    Drawing(
        place="Table 1",
        title="Noise at each place, n = 699, T = 100, Delta = 0.01, delta = 1e-5",
        x="epsilon",
        y="standard deviation",
        lines=_places,
        log_x=True,
        log_y=True,
        note="The units differ: a feature of a row of norm at most 1, a coordinate of the mean gradient, a parameter. "
        "T and Delta are ours, since the paper names none.",
    ),
)
