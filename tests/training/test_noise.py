"""The noise has the std that is charged: tests that also fail where it does not."""

import numpy as np
import pytest
import torch
from scipy import stats

from dpcore.training.cores import Cores
from dpcore.training.noise import GaussianNoise

CPU, CORES = torch.device("cpu"), Cores(2)


def p_value(sample: np.ndarray, std: float) -> float:
    """Kolmogorov-Smirnov against Normal(0, std^2)."""
    return float(stats.kstest(sample, "norm", args=(0, std)).pvalue)


def test_draws_are_gaussian_with_the_std_asked_for_and_with_no_other():
    sample = GaussianNoise(100_001, seed=3, device=CPU, cores=CORES).draw(2.5).numpy()
    assert p_value(sample, 2.5) > 0.001
    for wrong in (2 / 3, 0.95, 1.05, 3 / 2):
        assert p_value(sample, 2.5 * wrong) < 1e-3


def test_tails_are_there():
    sample = np.concatenate(
        [GaussianNoise(2_000_000, seed=s, device=CPU, cores=CORES).draw(1.0).numpy() for s in range(3)]
    )
    for threshold in (3, 4, 4.5):
        expected = len(sample) * 2 * stats.norm.sf(threshold)
        assert abs((np.abs(sample) > threshold).sum() - expected) < 5 * np.sqrt(expected)


@pytest.mark.parametrize("size", [1, 2, 7, 15, 16, 17, 26_010, 65_537, 795_010])
def test_every_coordinate_of_any_size_is_drawn_afresh(size):
    noise = GaussianNoise(size, seed=0, device=CPU, cores=CORES)
    draws = torch.stack([noise.draw(1.0).clone() for _ in range(8)])
    assert (draws.std(0) > 0).all()
    assert torch.isfinite(draws).all()


def test_neighbouring_coordinates_and_successive_draws_are_uncorrelated():
    noise = GaussianNoise(200_000, seed=1, device=CPU, cores=CORES)
    first, second = noise.draw(1.0).numpy().copy(), noise.draw(1.0).numpy().copy()
    for left, right in ((first[:-1], first[1:]), (first, second), (first[:100_000], first[100_000:])):
        assert abs(np.corrcoef(left, right)[0, 1]) < 5 / np.sqrt(len(left))
    assert not set(first) & set(second) - set(first[:0]) or len(set(first) & set(second)) < 0.05 * len(first)


def test_the_seed_alone_decides():
    draws = [GaussianNoise(1000, seed, CPU, CORES).draw(1.0).clone() for seed in (7, 7, 8)]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])
    torch.manual_seed(0)  # nothing outside has a say
    assert torch.equal(GaussianNoise(1000, 7, CPU, CORES).draw(1.0), draws[0])
