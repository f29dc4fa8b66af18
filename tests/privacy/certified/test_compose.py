"""Composition by tilted Fourier transform: plain convolution, rational arithmetic, any period, tail
and tilt.
"""

import dataclasses
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpcore.privacy.certified import lattice, rounding
from dpcore.privacy.certified.cells import step_deviation
from dpcore.privacy.certified.compose import composed_epsilons, tilted_laws
from dpcore.privacy.certified.lattice import LogMoments
from dpcore.privacy.certified.step_law import LossLaw, step_laws

ORDERS = np.concatenate(
    [-1 - np.geomspace(0.05, 400, 60)[::-1], [-1.0, 0.0], np.geomspace(0.05, 400, 60)]
)


def moments_of(*losses: LossLaw) -> LogMoments:
    ends = np.array(
        [(each.offset, each.offset + each.mesh * (each.mass.size - 1)) for each in losses]
    )
    values = np.stack([each.log_moments(ORDERS) for each in losses])
    return LogMoments(
        ORDERS,
        values,
        ends,
        np.array([1 - each.mass.max() for each in losses]),
        np.ones(len(losses)),
    )


def convolved(losses: list[tuple[LossLaw, int]]) -> tuple[np.ndarray, np.ndarray, float]:
    """Losses, masses and infinite mass of the whole composition, one convolution a step."""
    mass, offset, finite = np.ones(1), 0.0, 1.0
    for loss, count in losses:
        for _ in range(count):
            mass, offset, finite = (
                np.convolve(mass, loss.mass),
                offset + loss.offset,
                finite * (1 - loss.infinite),
            )
    return offset + losses[0][0].mesh * np.arange(mass.size), mass, 1 - finite


def delta_of(composed: tuple[np.ndarray, np.ndarray, float], epsilon: float) -> float:
    values, mass, infinite = composed
    return float(mass @ np.maximum(-np.expm1(epsilon - values), 0.0) + infinite)


def test_epsilon_solves_delta_of_the_plain_convolution() -> None:
    for counts, delta in product([(1, 0), (7, 0), (20, 5), (60, 30)], [0.1, 1e-3, 1e-6]):
        losses = [step_laws(0.1, 1.0, 0.02, 1e-15).remove, step_laws(0.5, 2.0, 0.02, 1e-15).remove]
        composed = convolved(
            [(loss, count) for loss, count in zip(losses, counts, strict=True) if count]
        )
        uses, target = np.array([counts]), np.array([delta])
        high = composed_epsilons(losses, uses, target, moments_of(*losses), +1)[0]
        low = composed_epsilons(losses, uses, target, moments_of(*losses), -1, np.array([high]))[0]
        assert low <= high <= low + 1e-5, (counts, delta)
        if high > 0:
            assert delta_of(composed, high) <= delta * (1 + 1e-9), (counts, delta)
            assert delta_of(composed, low) >= delta * (1 - 1e-9), (counts, delta)
        else:
            assert delta_of(composed, 0.0) <= delta, (counts, delta)


def test_a_period_that_is_too_short_widens_the_bounds_but_keeps_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loss = step_laws(0.1, 1.0, 0.02, 1e-15).remove
    composed, moments = convolved([(loss, 40)]), moments_of(loss)
    uses, target = np.array([[40]]), np.array([1e-5])
    wide = composed_epsilons([loss], uses, target, moments, +1)[0]
    for nodes in (400, 200, 100, 50):
        monkeypatch.setattr(lattice, "MAX_PERIOD_NODES", nodes)
        high = composed_epsilons([loss], uses, target, moments, +1)[0]
        low = composed_epsilons([loss], uses, target, moments, -1)[0]
        assert delta_of(composed, high) <= 1e-5 * (1 + 1e-9)
        assert low == 0 or delta_of(composed, low) >= 1e-5 * (1 - 1e-9)
    assert high > wide + 0.01  # the last one was too short


def test_the_smallest_deltas_keep_their_precision() -> None:
    """Against rational arithmetic: the tail at 1e-14 is far below what an untilted transform could
    resolve.
    """
    weights = [Fraction(numerator, 1000) for numerator in (5, 185, 620, 185, 5)]
    loss = LossLaw(-0.4, 0.2, np.array([float(each) for each in weights]), 0.0)
    mass = [Fraction(1)]
    for _ in range(30):
        mass = [
            sum((weights[k] * mass[i - k] for k in range(5) if 0 <= i - k < len(mass)), Fraction(0))
            for i in range(len(mass) + 4)
        ]
    composed = -0.4 * 30 + 0.2 * np.arange(len(mass)), np.array([float(each) for each in mass]), 0.0
    high = composed_epsilons([loss], np.array([[30]]), np.array([1e-14]), moments_of(loss), +1)[0]
    low = composed_epsilons([loss], np.array([[30]]), np.array([1e-14]), moments_of(loss), -1)[0]
    assert 1e-14 * (1 - 1e-4) < delta_of(composed, high) <= 1e-14
    assert 1e-14 <= delta_of(composed, low) < 1e-14 * (1 + 1e-4)
    assert high - low < 1e-5


def margin(delta: float) -> tuple[float, float]:
    """The relative distance of delta at the upper bound below the given delta, and at the lower
    bound above it.

    Four steps of masses that are exact in binary, and orders so small that nothing else is charged
    to speak of.
    """
    loss, orders = (
        LossLaw(-1.0, 1.0, np.array([0.25, 0.25, 0.5]), 0.0),
        np.array([-2.0, -1.5, -1.0, 0.0, 0.5, 1.0]),
    )
    moments = dataclasses.replace(
        moments_of(loss), orders=orders, values=loss.log_moments(orders)[None]
    )
    composed = convolved([(loss, 4)])
    high, low = (
        composed_epsilons([loss], np.array([[4]]), np.array([delta]), moments, side)[0]
        for side in (+1, -1)
    )
    return 1 - delta_of(composed, high) / delta, delta_of(composed, low) / delta - 1


@pytest.mark.parametrize("delta", [0.5, 0.05])
def test_a_margin_for_rounding_is_charged_to_delta(
    delta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in margin(delta):
        assert 0.8 * rounding.ALLOWANCE <= each <= 2 * rounding.ALLOWANCE
    monkeypatch.setattr(rounding, "MASS", 1e-3)
    for each in margin(delta):
        assert 4e-3 <= each <= 5e-3


def test_the_margin_for_rounding_grows_with_the_steps_and_the_reach_of_losses() -> None:
    loss = step_laws(0.1, 1.0, 0.02, 1e-15).remove
    counts, delta, moments = np.array([[40]]), np.array([1e-5]), moments_of(loss)
    high = composed_epsilons([loss], counts, delta, moments, +1)[0]
    far = dataclasses.replace(moments, reaching=np.array([1e6]))
    assert (
        composed_epsilons([loss], counts, delta, far, +1)[0]
        >= high + 40e6 * rounding.POSITION * 0.99
    )


def test_infinite_losses_are_charged_in_full() -> None:
    loss = step_laws(1.0, 2.0, 0.1, 1e-15).remove
    leaky = LossLaw(loss.offset, loss.mesh, loss.mass * (1 - 1e-6), 1e-6)
    uses = np.array([[5], [20]])
    high = composed_epsilons([leaky], uses, np.full(2, 1e-5), moments_of(leaky), +1)
    plain = composed_epsilons([loss], uses, np.full(2, 1e-5), moments_of(loss), +1)
    assert plain[0] < high[0] < np.inf
    assert high[1] == np.inf  # 20 steps leak more than delta


def test_a_curve_equals_its_points_and_no_use_of_a_step_leaves_no_trace() -> None:
    losses = [step_laws(0.1, 1.0, 0.02, 1e-15).remove, step_laws(1.0, 3.0, 0.02, 1e-15).remove]
    both = composed_epsilons(losses, np.array([[10, 0]]), np.array([1e-5]), moments_of(*losses), +1)
    one = composed_epsilons(
        losses[:1], np.array([[10]]), np.array([1e-5]), moments_of(losses[0]), +1
    )
    assert both == pytest.approx(one, abs=1e-5)
    loss = step_laws(0.02, 1.5, 0.2 * step_deviation(0.02, 1.5), 1e-20).remove
    uses = np.arange(1, 400, 7)[:, None]
    moments = moments_of(loss)
    curve = composed_epsilons([loss], uses, np.full(len(uses), 1e-6), moments, +1)
    points = [
        composed_epsilons([loss], row[None], np.array([1e-6]), moments, +1)[0] for row in uses
    ]
    assert curve == pytest.approx(points, rel=1e-5, abs=1e-6)


SMALL = LossLaw(-0.4, 0.2, np.array([0.02, 0.18, 0.6, 0.15, 0.05]), 0.0)
SAMPLED = step_laws(0.1, 1.0, 0.05, 1e-12).remove
PAIR = [SAMPLED, step_laws(0.5, 2.0, 0.05, 1e-12).remove]
CASES = [([SMALL], (30,)), ([SAMPLED], (40,)), (PAIR, (20, 6))]
TILTS = ORDERS[(ORDERS > 0.2) & (ORDERS < 40)][::6]


def check(losses: list[LossLaw], counts: tuple[int, ...], order: float) -> None:
    """The upper value is at least, the lower one at most the convolution's, for epsilons at nodes
    and between.
    """
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


def test_both_sides_hold_with_the_period_that_is_chosen() -> None:
    for case in range(len(CASES)):
        for order in TILTS:
            check(*CASES[case], float(order))


def test_both_sides_hold_with_tails_cut_far_too_near(monkeypatch: pytest.MonkeyPatch) -> None:
    for case, tail in product(range(len(CASES)), [1.0, 3.0, 12.0]):
        monkeypatch.setattr(lattice, "TAIL", tail)
        monkeypatch.setattr(lattice, "SPARE_PERIOD", 0.1)
        for order in TILTS:
            check(*CASES[case], float(order))


def test_both_sides_hold_with_periods_far_too_short(monkeypatch: pytest.MonkeyPatch) -> None:
    for case, nodes in product(range(len(CASES)), [8, 20, 60, 150]):
        monkeypatch.setattr(lattice, "MAX_PERIOD_NODES", nodes)
        for order in TILTS:
            check(*CASES[case], float(order))


def test_both_sides_hold_with_frequencies_left_out_that_matter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for case, cut in product(range(len(CASES)), [1.0, 4.0, 10.0]):
        monkeypatch.setattr(lattice, "CUT", cut)
        for order in TILTS:
            check(*CASES[case], float(order))


def test_both_sides_are_close_with_a_tilt_that_suits() -> None:
    for case in range(len(CASES)):
        losses, counts = CASES[case]
        composed = convolved(list(zip(losses, counts, strict=True)))
        finite = composed[0], composed[1], 0.0
        epsilon = next(
            each for each in np.arange(0.0, 20.0, 0.0371) if delta_of(finite, float(each)) < 1e-6
        )
        rows, all_counts = np.arange(1), np.array([counts])
        best = np.inf
        for order in TILTS:
            ((_, law),) = tilted_laws(losses, all_counts, rows, float(order), moments_of(*losses))
            (above, _), (below, _) = (
                law.log_delta(np.array([epsilon]), +1),
                law.log_delta(np.array([epsilon]), -1),
            )
            best = min(best, float(above[0] - below[0]))
        assert best < 1e-8, case


def test_the_slope_is_the_derivative() -> None:
    losses, counts = CASES[1]
    epsilon = np.array([0.05, 0.3, 1.013])
    ((_, law),) = tilted_laws(
        losses, np.tile(counts, (3, 1)), np.arange(3), float(TILTS[5]), moments_of(*losses)
    )
    _, slope = law.log_delta(epsilon, +1)
    ahead, behind = law.log_delta(epsilon + 1e-6, +1)[0], law.log_delta(epsilon - 1e-6, +1)[0]
    np.testing.assert_allclose(slope, (ahead - behind) / 2e-6, rtol=1e-4)
