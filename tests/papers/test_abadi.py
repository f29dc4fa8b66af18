"""Paper 002 against oracles that share no code with the package, and its entries and figures."""

import math

import numpy as np
import pytest

from dpcore.papers.abadi.rows import (
    LOG,
    MAX_EPOCHS,
    NOISE,
    SLIDES,
    WORDS,
    certified_epochs,
    coded_epochs,
    excess,
    logged_delta,
    with_pca,
)
from dpcore.papers.catalogue import PAPERS
from dpcore.papers.comparison import Outcome, compared
from dpcore.privacy.accountants import ACCOUNTANTS
from tests import golden, reference
from tests.papers.test_findings import told

PAPER = PAPERS["002"]
DRAWINGS = {each.place: each for each in PAPER.drawings}
# Epochs that the accountant of the reference code affords, DP-PCA included: one call for each lot,
# and two.
AFFORDED = ((29, 14), (215, 107), (706, 353))


def integrated(q: float, sigma: float) -> np.ndarray:
    """The code's 32 log-moments, integrated."""
    if q == 1:
        return np.array([k * (k + 1) / (2 * sigma**2) for k in range(1, 33)])
    return np.array([reference.integrated_log_moment(q, sigma, k) for k in range(1, 33)])


def spent(total: np.ndarray, delta: float = 1e-5) -> float:
    return float(np.min((total - math.log(delta)) / np.arange(1, 33)))


def test_the_two_epsilons_of_the_slides_follow_from_their_formulas():
    moments, strong = SLIDES
    assert moments.ours() == pytest.approx(spent(10_000 * integrated(0.01, 4.0)), rel=1e-9)
    assert strong.ours() == pytest.approx(
        reference.published_strong(0.01, 4.0, 10_000, 1e-5), rel=1e-12
    )
    assert [compared("002", each).outcome for each in (moments, strong)] == 2 * [Outcome.REPRODUCED]


def test_the_codes_log_is_the_tail_bound_of_twenty_calls_and_of_dp_pca_and_not_of_ten():
    of_call = integrated(0.01, 4.0)
    of_pca = integrated(1.0, 7.0)
    orders = np.arange(2, 34)
    for row in WORDS["log"]["rows"]:
        epsilon = row["epsilon"]
        printed = row["printed"]
        bound = reference.delta_classic(20 * of_call + of_pca, orders, epsilon)
        of_ten = reference.delta_classic(10 * of_call + of_pca, orders, epsilon)
        assert logged_delta(epsilon) == pytest.approx(bound, rel=1e-9, abs=0), epsilon
        assert logged_delta(epsilon) == pytest.approx(float(printed), rel=2e-5, abs=0), epsilon
        assert of_ten < 0.999 * float(printed)
        if epsilon in golden.README_LOG:
            assert float(printed) == golden.README_LOG[epsilon]


def test_only_the_digit_that_the_code_rounds_wrong_differs_and_says_why():
    compared_entries = [compared("002", each) for each in LOG]
    (off,) = [each for each in compared_entries if each.outcome is Outcome.DIFFERS]
    assert off.entry.theirs == 8.2242e-24
    assert "1.6 to 4.8 millionths" in off.why
    total = 20 * integrated(0.01, 4.0) + integrated(1.0, 7.0)
    at_2 = math.exp(total[31] - 32 * 2.0)
    at_8 = math.exp(total[31] - 32 * 8.0)
    least = math.log(8.22415e-24 / at_2)
    most = math.log(3.39275e-107 / at_8)
    assert excess() == pytest.approx((least, most), rel=1e-3)


def test_the_epochs_that_the_code_affords_are_the_last_within_epsilon():
    for level, epochs in zip(NOISE, AFFORDED, strict=True):
        sigma = level.sigma
        pca_sigma = level.pca_sigma
        epsilon = level.stop_epsilon
        step = integrated(0.01, sigma)
        first = integrated(1.0, pca_sigma)
        for calls, most in zip((1, 2), epochs, strict=True):
            assert coded_epochs(sigma, pca_sigma, epsilon, 1e-5, calls) == most
            within = spent(100 * calls * most * step + first)
            beyond = spent(100 * calls * (most + 1) * step + first)
            assert within <= epsilon < beyond


def test_the_finding_tells_the_most_epochs_that_keep_epsilon():
    counts = [int(each) for each in told("002", "Noise (8, 16)")]
    one_call = [once for once, _ in AFFORDED]
    two_calls = [twice for _, twice in AFFORDED]
    assert counts[6:] == one_call + two_calls
    layers_of_count = (1, 1, 1, 2, 2, 2)
    for most, layers, noise in zip(counts[:6], layers_of_count, NOISE * 2, strict=True):
        pca = (1.0, noise.pca_sigma, 1)
        sigma = noise.sigma / math.sqrt(layers)
        within = reference.exact_epsilon(pca, (0.01, sigma, 100 * most))
        beyond = reference.exact_epsilon(pca, (0.01, sigma, 102 * most))
        assert within <= noise.stop_epsilon * (1 + 2e-4)  # the library's mesh is that coarse
        assert beyond > noise.stop_epsilon


def test_nothing_is_afforded_where_dp_pca_alone_costs_more_and_no_more_than_is_looked_at():
    assert certified_epochs(8.0, 16.0, 0.05, 1e-5, 1) == coded_epochs(8.0, 16.0, 0.05, 1e-5, 1) == 0
    assert (
        certified_epochs(8.0, 16.0, 50.0, 1e-5, 1)
        == coded_epochs(8.0, 16.0, 50.0, 1e-5, 1)
        == MAX_EPOCHS
    )


def test_two_layers_of_one_lot_cost_more_than_two_calls():
    together = with_pca(4.0, 7.0, 10_000, layers=2)
    apart = spent(20_000 * integrated(0.01, 4.0) + integrated(1.0, 7.0))
    assert apart == pytest.approx(golden.TWO_CALLS_AND_PCA, abs=golden.TWO_CALLS_TOLERANCE)
    assert together.releases[1].sigma == pytest.approx(4 / math.sqrt(2))
    assert (
        apart
        < ACCOUNTANTS["moments"].curve(together, together.steps, 1e-5).last.value
        < 1.05 * apart
    )


def test_figures_3_and_6_cost_what_their_moments_say():
    for line, level in zip(DRAWINGS["Figure 3"].lines(), NOISE, strict=True):
        of_pca = integrated(1.0, level.pca_sigma)
        total = 100 * line.x[-1] * integrated(0.01, level.sigma) + of_pca
        assert line.y[-1] == pytest.approx(spent(total), rel=1e-9)
    for line, q in zip(DRAWINGS["Figure 6"].lines(), (0.04, 0.08), strict=True):
        assert line.y[-1] == pytest.approx(spent(line.x[-1] / q * integrated(q, 6.0)), rel=1e-9)
    assert all(np.isfinite(line.y).all() for drawing in PAPER.drawings for line in drawing.lines())
