"""Every number of the papers that the package recomputes."""

import math

import numpy as np
import pytest

from dpcore.privacy import gaussian, renyi
from dpcore.privacy.accountants import ACCOUNTANTS, gdp
from dpcore.privacy.mechanism import Mechanism, Release
from tests import golden
from tests.golden import Anchor, Experiment
from tests.reference import delta_classic, one_step_delta, published_strong


def epsilon(name: str, q: float, sigma: float, steps: int, delta: float = 1e-5) -> float:
    return float(ACCOUNTANTS[name].curve(Mechanism.constant(q, sigma, steps), steps, delta).epsilon[0])


def clt_mu(q: float, sigma: float, steps: float) -> float:
    """mu after a number of steps that need not be whole: it grows with the root of them."""
    return gdp.mu_of(Mechanism.constant(q, sigma, 1)) * math.sqrt(steps)


@pytest.mark.parametrize(
    ("name", "anchor"),
    [
        ("moments", golden.ABADI_MOMENTS),
        ("rdp", golden.ABADI_RDP),
        ("gdp", golden.ABADI_GDP),
        ("moments", golden.TUTORIAL),
    ],
)
def test_the_headline_settings_give_the_published_epsilon(name: str, anchor: Anchor) -> None:
    assert epsilon(name, *anchor[:4]) == pytest.approx(anchor.epsilon, abs=anchor.tolerance)


def test_the_headline_optimum_is_at_moment_19() -> None:
    q, sigma, steps, delta, value, tolerance = golden.ABADI_MOMENTS
    moments = steps * renyi.binomial_log_moments(q, sigma)[:32]
    bounds = (moments - math.log(delta)) / np.arange(1, 33)
    assert int(np.argmin(bounds)) + 1 == 19
    assert bounds.min() == pytest.approx(value, abs=tolerance)


def test_published_strong_composition_is_reproduced_and_corrected() -> None:
    published, corrected = golden.ABADI_STRONG, golden.ABADI_STRONG_CORRECTED
    assert published_strong(*published[:4]) == pytest.approx(published.epsilon, abs=published.tolerance)
    right = published_strong(*corrected[:4], linear=False)
    assert right == pytest.approx(corrected.epsilon, abs=corrected.tolerance)


@pytest.mark.parametrize("anchor", golden.TRAMER_BONEH)
def test_tramer_and_boneh_s_settings_give_epsilon_3(anchor: Anchor) -> None:
    orders = np.arange(2, 65.0)
    moments = anchor.steps * renyi.binomial_log_moments(anchor.q, anchor.sigma)[: orders.size]
    value = renyi.epsilon_classic(moments[None], orders, np.array([anchor.delta]))[0]
    assert value == pytest.approx(anchor.epsilon, abs=anchor.tolerance)


@pytest.mark.parametrize("row", golden.EXPERIMENTS, ids=lambda row: row.name)
def test_the_gdp_paper_s_tables_are_reproduced(row: Experiment) -> None:
    q, steps = row.batch / row.examples, row.epochs * row.examples / row.batch
    mu = clt_mu(q, row.sigma, steps)
    assert mu == pytest.approx(row.mu, abs=golden.EXPERIMENT_TOLERANCE)
    assert gaussian.epsilon_of(row.delta, mu) == pytest.approx(row.epsilon_clt, abs=golden.EXPERIMENT_TOLERANCE)


@pytest.mark.parametrize("row", golden.EXPERIMENTS, ids=lambda row: row.name)
def test_the_gdp_paper_s_moments_column_is_the_classic_conversion_on_its_orders(row: Experiment) -> None:
    orders = np.concatenate([np.arange(11, 110) / 10, 12 + 0.2 * np.arange(240), np.arange(60.0, 100)])
    steps = row.epochs * row.examples / row.batch
    total = steps * renyi.log_moments_at(row.batch / row.examples, row.sigma, orders)
    value = renyi.epsilon_classic(total[None], orders, np.array([row.delta]))[0]
    assert value == pytest.approx(row.epsilon_moments, abs=golden.EXPERIMENT_TOLERANCE)


def test_the_mnist_rows_give_mu_to_three_digits() -> None:
    rows = golden.EXPERIMENTS[:6]
    for row, mu in zip(rows, golden.MNIST_MU, strict=True):
        steps = row.epochs * row.examples / row.batch
        assert clt_mu(row.batch / row.examples, row.sigma, steps) == pytest.approx(mu, abs=6e-4)


def test_the_reference_implementation_s_log_is_reproduced_with_two_calls_a_lot() -> None:
    orders = np.arange(2, 34.0)  # lambda = 1..32
    calls = 20 * renyi.binomial_log_moments(0.01, 4.0)[:32]
    total = calls + renyi.binomial_log_moments(1.0, 7.0)[:32]  # PCA
    for value, delta in golden.README_LOG.items():
        ours = delta_classic(total, orders, value)
        assert ours == pytest.approx(delta, rel=golden.README_LOG_TOLERANCE, abs=0)


def test_pca_and_two_calls_a_lot_add_up_as_releases() -> None:
    pca_and_training = Mechanism((Release(1.0, 7.0), Release(0.01, 4.0, 20_000)))
    value = ACCOUNTANTS["moments"].curve(pca_and_training, pca_and_training.steps, 1e-5).epsilon[0]
    assert value == pytest.approx(golden.TWO_CALLS_AND_PCA, abs=golden.TWO_CALLS_TOLERANCE)


@pytest.mark.parametrize("row", golden.FIGURE_4, ids=lambda row: f"{row[0]} epochs")
def test_figure_4_of_the_pigdo_paper_is_recomputed(row: tuple[float, ...]) -> None:
    epochs, claimed, zcdp, moments, rdp, clt = row
    steps = int(100 * epochs)
    for name, value in (("mma", claimed), ("zcdp", zcdp), ("moments", moments), ("gdp", clt)):
        assert epsilon(name, 0.01, 2.0, steps) == pytest.approx(value, abs=golden.FIGURE_4_TOLERANCE), name
    total = steps * renyi.binomial_log_moments(0.01, 2.0)[None]
    whole = renyi.epsilon_improved(total, np.arange(2, renyi.INTEGER_UP_TO + 1.0), np.array([1e-5]))[0]
    assert whole == pytest.approx(rdp, abs=golden.FIGURE_4_TOLERANCE)
    assert 0.995 * whole <= epsilon("rdp", 0.01, 2.0, steps) <= whole  # fractional orders help a little


@pytest.mark.parametrize(("sigma", "epochs", "claimed", "moments"), golden.SECTION_5_2)
def test_theorem_3_gives_other_numbers_than_its_paper_prints(
    sigma: float, epochs: int, claimed: float, moments: float
) -> None:
    steps = 100 * epochs
    assert epsilon("mma", 0.01, sigma, steps) == pytest.approx(claimed, abs=6e-4)
    total = steps * renyi.binomial_log_moments(0.01, sigma)[None, :32]
    capped = renyi.epsilon_classic(total, np.arange(2, 34.0), np.array([1e-5]))[0]
    assert capped == pytest.approx(moments, abs=6e-4)
    assert epsilon("moments", 0.01, sigma, steps) <= capped


def test_orders_beyond_32_are_tried_where_the_optimum_sits_on_the_boundary() -> None:
    _, _, _, capped = golden.SECTION_5_2[2]  # sigma 8, 30 epochs: the optimum is at lambda = 69
    assert epsilon("moments", 0.01, 8.0, 3000) == pytest.approx(0.334, abs=5e-4)
    assert capped > 0.43


@pytest.mark.parametrize(("q", "sigma", "steps", "claimed", "_exact"), golden.MMA_COUNTEREXAMPLES)
def test_theorem_3_s_counterexamples_have_the_claimed_epsilon(
    q: float, sigma: float, steps: int, claimed: float, _exact: float
) -> None:
    assert epsilon("mma", q, sigma, steps) == pytest.approx(claimed, abs=6e-4)


def test_theorem_3_is_false_at_one_step() -> None:
    claimed, exact_delta = golden.MMA_ONE_STEP
    value = epsilon("mma", 0.01, 2.0, 1)
    assert value == pytest.approx(claimed, rel=2e-3)
    assert one_step_delta(0.01, 2.0, value) == pytest.approx(exact_delta, rel=0.02, abs=0)


@pytest.mark.parametrize("anchor", golden.EXACT + golden.EXACT_MORE, ids=str)
def test_every_upper_bound_lies_above_the_exact_values(anchor: Anchor) -> None:
    mechanism = Mechanism.constant(anchor.q, anchor.sigma, anchor.steps)
    for name, accountant in ACCOUNTANTS.items():
        curve = accountant.curve(mechanism, anchor.steps, anchor.delta)
        if curve.kind in ("upper", "certified"):
            assert curve.epsilon[0] >= anchor.epsilon - anchor.tolerance, name


@pytest.mark.parametrize("anchor", golden.EXACT + golden.EXACT_MORE, ids=str)
def test_the_certified_band_holds_the_exact_values(anchor: Anchor) -> None:
    mechanism = Mechanism.constant(anchor.q, anchor.sigma, anchor.steps)
    band = ACCOUNTANTS["pld"].curve(mechanism, anchor.steps, anchor.delta)
    assert band.lower is not None
    assert band.lower[0] <= anchor.epsilon + anchor.tolerance
    assert band.epsilon[0] >= anchor.epsilon - anchor.tolerance


@pytest.mark.parametrize(("q", "sigma", "steps", "claimed", "exact"), golden.MMA_COUNTEREXAMPLES)
def test_theorem_3_s_counterexamples_are_certified(
    q: float, sigma: float, steps: int, claimed: float, exact: float
) -> None:
    band = ACCOUNTANTS["pld"].curve(Mechanism.constant(q, sigma, steps), steps, 1e-5)
    assert band.lower is not None
    assert claimed < 0.97 * band.lower[0]
    assert band.lower[0] <= exact * 1.002
    assert band.epsilon[0] >= exact * 0.998


def test_the_first_counterexample_spends_nearly_three_times_its_delta() -> None:
    q, sigma, steps, claimed, _ = golden.MMA_COUNTEREXAMPLES[0]
    at_delta = ACCOUNTANTS["pld"].profile(Mechanism.constant(q, sigma, steps), [golden.MMA_COUNTEREXAMPLE_DELTA])
    assert at_delta.epsilon[0] == pytest.approx(claimed, rel=0.01)


@pytest.mark.parametrize("anchor", golden.EXACT[:7], ids=str)
def test_the_central_limit_errs_low_on_the_tables_first_rows(anchor: Anchor) -> None:
    assert epsilon("gdp", *anchor[:4]) < anchor.epsilon


def test_the_central_limit_errs_high_on_the_last_row() -> None:
    anchor = golden.EXACT[7]
    assert epsilon("gdp", *anchor[:4]) > anchor.epsilon + 3
