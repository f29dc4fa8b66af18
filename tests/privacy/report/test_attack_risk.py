"""Numbers of an attacker: closed forms for G_mu, proven bounds around them, and what they mean."""

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from riskcal.analysis import get_bayes_risk_for_mu
from scipy.stats import norm

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.accountants.gdp import mu_of
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.attack_risk import Between, advantage, bayes_risk, mu_above, posterior, risks_of
from dpcore.privacy.tradeoff import Gaussian, Pairs, Points
from tests import golden

MUS = [0.05, 0.5, 1.0, 3.0]


def holds(bounds: Between, value: float, slack: float = 0.0) -> bool:
    return bounds.lower - slack <= value <= bounds.upper + slack


def test_of_a_plain_gaussian_every_number_is_held() -> None:
    for mu in MUS:
        found = risks_of(tradeoff_bounds(Mechanism.constant(1.0, 2 / mu, 4)), 1e-5)
        assert holds(found.advantage, 2 * norm.cdf(mu / 2) - 1), mu
        assert holds(found.error, 2 * norm.cdf(-mu / 2)), mu
        for rate, bounds in found.true_positives.items():
            assert holds(bounds, norm.cdf(norm.ppf(rate) + mu)), mu
            assert bounds.upper - bounds.lower < 1e-3, mu
        assert holds(found.mu, mu), mu
        assert found.mu.upper < 1.01 * mu + 1e-3, mu
    for sigma, steps in [(1 / 12, 1), (0.05, 1), (0.2, 5000)]:
        found = risks_of(tradeoff_bounds(Mechanism.constant(1.0, sigma, steps)), 1e-5)
        assert found.true_positives[0.01].lower < 1, (sigma, steps)  # the exact one is 1 - 2e-22 and more
        assert 8 < found.mu.lower <= math.sqrt(steps) / sigma, (sigma, steps)


def test_without_sampling_mu_is_held_however_large() -> None:
    for steps, mu in product([1, 7], [8.0, 16.5, 20.0, 75.5, 1e6]):
        mechanism = Mechanism.constant(1.0, math.sqrt(steps) / mu, steps)
        found = risks_of(tradeoff_bounds(mechanism), 1e-5).mu
        with mpmath.workdps(60):
            assert found.lower <= mpmath.sqrt(steps) / mpmath.mpf(mechanism.releases[0].sigma) <= found.upper
        assert found.upper - found.lower < 1e-11 * mu, (steps, mu)


def test_the_bayes_risk_agrees_with_riskcal_and_with_a_search() -> None:
    for prior, mu in product([0.01, 0.3, 0.5, 0.9], MUS):
        alpha = norm.cdf(np.linspace(-9, 9, 20001))
        searched = np.min((1 - prior) * alpha + prior * Gaussian(mu).beta(alpha))
        assert bayes_risk(Gaussian(mu), prior) == pytest.approx(searched, abs=1e-6), (prior, mu)
        assert bayes_risk(Gaussian(mu), prior) == pytest.approx(float(get_bayes_risk_for_mu(mu, prior)), abs=1e-6)
    assert bayes_risk(Gaussian(1.0), 0.0) == bayes_risk(Gaussian(1.0), 1.0) == 0.0
    assert bayes_risk(Gaussian(0.0), 0.2) == pytest.approx(0.2)
    assert bayes_risk(Gaussian(math.inf), 0.2) == 0.0


@pytest.mark.parametrize("f", [Pairs([0.2, 1.0, 2.0], [0.1, 0.03, 1e-3]), Points([0.01, 0.2], [0.05, 0.5])])
def test_no_smaller_mu_lies_below_the_curve(f: Pairs | Points) -> None:
    mu = mu_above(f, 1e-4)
    alpha = np.geomspace(1e-4, 0.5, 5000)
    alpha = alpha[f.beta(alpha) >= alpha]  # the rest is the mirror image
    assert np.all(Gaussian(mu).beta(alpha) <= f.beta(alpha) + 1e-12)
    assert np.any(Gaussian(mu * 0.999).beta(alpha) > f.beta(alpha))


def test_without_a_smallest_error_subsampling_would_count_for_nothing() -> None:
    # One step: mu of the certified band grows towards 1/sigma as smaller errors are let in, far above the CLT's.
    mechanism = Mechanism.constant(0.01, 0.5, 1)
    grown = [risks_of(tradeoff_bounds(mechanism), delta).mu.lower for delta in (1e-2, 1e-4, 1e-6)]
    assert grown[0] < grown[1] < grown[2] < 2.0


def test_the_posterior_is_passed_no_more_often_than_promised() -> None:
    for mu, prior in product([0.25, 1.0, 3.0], [0.1, 0.5]):
        chance = 1e-3
        most = posterior(Gaussian(mu), prior, chance)
        loss = math.log(most / (1 - most)) - math.log(prior / (1 - prior))
        passed = norm.sf((loss - mu**2 / 2) / mu)
        assert passed <= chance, (mu, prior)
        exact = mu * norm.isf(chance) + mu**2 / 2  # Markov's inequality costs something, but not much
        assert loss < exact * 1.35 + 0.05, (mu, prior)
    assert posterior(Gaussian(0.0), 0.3, 1e-5) == pytest.approx(0.3)
    assert posterior(Gaussian(1.0), 0.0, 1e-5) == 0.0
    assert posterior(Pairs([], []), 0.5, 1e-5) == 1.0


def test_the_pairs_of_an_accountant_allow_no_less_than_the_certified_band() -> None:
    mechanism, deltas = Mechanism.constant(0.01, 2.0, 1000), np.geomspace(1e-8, 0.3, 40)
    certain = risks_of(tradeoff_bounds(mechanism), 1e-5).advantage
    for name in ("moments", "rdp"):
        curve = ACCOUNTANTS[name].profile(mechanism, deltas)
        assert advantage(Pairs(curve.epsilon, curve.delta)) >= certain.lower


def test_paper_004s_error_sums_come_out_and_the_certified_one_is_near_the_clts() -> None:
    row = golden.EXPERIMENTS[1]
    mechanism = Mechanism.constant(row.batch / row.examples, row.sigma, int(row.epochs * row.examples / row.batch))
    pair = ACCOUNTANTS["moments"].curve(mechanism, [mechanism.steps], row.delta)
    by_moments = 1 - advantage(Pairs(pair.epsilon, pair.delta))
    by_clt = 1 - advantage(Gaussian(row.mu))  # the paper's sum is that of its mu as printed
    assert by_clt == pytest.approx(golden.ERROR_SUM_CLT, abs=golden.ERROR_SUM_TOLERANCE)
    assert by_moments == pytest.approx(golden.ERROR_SUM_MOMENTS, abs=golden.ERROR_SUM_TOLERANCE)
    certain = risks_of(tradeoff_bounds(mechanism), row.delta).error
    unrounded = 1 - advantage(Gaussian(mu_of(mechanism)))
    # In the middle of the curve the CLT promises a little less than is true; its epsilon, from the tail, more.
    assert by_moments < unrounded < certain.lower <= certain.upper < unrounded + 0.002


@pytest.mark.parametrize(
    "call",
    [lambda: risks_of(tradeoff_bounds(Mechanism.constant(1.0, 1.0, 1)), 0.0), lambda: bayes_risk(Gaussian(1.0), 1.5)],
)
def test_bad_values_are_named(call) -> None:
    with pytest.raises(ValueError, match=r"Expected (delta|prior)="):
        call()
