"""Bounds without sampling against closed forms in many digits, and each margin far larger than it
is.
"""

from collections.abc import Callable
from itertools import product

import mpmath
import numpy as np
import pytest

from dpcore.privacy import gaussian
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.certified import gaussian_bounds
from dpcore.privacy.certified.gaussian_bounds import (
    OutwardGaussian,
    _mu_bounds,
    gaussian_epsilons,
    gaussian_tradeoffs,
)
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.tradeoff import Gaussian

PLD = ACCOUNTANTS["pld"]
DIGITS = 60


def exact_mu(mechanism: Mechanism) -> mpmath.mpf:
    """The root of the sum of count / sigma^2."""
    return mpmath.sqrt(
        mpmath.fsum(each.count / mpmath.mpf(each.sigma) ** 2 for each in mechanism.releases)
    )


def exact_delta(epsilon: float, mu: mpmath.mpf) -> mpmath.mpf:
    """Balle and Wang's delta of mu-GDP at epsilon, with digits to spare for all that cancels."""
    x = epsilon / mu
    return mpmath.ncdf(mu / 2 - x) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - x)


def random_mechanism(generator: np.random.Generator) -> Mechanism:
    """One to four releases without sampling, sigma in 1e-6..1e9, up to 1e9 steps."""
    return Mechanism(
        tuple(
            Release(1.0, float(10 ** generator.uniform(-6, 9)), int(10 ** generator.uniform(0, 9)))
            for _ in range(int(generator.integers(1, 5)))
        )
    )


def check(mechanism: Mechanism, delta: float) -> None:
    """In exact arithmetic: delta(lower) is at least the delta asked for, delta(upper) at most, and
    both are close.
    """
    curve, where = PLD.curve(mechanism, mechanism.steps, delta), (mechanism, delta)
    lower, upper = float(curve.lower[0]), float(curve.epsilon[0])
    mu = exact_mu(mechanism)
    # Phi at x is 1 but for e^(-x^2 / 2): digits for delta near 0, and for epsilon / mu near mu / 2.
    with mpmath.workdps(DIGITS + 2 * max(0, int(mpmath.log10(mu + 1)))):
        assert exact_delta(upper, mu) <= mpmath.mpf(delta), where
        assert lower == 0 or exact_delta(lower, mu) >= mpmath.mpf(delta), where
    assert upper <= lower * (1 + 1e-4) + 1e-5 * min(1.0, float(mu)), where


def test_epsilon_without_sampling_holds_its_closed_form_at_random() -> None:
    generator = np.random.default_rng(11)
    with mpmath.workdps(DIGITS):
        for _ in range(300):
            check(random_mechanism(generator), float(10 ** generator.uniform(-60, -0.01)))


def test_epsilon_without_sampling_holds_its_closed_form_where_formulas_meet() -> None:
    for mu, delta in product(
        [1e-9, 0.00999, 0.01, 0.0101, 1.0, 40.0, 1e6], [1e-60, 1e-15, 1e-5, 0.3, 0.999]
    ):
        with mpmath.workdps(DIGITS):
            check(Mechanism.constant(1.0, 1 / mu, 1), delta)
    mechanism = Mechanism(
        (Release(1.0, 50.0, 1000), Release(1.0, 20.0, 1000), Release(1.0, 7.0, 10))
    )
    curve = PLD.curve(mechanism, [0, 1, 1000, 1500, 2010], 1e-6)
    mu = np.sqrt([0.0, 1 / 2500, 0.4, 0.4 + 500 / 400, 0.4 + 2.5 + 10 / 49])
    exact = gaussian.epsilon_of(1e-6, mu)
    np.testing.assert_allclose(curve.epsilon, exact, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(curve.lower, exact, rtol=1e-6, atol=1e-7)
    assert curve.note == ""


def test_an_iteration_that_stops_at_the_wrong_place_promises_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The bounds do not rest on Newton's iteration: delta is evaluated again at its result."""
    mechanism, right = Mechanism.constant(1.0, 1.0, 1), gaussian.epsilon_of
    for factor in (0.99, 1.01):
        monkeypatch.setattr(
            gaussian, "epsilon_of", lambda delta, mu, factor=factor: factor * right(delta, mu)
        )
        curve = PLD.curve(mechanism, 1, 1e-5)
        assert curve.epsilon[0] == np.inf if factor < 1 else curve.epsilon[0] >= right(1e-5, 1.0)
        assert curve.lower[0] == 0 if factor > 1 else curve.lower[0] <= right(1e-5, 1.0)


def test_trade_off_functions_without_sampling_hold_their_closed_form_at_random() -> None:
    generator = np.random.default_rng(12)
    with mpmath.workdps(4 * DIGITS):
        for _ in range(100):
            mechanism = random_mechanism(generator)
            mu = exact_mu(mechanism)
            below, above = gaussian_tradeoffs(mechanism)
            # Where beta is neither 1 nor 0, by the place of the threshold: alpha = Phi(-z), beta =
            # Phi(z - mu).
            z = mpmath.mpf(float(generator.uniform(-5, 8))) + (
                mu if generator.random() < 0.5 and mu < 12 else 0
            )
            alpha = float(mpmath.ncdf(-z))
            if alpha == 0:
                continue
            beta = 1 - mpmath.ncdf(mu - mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf(alpha)))
            assert below.beta(alpha) <= beta <= above.beta(alpha), (mechanism, alpha)
            assert above.power(alpha) <= 1 - beta <= below.power(alpha), (mechanism, alpha)
            epsilon = float(generator.uniform(0, 30 * min(mu, 1)))
            assert above.delta(epsilon) <= exact_delta(epsilon, mu) <= below.delta(epsilon), (
                mechanism,
                epsilon,
            )


def test_the_corner_of_a_trade_off_function_without_sampling_holds_its_closed_form() -> None:
    generator = np.random.default_rng(13)
    with mpmath.workdps(DIGITS):
        for _ in range(50):
            mechanism = Mechanism.constant(
                1.0, float(10 ** generator.uniform(-2, 6)), int(generator.integers(1, 9))
            )
            alpha = mpmath.ncdf(-exact_mu(mechanism) / 2)
            below, above = (each.corners(1e-5) for each in gaussian_tradeoffs(mechanism))
            assert below[0][0] <= alpha <= above[0][0], mechanism
            assert above[1][0] <= 1 - alpha <= below[1][0], mechanism


def test_the_margins_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks above have power: without the charge for rounding, a bound is wrong."""
    for name in ("MARGIN", "ALLOWED", "NUDGE", "UNIT"):
        monkeypatch.setattr(gaussian_bounds, name, 0.0)
    with pytest.raises(AssertionError):
        test_epsilon_without_sampling_holds_its_closed_form_at_random()
    with pytest.raises(AssertionError):
        test_trade_off_functions_without_sampling_hold_their_closed_form_at_random()


ONE, STEPS, DELTA = Mechanism.constant(1.0, 1.0, 4), np.array([4]), np.array([1e-3])
MU = 2.0


def zero(monkeypatch: pytest.MonkeyPatch, **values: float) -> None:
    """No margins but the given ones."""
    for name in ("MARGIN", "ALLOWED", "NUDGE", "UNIT"):
        monkeypatch.setattr(gaussian_bounds, name, values.get(name, 0.0))


def test_mu_is_charged_for_each_kind_of_step(monkeypatch: pytest.MonkeyPatch) -> None:
    for kinds in [1, 5]:
        monkeypatch.setattr(gaussian_bounds, "UNIT", 1e-4)
        mechanism = Mechanism(tuple(Release(1.0, float(sigma), 2) for sigma in range(1, kinds + 1)))
        exact = np.sqrt(sum(2 / sigma**2 for sigma in range(1, kinds + 1)))
        low, high = _mu_bounds(mechanism, np.array([2 * kinds]))
        assert low[0] == pytest.approx(exact * (1 - 2 * (kinds + 8) * 1e-4), rel=1e-12, abs=0), (
            kinds
        )
        assert high[0] == pytest.approx(exact * (1 + 2 * (kinds + 8) * 1e-4), rel=1e-12, abs=0), (
            kinds
        )


def test_epsilon_is_nudged_once_before_it_is_checked_and_once_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    zero(monkeypatch, NUDGE=1e-3)
    exact = float(gaussian.epsilon_of(DELTA, np.array([MU]))[0])
    lower, upper = gaussian_epsilons(ONE, STEPS, DELTA)
    assert lower[0] == pytest.approx(exact * (1 - 1e-3) ** 2, rel=1e-9, abs=0)
    assert upper[0] == pytest.approx(exact * (1 + 1e-3) ** 2, rel=1e-9, abs=0)


def test_epsilon_solves_for_a_delta_that_is_off_by_what_is_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    zero(monkeypatch, ALLOWED=0.2)
    lower, upper = gaussian_epsilons(ONE, STEPS, DELTA)
    assert gaussian.delta_of(upper, np.array([MU]))[0] == pytest.approx(0.8e-3, rel=1e-9, abs=0)
    assert gaussian.delta_of(lower, np.array([MU]))[0] == pytest.approx(1.2e-3, rel=1e-9, abs=0)


def off_by(part: float) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """An iteration that ends with an error of delta of that part of the allowance."""
    right = gaussian.epsilon_of
    return lambda delta, mu: right(DELTA + part * (delta - DELTA), mu)


@pytest.mark.parametrize(("part", "kept"), [(0.45, False), (0.55, True)])
def test_an_epsilon_is_kept_where_half_of_what_is_allowed_is_left(
    part: float, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    zero(monkeypatch, ALLOWED=0.2)
    monkeypatch.setattr(gaussian, "epsilon_of", off_by(part))
    lower, upper = gaussian_epsilons(ONE, STEPS, DELTA)
    assert np.isfinite(upper[0]) == kept
    assert (lower[0] > 0) == kept


def test_no_delta_above_1_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    zero(monkeypatch, ALLOWED=0.2)
    lower, _ = gaussian_epsilons(ONE, STEPS, np.array([0.9]))
    assert lower[0] == 0


def test_trade_off_functions_are_those_of_mu_moved_by_the_margin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    zero(monkeypatch, MARGIN=0.01)
    below, above = gaussian_tradeoffs(ONE)
    assert (below.losing, above.losing) == (True, False)
    assert below.closed_mu == pytest.approx(MU * 1.01 + 0.01, rel=1e-12, abs=0)
    assert above.closed_mu == pytest.approx(MU * 0.99 - 0.01, rel=1e-12, abs=0)
    _, nothing = gaussian_tradeoffs(Mechanism.constant(1.0, 1000.0, 1))
    assert nothing.closed_mu == 0


def test_values_are_rounded_to_the_side_that_a_curve_stands_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for losing in [True, False]:
        monkeypatch.setattr(gaussian_bounds, "UNIT", 1e-3)
        found, exact, alpha, up = OutwardGaussian(1.0, losing), Gaussian(1.0), 0.1, 1 + 8e-3
        down = 1 - 8e-3
        assert found.beta(alpha) == pytest.approx(
            exact.beta(alpha) * (down if losing else up), rel=1e-12, abs=0
        )
        assert found.power(alpha) == pytest.approx(
            exact.power(alpha) * (up if losing else down), rel=1e-12, abs=0
        )
        delta = gaussian.delta_of(0.5, 1.0)
        assert found.delta(0.5) == pytest.approx(
            delta * (up if losing else down), rel=1e-12, abs=0
        ), losing
        (corner,), (power,) = exact.corners(1e-5)
        (alpha_there,), (power_there,) = found.corners(1e-5)
        assert alpha_there == pytest.approx(corner * (down if losing else up), rel=1e-12, abs=0), (
            losing
        )
        assert power_there == pytest.approx(power * (up if losing else down), rel=1e-12, abs=0), (
            losing
        )


def test_no_margin_is_smaller_than_the_proof_asks_for() -> None:
    # A threshold 38 from 0 that is 200 units off, 90 units of epsilon, and of delta what evaluates
    # to within 5e-11.
    u = 2.0**-53
    below, above = gaussian_tradeoffs(ONE)
    # Of mu = 2, relative and absolute.
    assert min(below.closed_mu - MU, MU - above.closed_mu) > 3 * 200 * 38 * u
    lower, upper = gaussian_epsilons(ONE, STEPS, DELTA)
    exact = float(gaussian.epsilon_of(DELTA, np.array([MU]))[0])
    assert min(upper[0] - exact, exact - lower[0]) > 2 * 90 * u * exact
    assert gaussian.delta_of(upper, np.array([MU]))[0] < DELTA[0] * (1 - 0.9e-6)
    assert gaussian.delta_of(lower, np.array([MU]))[0] > DELTA[0] * (1 + 0.9e-6)
    assert 90 * u <= gaussian_bounds.NUDGE
    assert OutwardGaussian(1e3, losing=False).corners(1e-5)[0][0] == 1e-300
    assert OutwardGaussian(1e3, losing=True).corners(1e-5)[0][0] == 0
    assert OutwardGaussian(1e3, losing=True).power(0.5) == 1
