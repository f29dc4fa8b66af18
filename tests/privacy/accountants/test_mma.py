"""MMA: the claim, its conditions, and its sound reading."""

import numpy as np
import pytest

from dpcore.privacy import renyi
from dpcore.privacy.accountants import ACCOUNTANTS, mma
from dpcore.privacy.mechanism import Mechanism, Release
from tests import golden
from tests.reference import one_step_delta, theorem_3

MMA = ACCOUNTANTS["mma"]


def checked(mechanism: Mechanism, steps: int, delta: float) -> float:
    """The sound reading of MMA: only whole lambda at which its per-step bound is verified for every release.

    min over such lambda of (sum of ln(1 + q^2 lambda^2/sigma^2) + ln(1/delta)) / lambda. Raises ValueError where no
    lambda passes, as at sigma = 1, q = 0.01.
    """
    orders = renyi.ORDERS[renyi.IS_INTEGER] - 1
    total, valid = np.zeros(orders.shape), np.ones(orders.shape, dtype=bool)
    for release, uses in zip(mechanism.releases, mechanism.compositions([steps])[0], strict=True):
        if uses:
            claim = np.log1p((release.q * orders / release.sigma) ** 2)
            valid &= renyi.log_moments(release.q, release.sigma)[renyi.IS_INTEGER] <= claim
            total += uses * claim
    if not np.any(valid):
        raise ValueError("No order passes the check of MMA's per-step bound here; use moments, rdp or pld.")
    return float(np.min((total - np.log(delta))[valid] / orders[valid]))


@pytest.mark.parametrize(("q", "sigma"), [(0.01, 2.0), (1e-7, 0.01), (1.0, 1e4), (0.1, 1.0)])
@pytest.mark.parametrize("delta", [1e-15, 1e-5, 0.5])
def test_the_numeric_elimination_is_the_closed_form_at_constant_sigma(q: float, sigma: float, delta: float) -> None:
    steps = [1, 2, 100, 40_000, 10**9]
    curve = MMA.curve(Mechanism.constant(q, sigma, 10**9), steps, delta)
    closed = [theorem_3(q, sigma, each, delta) for each in steps]
    np.testing.assert_allclose(curve.epsilon, closed, rtol=1e-10)


def test_a_schedule_lies_between_its_constant_ends() -> None:
    schedule = Mechanism((Release(0.01, 4.0, 500), Release(0.01, 2.0, 500)))
    quiet, loud = (theorem_3(0.01, sigma, 1000, 1e-5) for sigma in (4.0, 2.0))
    assert quiet < MMA.curve(schedule, 1000, 1e-5).epsilon[0] < loud


def test_the_eliminated_order_solves_the_summed_claim() -> None:
    schedule = Mechanism((Release(0.01, 4.0, 500), Release(0.02, 2.0, 300)))
    order = 2 * np.log(1e5) / MMA.curve(schedule, 800, 1e-5).epsilon[0]
    total = sum(r.count * np.log1p((r.q * order / r.sigma) ** 2) for r in schedule.releases)
    assert total == pytest.approx(np.log(1e5), rel=1e-10)


def test_its_claim_falls_with_delta_at_one_step_as_no_true_epsilon_does() -> None:
    step = Mechanism.constant(0.01, 2.0, 1)
    assert MMA.curve(step, 1, 1e-10).epsilon[0] < MMA.curve(step, 1, 1e-5).epsilon[0]
    assert one_step_delta(0.01, 2.0, 0.1) < one_step_delta(0.01, 2.0, 0.01)


@pytest.mark.parametrize(
    ("mechanism", "steps", "names"),
    [
        (Mechanism.constant(0.01, 2.0, 5000), 5000, ()),
        (Mechanism.constant(0.01, 0.7, 5000), 5000, ("sigma >= 1",)),
        (Mechanism.constant(0.2, 6.0, 100), 100, ("q < 1/sigma", "lambda <= 1/(10 q^2)")),
        (Mechanism.constant(0.01, 2.0, 1), 1, ("lambda <= 1/(10 q^2)",)),
        (Mechanism.constant(0.01, 2.0, 40_000), 40_000, ("epsilon > 0.002 T/lambda",)),
        (Mechanism((Release(0.01, 2.0, 100), Release(0.01, 0.5, 100))), 100, ()),
        (Mechanism((Release(0.01, 2.0, 100), Release(0.01, 0.5, 100))), 101, ("sigma >= 1",)),
    ],
)
def test_each_condition_that_fails_is_named(mechanism: Mechanism, steps: int, names: tuple[str, ...]) -> None:
    failing = mma.failing_conditions(mechanism, steps, 1e-5)
    assert len(failing) == len(names), failing
    assert all(text.startswith(name) and "here" in text for text, name in zip(failing, names, strict=True))
    note = MMA.curve(mechanism, steps, 1e-5).note
    assert all(text in note for text in failing)
    assert bool(note) == bool(failing)


def test_the_paper_s_own_figure_breaks_its_own_condition() -> None:
    epochs = [row[0] for row in golden.FIGURE_4]
    breaking = [e for e in epochs if mma.failing_conditions(Mechanism.constant(0.01, 2.0, 100 * e), 100 * e, 1e-5)]
    assert breaking == [200, 260, 300, 400]


@pytest.mark.parametrize("sigma", golden.MMA_CHECK_HOLDS)
def test_its_step_bound_holds_only_in_a_range_of_orders(sigma: float) -> None:
    orders = np.arange(1, 1000.0)
    moments = renyi.log_moments_at(0.01, sigma, orders + 1)
    holds = orders[moments <= np.log1p((0.01 * orders / sigma) ** 2)]
    expected = golden.MMA_CHECK_HOLDS[sigma]
    assert (None if holds.size == 0 else (holds[0], holds[-1])) == expected
    if expected:
        assert holds.size == expected[1] - expected[0] + 1


def test_the_checked_reading_gives_the_sound_value() -> None:
    q, sigma, steps, delta, value, tolerance = golden.MMA_CHECKED
    value_found = checked(Mechanism.constant(q, sigma, steps), steps, delta)
    assert value_found == pytest.approx(value, abs=tolerance)


@pytest.mark.parametrize("steps", [300, 2000, 40_000])
def test_the_checked_reading_is_an_upper_bound(steps: int) -> None:
    mechanism = Mechanism((Release(0.01, 4.0, steps), Release(0.01, 2.0, steps)))
    value_found = checked(mechanism, 2 * steps, 1e-5)
    assert value_found >= ACCOUNTANTS["moments"].curve(mechanism, 2 * steps, 1e-5).epsilon[0] * (1 - 1e-9)


def test_the_checked_reading_refuses_where_no_order_passes() -> None:
    with pytest.raises(ValueError, match="No order passes"):
        checked(Mechanism.constant(0.01, 1.0, 100), 100, 1e-5)
