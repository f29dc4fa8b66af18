"""One step of many records against the pair on the line that the proof reduces it to."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

LINE = np.linspace(-25.0, 25.0, 100_001)
RATIOS = np.exp(np.linspace(-3.0, 3.0, 25))
Q, SIGMA = 0.3, 0.8


def released(sums: list[float], sigma: float = SIGMA) -> np.ndarray:
    """The density of a noisy sum over a Poisson sample of records on the line, at each place."""
    density = np.zeros(LINE.size)
    for taken in product((False, True), repeat=len(sums)):
        chance = np.prod([Q if each else 1 - Q for each in taken])
        mean = sum(each for each, there in zip(sums, taken, strict=True) if there)
        density += chance * norm.pdf(LINE, mean, sigma)
    return density


def divergence(p: np.ndarray, q: np.ndarray, ratio: float) -> float:
    return float(np.maximum(p - ratio * q, 0.0).sum() * (LINE[1] - LINE[0]))


@pytest.mark.parametrize("others", [[], [0.0], [0.7], [1.0, -1.0], [0.3, 0.9, -0.4]])
@pytest.mark.parametrize("own", [1.0, -1.0, 0.5, 0.0])
def test_no_other_records_make_a_step_tell_more_than_the_pair(others: list[float], own: float) -> None:
    with_it, without = released([*others, own]), released(others)
    pair, noise = released([1.0]), released([])
    for ratio in RATIOS:
        assert divergence(with_it, without, ratio) <= divergence(pair, noise, ratio) + 1e-9
        assert divergence(without, with_it, ratio) <= divergence(noise, pair, ratio) + 1e-9


@pytest.mark.parametrize("ratio", [0.8, 1.0, 1.5])
def test_records_that_are_0_leave_the_pair_itself(ratio: float) -> None:
    with_it, without = released([0.0, 0.0, 1.0]), released([0.0, 0.0])
    exact = divergence(released([1.0]), released([]), ratio)
    assert divergence(with_it, without, ratio) == pytest.approx(exact, rel=1e-9, abs=0)
    assert exact > 0
