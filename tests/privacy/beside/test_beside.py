"""Releases beside Gaussian steps: against closed forms, dp-accounting and exact randomized
response.
"""

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import common
from dp_accounting.pld import privacy_loss_distribution as peer

import dpcore
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.beside import (
    Beside,
    Concentrated,
    DiscreteGaussian,
    Guarantee,
    Laplace,
    Other,
)
from dpcore.privacy.beside.product import TOO_MUCH, _Profile
from dpcore.privacy.mechanism import Mechanism
from tests.reference import gaussian_delta

DELTAS = np.array([1e-8, 1e-5, 1e-3, 0.05])
STEPS = Mechanism.constant(q=0.02, sigma=1.5, steps=300)
ONE_GDP = Mechanism.constant(q=1.0, sigma=2.0, steps=4)


def alone(other: Other, delta: np.ndarray = DELTAS) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper epsilon of a release without any step."""
    return Beside([other])._bounds(_Profile(None, float(delta.min())), delta)


def encloses(found: tuple[np.ndarray, np.ndarray], delta_at, deltas: np.ndarray) -> bool:
    """True if delta at the lower ends is at least, at the upper ends at most what was asked."""
    lower, upper = found
    for low, high, delta in zip(lower, upper, deltas, strict=True):
        if delta_at(high) > delta * (1 + 1e-9):
            return False
        if low > 0 and delta_at(low) < delta * (1 - 1e-9):
            return False
    return True


@pytest.mark.parametrize("scale", [0.3, 1.0, 7.0, 100.0])
def test_laplace_alone_is_its_closed_form(scale: float) -> None:
    def delta_at(epsilon: float) -> float:  # 1 - e^((epsilon - 1/b) / 2)
        return max(-math.expm1((epsilon - 1 / scale) / 2), 0.0)

    lower, upper = alone(Laplace(scale))
    assert encloses((lower, upper), delta_at, DELTAS)
    assert np.all(upper - lower <= 2e-3 / scale + 1e-4)
    assert np.all(upper <= 1 / scale * (1 + 1e-3) + 2e-5)


@pytest.mark.parametrize("scale", [0.1, 0.4, 2.0])
@pytest.mark.parametrize("share", [0.5, 0.7, 0.95])
def test_no_laplace_vector_tells_more_than_one_number(scale: float, share: float) -> None:
    deltas = np.geomspace(1e-6, 0.9, 60)
    delta = np.append(deltas, -np.expm1(-0.5 / scale) * np.array([0.5, 0.9, 0.99]))
    _, one = alone(Laplace(scale), delta)
    others = [Laplace(scale / share), Laplace(scale / (1 - share))]
    both, _ = Beside(others)._bounds(_Profile(None, float(delta.min())), delta)
    assert np.all(both <= one)
    parts = [Laplace(scale * 5, count=5)]
    five, _ = Beside(parts)._bounds(_Profile(None, float(delta.min())), delta)
    assert np.all(five <= one)


@pytest.mark.parametrize("sigma", [0.5, 1.0, 3.0, 20.0])
def test_a_discrete_gaussian_alone_is_its_closed_form(sigma: float) -> None:
    x = np.arange(-2000, 2001)
    chance = np.exp(-(x**2) / (2 * sigma**2))
    chance /= chance.sum()

    def delta_at(epsilon: float) -> float:  # Canonne, Kamath, Steinke 2020, Theorem 7
        above = chance[x > epsilon * sigma**2 - 0.5].sum()
        return above - math.exp(epsilon) * chance[x > epsilon * sigma**2 + 0.5].sum()

    lower, upper = alone(DiscreteGaussian(sigma))
    assert encloses((lower, upper), delta_at, DELTAS)
    assert np.all(upper - lower <= 0.01 * upper + 0.01)


@pytest.mark.parametrize(("epsilon", "delta", "count"), [(0.5, 0.0, 8), (0.1, 1e-6, 30), (2, 0, 1)])
def test_guarantees_alone_compose_as_kairouz_oh_and_viswanath_proved(
    epsilon: float, delta: float, count: int
) -> None:
    def delta_at(total: float) -> float:  # Theorem 3.3, at any epsilon of the product
        of_one = 1 / (1 + mpmath.exp(-epsilon))
        sum_ = mpmath.mpf(0)
        for told in range(count + 1):
            loss = (2 * told - count) * epsilon
            if loss > total:
                share = mpmath.binomial(count, told) * of_one**told * (1 - of_one) ** (count - told)
                sum_ += share * -mpmath.expm1(total - loss)
        return float(1 - (1 - mpmath.mpf(delta)) ** count * (1 - sum_))

    deltas = np.array([1e-4, 1e-3, 0.05])
    lower, upper = alone(Guarantee(epsilon, delta, count), deltas)
    assert lower.tolist() == [0.0, 0.0, 0.0]
    for high, asked in zip(upper, deltas, strict=True):
        assert delta_at(float(high)) <= asked
        assert delta_at(float(high) - 0.02 * count * epsilon - 1e-3) > asked or high < 1e-3


@pytest.mark.parametrize("rho", [0.001, 0.05, 0.5, 3.0])
def test_a_bare_rho_covers_every_gaussian_of_this_rho_and_converts_as_published(rho: float) -> None:
    _, upper = alone(Concentrated(rho))
    mu = math.sqrt(2 * rho)
    for high, delta in zip(upper, DELTAS, strict=True):
        assert gaussian_delta(float(high), mu) <= delta
        order = 1 + np.geomspace(1e-4, 1e5, 20_000)
        log_delta = math.log(delta)
        published = rho * order + (
            -log_delta - np.log(order) + (order - 1) * np.log1p(-1 / order)
        ) / (order - 1)  # Proposition 12, solved for epsilon
        assert high <= max(published.min(), 0.0) * 1.02 + 0.02
        assert high >= published.min() * (1 - 1e-6)


def dp_accounting_of(other: Other, pessimistic: bool) -> object:
    known = {"pessimistic_estimate": pessimistic, "value_discretization_interval": 2e-4}
    if isinstance(other, Laplace):
        return peer.from_laplace_mechanism(other.scale, **known)
    if isinstance(other, DiscreteGaussian):
        return peer.from_discrete_gaussian_mechanism(other.sigma, **known)
    assert isinstance(other, Guarantee)
    parameters = common.DifferentialPrivacyParameters(other.epsilon, other.delta)
    return peer.from_privacy_parameters(parameters, value_discretization_interval=2e-4)


@pytest.mark.parametrize(
    "other",
    [Laplace(2.0), Laplace(8.0, 5), DiscreteGaussian(2.5), DiscreteGaussian(6.0, 3)],
    ids=str,
)
@pytest.mark.parametrize("steps", [STEPS, ONE_GDP], ids=["sampled", "whole"])
def test_the_product_is_that_of_dp_accounting(other: Other, steps: Mechanism) -> None:
    (release,) = steps.releases
    estimates = []
    for pessimistic in (False, True):
        of_steps = peer.from_gaussian_mechanism(
            release.sigma,
            sampling_prob=release.q,
            pessimistic_estimate=pessimistic,
            value_discretization_interval=2e-4,
        ).self_compose(release.count)
        of_other = dp_accounting_of(other, pessimistic).self_compose(other.count)
        estimates.append(of_steps.compose(of_other).get_epsilon_for_delta(1e-5))
    found = Beside([other]).spent(steps, 1e-5)
    least, most = estimates
    assert found.lower <= most * (1 + 1e-6)
    assert found.value >= least * (1 - 1e-6)
    assert found.value <= most * 1.01
    assert found.lower >= least * 0.98


@pytest.mark.parametrize("scale", [1.0, 5.0])
def test_laplace_beside_a_gaussian_is_the_integral_of_both_densities(scale: float) -> None:
    """The exact product, by quadrature over the Laplace number: 1-GDP beside it."""

    def delta_at(epsilon: float) -> float:
        def inner(x: float) -> float:
            loss = (abs(x - 1) - abs(x)) / scale
            rest = epsilon - loss
            tail = mpmath.ncdf(-rest + 0.5) - mpmath.exp(rest) * mpmath.ncdf(-rest - 0.5)
            return mpmath.exp(-abs(x) / scale) / (2 * scale) * tail

        ends = [-mpmath.inf, 0, 1, mpmath.inf]
        return float(mpmath.quad(inner, ends))

    deltas = np.array([1e-6, 1e-3])
    found = Beside([Laplace(scale)]).profile(ONE_GDP, deltas)
    assert encloses((found.lower, found.epsilon), delta_at, deltas)
    assert np.all(found.epsilon - found.lower < 0.02 * found.epsilon)


def test_a_guarantee_beside_steps_is_never_better_than_releases_that_have_it() -> None:
    for steps, scale in product((STEPS, ONE_GDP), (1.0, 4.0)):
        known = Beside([Laplace(scale)]).spent(steps, 1e-5)
        bare = Beside([Guarantee(1 / scale)]).spent(steps, 1e-5)
        assert bare.value >= known.lower
        assert bare.lower <= ACCOUNTANTS["pld"].spent(steps, 1e-5).value
        # Basic composition is the looser bound.
        assert bare.value <= ACCOUNTANTS["pld"].spent(steps, 1e-5).value + 1 / scale + 5e-3
    gaussian = Mechanism.constant(1.0, 2.0, 1)
    exact = ACCOUNTANTS["pld"].spent(ONE_GDP + gaussian, 1e-5)
    rho = Beside([Concentrated(1 / 8)]).spent(ONE_GDP, 1e-5)
    assert exact.lower <= rho.value <= 1.2 * exact.value
    assert "Rényi" in rho.note


def test_without_others_and_with_hardly_any_it_is_the_certified_band() -> None:
    for steps in (STEPS, ONE_GDP):
        band = ACCOUNTANTS["pld"].spent(steps, 1e-5)
        for others in ([], [Laplace(1e6)], [Guarantee(1e-6)]):
            found = Beside(others).spent(steps, 1e-5)
            assert found.lower <= band.value
            assert found.value >= band.lower
            assert found.value <= 1.005 * band.value
            assert found.lower >= 0.99 * band.lower


def test_more_steps_more_releases_and_a_smaller_delta_never_cost_less() -> None:
    counted = Beside([Laplace(3.0)])
    curve = counted.curve(STEPS, [0, 10, 300], 1e-5)
    assert np.all(np.diff(curve.epsilon) > 0)
    assert curve.epsilon[0] <= 1 / 3 + 1e-3
    profile = counted.profile(STEPS, [1e-9, 1e-5, 0.1])
    assert np.all(np.diff(profile.epsilon) < 0)
    more = Beside([Laplace(3.0), Laplace(3.0)]).spent(STEPS, 1e-5)
    assert more.value > counted.spent(STEPS, 1e-5).value
    twice = Beside([Laplace(3.0, 2)]).spent(STEPS, 1e-5)
    assert twice == more


def test_many_large_losses_stay_on_the_safe_side() -> None:
    """Laplace noise whose losses reach past the largest epsilon that is counted."""
    lower, upper = alone(Laplace(0.1, 12), np.array([0.01, 0.5]))
    one_lower, _ = alone(Laplace(0.1), np.array([0.01, 0.5]))
    assert np.all(lower >= one_lower * 0.9)
    draws = np.random.default_rng(5).laplace(0, 0.1, (20_000, 12))
    loss = ((np.abs(draws - 1) - np.abs(draws)) / 0.1).sum(axis=1)
    for low, high, delta in zip(lower, upper, (0.01, 0.5), strict=True):
        assert np.mean(-np.expm1(np.minimum(low - loss, 0))) >= delta - 0.02
        if np.isfinite(high):
            assert np.mean(-np.expm1(np.minimum(high - loss, 0))) <= delta + 0.02


def test_what_costs_too_much_has_no_number_and_says_why() -> None:
    found = Beside([Guarantee(50.0, 0.0, 5)]).spent(ONE_GDP, 1e-5)
    assert math.isinf(found.value)
    assert "No epsilon up to 60" in found.note
    many = Beside([Laplace(2.0)]).spent(Mechanism.constant(1.0, 0.02, 1), 1e-5)
    assert math.isinf(many.value)
    assert "No epsilon up to 60" in many.note
    certain = Beside([Guarantee(1.0, 0.01)]).spent(ONE_GDP, 1e-5)
    assert math.isinf(certain.value)


@pytest.mark.parametrize(("q", "sigma"), [(0.01, 0.02), (0.5, 0.04)])
def test_steps_that_tell_all_have_no_upper_end_beside_other_releases(
    q: float, sigma: float
) -> None:
    steps = Mechanism.constant(q=q, sigma=sigma, steps=1)
    alone_note = ACCOUNTANTS["pld"].spent(steps, 1e-5).note
    assert alone_note
    whole = steps + Laplace(2.0)
    spent = dpcore.epsilon(whole, 1e-5)
    assert math.isinf(spent.value)
    assert spent.lower > 50
    found = dpcore.delta(whole, 0.4)
    assert found.value == 1.0
    gained = dpcore.advantage(whole)
    assert gained.value == 1.0
    missed = dpcore.beta(whole, 0.1)
    assert missed.lower == 0.0
    assert [each.note for each in (spent, found, gained, missed)] == [alone_note] * 4
    from_none = Beside([Laplace(2.0)]).curve(steps, [0, 1], 1e-5)
    assert from_none.epsilon[0] <= 0.501
    assert math.isinf(from_none.epsilon[1])


def test_a_finite_delta_does_not_say_that_nothing_is_proven() -> None:
    whole = Mechanism.constant(q=1.0, sigma=4.0, steps=1) + Guarantee(0.5, 1e-6)
    found = dpcore.delta(whole, 0.9)
    assert found.value < 0.01
    assert TOO_MUCH not in found.note
    assert TOO_MUCH in dpcore.epsilon(whole, 1e-7).note


def test_many_small_releases_are_rounded_on_a_mesh_of_the_losses_that_occur() -> None:
    few = Mechanism.constant(q=0.01, sigma=4.0, steps=10)
    found = Beside([DiscreteGaussian(50.0, 512)]).spent(few, 1e-5)
    alike = ACCOUNTANTS["pld"].spent(few + Mechanism.constant(1.0, 50.0, 512), 1e-5)
    assert 0.6 * alike.lower < found.lower < alike.value
    assert alike.lower < found.value < 1.4 * alike.value


def test_wrong_values_are_named() -> None:
    for message, make in {
        "scale=0": lambda: Laplace(0),
        "count=0": lambda: Laplace(1.0, 0),
        "sigma=0.01": lambda: DiscreteGaussian(0.01),
        "epsilon=-1": lambda: Guarantee(-1),
        "delta=1": lambda: Guarantee(1.0, 1),
        "rho=0": lambda: Concentrated(0),
    }.items():
        with pytest.raises(ValueError, match=message):
            make()
