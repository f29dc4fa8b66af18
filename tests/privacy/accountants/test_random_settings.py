"""Thousands of random settings in the hostile corners: no NaN, no exception, no warning, no contradiction."""

import numpy as np
import pytest

from dpcore.privacy.accountants import ACCOUNTANTS, Accountant, Kind
from dpcore.privacy.mechanism import Mechanism, Release

CHEAP = [each for each in ACCOUNTANTS.values() if each.kind is not Kind.CERTIFIED]
MOST = 8.5  # powers of ten: steps of a release
MOST_MIXED = 5.0  # of different releases, for the band: more take up to a minute, and have cases of their own below
LONG_MIXED = [  # (q, sigma, count) of releases, and delta
    ([(0.00035, 2.82, 220_000_000), (4.5e-6, 6.21, 33_000_000)], 1.6e-11),
    ([(0.0028, 375.0, 45), (6.8e-6, 2620.0, 69_000_000)], 4.1e-13),
    ([(1.0, 17.5, 260_000_000), (0.12, 156.0, 69_000), (1.0, 7.39, 18_000_000)], 1.6e-8),
    ([(9.5e-7, 0.303, 1100), (0.00086, 8.91, 46_000_000), (0.00016, 8280.0, 1_200_000)], 6.9e-13),
]


def random_setting(generator: np.random.Generator, most_mixed: float = MOST) -> tuple[Mechanism, float]:
    """One to three releases with q in [1e-7, 1], sigma in [0.01, 1e4], up to 1e9 steps; delta in [1e-15, 0.5]."""
    levels = int(generator.choice([1, 1, 1, 2, 3]))
    releases = tuple(
        Release(
            q=float(generator.choice([10 ** generator.uniform(-7, 0), 1.0], p=[0.9, 0.1])),
            sigma=float(10 ** generator.uniform(-2, 4)),
            count=int(10 ** generator.uniform(0, MOST if levels == 1 else most_mixed)),
        )
        for _ in range(levels)
    )
    return Mechanism(releases), float(10 ** generator.uniform(-15, np.log10(0.5)))


def check_curve(accountant: Accountant, mechanism: Mechanism, steps: np.ndarray, delta: float) -> None:
    curve, where = accountant.curve(mechanism, steps, delta), (accountant.name, mechanism, delta)
    assert not np.isnan(curve.epsilon).any(), where
    assert np.all(curve.epsilon >= 0), where
    assert np.all(curve.epsilon[1:] >= curve.epsilon[:-1] * (1 - 1e-6) - 1e-9), where


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 8))])
def test_2000_random_settings_give_no_nan_and_no_exception(seed: int) -> None:
    generator = np.random.default_rng(seed)
    for _ in range(250):
        mechanism, delta = random_setting(generator)
        steps = np.unique([1, 1 + mechanism.steps // 3, mechanism.steps])
        for accountant in CHEAP:
            check_curve(accountant, mechanism, steps, delta)


def check_band(mechanism: Mechanism, delta: float) -> None:
    steps = np.unique([1, mechanism.steps])
    band = ACCOUNTANTS["pld"].curve(mechanism, steps, delta)
    assert not np.isnan(band.epsilon).any()
    assert np.all((band.lower >= 0) & (band.lower <= band.epsilon))
    for accountant in CHEAP:
        curve = accountant.curve(mechanism, steps, delta)
        if curve.kind is Kind.UPPER:
            where = (accountant.name, mechanism, delta, band.lower, curve.epsilon)
            assert np.all(band.lower <= curve.epsilon * (1 + 1e-9) + 1e-12), where


def check_bands(generator: np.random.Generator, settings: int) -> None:
    for _ in range(settings):
        check_band(*random_setting(generator, MOST_MIXED))


def test_no_proven_lower_bound_exceeds_a_valid_upper_bound_at_random() -> None:
    check_bands(np.random.default_rng(100), 10)


@pytest.mark.long
def test_no_proven_lower_bound_exceeds_a_valid_upper_bound_at_300_random_settings() -> None:
    for seed in range(15):
        check_bands(np.random.default_rng(1000 + seed), 20)


@pytest.mark.long
def test_no_proven_lower_bound_exceeds_a_valid_upper_bound_after_millions_of_different_releases() -> None:
    for releases, delta in LONG_MIXED:
        check_band(Mechanism(tuple(Release(*each) for each in releases)), delta)
