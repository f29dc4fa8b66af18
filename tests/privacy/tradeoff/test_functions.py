"""Trade-off functions: shape, limits, duality, and agreement with the closed forms of delta."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from dpcore.privacy import gaussian
from dpcore.privacy.report.attack_risk import EPSILONS
from dpcore.privacy.tradeoff import Gaussian, Pairs, Points, Tradeoff

ALPHA = np.linspace(0, 1, 1001)
DENSE = np.linspace(0, 12, 3001)


def pairs_of(f: Tradeoff) -> Pairs:
    return Pairs(DENSE, f.delta(DENSE))


def points_of(f: Tradeoff) -> Points:
    alpha = norm.cdf(np.linspace(-8, 8, 801))
    return Points(alpha, f.power(alpha))


FUNCTIONS: dict[str, Tradeoff] = {
    "gaussian": Gaussian(0.8),
    "one pair": Pairs([1.0], [0.01]),
    "many pairs": pairs_of(Gaussian(1.3)),
    "points": points_of(Gaussian(1.3)),
    "one point": Points([0.05], [0.6]),
    "nothing known": Pairs([], []),
    "no test": Points([], []),
}


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
def test_it_is_convex_falling_and_below_blind_guessing(f: Tradeoff) -> None:
    curve = f.beta(ALPHA)
    assert np.all(np.diff(curve) <= 1e-15)
    assert np.all(np.diff(curve, 2) >= -1e-12)
    assert np.all((curve >= 0) & (curve <= 1 - ALPHA + 1e-15))


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
def test_it_is_its_own_inverse(f: Tradeoff) -> None:
    beta = f.beta(ALPHA[1:-1])
    live = beta > 1e-9  # where f is 0 it has no inverse
    np.testing.assert_allclose(f.beta(beta[live]), ALPHA[1:-1][live], atol=1e-7)


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
def test_power_is_one_less_type_two_error_but_precise_where_small(f: Tradeoff) -> None:
    np.testing.assert_allclose(f.power(ALPHA), 1 - f.beta(ALPHA), atol=1e-12)
    tiny = f.power([1e-12, 1e-11])
    assert np.all(tiny >= [1e-12, 1e-11])


@pytest.mark.long
@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
def test_delta_is_the_conjugate_of_the_curve(f: Tradeoff) -> None:
    alpha = np.concatenate([np.geomspace(1e-9, 1e-3, 2000), np.linspace(1e-3, 1, 4001), f.corners(1e-9)[0]])
    for epsilon in (0.0, 0.3, 1.0, 2.5):
        conjugate = np.max(f.power(alpha) - np.exp(epsilon) * alpha)
        assert float(f.delta(epsilon)) == pytest.approx(max(conjugate, 0.0), abs=3e-6)


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
def test_the_curve_is_the_largest_region_of_its_own_pairs(f: Tradeoff) -> None:
    again = Pairs(EPSILONS, f.delta(EPSILONS)).beta(ALPHA)
    assert np.all(again <= f.beta(ALPHA) + 1e-9)
    np.testing.assert_allclose(again, f.beta(ALPHA), atol=4e-3)


@pytest.mark.parametrize("mu", [0.01, 0.5, 1.0, 4.0])
def test_pairs_stay_below_the_gaussian_curve_and_points_above(mu: float) -> None:
    exact = Gaussian(mu).beta(ALPHA)
    below, above = Pairs(DENSE * 4, gaussian.delta_of(DENSE * 4, mu)).beta(ALPHA), points_of(Gaussian(mu)).beta(ALPHA)
    assert np.all(below <= exact + 1e-12)
    assert np.all(above >= exact - 1e-12)
    assert np.max(above - below) < 1e-3


def test_a_pair_agrees_with_its_closed_form() -> None:
    closed = np.maximum.reduce([np.zeros(1001), 0.95 - np.e * ALPHA, (0.95 - ALPHA) / np.e])
    np.testing.assert_allclose(Pairs([1.0], [0.05]).beta(ALPHA), closed, atol=1e-15)
    assert float(Pairs([1.0], [0.05]).delta(0.0)) == pytest.approx((np.e - 1 + 2 * 0.05) / (np.e + 1))


def test_the_order_of_pairs_and_a_worse_pair_change_nothing() -> None:
    plain = Pairs([0.5, 2.0], [0.1, 1e-3])
    for other in (Pairs([2.0, 0.5], [1e-3, 0.1]), Pairs([0.5, 2.0, 3.0, math.inf], [0.1, 1e-3, 0.01, 0.0])):
        np.testing.assert_array_equal(plain.beta(ALPHA), other.beta(ALPHA))


@given(st.lists(st.tuples(st.floats(0, 12), st.floats(0, 1)), min_size=1, max_size=6))
def test_the_advantage_of_pairs_is_what_their_boundary_leaves(pairs: list[tuple[float, float]]) -> None:
    f = Pairs(*zip(*pairs, strict=True))
    alpha = np.concatenate([np.linspace(0, 1, 2001), f.corners(1e-12)[0]])
    assert float(f.delta(0.0)) == pytest.approx(float(np.max(1 - alpha - f.beta(alpha))), abs=1e-12)


def test_the_limits_are_blind_guessing_and_certainty() -> None:
    np.testing.assert_allclose(Gaussian(0.0).beta(ALPHA), 1 - ALPHA, atol=1e-12)
    np.testing.assert_allclose(Pairs([0.0], [0.0]).beta(ALPHA), 1 - ALPHA, atol=1e-15)
    np.testing.assert_allclose(Points([], []).beta(ALPHA), 1 - ALPHA, atol=1e-15)
    for certain in (Gaussian(math.inf), Pairs([math.inf], [0.0]), Pairs([1e6], [1e-5]), Pairs([], [])):
        assert np.all(certain.beta(ALPHA[1:]) == 0)
        assert np.all(certain.power(ALPHA[1:]) == 1)
    assert Gaussian(1e4).beta(1e-300) == 0


@given(st.floats(0.05, 6), st.floats(0, 8))
def test_delta_between_two_pairs_is_never_below_that_of_the_curve_they_touch(mu: float, epsilon: float) -> None:
    coarse = np.linspace(0, 9, 7)
    assert float(Pairs(coarse, gaussian.delta_of(coarse, mu)).delta(epsilon)) >= gaussian.delta_of(epsilon, mu) - 1e-15


def test_a_test_that_hardly_errs_is_never_turned_into_one_that_never_does() -> None:
    # Its mirror image has type II error 1e-20, which 1 - 1e-20 = 1.0 would round to none at all.
    almost = Points([1e-20], [1 - 1e-10])
    assert almost.power(0.5) < 1
    assert np.all(almost.beta([1e-10, 1e-3, 0.5]) > 0)


def test_the_delta_of_tests_stays_below_the_true_one_where_e_to_the_epsilon_is_no_float() -> None:
    # A test of type I error 1e-306 is worth nothing at epsilon = 705, where e^705 * 1e-306 > 1.
    rare = Points([1e-306], [0.9])
    assert float(rare.delta(699.0)) == pytest.approx(0.9 - math.exp(699 - 306 * math.log(10)), rel=1e-9)
    assert rare.delta([705.0, 800.0, math.inf]).tolist() == [0.0, 0.0, 0.0]


def test_corners_of_pairs_too_close_to_tell_their_slopes_apart_are_finite() -> None:
    alpha, power = Pairs([0.0, 1e-17], [1e-17, 1e-19]).corners(1e-5)
    assert np.all(np.isfinite(alpha) & np.isfinite(power))
    np.testing.assert_allclose(power, alpha, rtol=1e-9)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Gaussian(-1.0), "mu=-1"),
        (lambda: Gaussian(math.nan), "mu=nan"),
        (lambda: Pairs([-0.1], [0.1]), "epsilon=-0.1"),
        (lambda: Pairs([1.0, math.nan], [0.1, 0.1]), "epsilon=nan"),
        (lambda: Pairs([1.0], [1.1]), "delta=1.1"),
        (lambda: Points([0.1], [1.2]), "power=1.2"),
    ],
)
def test_bad_values_are_named(make, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        make()
