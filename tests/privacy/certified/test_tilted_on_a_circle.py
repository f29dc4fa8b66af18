"""ln delta of a tilted law against plain convolution, at every epsilon: from any period, tail and tilt."""

import numpy as np
import pytest

from dpcore.privacy.certified import log_moments
from dpcore.privacy.certified.loss_law import LossLaw
from dpcore.privacy.certified.step_law import step_laws
from dpcore.privacy.certified.tilted import tilted_laws
from tests.privacy.certified.test_compose import ORDERS, convolved, delta_of, moments_of

SMALL = LossLaw(-0.4, 0.2, np.array([0.02, 0.18, 0.6, 0.15, 0.05]), 0.0)
SAMPLED = step_laws(0.1, 1.0, 0.05, 1e-12).remove
PAIR = [SAMPLED, step_laws(0.5, 2.0, 0.05, 1e-12).remove]
CASES = [([SMALL], (30,)), ([SAMPLED], (40,)), (PAIR, (20, 6))]
TILTS = ORDERS[(ORDERS > 0.2) & (ORDERS < 40)][::6]


def check(losses: list[LossLaw], counts: tuple[int, ...], order: float) -> None:
    """The upper value is at least, the lower one at most the convolution's, for epsilons at nodes and between."""
    composed = convolved(list(zip(losses, counts, strict=True)))
    finite = composed[0], composed[1], 0.0
    epsilon = np.linspace(0.0, 0.9 * float(composed[0][-1]), 60)
    rows, all_counts = np.arange(epsilon.size), np.tile(counts, (epsilon.size, 1))
    for block, law in tilted_laws(losses, all_counts, rows, order, moments_of(*losses)):
        above, _ = law.log_delta(epsilon[block], +1)
        below, _ = law.log_delta(epsilon[block], -1)
        for each, high, low in zip(epsilon[block], above, below, strict=True):
            exact = delta_of(finite, float(each))
            if exact > 1e-280:
                assert low - 1e-9 <= np.log(exact) <= high + 1e-9, (order, each)


@pytest.mark.parametrize("case", range(len(CASES)))
def test_both_sides_hold_with_the_period_that_is_chosen(case: int) -> None:
    for order in TILTS:
        check(*CASES[case], float(order))


@pytest.mark.parametrize("tail", [1.0, 3.0, 12.0])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_both_sides_hold_with_tails_cut_far_too_near(case: int, tail: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_moments, "TAIL", tail)
    monkeypatch.setattr(log_moments, "SPARE_PERIOD", 0.1)
    for order in TILTS:
        check(*CASES[case], float(order))


@pytest.mark.parametrize("nodes", [8, 20, 60, 150])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_both_sides_hold_with_periods_far_too_short(case: int, nodes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_moments, "LONGEST", nodes)
    for order in TILTS:
        check(*CASES[case], float(order))


@pytest.mark.parametrize("cut", [1.0, 4.0, 10.0])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_both_sides_hold_with_frequencies_left_out_that_matter(
    case: int, cut: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_moments, "CUT", cut)
    for order in TILTS:
        check(*CASES[case], float(order))


@pytest.mark.parametrize("case", range(len(CASES)))
def test_both_sides_are_close_with_a_tilt_that_suits(case: int) -> None:
    losses, counts = CASES[case]
    composed = convolved(list(zip(losses, counts, strict=True)))
    finite = composed[0], composed[1], 0.0
    epsilon = next(each for each in np.arange(0.0, 20.0, 0.0371) if delta_of(finite, float(each)) < 1e-6)
    rows, all_counts = np.arange(1), np.array([counts])
    best = np.inf
    for order in TILTS:
        ((_, law),) = tilted_laws(losses, all_counts, rows, float(order), moments_of(*losses))
        (above, _), (below, _) = law.log_delta(np.array([epsilon]), +1), law.log_delta(np.array([epsilon]), -1)
        best = min(best, float(above[0] - below[0]))
    assert best < 1e-8


def test_the_slope_is_the_derivative() -> None:
    losses, counts = CASES[1]
    epsilon = np.array([0.05, 0.3, 1.013])
    ((_, law),) = tilted_laws(losses, np.tile(counts, (3, 1)), np.arange(3), float(TILTS[5]), moments_of(*losses))
    _, slope = law.log_delta(epsilon, +1)
    ahead, behind = law.log_delta(epsilon + 1e-6, +1)[0], law.log_delta(epsilon - 1e-6, +1)[0]
    np.testing.assert_allclose(slope, (ahead - behind) / 2e-6, rtol=1e-4)
