"""Each error that a bound is charged for, alone, against the sum or the maximum that the proof derives it from."""

from math import inf, log, pi, sin

import mpmath
import numpy as np
import pytest

from dpcore.privacy.certified import log_moments, rounding
from dpcore.privacy.certified.composed_loss import _masses, composed_loss
from dpcore.privacy.certified.loss_law import LossLaw
from dpcore.privacy.certified.tilted import (
    Spectrum,
    TiltedLaw,
    _hockey_stick,
    _summed,
    log_one_plus,
    spectrum,
    tilted_laws,
)
from tests.privacy.certified.test_compose import ORDERS, moments_of

ONE = LossLaw(-0.4, 0.2, np.array([0.03, 0.2, 0.5, 0.17, 0.1]) * (1 - 1e-3), 1e-3)
TWO = LossLaw(-0.6, 0.2, np.array([0.1, 0.1, 0.3, 0.0, 0.4, 0.1]) * (1 - 2e-4), 2e-4)
COUNTS = np.array([[2, 1], [5, 3]])
RATES = np.array([0.2, 0.9])  # less than the mass outside the fullest node of ONE, more than that of TWO
ORDER = float(ORDERS[ORDERS > 2.0][0])


def stick(order: float, y: np.ndarray) -> np.ndarray:
    return np.where(y < 0, 0.0, np.exp(-order * y) * -np.expm1(-y))


def law(order: float = 0.7, mesh: float = 0.1, period: int = 40, low: float = -0.5, high: float = 3.0) -> TiltedLaw:
    """A law that knows its circle and its ends, and nothing else."""
    nothing, no_transform = np.zeros(1), np.zeros(1, dtype=np.complex128)
    return TiltedLaw(
        order,
        mesh,
        period,
        nothing,
        np.array([low]),
        np.array([high]),
        nothing,
        np.array([0]),
        no_transform,
        no_transform,
        nothing,
    )


def test_the_budget_for_rounding_is_that_of_the_proof() -> None:
    u = 2.0**-53
    assert rounding.factor_error(1, 2**16) == pytest.approx((8 * 16 + 8 * 5) * u, rel=1e-12, abs=0)
    assert rounding.factor_error(3, 2**10) == pytest.approx((8 * 10 + 8 * 7) * u, rel=1e-12, abs=0)
    assert rounding.product_error(1, 1024) == pytest.approx((64 * 3 + 512 + 2) * u, rel=1e-12, abs=0)
    assert rounding.product_error(5, 2**20) == pytest.approx((64 * 7 + 512 + 2048) * u, rel=1e-12, abs=0)
    assert rounding.product_error(5, 2**20) >= log_moments.CUT * (5 + 2) * u  # the logarithm, times its power
    assert rounding.inverse_error(2**16) == pytest.approx(8 * 16 * u, rel=1e-12, abs=0)
    assert rounding.MASS == rounding.POSITION == 512 * u
    assert rounding.ALLOWANCE == 1e-6


@pytest.mark.parametrize("order", [0.05, 0.7, 1.0, 9.0, 60.0])
def test_the_largest_hockey_stick_beyond_a_place_is_at_least_every_value_there(order: float) -> None:
    peak = float(np.log1p(1 / order))
    beyond = np.concatenate([np.linspace(0.0, 3 * peak, 3001), np.linspace(3 * peak, 200, 4001)])
    for y in (-1.0, 0.0, 0.5 * peak, 0.99 * peak, 1.01 * peak, 1.7 * peak, 2 * peak, 5 * peak):
        most = float(stick(order, np.append(beyond[beyond >= y], max(y, 0.0))).max())
        claimed = float(law(order)._stick(np.array(y)))
        assert claimed >= most * (1 - 1e-14)
        assert claimed == pytest.approx(most if y > peak else 1 / (order + 1), rel=1e-12, abs=0)


@pytest.mark.parametrize("order", [0.05, 0.7, 3.0])
@pytest.mark.parametrize("low", [-0.5, -2.5, 0.9])
def test_what_periods_add_is_the_sum_over_all_of_them(order: float, low: float) -> None:
    """Whatever comes round: once from `low`, once from epsilon itself, then from further periods, and the tails."""
    found = law(order, low=low)
    span = found.mesh * found.period
    for epsilon in (0.0, 0.3, 1.9):
        with mpmath.workdps(30):
            later = 2 * mpmath.nsum(lambda k: mpmath.exp(-order * k * span), [1, mpmath.inf])
            tails = 2 * mpmath.exp(-40) / (mpmath.mpf(order) + 1)
            first = sum(
                float(np.max(stick(order, np.array(y)))) if y > np.log1p(1 / order) else 1 / (order + 1)
                for y in (span - (epsilon - low), span)
            )
            exact = float(first + later + tails)
        assert found._aliases(np.array([epsilon]))[0] == pytest.approx(exact, rel=1e-12, abs=0)


def test_the_tails_that_may_lie_anywhere_are_charged_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    found, epsilon = law(3.0), np.array([0.3])
    monkeypatch.setattr(log_moments, "TAIL", inf)
    without = found._aliases(epsilon)[0]
    monkeypatch.setattr(log_moments, "TAIL", 2.0)
    assert found._aliases(epsilon)[0] - without == pytest.approx(2 * np.exp(-2.0) / 4.0, rel=1e-12, abs=0)


def test_nothing_is_claimed_where_the_period_does_not_reach_the_upper_end() -> None:
    found = law(high=5.0)  # the period is 4
    assert found._aliases(np.array([0.99]))[0] == inf
    assert found._aliases(np.array([1.01]))[0] < inf


@pytest.mark.parametrize("order", [0.3, 2.0, 11.0])
def test_transforms_of_the_hockey_stick_are_its_sums_over_the_nodes(order: float) -> None:
    mesh, period, frequency = 0.07, 96, np.array([0, 1, 7, 48])
    y = mesh * np.arange(3000)
    wave = np.exp(2j * pi / period * np.outer(frequency, np.arange(y.size)))
    expected = np.stack([wave @ stick(order, y), wave @ np.exp(-(order + 1) * y)], axis=1)
    np.testing.assert_allclose(_hockey_stick(order, mesh, period, frequency), expected, rtol=1e-9, atol=1e-12)


def test_sums_over_frequencies_leave_no_chunk_out() -> None:
    generator = np.random.default_rng(4)
    terms, sums = ((generator.normal(size=shape) + 1j).astype(np.complex128) for shape in ((3, 1300), (1300, 2)))
    np.testing.assert_allclose(_summed(terms, sums), terms @ sums, rtol=1e-12)


def test_losses_that_have_no_mass_may_lie_where_the_tilt_overflows() -> None:
    found = spectrum(LossLaw(0.0, 100.0, np.array([0.5, 0.5, *np.zeros(20)]), 0.0), 5.0, 30)
    assert np.isfinite(found.excess).all()
    assert found.origin == 100.0


def test_a_logarithm_near_1_keeps_the_precision_of_its_distance_to_1() -> None:
    sizes = [1e-300, 1e-17, 1e-9, 1e-3, 0.3, 0.49, 0.51, 0.9, 0.999, 1.0, 1.3, 1.9]
    for size in sizes:
        for angle in (0.0, 0.4, 1.5707, 2.0, 3.0, 3.14159265):
            z = size * np.exp(1j * angle)
            with mpmath.workdps(340):
                exact = float(mpmath.log(abs(1 + mpmath.mpc(z))))
            found = float(log_one_plus(np.array([z]))[0])
            near = 4 * rounding.UNIT * (size if size < 0.5 else 2)
            assert found == pytest.approx(exact, rel=1e-12, abs=near / abs(1 + z)), z
    assert log_one_plus(np.array([-1.0 + 0j]))[0] == pytest.approx(log(1e-300))
    assert log_one_plus(np.array([-1 + 1e-250j]))[0] == pytest.approx(log(1e-250))


def tilted_masses(loss: LossLaw, order: float) -> tuple[np.ndarray, np.ndarray]:
    """Losses and probabilities of the tilted finite part."""
    losses = loss.offset + loss.mesh * np.arange(loss.mass.size)
    weights = loss.mass * np.exp(order * losses)
    return losses, weights / weights.sum()


def test_a_spectrum_is_that_of_the_tilted_masses_on_the_circle() -> None:
    for loss, order, period in ((ONE, 0.0, 12), (TWO, 1.5, 12), (TWO, 9.0, 4), (ONE, 2.0, 3)):
        found, (losses, mass) = spectrum(loss, order, period), tilted_masses(loss, order)
        fullest = int(np.argmax(mass))
        turns = np.outer(np.arange(period // 2 + 1), np.arange(mass.size) - fullest)
        exact = np.exp(-2j * pi / period * turns) @ mass
        assert found.origin == pytest.approx(losses[fullest])
        assert found.log_moment == pytest.approx(float(np.log(loss.mass @ np.exp(order * losses))), abs=1e-14)
        assert found.rest == pytest.approx(1 - mass[fullest])
        np.testing.assert_allclose(1 + found.excess, exact, atol=1e-14)


def parts(order: float) -> tuple[TiltedLaw, np.ndarray, np.ndarray, np.ndarray]:
    """A law of both kinds, and by direct sums: each factor's size, the rest of each, the height of the hockey stick."""
    ((_, found),) = tilted_laws([ONE, TWO], COUNTS, np.arange(2), order, moments_of(ONE, TWO))
    masses = [tilted_masses(each, order)[1] for each in (ONE, TWO)]
    sizes = [
        abs(np.exp(-2j * pi / found.period * np.outer(found.frequency, np.arange(mass.size))) @ mass) for mass in masses
    ]
    rest = np.array([1 - mass.max() for mass in masses])
    y = found.mesh * np.arange(6000)
    wave = np.exp(2j * pi / found.period * np.outer(found.frequency, np.arange(y.size)))
    height = abs(wave @ stick(order, y)) + found.mesh * abs(wave @ np.exp(-(order + 1) * y))
    return found, np.array(sizes), rest, height


@pytest.mark.parametrize("order", [float(ORDERS[ORDERS > 0.3][0]), ORDER])
def test_frequencies_left_out_are_charged_at_the_height_of_the_hockey_stick(
    order: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounding, "UNIT", 0.0)
    for cut in (3.0, 46.0):
        monkeypatch.setattr(log_moments, "CUT", cut)
        found, *_, height = parts(order)
        np.testing.assert_allclose(found.slack, np.exp(-cut) * height[0], rtol=1e-9)


@pytest.mark.parametrize("order", [float(ORDERS[ORDERS > 0.3][0]), ORDER])
def test_rounding_is_charged_for_each_factor_and_for_the_sum(order: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_moments, "CUT", 200.0)
    found, sizes, rest, height = parts(order)
    weight = np.where((found.frequency == 0) | (2 * found.frequency == found.period), 1, 2) / found.period
    one = rounding.factor_error(2, found.period) * rest[:, None] / sizes
    for row, counts in enumerate(COUNTS):
        product = weight * np.prod(sizes ** counts[:, None], axis=0)
        np.testing.assert_allclose(abs(found.weighted[row]), product, rtol=1e-9)
        each = counts @ one + rounding.product_error(2, found.frequency.size)
        assert found.slack[row] == pytest.approx(float(product * each @ height), rel=1e-9, abs=0)


def test_the_law_of_all_steps_is_charged_for_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """An arc's transform is at most 1 / sin of half the turn, and an error of one frequency counts twice."""
    monkeypatch.setattr(rounding, "UNIT", 0.0)
    monkeypatch.setattr(rounding, "MASS", 0.0)
    for period in (12, 30, 45):
        spectra, arcs = [spectrum(each, 0.0, period) for each in (ONE, TWO)], arc_sums(period)
        for cut in (1.0, 46.0):
            monkeypatch.setattr(log_moments, "CUT", cut)
            _, error = _masses(spectra, COUNTS[1], RATES, period)
            assert error == pytest.approx(np.exp(-cut) * arcs.sum(), rel=1e-9, abs=0)


def arc_sums(period: int) -> np.ndarray:
    """By how much the sum over an arc changes, at most, per error of each frequency."""
    return np.array([1.0, *(2 / (period * sin(pi * j / period)) for j in range(1, period // 2 + 1))])


@pytest.mark.parametrize("period", [12, 45])
def test_no_arc_has_a_larger_sum_than_is_charged(period: int) -> None:
    for j in range(period // 2 + 1):
        steps = np.exp(2j * pi * j / period * np.arange(period))
        largest = max(abs(steps[:length].sum()) for length in range(1, period + 1))
        times = 1 if j == 0 or 2 * j == period else 2
        assert times / period * largest <= arc_sums(period)[j] * (1 + 1e-12)


def test_the_law_of_all_steps_is_charged_for_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_moments, "CUT", 200.0)
    period, counts = 45, COUNTS[1]
    spectra = [spectrum(each, 0.0, period) for each in (ONE, TWO)]
    sizes = np.array([abs(1 + each.excess) for each in spectra])
    rest = np.array([each.rest for each in spectra])
    mass, error = _masses(spectra, counts, RATES, period)
    product = np.prod(sizes ** counts[:, None], axis=0)
    one = rounding.factor_error(2, period) * rest[:, None] / sizes
    rounded = product * (counts @ one + rounding.product_error(2, sizes.shape[1])) @ arc_sums(period)
    inverse = rounding.inverse_error(period) * np.sqrt(period * np.sum(mass**2))
    steps = rounding.MASS * (counts[0] * rest[0] + counts[1] * RATES[1])
    assert error == pytest.approx(rounded + inverse + steps, rel=1e-9, abs=0)
    monkeypatch.setattr(rounding, "UNIT", 0.0)
    assert _masses(spectra, counts, RATES, period)[1] == pytest.approx(steps, rel=1e-9, abs=0)
    monkeypatch.setattr(rounding, "MASS", 0.0)
    monkeypatch.setattr(rounding, "UNIT", 1e-3)
    again = _masses(spectra, counts, RATES, period)[1]
    assert again == pytest.approx((rounded + inverse) * 1e-3 * 2**53, rel=1e-9, abs=0)


def test_the_law_of_all_steps_is_charged_for_both_tails_and_for_where_it_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    moments, counts = moments_of(ONE, TWO), COUNTS[1]
    monkeypatch.setattr(log_moments, "TAIL", 6.0)
    found = composed_loss([ONE, TWO], counts, RATES, moments)
    spectra = [spectrum(each, 0.0, found.mass.size) for each in (ONE, TWO)]
    _, error = _masses(spectra, counts, RATES, found.mass.size)
    assert found.error - error == pytest.approx(2 * np.exp(-6.0), rel=1e-9, abs=0)
    assert found.misplaced == pytest.approx(rounding.POSITION * counts.sum(), rel=1e-12, abs=0)


def test_masses_are_those_of_the_product_of_spectra() -> None:
    """A spectrum of one node is a turn: the composition of such laws has one node."""
    turn = Spectrum(0.3, 0.0, np.zeros(4, dtype=np.complex128), 0.0)
    mass, error = _masses([turn], np.array([7]), np.zeros(1), 6)
    np.testing.assert_allclose(mass, [1, 0, 0, 0, 0, 0], atol=1e-15)
    assert 0 < error < 1e-12


@pytest.mark.parametrize("tail", [0.5, 3.0, 40.0])
@pytest.mark.parametrize("place", [61, 70, 90])
def test_a_tilted_law_reaches_as_far_as_the_best_chernoff_bound_of_the_grid(
    place: int, tail: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_moments, "TAIL", tail)
    moments, order = moments_of(ONE, TWO), float(ORDERS[place])
    at = np.array([log_moment_at(ONE, order), log_moment_at(TWO, order)])
    low, high = moments.reach(COUNTS, order, at)
    for row, (ones, twos) in enumerate(COUNTS):
        bounds = {
            float(other): (
                ones * (log_moment_at(ONE, other) - at[0]) + twos * (log_moment_at(TWO, other) - at[1]) + tail
            )
            / (other - order)
            for other in ORDERS
            if other != order
        }
        below = max(bound for other, bound in bounds.items() if other < order)
        above = min(bound for other, bound in bounds.items() if other > order)
        assert low[row] == pytest.approx(max(below, -0.4 * ones - 0.6 * twos), abs=1e-9)
        assert high[row] == pytest.approx(min(above, 0.4 * (ones + twos)), abs=1e-9)


def log_moment_at(loss: LossLaw, order: float) -> float:
    losses = loss.offset + loss.mesh * np.arange(loss.mass.size)
    with mpmath.workdps(30):
        return float(mpmath.log(mpmath.fsum(m * mpmath.exp(order * y) for m, y in zip(loss.mass, losses, strict=True))))
