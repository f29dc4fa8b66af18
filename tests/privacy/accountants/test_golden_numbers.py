"""Every number of the papers that the package recomputes."""

import math

import numpy as np
import pytest

from dpcore.privacy import gaussian, renyi
from dpcore.privacy.accountants import ACCOUNTANTS, gdp
from dpcore.privacy.mechanism import Mechanism, Release
from tests import golden
from tests.reference import delta_classic, one_step_delta


def epsilon(name: str, q: float, sigma: float, steps: int, delta: float = 1e-5) -> float:
    return float(
        ACCOUNTANTS[name].curve(Mechanism.constant(q, sigma, steps), steps, delta).epsilon[0]
    )


def clt_mu(q: float, sigma: float, steps: float) -> float:
    """mu after a number of steps that need not be whole: it grows with the root of them."""
    return gdp.mu_of(Mechanism.constant(q, sigma, 1)) * math.sqrt(steps)


def test_the_headline_settings_give_the_published_epsilon() -> None:
    for name, anchor in [
        ("moments", golden.ABADI_MOMENTS),
        ("rdp", golden.ABADI_RDP),
        ("gdp", golden.ABADI_GDP),
        ("moments", golden.TUTORIAL),
    ]:
        assert epsilon(name, *anchor[:4]) == pytest.approx(anchor.epsilon, abs=anchor.tolerance), (
            name,
            anchor,
        )
    q, sigma, steps, delta, value, tolerance = golden.ABADI_MOMENTS
    moments = steps * renyi.binomial_log_moments(q, sigma)[:32]
    bounds = (moments - math.log(delta)) / np.arange(1, 33)
    assert int(np.argmin(bounds)) + 1 == 19
    assert bounds.min() == pytest.approx(value, abs=tolerance)


def test_tramer_and_boneh_s_settings_give_epsilon_3() -> None:
    for anchor in golden.TRAMER_BONEH:
        orders = np.arange(2, 65.0)
        moments = anchor.steps * renyi.binomial_log_moments(anchor.q, anchor.sigma)[: orders.size]
        value = renyi.epsilon_classic(moments[None], orders, np.array([anchor.delta]))[0]
        assert value == pytest.approx(anchor.epsilon, abs=anchor.tolerance), anchor


def test_the_gdp_paper_s_tables_are_reproduced() -> None:
    for row in golden.EXPERIMENTS:
        q, steps = row.batch / row.examples, row.epochs * row.examples / row.batch
        mu = clt_mu(q, row.sigma, steps)
        assert mu == pytest.approx(row.mu, abs=golden.EXPERIMENT_TOLERANCE), row
        assert gaussian.epsilon_of(row.delta, mu) == pytest.approx(
            row.epsilon_clt, abs=golden.EXPERIMENT_TOLERANCE
        )
    rows = golden.EXPERIMENTS[:6]
    for row, mu in zip(rows, golden.MNIST_MU, strict=True):
        steps = row.epochs * row.examples / row.batch
        assert clt_mu(row.batch / row.examples, row.sigma, steps) == pytest.approx(mu, abs=6e-4)


def test_the_gdp_paper_s_moments_column_is_the_classic_conversion_on_its_orders() -> None:
    for row in golden.EXPERIMENTS:
        orders = np.concatenate(
            [np.arange(11, 110) / 10, 12 + 0.2 * np.arange(240), np.arange(60.0, 100)]
        )
        steps = row.epochs * row.examples / row.batch
        total = steps * renyi.log_moments_at(row.batch / row.examples, row.sigma, orders)
        value = renyi.epsilon_classic(total[None], orders, np.array([row.delta]))[0]
        assert value == pytest.approx(row.epsilon_moments, abs=golden.EXPERIMENT_TOLERANCE), row


def test_the_reference_implementation_s_log_is_reproduced_with_two_calls_a_lot_and_pca() -> None:
    orders = np.arange(2, 34.0)  # lambda = 1..32
    calls = 20 * renyi.binomial_log_moments(0.01, 4.0)[:32]
    total = calls + renyi.binomial_log_moments(1.0, 7.0)[:32]  # PCA
    for value, delta in golden.README_LOG.items():
        ours = delta_classic(total, orders, value)
        assert ours == pytest.approx(delta, rel=golden.README_LOG_TOLERANCE, abs=0)
    pca_and_training = Mechanism((Release(1.0, 7.0), Release(0.01, 4.0, 20_000)))
    value = ACCOUNTANTS["moments"].curve(pca_and_training, pca_and_training.steps, 1e-5).epsilon[0]
    assert value == pytest.approx(golden.TWO_CALLS_AND_PCA, abs=golden.TWO_CALLS_TOLERANCE)


def test_figure_4_of_the_pigdo_paper_is_recomputed() -> None:
    for row in golden.FIGURE_4:
        epochs, claimed, zcdp, moments, rdp, clt = row
        steps = int(100 * epochs)
        for name, value in (("mma", claimed), ("zcdp", zcdp), ("moments", moments), ("gdp", clt)):
            assert epsilon(name, 0.01, 2.0, steps) == pytest.approx(
                value, abs=golden.FIGURE_4_TOLERANCE
            ), name
        total = steps * renyi.binomial_log_moments(0.01, 2.0)[None]
        whole = renyi.epsilon_improved(
            total, np.arange(2, renyi.INTEGER_UP_TO + 1.0), np.array([1e-5])
        )[0]
        assert whole == pytest.approx(rdp, abs=golden.FIGURE_4_TOLERANCE), row
        # Fractional orders help a little.
        assert 0.995 * whole <= epsilon("rdp", 0.01, 2.0, steps) <= whole, row


def test_theorem_3_gives_other_numbers_than_its_paper_prints() -> None:
    for sigma, epochs, claimed, moments in golden.SECTION_5_2:
        steps = 100 * epochs
        assert epsilon("mma", 0.01, sigma, steps) == pytest.approx(claimed, abs=6e-4), (
            sigma,
            epochs,
            claimed,
        )
        total = steps * renyi.binomial_log_moments(0.01, sigma)[None, :32]
        capped = renyi.epsilon_classic(total, np.arange(2, 34.0), np.array([1e-5]))[0]
        assert capped == pytest.approx(moments, abs=6e-4), (sigma, epochs, claimed)
        assert epsilon("moments", 0.01, sigma, steps) <= capped, (sigma, epochs, claimed)
    _, _, _, capped = golden.SECTION_5_2[2]  # sigma 8, 30 epochs: the optimum is at lambda = 69
    assert epsilon("moments", 0.01, 8.0, 3000) == pytest.approx(0.334, abs=5e-4)
    assert capped > 0.43


def test_theorem_3_s_counterexamples_are_certified() -> None:
    for q, sigma, steps, claimed, _exact in golden.MMA_COUNTEREXAMPLES:
        assert epsilon("mma", q, sigma, steps) == pytest.approx(claimed, abs=6e-4), (
            q,
            sigma,
            steps,
        )
    for q, sigma, steps, claimed, exact in golden.MMA_COUNTEREXAMPLES:
        band = ACCOUNTANTS["pld"].curve(Mechanism.constant(q, sigma, steps), steps, 1e-5)
        assert claimed < 0.97 * band.lower[0], (q, sigma, steps)
        assert band.lower[0] <= exact * 1.002, (q, sigma, steps)
        assert band.epsilon[0] >= exact * 0.998, (q, sigma, steps)
    claimed, exact_delta = golden.MMA_ONE_STEP
    value = epsilon("mma", 0.01, 2.0, 1)
    assert value == pytest.approx(claimed, rel=2e-3)
    assert one_step_delta(0.01, 2.0, value) == pytest.approx(exact_delta, rel=0.02, abs=0)
    q, sigma, steps, claimed, _ = golden.MMA_COUNTEREXAMPLES[0]
    at_delta = ACCOUNTANTS["pld"].profile(
        Mechanism.constant(q, sigma, steps), [golden.MMA_COUNTEREXAMPLE_DELTA]
    )
    assert at_delta.epsilon[0] == pytest.approx(claimed, rel=0.01)


def test_every_upper_bound_lies_above_the_exact_values() -> None:
    for anchor in golden.EXACT + golden.EXACT_MORE:
        mechanism = Mechanism.constant(anchor.q, anchor.sigma, anchor.steps)
        for name, accountant in ACCOUNTANTS.items():
            curve = accountant.curve(mechanism, anchor.steps, anchor.delta)
            if curve.kind in ("upper", "certified"):
                assert curve.epsilon[0] >= anchor.epsilon - anchor.tolerance, name
