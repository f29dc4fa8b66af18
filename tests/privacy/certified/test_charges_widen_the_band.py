"""Whatever is charged for errors moves a lower bound down and an upper bound up, and by no less than the error."""

import numpy as np
import pytest

from dpcore.privacy.certified import log_moments, rounding
from dpcore.privacy.certified.composed_loss import ComposedLoss, composed_loss
from dpcore.privacy.certified.epsilon_bounds import epsilon_bounds
from dpcore.privacy.certified.loss_law import LossLaw
from dpcore.privacy.mechanism import Mechanism
from tests.privacy.certified.test_compose import convolved, moments_of

STEPS = Mechanism.constant(0.02, 1.0, 200)
AT, DELTA = np.array([50, 200]), np.array([1e-4, 1e-4])


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (rounding, "ALLOWANCE", 1e-2),
        (rounding, "MASS", 1e-5),
        (rounding, "POSITION", 1e-6),
        (rounding, "UNIT", 1e-10),
        (log_moments, "CUT", 14.0),
    ],
    ids=lambda each: str(getattr(each, "__name__", each)),
)
def test_a_larger_error_lowers_the_lower_bound_and_raises_the_upper_one(
    module: object, name: str, value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    lower, upper, _ = epsilon_bounds(STEPS, AT, DELTA)
    monkeypatch.setattr(module, name, value)
    low, high, _ = epsilon_bounds(STEPS, AT, DELTA)
    assert np.all(low < lower)
    assert np.all(upper < high)


def law(**errors: float) -> ComposedLoss:
    """Forty nodes from -1.03 on, a few of them positive, and a little infinite loss."""
    mass = np.random.default_rng(8).uniform(0.5, 1.0, 40)
    return ComposedLoss(
        -1.03, 0.07, 0.99 * mass / mass.sum(), 0.01, errors.get("error", 0.0), errors.get("misplaced", 0.0)
    )


def exact_delta(composed: ComposedLoss, epsilon: float) -> float:
    losses = composed.start + composed.mesh * np.arange(composed.mass.size)
    return float(composed.infinite + composed.mass @ np.maximum(-np.expm1(epsilon - losses), 0.0))


def test_pairs_are_the_hockey_stick_at_0_and_at_every_positive_loss() -> None:
    epsilon, delta = law().pairs()
    losses = law().start + law().mesh * np.arange(40)
    np.testing.assert_allclose(epsilon, [0.0, *losses[losses > 0]], rtol=1e-14)
    exact = [exact_delta(law(), each) for each in epsilon]
    np.testing.assert_allclose(delta, exact, rtol=1e-12)
    assert np.all(delta >= exact)


def test_pairs_are_charged_for_what_a_range_of_nodes_can_err_and_for_where_it_lies() -> None:
    epsilon, delta = law().pairs()
    later, larger = law(error=1e-4, misplaced=1e-3).pairs()
    np.testing.assert_allclose(larger - delta, 1e-4, rtol=1e-9)
    np.testing.assert_allclose(later - epsilon, 1e-3, rtol=1e-9)
    assert np.all(law(error=2.0).pairs()[1] == 1)


def test_tests_reject_where_the_loss_is_at_least_a_positive_node() -> None:
    alpha, power = law().tests()
    losses = law().start + law().mesh * np.arange(40)
    positive = np.flatnonzero(losses > 0)
    tails = [law().mass[node:].sum() for node in positive]
    others = [(law().mass[node:] * np.exp(-losses[node:])).sum() for node in positive]
    np.testing.assert_allclose(power, tails, rtol=1e-12)
    np.testing.assert_allclose(alpha, others, rtol=1e-12)
    assert np.all(power < tails)
    assert np.all(alpha > others)


def test_tests_are_charged_for_what_a_range_of_nodes_can_err_and_for_where_it_lies() -> None:
    alpha, power = law().tests()
    losses = law().start + law().mesh * np.arange(40)
    losses = losses[losses > 0]
    charged, less = law(error=1e-4, misplaced=1e-3).tests()
    np.testing.assert_allclose(power - less, 1e-4, rtol=1e-9)
    np.testing.assert_allclose(charged, np.exp(1e-3) * (alpha + 1e-4 * np.exp(-losses)), rtol=1e-9)
    assert np.all(law(error=2.0).tests()[1] == 0)
    assert np.all(law(error=200.0).tests()[0] == 1)


def test_sums_of_masses_are_charged_five_units_for_each_term(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounding, "UNIT", 0.0)
    (_, delta), (alpha, power) = law().pairs(), law().tests()
    monkeypatch.setattr(rounding, "UNIT", 1e-6)
    (_, more), (larger, less) = law().pairs(), law().tests()
    np.testing.assert_allclose(more - delta, 5 * delta.size * 1e-6 * np.append(power[:1], power), rtol=1e-8)
    np.testing.assert_allclose(power - less, 5 * power.size * 1e-6 * power, rtol=1e-8)
    np.testing.assert_allclose(larger - alpha, 5 * alpha.size * 1e-6 * alpha, rtol=1e-8)


def test_a_law_of_positive_losses_alone_counts_all_of_them() -> None:
    positive = ComposedLoss(0.05, 0.1, np.full(10, 0.09), 0.1, 0.0, 0.0)
    epsilon, delta = positive.pairs()
    np.testing.assert_allclose(delta, [exact_delta(positive, each) for each in epsilon], rtol=1e-12)
    assert epsilon.size == 11
    assert positive.tests()[1][0] == pytest.approx(0.9, abs=1e-12)


def test_a_law_without_positive_losses_has_tests_at_its_last_node_only() -> None:
    negative = ComposedLoss(-3.0, 0.1, np.full(10, 0.1), 0.0, 0.0, 0.0)
    alpha, power = negative.tests()
    assert alpha.size == power.size == 1
    assert power[0] == pytest.approx(0.1)


@pytest.mark.parametrize("cut", [2.0, 6.0, 46.0])
@pytest.mark.parametrize("counts", [(12, 0), (9, 4)])
def test_the_law_of_all_steps_is_the_convolution_up_to_its_error(
    counts: tuple[int, int], cut: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = LossLaw(-0.4, 0.2, np.array([0.03, 0.2, 0.5, 0.17, 0.1]) * (1 - 1e-3), 1e-3)
    two = LossLaw(-0.6, 0.2, np.array([0.1, 0.1, 0.3, 0.0, 0.4, 0.1]) * (1 - 2e-4), 2e-4)
    pairs = [(one, counts[0]), (two, counts[1])]
    losses, mass, _ = convolved([(LossLaw(law.offset, law.mesh, law.mass, 0.0), count) for law, count in pairs])
    infinite = 1 - (1 - 1e-3) ** counts[0] * (1 - 2e-4) ** counts[1]
    moments = moments_of(one, two)
    monkeypatch.setattr(log_moments, "CUT", cut)
    whole = composed_loss([one, two], np.array(counts), np.array([0.5, 0.5]), moments)
    assert whole.infinite == pytest.approx(infinite, rel=1e-12)
    assert whole.error < 1e-11 or cut < 46
    place = np.rint((losses - whole.start) / whole.mesh).astype(int)
    inside = (place >= 0) & (place < whole.mass.size)
    exact = np.zeros(whole.mass.size)
    exact[place[inside]] = mass[inside]
    assert mass[~inside].sum() < 1e-15
    sums = np.insert(np.cumsum(whole.mass - exact), 0, 0.0)  # the error of a range is a difference of two of these
    assert np.ptp(sums) <= whole.error


def test_a_lattice_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    one = LossLaw(-0.4, 0.2, np.array([0.1, 0.2, 0.4, 0.2, 0.1]), 0.0)
    assert composed_loss([one], np.array([9]), np.ones(1), moments_of(one)).mass.size > 30
    monkeypatch.setattr(log_moments, "LONGEST", 30)
    with pytest.raises(RuntimeError, match="too long"):
        composed_loss([one], np.array([9]), np.ones(1), moments_of(one))
