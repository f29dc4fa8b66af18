"""The predicted laws of scores: closed forms, simulation, the certified curve above them, and the
limits of audits.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from dpcore.audit.bounds import score_laws as score_laws_module
from dpcore.audit.bounds.binomial import lower_epsilon
from dpcore.audit.bounds.one_run import (
    audit_one_run,
    expected_guesses,
    expected_of_one_run,
    most_of_one_run,
    one_run_p_value,
    ranked,
)
from dpcore.audit.bounds.one_run_tradeoff import NoiseFamily, audit_tradeoff
from dpcore.audit.bounds.score_laws import ScoreLaws, score_laws, step_score
from dpcore.audit.bounds.two_run import audit_two_run
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism, Release

WHOLE = Mechanism.constant(512 / 60_000, 1.068, 4688)
DELTA = 1e-5


def simulated(
    mechanism: Mechanism, included: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """Scores of canaries of orthogonal gradients of the clipping norm, step by step."""
    score = np.zeros(included.shape)
    for release in mechanism.releases:
        for _ in range(release.count):
            drawn = included & (generator.random(included.shape) < release.q)
            score += step_score(
                generator.normal(0, release.sigma, included.shape) + drawn, release.q, release.sigma
            )
    return score


def moments(laws: ScoreLaws) -> list[tuple[float, float]]:
    means = [float(law @ laws.score) for law in (laws.outside, laws.inside)]
    return [
        (m, float(law @ (laws.score - m) ** 2))
        for m, law in zip(means, (laws.outside, laws.inside), strict=True)
    ]


def test_the_score_of_a_step_is_the_log_likelihood_ratio() -> None:
    x = np.linspace(-4, 5, 50)
    for q, sigma in [(1.0, 0.7), (0.2, 1.3), (1e-3, 0.5)]:
        without, there = stats.norm.pdf(x, 0, sigma), stats.norm.pdf(x, 1, sigma)
        np.testing.assert_allclose(
            step_score(x, q, sigma), np.log((1 - q) + q * there / without), atol=1e-12
        )


def test_without_sampling_the_laws_are_normal() -> None:
    laws = score_laws(Mechanism((Release(1.0, 2.0, 3), Release(1.0, 1.0, 1))))
    variance = 3 / 4 + 1
    assert np.ravel(moments(laws)) == pytest.approx(
        [-variance / 2, variance, variance / 2, variance], abs=2e-3
    )
    density = laws.inside / laws.mesh
    np.testing.assert_allclose(
        density, stats.norm.pdf(laws.score, variance / 2, math.sqrt(variance)), atol=1e-3
    )


def test_with_sampling_they_are_those_of_simulated_canaries() -> None:
    for whole in (
        Mechanism.constant(0.1, 0.8, 30),
        Mechanism((Release(0.3, 1.0, 5), Release(0.05, 0.6, 9))),
    ):
        laws, generator = score_laws(whole), np.random.default_rng(0)
        for law, side in ((laws.outside, False), (laws.inside, True)):
            drawn = simulated(whole, np.full(20_000, side), generator)
            below = np.interp(drawn, laws.score + laws.mesh / 2, np.cumsum(law))
            # 0.1 %.
            assert stats.kstest(below, "uniform").statistic < 1.95 / math.sqrt(20_000), (
                whole,
                side,
            )


def test_the_ratio_of_the_two_laws_is_what_the_score_says() -> None:
    laws = score_laws(Mechanism.constant(0.1, 0.8, 30))
    much = (laws.outside > 1e-6) & (laws.inside > 1e-6)
    ratio = np.log(laws.inside[much] / laws.outside[much])
    np.testing.assert_allclose(ratio, laws.score[much], atol=0.02)


@pytest.mark.parametrize(
    "whole", [WHOLE, Mechanism.constant(0.1, 0.8, 30), Mechanism.constant(0.5, 3.0, 200)]
)
def test_the_curve_of_theory_lies_under_the_certified_one_and_touches_it(whole: Mechanism) -> None:
    laws, band = score_laws(whole), tradeoff_bounds(whole)
    false, true = laws.shares_above()
    kept = (false > 1e-4) & (false < 0.5)
    certified = band.lower.power(false[kept])
    assert np.all(true[kept] <= certified + 2e-3)
    assert np.max(certified - true[kept]) < 0.03  # which is that of the worse direction


def test_a_transform_that_is_zero_somewhere_is_a_law_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for size, steps in itertools.product((2, 512), (1, 2, 150)):
        coin = np.zeros(size)
        # At the highest frequency the two cancel: of two nodes exactly, by whatever transform.
        coin[:2] = 0.5
        monkeypatch.setattr(score_laws_module, "_cells", lambda *_, inside, coin=coin: coin)
        whole = Mechanism.constant(1.0, 1.0, steps)
        law = score_laws_module._composed(whole, 1.0, size, 0, inside=False)
        expected = [0.5, 0.5] if size == 2 else stats.binom.pmf(np.arange(size), steps, 0.5)
        np.testing.assert_allclose(law, expected, atol=1e-12)


def test_a_lattice_that_would_be_too_long_is_an_error() -> None:
    with pytest.raises(ValueError, match="nodes="):
        score_laws(Mechanism((Release(1.0, 1e4, 1), Release(1.0, 0.05, 1))))


def test_guesses_are_right_as_often_as_expected() -> None:
    whole = Mechanism.constant(1.0, 2.0, 4)
    laws, generator = score_laws(whole), np.random.default_rng(1)
    for inside, outside in [(100, 0), (50, 50), (1000, 1000), (300, 100)]:
        expected = expected_guesses(laws, 2000, inside, outside).correct
        right = []
        for _ in range(40):
            included = generator.random(2000) < 0.5
            scores = generator.normal(np.where(included, 0.5, -0.5), 1.0)
            right.append(ranked(scores, included, inside, outside).correct)
        assert np.mean(right) == pytest.approx(expected, abs=1 + 4 * np.std(right) / math.sqrt(40))


def test_nobody_shows_more_than_the_limit() -> None:
    included, most = np.random.default_rng(0).random(300) < 0.5, most_of_one_run(300, DELTA)
    assert audit_one_run(included * 1.0, included, DELTA).epsilon <= most
    for less in (100, 200, 299):
        assert one_run_p_value(300, less, less, most, DELTA) >= 0.05 * (1 - 1e-3)


def test_more_canaries_are_expected_to_show_more_but_less_than_it_costs() -> None:
    laws = score_laws(WHOLE)
    found = [expected_of_one_run(laws, each, DELTA) for each in (200, 1000, 5000)]
    assert found == sorted(found)
    assert found[-1] < lower_epsilon(WHOLE, DELTA)


# Simulated elsewhere with other numbers of guesses: one run .92, its f-DP form 1.57, Clopper and
# Pearson .87 at 5,000 canaries; .06, .04 and .37 at 1,000, where choosing the number of guesses
# well shows more.
@pytest.mark.long
def test_what_the_best_canaries_show_of_three() -> None:
    for canaries, one, curve, apart in [
        (1000, (0.3, 1.3), (0.6, 1.7), (0.0, 0.9)),
        (5000, (0.9, 1.4), (1.2, 1.8), (0.4, 1.4)),
    ]:
        generator = np.random.default_rng(7)
        included = generator.random(canaries) < 0.5
        scores = simulated(WHOLE, included, generator)
        assert one[0] < audit_one_run(scores, included, DELTA).epsilon < one[1]
        assert (
            curve[0]
            < audit_tradeoff(scores, included, NoiseFamily(WHOLE), DELTA).epsilon
            < curve[1]
        )
        counted = audit_two_run(scores[included], scores[~included], DELTA, independent=False)
        assert apart[0] <= counted.epsilon < apart[1]
        claim = audit_tradeoff(
            scores, included, NoiseFamily(WHOLE), DELTA, claimed=tradeoff_bounds(WHOLE).lower
        )
        assert not claim.rejected
