"""The ROC curve and its band: coverage of the true curve everywhere at once, and the curve that was
seen.
"""

import math

import numpy as np
import pytest
from scipy import stats

from dpcore.audit.bounds.finding import Evidence
from dpcore.audit.bounds.roc import SMALL, levels, roc_of, share_bounds
from dpcore.audit.bounds.two_run import audit_losses
from dpcore.privacy.tradeoff import Gaussian


def normal(seed: int, size: int = 400, mu: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    return generator.normal(mu, 1, size), generator.normal(0, 1, size + 37)


def test_the_band_holds_the_true_curve_as_often_as_it_says() -> None:
    left = narrower = 0
    for seed in range(300):
        found = roc_of(*normal(seed), confidence=0.8)
        true = Gaussian(1.0).power(found.false_positives)
        left += bool(np.any((found.above > true + 1e-12) | (found.below < true - 1e-12)))
        low, high = (found.above + 2 * found.seen) / 3, (found.below + 2 * found.seen) / 3
        narrower += bool(np.any((low > true + 1e-12) | (high < true - 1e-12)))
    assert stats.binomtest(left, 300, 0.2, alternative="greater").pvalue > 1e-3
    assert narrower > 100  # nor is it so wide that a third of it would do


def test_scores_with_ties_are_held_too() -> None:
    """Whole numbers: the true curve has corners, and many scores are equal."""
    left = 0
    for seed in range(200):
        generator = np.random.default_rng(seed)
        found = roc_of(generator.poisson(3.0, 300), generator.poisson(2.0, 300), confidence=0.8)
        threshold = np.arange(-1, 40)
        false, true = stats.poisson.sf(threshold, 2.0)[::-1], stats.poisson.sf(threshold, 3.0)[::-1]
        curve = np.append(0.0, true)[np.searchsorted(false, found.false_positives, side="right")]
        left += bool(np.any((found.above > curve + 1e-12) | (found.below < curve - 1e-12)))
    assert stats.binomtest(left, 200, 0.2, alternative="greater").pvalue > 1e-3


def test_bounds_of_shares_hold_all_thresholds_at_once() -> None:
    fails = 0
    for seed in range(300):
        uniform = np.sort(np.random.default_rng(seed).random(150))
        threshold = np.linspace(0.001, 0.999, 500)
        counts = 150 - np.searchsorted(uniform, threshold, side="right")
        lower, upper = share_bounds(counts, 150, 0.2)
        fails += bool(np.any((lower > 1 - threshold) | (upper < 1 - threshold)))
    assert stats.binomtest(fails, 300, 0.2, alternative="greater").pvalue > 1e-3
    assert fails > 5


def test_the_bounds_of_each_count_are_those_of_clopper_and_pearson_at_the_ranks() -> None:
    rank = levels(1000)
    lower, upper = share_bounds(rank, 1000, 0.1)
    each = 0.1 / (2 * rank.size)
    np.testing.assert_allclose(lower, stats.beta.ppf(each, rank, 1001 - rank), rtol=1e-9)
    np.testing.assert_allclose(
        share_bounds(rank - 1, 1000, 0.1)[1], stats.beta.isf(each, rank, 1001 - rank), rtol=1e-9
    )
    assert np.all(np.diff(upper) >= 0)
    assert share_bounds(np.array([0]), 1000, 0.1)[0] == 0
    assert share_bounds(np.array([1000]), 1000, 0.1)[1] == 1


def test_the_curve_seen_is_that_of_the_scores() -> None:
    found = roc_of([3.0, 2.0, 1.0, 0.0], [2.5, 0.5, 0.2, -1.0])
    at = {
        rate: found.seen[np.searchsorted(found.false_positives, rate)]
        for rate in (0.0, 0.3, 0.6, 1.0)
    }
    assert at == {0.0: 0.25, 0.3: 0.75, 0.6: 0.75, 1.0: 1.0}
    assert found.area == pytest.approx(
        np.mean([[a > b for b in (2.5, 0.5, 0.2, -1.0)] for a in (3, 2, 1, 0)])
    )
    assert np.all((found.above <= found.seen) & (found.seen <= found.below))
    for curve in (found.false_positives, found.above, found.seen, found.below):
        assert np.all(np.diff(curve) >= 0)
        assert not curve.flags.writeable


def test_equal_scores_count_half_in_the_area() -> None:
    assert roc_of([1.0, 1.0], [1.0, 0.0]).area == 0.75


def test_what_is_told_are_the_small_false_positive_rates() -> None:
    found = roc_of(*normal(0, 20_000, 2.0))
    assert [each.rate for each in found.powers] == list(SMALL)
    for each in found.powers:
        assert each.above < float(Gaussian(2.0).power(each.rate)) < each.below
        assert each.below - each.above < 0.35
    few = roc_of(*normal(0, 300, 2.0)).powers[1]
    assert few.above == 0  # 300 scores show nothing at a rate of 0.001
    assert few.below > few.seen


def test_a_mechanism_that_tells_more_than_is_certified_leaves_its_curve() -> None:
    found = roc_of(*normal(1, 3000, 2.5))
    assert np.any(found.above > Gaussian(1.0).power(found.false_positives))
    assert not np.any(found.above > Gaussian(2.6).power(found.false_positives))


def test_bad_scores_give_a_note_and_empty_curves() -> None:
    for scores, words in [
        ([], "there are no scores"),
        ([math.nan], "not a finite"),
        ([1.0, 1.0], "all scores are equal"),
    ]:
        found = roc_of(scores, [1.0, 1.0])
        assert words in found.note
        assert found.seen.size == 0
        assert found.powers == ()


def test_losses_tell_members_from_others() -> None:
    generator = np.random.default_rng(0)
    found = audit_losses(generator.exponential(0.1, 2000), generator.exponential(2.0, 2000), 1e-5)
    assert found.evidence is Evidence.ESTIMATE
    assert found.epsilon > 0.5
    assert found.figures["roc"].area == pytest.approx(2.0 / 2.1, abs=0.01)
    assert found.shows.endswith("(an estimate).")
    same = audit_losses(*generator.exponential(1.0, (2, 2000)), 1e-5)
    assert same.epsilon == 0
    assert same.figures["roc"].area == pytest.approx(0.5, abs=0.03)


def test_a_larger_loss_never_speaks_for_a_member() -> None:
    generator = np.random.default_rng(1)
    swapped = audit_losses(generator.exponential(2.0, 500), generator.exponential(0.1, 500), 1e-5)
    assert swapped.figures["roc"].area < 0.1
