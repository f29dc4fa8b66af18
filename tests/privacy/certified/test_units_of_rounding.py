"""What the units of the floating-point budget are for: measured errors, and sums of all that is charged together."""

from math import pi

import mpmath
import numpy as np
import pytest
from scipy.fft import irfft, rfft
from scipy.special import ndtr

from dpcore.privacy.certified import gaussian_bounds, log_moments, rounding
from dpcore.privacy.certified.composed_loss import ComposedLoss


def test_every_margin_has_room_for_the_reserve() -> None:
    """What each margin is for, with the reserve beside it: of delta, of an error rate, and of two thresholds."""
    u, reserved = 2.0**-53, rounding.RESERVED
    assert 8 * u * 1e9 + reserved < rounding.ALLOWANCE
    assert 5e-11 + reserved < gaussian_bounds.ALLOWED / 2
    assert 1.0 * reserved < rounding.product_error(1, 0) - log_moments.CUT * 3 * u
    assert 200 * 38 * u + 2 * np.sqrt(pi / 2) * reserved < gaussian_bounds.MARGIN


@pytest.mark.parametrize("period", [1024, 1000, 3 * 2**12, 7 * 11 * 125, 2**18])
def test_a_fast_transform_errs_by_less_than_a_level_is_charged(period: int) -> None:
    """Against the same transform in the 64 bits of a long double; masses that differ by many orders of magnitude."""
    generator = np.random.default_rng(period)
    mass = np.exp(-generator.exponential(8.0, period))
    exact = np.asarray(rfft(mass.astype(np.longdouble)))
    assert exact.dtype == np.clongdouble
    worst = float(np.max(np.abs(np.asarray(rfft(mass)) - exact))) / mass.sum()
    assert 0 < worst <= rounding.LEVEL * np.log2(period) * rounding.UNIT
    back, precise = (np.asarray(irfft(each, period)) for each in (exact.astype(np.complex128), exact))
    assert np.linalg.norm(back - precise) <= rounding.inverse_error(period) * np.linalg.norm(mass)


def test_the_normal_law_errs_by_no_more_in_its_tails_than_the_budget_assumes() -> None:
    for z in np.random.default_rng(1).uniform(0, 37, 2000):
        with mpmath.workdps(60):
            error = float(abs(mpmath.mpf(float(ndtr(-z))) / mpmath.ncdf(-mpmath.mpf(float(z))) - 1))
        assert error <= (16 + 2 * z**2) * rounding.UNIT


@pytest.mark.parametrize("mesh", [1e-7, 1e-4, 0.01, 0.3, 2.0])
def test_the_sums_of_a_tail_err_by_less_than_their_terms_are_charged(mesh: float) -> None:
    generator = np.random.default_rng(3)
    mass = np.exp(-generator.exponential(3.0, 3000))
    tail = ComposedLoss(0.5 * mesh, mesh, mass, 0.0, 0.0, 0.0)._tail()
    with mpmath.workdps(40):
        falling, exact, other = mpmath.exp(-mpmath.mpf(mesh)), mpmath.mpf(0), mpmath.mpf(0)
        for here in reversed(range(mass.size)):
            exact, other = exact + mass[here], mass[here] + falling * other
            terms = (mass.size - here) * rounding.UNIT
            errors = abs(tail.mass[here] - exact) / exact, abs(tail.other[here] - other) / other
            assert errors[0] <= terms
            assert errors[1] <= 4 * terms
    assert rounding.TERM == 1 + 4
    assert rounding.tail_error(3000) == pytest.approx(5 * 3000 * rounding.UNIT)


def test_an_angle_and_a_size_are_charged_for_all_that_they_are_made_of() -> None:
    for kinds in (1, 2, 128):
        assert rounding.ANGLE * (kinds + rounding.ANGLES) >= 2 * pi * (kinds + 2) + 11
        assert rounding.SIZE * (kinds + rounding.SIZES) >= log_moments.CUT * (kinds + 1) + 40
