"""Log-moments of the sampled Gaussian: binomial sum, quadrature, mpmath and two other libraries
agree.
"""

from itertools import product

import numpy as np
import pytest

from dpcore.privacy import renyi
from tests.reference import integrated_log_moment, log_moment

HOSTILE = [
    (0.5, 0.3, 1.1),
    (0.5, 0.3, 2.0),
    (0.5, 0.3, 4.7),
    (0.999, 0.3, 1.5),
    (1e-7, 0.3, 1.3),
    (1e-4, 0.1, 1.05),
    (0.01, 0.02, 1.001),
    (0.01, 1.0, 1.1),
    (0.01, 1.0, 12.3),
    (1e-3, 1.0, 14.9),
    (0.1, 2.84, 8.6),
    (0.1, 2.86, 8.6),
    (0.01, 4.0, 20.0),
    (0.01, 4.0, 147.0),
    (1e-4, 50.0, 10.9),
    (0.5, 50.0, 500.0),
    (0.9, 1e4, 1e5),
]


def margin(order: float | np.ndarray, sigma: float) -> float | np.ndarray:
    """Twice the margin that quadrature adds for rounding."""
    return 2e-15 * (10 + (order / sigma) ** 2)


@pytest.mark.long
def test_quadrature_agrees_with_mpmath_at_hostile_corners_from_above() -> None:
    for q, sigma, order in HOSTILE:
        ours = float(renyi.log_moments_at(q, sigma, np.array([order]))[0])
        exact = log_moment(q, sigma, order)
        assert exact * (1 - 1e-12) <= ours <= exact * (1 + 1e-10) + margin(order, sigma), (
            q,
            sigma,
            order,
        )


def test_the_binomial_sum_agrees_with_quadrature_at_every_whole_order() -> None:
    for q, sigma in [(0.5, 0.3), (1e-3, 1.0), (0.01, 4.0), (0.2, 50.0), (1e-7, 30.0)]:
        orders = np.arange(2, renyi.INTEGER_UP_TO + 1.0)
        integral, summed = (
            renyi.log_moments_at(q, sigma, orders),
            renyi.binomial_log_moments(q, sigma),
        )
        known = np.isfinite(integral)
        assert known.sum() >= 2, (q, sigma)
        excess = (integral - summed)[known]
        assert np.all(excess >= -1e-12 * summed[known]), (q, sigma)
        assert np.all(excess <= 1e-11 * summed[known] + margin(orders[known], sigma)), (q, sigma)


def test_the_paper_s_numerical_integration_agrees_with_the_binomial_sum() -> None:
    for order, (q, sigma) in product(
        [1, 5, 19, 32], [(0.01, 4.0), (0.1, 1.0), (0.004, 0.7), (0.5, 2.0)]
    ):
        # Alpha(lambda) = ln A(lambda + 1).
        summed = float(renyi.binomial_log_moments(q, sigma)[order - 1])
        assert integrated_log_moment(q, sigma, order) == pytest.approx(
            summed, rel=1e-9, abs=1e-13
        ), (order, q, sigma)
    for q, sigma, order in ((0.01, 4.0, 19), (0.3, 1.0, 5), (0.9, 2.0, 3)):
        assert log_moment(q, sigma, order + 1) >= log_moment(q, sigma, -order) >= 0


def test_whole_sampling_is_the_plain_gaussian_and_nearly_whole_is_nearly_that() -> None:
    for sigma in (0.01, 1.0, 1e4):
        np.testing.assert_array_equal(
            renyi.log_moments(1.0, sigma), renyi.ORDERS * (renyi.ORDERS - 1) / (2 * sigma**2)
        )
    sampled, plain = renyi.log_moments(1 - 1e-12, 2.0), renyi.log_moments(1.0, 2.0)
    known = np.isfinite(sampled)
    np.testing.assert_allclose(sampled[known], plain[known], rtol=1e-6)


def test_log_moments_are_never_negative_convex_in_lambda_and_on_the_safe_side_for_tiny_sigma() -> (
    None
):
    for sigma, q in product(
        [1e-6, 0.004, 0.006, 0.3, 1.0, 50.0, 1e4, 1e9], [1e-7, 0.01, 0.5, 0.99]
    ):
        values = renyi.log_moments(q, sigma)
        known = np.isfinite(values)
        moments, orders = values[known], renyi.ORDERS[known] - 1
        assert known.any(), (sigma, q)
        assert not np.isnan(values).any(), (sigma, q)
        assert np.all(moments >= 0), (sigma, q)
        slopes = np.diff(moments) / np.diff(orders)
        assert np.all(np.diff(slopes) >= -1e-7 * np.abs(slopes[1:]) - 1e-10), (sigma, q)
    orders = np.array([1.01, 1.05])
    bound = renyi.log_moments_at(0.01, renyi.FINEST * (1 - 1e-9), orders)
    exact = renyi.log_moments_at(0.01, renyi.FINEST, orders)
    assert np.all(bound >= exact)


def test_leaving_orders_out_does_not_move_the_optimum() -> None:
    # The same conversion over orders that are all integrated, however unlikely they are to matter.
    for q, sigma, steps in ((1e-3, 0.5, 1), (0.01, 1.0, 1), (0.1, 5.0, 10), (1e-5, 3.0, 1)):
        listed = renyi.log_moments(q, sigma)
        every = renyi.binomial_log_moments(q, sigma)
        orders = np.arange(2, renyi.INTEGER_UP_TO + 1.0)
        for delta in (1e-15, 1e-5, 0.1):
            ours = renyi.epsilon_classic(steps * listed[None], renyi.ORDERS, np.array([delta]))
            theirs = renyi.epsilon_classic(steps * every[None], orders, np.array([delta]))
            assert ours[0] <= theirs[0] * (1 + 1e-12)


def test_dp_accounting_agrees_at_whole_orders_and_is_never_below_at_fractional_ones() -> None:
    for q, sigma in [(0.01, 4.0), (0.1, 1.0), (256 / 60000, 0.6), (1.0, 3.0), (0.3, 20.0)]:
        from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
        from dp_accounting.rdp import RdpAccountant

        # Its series for fractional orders is cut off early and on the safe side: 0.0188 for 0.00012
        # at (0.3, 20, 1.1).
        orders = [1.1, 1.5, 2, 3, 5.5, 10, 32, 64]
        oracle = RdpAccountant(orders).compose(PoissonSampledDpEvent(q, GaussianDpEvent(sigma)))
        ours = renyi.log_moments_at(q, sigma, np.array(orders, dtype=float)) / (
            np.array(orders) - 1
        )
        whole = np.isfinite(ours) & (np.array(orders) % 1 == 0)
        np.testing.assert_allclose(
            ours[whole], oracle.rdp[whole], rtol=1e-8, err_msg=str((q, sigma))
        )
        known = np.isfinite(ours)
        assert np.all(ours[known] <= oracle.rdp[known] * (1 + 1e-8)), (q, sigma)
    for q, sigma, steps in [(0.01, 4.0, 10_000), (0.1, 1.0, 100), (256 / 60000, 0.7, 10_546)]:
        from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
        from dp_accounting.rdp import RdpAccountant

        oracle = (
            RdpAccountant()
            .compose(PoissonSampledDpEvent(q, GaussianDpEvent(sigma)), steps)
            .get_epsilon(1e-5)
        )
        total = steps * renyi.log_moments(q, sigma)[None]
        ours = float(renyi.epsilon_improved(total, renyi.ORDERS, np.array([1e-5]))[0])
        assert 0.995 * oracle <= ours <= oracle * (1 + 1e-9), (q, sigma, steps)
