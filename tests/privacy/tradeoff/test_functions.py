"""Trade-off functions: shape, limits, duality, closed forms; and the curve that lower bounds of
epsilon leave.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from dpcore.privacy import gaussian
from dpcore.privacy.report.attack_risk import EPSILONS
from dpcore.privacy.tradeoff import Gaussian, Pairs, Points, Tradeoff, never_below

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


def test_it_is_convex_falling_its_own_inverse_and_below_blind_guessing() -> None:
    for f in FUNCTIONS.values():
        curve = f.beta(ALPHA)
        assert np.all(np.diff(curve) <= 1e-15), f
        assert np.all(np.diff(curve, 2) >= -1e-12), f
        assert np.all((curve >= 0) & (curve <= 1 - ALPHA + 1e-15)), f
    for f in FUNCTIONS.values():
        beta = f.beta(ALPHA[1:-1])
        live = beta > 1e-9  # where f is 0 it has no inverse
        np.testing.assert_allclose(f.beta(beta[live]), ALPHA[1:-1][live], atol=1e-7, err_msg=str(f))
    for f in FUNCTIONS.values():
        np.testing.assert_allclose(f.power(ALPHA), 1 - f.beta(ALPHA), atol=1e-12, err_msg=str(f))
        tiny = f.power([1e-12, 1e-11])
        assert np.all(tiny >= [1e-12, 1e-11]), f


@pytest.mark.long
def test_delta_is_the_conjugate_of_the_curve() -> None:
    for f in FUNCTIONS.values():
        alpha = np.concatenate(
            [np.geomspace(1e-9, 1e-3, 2000), np.linspace(1e-3, 1, 4001), f.corners(1e-9)[0]]
        )
        for epsilon in (0.0, 0.3, 1.0, 2.5):
            conjugate = np.max(f.power(alpha) - np.exp(epsilon) * alpha)
            assert float(f.delta(epsilon)) == pytest.approx(max(conjugate, 0.0), abs=3e-6), f


def test_the_curve_is_the_largest_region_of_its_own_pairs() -> None:
    for f in FUNCTIONS.values():
        again = Pairs(EPSILONS, f.delta(EPSILONS)).beta(ALPHA)
        assert np.all(again <= f.beta(ALPHA) + 1e-9), f
        np.testing.assert_allclose(again, f.beta(ALPHA), atol=4e-3, err_msg=str(f))


def test_pairs_stay_below_the_gaussian_curve_and_points_above() -> None:
    for mu in [0.01, 0.5, 1.0, 4.0]:
        exact = Gaussian(mu).beta(ALPHA)
        below, above = (
            Pairs(DENSE * 4, gaussian.delta_of(DENSE * 4, mu)).beta(ALPHA),
            points_of(Gaussian(mu)).beta(ALPHA),
        )
        assert np.all(below <= exact + 1e-12), mu
        assert np.all(above >= exact - 1e-12), mu
        assert np.max(above - below) < 1e-3, mu


def test_a_pair_agrees_with_its_closed_form_and_order_and_worse_pairs_change_nothing() -> None:
    closed = np.maximum.reduce([np.zeros(1001), 0.95 - np.e * ALPHA, (0.95 - ALPHA) / np.e])
    np.testing.assert_allclose(Pairs([1.0], [0.05]).beta(ALPHA), closed, atol=1e-15)
    assert float(Pairs([1.0], [0.05]).delta(0.0)) == pytest.approx(
        (np.e - 1 + 2 * 0.05) / (np.e + 1)
    )
    plain = Pairs([0.5, 2.0], [0.1, 1e-3])
    for other in (
        Pairs([2.0, 0.5], [1e-3, 0.1]),
        Pairs([0.5, 2.0, 3.0, math.inf], [0.1, 1e-3, 0.01, 0.0]),
    ):
        np.testing.assert_array_equal(plain.beta(ALPHA), other.beta(ALPHA))


@given(st.lists(st.tuples(st.floats(0, 12), st.floats(0, 1)), min_size=1, max_size=6))
def test_the_advantage_of_pairs_is_what_their_boundary_leaves(
    pairs: list[tuple[float, float]],
) -> None:
    f = Pairs(*zip(*pairs, strict=True))
    alpha = np.concatenate([np.linspace(0, 1, 2001), f.corners(1e-12)[0]])
    assert float(f.delta(0.0)) == pytest.approx(float(np.max(1 - alpha - f.beta(alpha))), abs=1e-12)


def test_the_limits_are_blind_guessing_and_certainty() -> None:
    np.testing.assert_allclose(Gaussian(0.0).beta(ALPHA), 1 - ALPHA, atol=1e-12)
    np.testing.assert_allclose(Pairs([0.0], [0.0]).beta(ALPHA), 1 - ALPHA, atol=1e-15)
    np.testing.assert_allclose(Points([], []).beta(ALPHA), 1 - ALPHA, atol=1e-15)
    for certain in (
        Gaussian(math.inf),
        Pairs([math.inf], [0.0]),
        Pairs([1e6], [1e-5]),
        Pairs([], []),
    ):
        assert np.all(certain.beta(ALPHA[1:]) == 0)
        assert np.all(certain.power(ALPHA[1:]) == 1)
    assert Gaussian(1e4).beta(1e-300) == 0


@given(st.floats(0.05, 6), st.floats(0, 8))
def test_delta_between_two_pairs_is_never_below_that_of_the_curve_they_touch(
    mu: float, epsilon: float
) -> None:
    coarse = np.linspace(0, 9, 7)
    assert (
        float(Pairs(coarse, gaussian.delta_of(coarse, mu)).delta(epsilon))
        >= gaussian.delta_of(epsilon, mu) - 1e-15
    )


def test_nothing_is_lost_where_errors_are_next_to_nothing() -> None:
    almost = Points([1e-20], [1 - 1e-10])
    assert almost.power(0.5) < 1
    assert np.all(almost.beta([1e-10, 1e-3, 0.5]) > 0)
    rare = Points([1e-306], [0.9])
    assert float(rare.delta(699.0)) == pytest.approx(
        0.9 - math.exp(699 - 306 * math.log(10)), rel=1e-9
    )
    assert rare.delta([705.0, 800.0, math.inf]).tolist() == [0.0, 0.0, 0.0]
    alpha, power = Pairs([0.0, 1e-17], [1e-17, 1e-19]).corners(1e-5)
    assert np.all(np.isfinite(alpha) & np.isfinite(power))
    np.testing.assert_allclose(power, alpha, rtol=1e-9)


def test_bad_values_are_named() -> None:
    for make, name in [
        (lambda: Gaussian(-1.0), "mu=-1"),
        (lambda: Gaussian(math.nan), "mu=nan"),
        (lambda: Pairs([-0.1], [0.1]), "epsilon=-0.1"),
        (lambda: Pairs([1.0, math.nan], [0.1, 0.1]), "epsilon=nan"),
        (lambda: Pairs([1.0], [1.1]), "delta=1.1"),
        (lambda: Points([0.1], [1.2]), "power=1.2"),
    ]:
        with pytest.raises(ValueError, match=name):
            make()


NEAR_ZERO = np.concatenate([[0.0], np.geomspace(1e-8, 1.0, 400)])
DELTAS = np.linspace(0.002, 0.98, 200)


def lower_ends(mu: float, deltas: np.ndarray = DELTAS) -> np.ndarray:
    """Epsilon of G_mu at each delta: the closest lower bound there is."""
    return gaussian.epsilon_of(deltas, np.full(deltas.shape, mu))


def test_the_curve_of_lower_bounds_is_nowhere_below_the_exact_one_as_unmoved_pairs_would_be() -> (
    None
):
    for mu in [0.2, 1.0, 3.0]:
        above, exact = (
            never_below(lower_ends(mu), DELTAS).beta(NEAR_ZERO),
            Gaussian(mu).beta(NEAR_ZERO),
        )
        assert np.all(above >= exact - 1e-12), mu
        assert np.max(above - exact) < 0.01, mu
    for mu in [0.2, 1.0, 3.0]:
        unmoved = Pairs(lower_ends(mu), DELTAS).beta(NEAR_ZERO)
        assert np.max(Gaussian(mu).beta(NEAR_ZERO) - unmoved) > 1e-4, mu


def test_it_holds_for_every_curve_that_has_these_epsilons_at_least() -> None:
    epsilon, delta = np.array([0.3, 1.2, 2.5]), np.array([0.2, 0.05, 0.001])
    above = never_below(epsilon, delta).beta(NEAR_ZERO)
    others: list[Tradeoff] = [Gaussian(mu) for mu in np.linspace(0.1, 6, 60)]
    others += [Pairs([a, b], [0.3, 0.0]) for a in (0.2, 1.0, 3.0) for b in (3.0, 4.0)]
    held = [f for f in others if np.all(f.delta(epsilon) >= delta)]
    assert 10 < len(held) < len(others)
    for f in held:
        assert np.all(f.beta(NEAR_ZERO) <= above + 1e-12)


def test_lower_bounds_may_come_in_any_order_be_none_or_past_every_float() -> None:
    epsilon, delta = np.array([2.0, 0.5, 1.0]), np.array([0.001, 0.1, 0.01])
    first = never_below(epsilon, delta).beta(NEAR_ZERO)
    order = np.array([1, 2, 0])
    np.testing.assert_array_equal(first, never_below(epsilon[order], delta[order]).beta(NEAR_ZERO))
    # Implied by the one at 1.0.
    weaker = never_below(np.append(epsilon, 0.9), np.append(delta, 0.01)).beta(NEAR_ZERO)
    np.testing.assert_allclose(first, weaker, atol=1e-12)
    np.testing.assert_allclose(never_below([0.0], [1e-9]).beta(NEAR_ZERO), 1 - NEAR_ZERO, atol=1e-8)
    above = never_below([800.0], [0.1])
    assert float(above.beta(0.0)) == 1.0
    assert float(above.beta(0.5)) == pytest.approx(0.4)
