"""Steps without sampling against their closed form in 60 digits."""

import mpmath
import numpy as np
import pytest

from dpcore.privacy import gaussian
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.certified import gaussian_bounds
from dpcore.privacy.certified.gaussian_bounds import gaussian_tradeoffs
from dpcore.privacy.mechanism import Mechanism, Release

PLD = ACCOUNTANTS["pld"]
DIGITS = 60


def exact_mu(mechanism: Mechanism) -> mpmath.mpf:
    """The root of the sum of count / sigma^2."""
    return mpmath.sqrt(mpmath.fsum(each.count / mpmath.mpf(each.sigma) ** 2 for each in mechanism.releases))


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
    """In exact arithmetic: delta(lower) is at least the delta asked for, delta(upper) at most, and both are close."""
    curve, where = PLD.curve(mechanism, mechanism.steps, delta), (mechanism, delta)
    assert curve.lower is not None
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


@pytest.mark.parametrize("delta", [1e-60, 1e-15, 1e-5, 0.3, 0.999])
@pytest.mark.parametrize("mu", [1e-9, 0.00999, 0.01, 0.0101, 1.0, 40.0, 1e6])
def test_epsilon_without_sampling_holds_its_closed_form_where_formulas_meet(mu: float, delta: float) -> None:
    with mpmath.workdps(DIGITS):
        check(Mechanism.constant(1.0, 1 / mu, 1), delta)


def test_every_horizon_of_a_mixed_schedule_is_its_closed_form() -> None:
    mechanism = Mechanism((Release(1.0, 50.0, 1000), Release(1.0, 20.0, 1000), Release(1.0, 7.0, 10)))
    curve = PLD.curve(mechanism, [0, 1, 1000, 1500, 2010], 1e-6)
    assert curve.lower is not None
    mu = np.sqrt([0.0, 1 / 2500, 0.4, 0.4 + 500 / 400, 0.4 + 2.5 + 10 / 49])
    exact = gaussian.epsilon_of(1e-6, mu)
    np.testing.assert_allclose(curve.epsilon, exact, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(curve.lower, exact, rtol=1e-6, atol=1e-7)
    assert curve.note == ""


def test_an_iteration_that_stops_at_the_wrong_place_promises_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds do not rest on Newton's iteration: delta is evaluated anew at what it suggests."""
    mechanism, right = Mechanism.constant(1.0, 1.0, 1), gaussian.epsilon_of
    for factor in (0.99, 1.01):
        monkeypatch.setattr(gaussian, "epsilon_of", lambda delta, mu, factor=factor: factor * right(delta, mu))
        curve = PLD.curve(mechanism, 1, 1e-5)
        assert curve.lower is not None
        assert curve.epsilon[0] == np.inf if factor < 1 else curve.epsilon[0] >= right(1e-5, 1.0)
        assert curve.lower[0] == 0 if factor > 1 else curve.lower[0] <= right(1e-5, 1.0)


def test_trade_off_functions_without_sampling_hold_their_closed_form_at_random() -> None:
    generator = np.random.default_rng(12)
    with mpmath.workdps(4 * DIGITS):
        for _ in range(100):
            mechanism = random_mechanism(generator)
            mu = exact_mu(mechanism)
            below, above = gaussian_tradeoffs(mechanism)
            # Where beta is neither 1 nor 0, by the place of the threshold: alpha = Phi(-z), beta = Phi(z - mu).
            z = mpmath.mpf(float(generator.uniform(-5, 8))) + (mu if generator.random() < 0.5 and mu < 12 else 0)
            alpha = float(mpmath.ncdf(-z))
            if alpha == 0:
                continue
            beta = 1 - mpmath.ncdf(mu - mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf(alpha)))
            assert below.beta(alpha) <= beta <= above.beta(alpha), (mechanism, alpha)
            assert above.power(alpha) <= 1 - beta <= below.power(alpha), (mechanism, alpha)
            epsilon = float(generator.uniform(0, 30 * min(mu, 1)))
            assert above.delta(epsilon) <= exact_delta(epsilon, mu) <= below.delta(epsilon), (mechanism, epsilon)


def test_the_corner_of_a_trade_off_function_without_sampling_holds_its_closed_form() -> None:
    generator = np.random.default_rng(13)
    with mpmath.workdps(DIGITS):
        for _ in range(50):
            mechanism = Mechanism.constant(1.0, float(10 ** generator.uniform(-2, 6)), int(generator.integers(1, 9)))
            alpha = mpmath.ncdf(-exact_mu(mechanism) / 2)
            below, above = (each.corners(1e-5) for each in gaussian_tradeoffs(mechanism))
            assert below[0][0] <= alpha <= above[0][0], mechanism
            assert above[1][0] <= 1 - alpha <= below[1][0], mechanism


def test_the_margins_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks above have power: without what is charged for rounding, a bound lies on the wrong side."""
    for name in ("MARGIN", "ALLOWED", "NUDGE", "UNIT"):
        monkeypatch.setattr(gaussian_bounds, name, 0.0)
    with pytest.raises(AssertionError):
        test_epsilon_without_sampling_holds_its_closed_form_at_random()
    with pytest.raises(AssertionError):
        test_trade_off_functions_without_sampling_hold_their_closed_form_at_random()
