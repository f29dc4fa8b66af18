"""The curve that lower bounds of epsilon leave: nowhere below the true one, and where it is close."""

import numpy as np
import pytest

from dpcore.privacy import gaussian
from dpcore.privacy.tradeoff import Gaussian, Pairs, Tradeoff, never_below

ALPHA = np.concatenate([[0.0], np.geomspace(1e-8, 1.0, 400)])
DELTAS = np.linspace(0.002, 0.98, 200)


def lower_ends(mu: float, deltas: np.ndarray = DELTAS) -> np.ndarray:
    """Epsilon of G_mu at each delta: the closest lower bound there is."""
    return gaussian.epsilon_of(deltas, np.full(deltas.shape, mu))


@pytest.mark.parametrize("mu", [0.2, 1.0, 3.0])
def test_the_curve_is_nowhere_below_the_exact_one(mu: float) -> None:
    above, exact = never_below(lower_ends(mu), DELTAS).beta(ALPHA), Gaussian(mu).beta(ALPHA)
    assert np.all(above >= exact - 1e-12)
    assert np.max(above - exact) < 0.01


@pytest.mark.parametrize("mu", [0.2, 1.0, 3.0])
def test_pairs_that_are_not_moved_would_promise_too_much(mu: float) -> None:
    unmoved = Pairs(lower_ends(mu), DELTAS).beta(ALPHA)
    assert np.max(Gaussian(mu).beta(ALPHA) - unmoved) > 1e-4


def test_it_holds_for_every_curve_that_has_these_epsilons_at_least() -> None:
    epsilon, delta = np.array([0.3, 1.2, 2.5]), np.array([0.2, 0.05, 0.001])
    above = never_below(epsilon, delta).beta(ALPHA)
    others: list[Tradeoff] = [Gaussian(mu) for mu in np.linspace(0.1, 6, 60)]
    others += [Pairs([a, b], [0.3, 0.0]) for a in (0.2, 1.0, 3.0) for b in (3.0, 4.0)]
    held = [f for f in others if np.all(f.delta(epsilon) >= delta)]
    assert 10 < len(held) < len(others)
    for f in held:
        assert np.all(f.beta(ALPHA) <= above + 1e-12)


def test_the_order_of_the_bounds_makes_no_difference_and_a_weaker_one_changes_nothing() -> None:
    epsilon, delta = np.array([2.0, 0.5, 1.0]), np.array([0.001, 0.1, 0.01])
    first = never_below(epsilon, delta).beta(ALPHA)
    order = np.array([1, 2, 0])
    np.testing.assert_array_equal(first, never_below(epsilon[order], delta[order]).beta(ALPHA))
    weaker = never_below(np.append(epsilon, 0.9), np.append(delta, 0.01)).beta(ALPHA)  # implied by the one at 1.0
    np.testing.assert_allclose(first, weaker, atol=1e-12)


def test_without_a_bound_nothing_but_blind_guessing_is_excluded() -> None:
    np.testing.assert_allclose(never_below([0.0], [1e-9]).beta(ALPHA), 1 - ALPHA, atol=1e-8)


def test_an_epsilon_past_every_float_still_leaves_a_curve_that_is_above() -> None:
    above = never_below([800.0], [0.1])
    assert float(above.beta(0.0)) == 1.0
    assert float(above.beta(0.5)) == pytest.approx(0.4)
