"""Each error that a bound is charged for: its derivation, its measured size, and its effect."""

from itertools import product
from math import inf, log, pi, sin

import mpmath
import numpy as np
import pytest
from scipy.fft import irfft, rfft
from scipy.special import ndtr

from dpcore.privacy.certified import gaussian_bounds, lattice, rounding
from dpcore.privacy.certified.compose import (
    ComposedLoss,
    Spectrum,
    TiltedLaw,
    _hockey_stick,
    _masses,
    _summed,
    composed_loss,
    log_one_plus,
    spectrum,
    tilted_laws,
)
from dpcore.privacy.certified.epsilon_bounds import epsilon_bounds
from dpcore.privacy.certified.step_law import LossLaw
from dpcore.privacy.mechanism import Mechanism
from tests.privacy.certified.test_compose import ORDERS, convolved, moments_of

ONE = LossLaw(-0.4, 0.2, np.array([0.03, 0.2, 0.5, 0.17, 0.1]) * (1 - 1e-3), 1e-3)
TWO = LossLaw(-0.6, 0.2, np.array([0.1, 0.1, 0.3, 0.0, 0.4, 0.1]) * (1 - 2e-4), 2e-4)
COUNTS = np.array([[2, 1], [5, 3]])
# Less than the mass outside the fullest node of ONE, more than that of TWO.
RATES = np.array([0.2, 0.9])
ORDER = float(ORDERS[ORDERS > 2.0][0])


def stick(order: float, y: np.ndarray) -> np.ndarray:
    return np.where(y < 0, 0.0, np.exp(-order * y) * -np.expm1(-y))


def law(
    order: float = 0.7, mesh: float = 0.1, period: int = 40, low: float = -0.5, high: float = 3.0
) -> TiltedLaw:
    """A law that knows its circle and its ends, and nothing else."""
    nothing, waves = np.zeros(1), np.zeros(1, dtype=np.complex128)
    ends = np.array([low]), np.array([high])
    return TiltedLaw(
        order, mesh, period, nothing, *ends, nothing, np.array([0]), waves, waves, nothing
    )


def test_the_budget_for_rounding_is_that_of_the_proof() -> None:
    u = 2.0**-53
    assert rounding.factor_error(1, 2**16) == pytest.approx((8 * 16 + 8 * 5) * u, rel=1e-12, abs=0)
    assert rounding.factor_error(3, 2**10) == pytest.approx((8 * 10 + 8 * 7) * u, rel=1e-12, abs=0)
    assert rounding.product_error(1, 1024) == pytest.approx(
        (64 * 3 + 512 + 2) * u, rel=1e-12, abs=0
    )
    assert rounding.product_error(5, 2**20) == pytest.approx(
        (64 * 7 + 512 + 2048) * u, rel=1e-12, abs=0
    )
    # The logarithm, times its power.
    assert rounding.product_error(5, 2**20) >= lattice.CUT * (5 + 2) * u
    assert rounding.inverse_error(2**16) == pytest.approx(8 * 16 * u, rel=1e-12, abs=0)
    assert rounding.MASS == rounding.POSITION == 512 * u
    assert rounding.ALLOWANCE == 1e-6


def test_the_largest_hockey_stick_beyond_a_place_is_at_least_every_value_there() -> None:
    for order in [0.05, 0.7, 1.0, 9.0, 60.0]:
        peak = float(np.log1p(1 / order))
        beyond = np.concatenate(
            [np.linspace(0.0, 3 * peak, 3001), np.linspace(3 * peak, 200, 4001)]
        )
        for y in (-1.0, 0.0, 0.5 * peak, 0.99 * peak, 1.01 * peak, 1.7 * peak, 2 * peak, 5 * peak):
            most = float(stick(order, np.append(beyond[beyond >= y], max(y, 0.0))).max())
            claimed = float(law(order)._stick(np.array(y)))
            assert claimed >= most * (1 - 1e-14), order
            assert claimed == pytest.approx(
                most if y > peak else 1 / (order + 1), rel=1e-12, abs=0
            ), order


@pytest.mark.parametrize("order", [0.05, 0.7, 3.0])
@pytest.mark.parametrize("low", [-0.5, -2.5, 0.9])
def test_what_periods_add_is_the_sum_over_all_of_them(order: float, low: float) -> None:
    """All wrapped mass: once from `low`, once from epsilon itself, then from further periods, and
    the tails.
    """
    found = law(order, low=low)
    span = found.mesh * found.period
    for epsilon in (0.0, 0.3, 1.9):
        with mpmath.workdps(30):
            later = 2 * mpmath.nsum(lambda k: mpmath.exp(-order * k * span), [1, mpmath.inf])
            tails = 2 * mpmath.exp(-40) / (mpmath.mpf(order) + 1)
            first = sum(
                (
                    float(np.max(stick(order, np.array(y))))
                    if y > np.log1p(1 / order)
                    else 1 / (order + 1)
                )
                for y in (span - (epsilon - low), span)
            )
            exact = float(first + later + tails)
        assert found._aliases(np.array([epsilon]))[0] == pytest.approx(exact, rel=1e-12, abs=0)


def test_the_tails_that_may_lie_anywhere_are_charged_on_both_sides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found, epsilon = law(3.0), np.array([0.3])
    monkeypatch.setattr(lattice, "TAIL", inf)
    without = found._aliases(epsilon)[0]
    monkeypatch.setattr(lattice, "TAIL", 2.0)
    assert found._aliases(epsilon)[0] - without == pytest.approx(
        2 * np.exp(-2.0) / 4.0, rel=1e-12, abs=0
    )


def test_nothing_is_claimed_where_the_period_does_not_reach_the_upper_end() -> None:
    found = law(high=5.0)  # the period is 4
    assert found._aliases(np.array([0.99]))[0] == inf
    assert found._aliases(np.array([1.01]))[0] < inf


def test_transforms_of_the_hockey_stick_are_its_sums_over_the_nodes() -> None:
    for order in [0.3, 2.0, 11.0]:
        mesh, period, frequency = 0.07, 96, np.array([0, 1, 7, 48])
        y = mesh * np.arange(3000)
        wave = np.exp(2j * pi / period * np.outer(frequency, np.arange(y.size)))
        expected = np.stack([wave @ stick(order, y), wave @ np.exp(-(order + 1) * y)], axis=1)
        np.testing.assert_allclose(
            _hockey_stick(order, mesh, period, frequency), expected, rtol=1e-9, atol=1e-12
        )


def test_sums_over_frequencies_leave_no_chunk_out() -> None:
    generator = np.random.default_rng(4)
    terms, sums = (
        (generator.normal(size=shape) + 1j).astype(np.complex128)
        for shape in ((3, 1300), (1300, 2))
    )
    np.testing.assert_allclose(_summed(terms, sums), terms @ sums, rtol=1e-12)
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
        assert found.log_moment == pytest.approx(
            float(np.log(loss.mass @ np.exp(order * losses))), abs=1e-14
        )
        assert found.rest == pytest.approx(1 - mass[fullest])
        np.testing.assert_allclose(1 + found.excess, exact, atol=1e-14)


def parts(order: float) -> tuple[TiltedLaw, np.ndarray, np.ndarray, np.ndarray]:
    """A law of both kinds, and by direct sums: each factor's size, the rest of each, the height of
    the hockey stick.
    """
    ((_, found),) = tilted_laws([ONE, TWO], COUNTS, np.arange(2), order, moments_of(ONE, TWO))
    masses = [tilted_masses(each, order)[1] for each in (ONE, TWO)]
    sizes = [
        abs(
            np.exp(-2j * pi / found.period * np.outer(found.frequency, np.arange(mass.size))) @ mass
        )
        for mass in masses
    ]
    rest = np.array([1 - mass.max() for mass in masses])
    y = found.mesh * np.arange(6000)
    wave = np.exp(2j * pi / found.period * np.outer(found.frequency, np.arange(y.size)))
    height = abs(wave @ stick(order, y)) + found.mesh * abs(wave @ np.exp(-(order + 1) * y))
    return found, np.array(sizes), rest, height


def test_frequencies_left_out_are_charged_at_the_height_of_the_hockey_stick(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for order in [float(ORDERS[ORDERS > 0.3][0]), ORDER]:
        monkeypatch.setattr(rounding, "UNIT", 0.0)
        for cut in (3.0, 46.0):
            monkeypatch.setattr(lattice, "CUT", cut)
            found, *_, height = parts(order)
            np.testing.assert_allclose(
                found.slack, np.exp(-cut) * height[0], rtol=1e-9, err_msg=str(order)
            )


@pytest.mark.parametrize("order", [float(ORDERS[ORDERS > 0.3][0]), ORDER])
def test_rounding_is_charged_for_each_factor_and_for_the_sum(
    order: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lattice, "CUT", 200.0)
    found, sizes, rest, height = parts(order)
    weight = (
        np.where((found.frequency == 0) | (2 * found.frequency == found.period), 1, 2)
        / found.period
    )
    one = rounding.factor_error(2, found.period) * rest[:, None] / sizes
    for row, counts in enumerate(COUNTS):
        product = weight * np.prod(sizes ** counts[:, None], axis=0)
        np.testing.assert_allclose(abs(found.weighted[row]), product, rtol=1e-9)
        each = counts @ one + rounding.product_error(2, found.frequency.size)
        assert found.slack[row] == pytest.approx(float(product * each @ height), rel=1e-9, abs=0)


def test_the_law_of_all_steps_is_charged_for_what_it_leaves_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An arc's transform is at most 1 / sin of half the turn, and an error of one frequency counts
    twice.
    """
    monkeypatch.setattr(rounding, "UNIT", 0.0)
    monkeypatch.setattr(rounding, "MASS", 0.0)
    for period in (12, 30, 45):
        spectra, arcs = [spectrum(each, 0.0, period) for each in (ONE, TWO)], arc_sums(period)
        for cut in (1.0, 46.0):
            monkeypatch.setattr(lattice, "CUT", cut)
            _, error = _masses(spectra, COUNTS[1], RATES, period)
            assert error == pytest.approx(np.exp(-cut) * arcs.sum(), rel=1e-9, abs=0)


def arc_sums(period: int) -> np.ndarray:
    """The largest change of the sum over an arc, per error of each frequency."""
    return np.array(
        [1.0, *(2 / (period * sin(pi * j / period)) for j in range(1, period // 2 + 1))]
    )


def test_no_arc_has_a_larger_sum_than_is_charged() -> None:
    for period in [12, 45]:
        for j in range(period // 2 + 1):
            steps = np.exp(2j * pi * j / period * np.arange(period))
            largest = max(abs(steps[:length].sum()) for length in range(1, period + 1))
            times = 1 if j == 0 or 2 * j == period else 2
            assert times / period * largest <= arc_sums(period)[j] * (1 + 1e-12), period


def test_the_law_of_all_steps_is_charged_for_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice, "CUT", 200.0)
    period, counts = 45, COUNTS[1]
    spectra = [spectrum(each, 0.0, period) for each in (ONE, TWO)]
    sizes = np.array([abs(1 + each.excess) for each in spectra])
    rest = np.array([each.rest for each in spectra])
    mass, error = _masses(spectra, counts, RATES, period)
    product = np.prod(sizes ** counts[:, None], axis=0)
    one = rounding.factor_error(2, period) * rest[:, None] / sizes
    rounded = (
        product * (counts @ one + rounding.product_error(2, sizes.shape[1])) @ arc_sums(period)
    )
    inverse = rounding.inverse_error(period) * np.sqrt(period * np.sum(mass**2))
    steps = rounding.MASS * (counts[0] * rest[0] + counts[1] * RATES[1])
    assert error == pytest.approx(rounded + inverse + steps, rel=1e-9, abs=0)
    monkeypatch.setattr(rounding, "UNIT", 0.0)
    assert _masses(spectra, counts, RATES, period)[1] == pytest.approx(steps, rel=1e-9, abs=0)
    monkeypatch.setattr(rounding, "MASS", 0.0)
    monkeypatch.setattr(rounding, "UNIT", 1e-3)
    again = _masses(spectra, counts, RATES, period)[1]
    assert again == pytest.approx((rounded + inverse) * 1e-3 * 2**53, rel=1e-9, abs=0)


def test_the_law_of_all_steps_is_charged_for_both_tails_and_for_where_it_lies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moments, counts = moments_of(ONE, TWO), COUNTS[1]
    monkeypatch.setattr(lattice, "TAIL", 6.0)
    found = composed_loss([ONE, TWO], counts, RATES, moments)
    spectra = [spectrum(each, 0.0, found.mass.size) for each in (ONE, TWO)]
    _, error = _masses(spectra, counts, RATES, found.mass.size)
    assert found.error - error == pytest.approx(2 * np.exp(-6.0), rel=1e-9, abs=0)
    assert found.misplaced == pytest.approx(rounding.POSITION * counts.sum(), rel=1e-12, abs=0)


def test_masses_are_those_of_the_product_of_spectra() -> None:
    """A spectrum of one node is a rotation, so the composition of these laws has one node."""
    turn = Spectrum(0.3, 0.0, np.zeros(4, dtype=np.complex128), 0.0)
    mass, error = _masses([turn], np.array([7]), np.zeros(1), 6)
    np.testing.assert_allclose(mass, [1, 0, 0, 0, 0, 0], atol=1e-15)
    assert 0 < error < 1e-12


def test_a_tilted_law_reaches_as_far_as_the_best_chernoff_bound_of_the_grid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for place, tail in product([61, 70, 90], [0.5, 3.0, 40.0]):
        monkeypatch.setattr(lattice, "TAIL", tail)
        moments, order = moments_of(ONE, TWO), float(ORDERS[place])
        at = np.array([log_moment_at(ONE, order), log_moment_at(TWO, order)])
        low, high = moments.reach(COUNTS, order, at)
        for row, (ones, twos) in enumerate(COUNTS):
            bounds = {
                float(other): (
                    (
                        ones * (log_moment_at(ONE, other) - at[0])
                        + twos * (log_moment_at(TWO, other) - at[1])
                        + tail
                    )
                    / (other - order)
                )
                for other in ORDERS
                if other != order
            }
            below = max(bound for other, bound in bounds.items() if other < order)
            above = min(bound for other, bound in bounds.items() if other > order)
            assert low[row] == pytest.approx(max(below, -0.4 * ones - 0.6 * twos), abs=1e-9), (
                place,
                tail,
            )
            assert high[row] == pytest.approx(min(above, 0.4 * (ones + twos)), abs=1e-9), (
                place,
                tail,
            )


def log_moment_at(loss: LossLaw, order: float) -> float:
    losses = loss.offset + loss.mesh * np.arange(loss.mass.size)
    with mpmath.workdps(30):
        return float(
            mpmath.log(
                mpmath.fsum(
                    m * mpmath.exp(order * y) for m, y in zip(loss.mass, losses, strict=True)
                )
            )
        )


def test_every_margin_has_room_for_the_reserve() -> None:
    # What each margin is for, with the reserve beside it: of delta, of an error rate, and of two
    # thresholds.
    u, reserved = 2.0**-53, rounding.RESERVED
    assert 8 * u * 1e9 + reserved < rounding.ALLOWANCE
    assert 5e-11 + reserved < gaussian_bounds.ALLOWED / 2
    assert 1.0 * reserved < rounding.product_error(1, 0) - lattice.CUT * 3 * u
    assert 200 * 38 * u + 2 * np.sqrt(pi / 2) * reserved < gaussian_bounds.MARGIN
    for kinds in (1, 2, 128):
        assert rounding.ANGLE * (kinds + rounding.ANGLES) >= 2 * pi * (kinds + 2) + 11
        assert rounding.SIZE * (kinds + rounding.SIZES) >= lattice.CUT * (kinds + 1) + 40


def test_a_fast_transform_errs_by_less_than_a_level_is_charged() -> None:
    """Against the same transform in the 64 bits of a long double; masses that differ by many orders
    of magnitude.
    """
    for period in [1024, 1000, 3 * 2**12, 7 * 11 * 125, 2**18]:
        generator = np.random.default_rng(period)
        mass = np.exp(-generator.exponential(8.0, period))
        exact = np.asarray(rfft(mass.astype(np.longdouble)))
        assert exact.dtype == np.clongdouble, period
        worst = float(np.max(np.abs(np.asarray(rfft(mass)) - exact))) / mass.sum()
        assert 0 < worst <= rounding.LEVEL * np.log2(period) * rounding.UNIT, period
        back, precise = (
            np.asarray(irfft(each, period)) for each in (exact.astype(np.complex128), exact)
        )
        assert np.linalg.norm(back - precise) <= rounding.inverse_error(period) * np.linalg.norm(
            mass
        ), period


def test_the_normal_law_errs_by_no_more_in_its_tails_than_the_budget_assumes() -> None:
    for z in np.random.default_rng(1).uniform(0, 37, 2000):
        with mpmath.workdps(60):
            error = float(abs(mpmath.mpf(float(ndtr(-z))) / mpmath.ncdf(-mpmath.mpf(float(z))) - 1))
        assert error <= (16 + 2 * z**2) * rounding.UNIT


def test_the_sums_of_a_tail_err_by_less_than_their_terms_are_charged() -> None:
    for mesh in [1e-7, 1e-4, 0.01, 0.3, 2.0]:
        generator = np.random.default_rng(3)
        mass = np.exp(-generator.exponential(3.0, 3000))
        tail = ComposedLoss(0.5 * mesh, mesh, mass, 0.0, 0.0, 0.0)._tail()
        with mpmath.workdps(40):
            falling, exact, other = mpmath.exp(-mpmath.mpf(mesh)), mpmath.mpf(0), mpmath.mpf(0)
            for here in reversed(range(mass.size)):
                exact, other = exact + mass[here], mass[here] + falling * other
                terms = (mass.size - here) * rounding.UNIT
                errors = abs(tail.mass[here] - exact) / exact, abs(tail.other[here] - other) / other
                assert errors[0] <= terms, mesh
                assert errors[1] <= 4 * terms, mesh
        assert rounding.TERM == 1 + 4, mesh
        assert rounding.tail_error(3000) == pytest.approx(5 * 3000 * rounding.UNIT), mesh


STEPS = Mechanism.constant(0.02, 1.0, 200)
AT, DELTA = np.array([50, 200]), np.array([1e-4, 1e-4])


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (rounding, "ALLOWANCE", 1e-2),
        (rounding, "MASS", 1e-5),
        (rounding, "POSITION", 1e-6),
        (rounding, "UNIT", 1e-10),
        (lattice, "CUT", 14.0),
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


def forty(**errors: float) -> ComposedLoss:
    """Forty nodes from -1.03 on, a few of them positive, and a little infinite loss."""
    mass = np.random.default_rng(8).uniform(0.5, 1.0, 40)
    return ComposedLoss(
        -1.03,
        0.07,
        0.99 * mass / mass.sum(),
        0.01,
        errors.get("error", 0.0),
        errors.get("misplaced", 0.0),
    )


def exact_delta(composed: ComposedLoss, epsilon: float) -> float:
    losses = composed.start + composed.mesh * np.arange(composed.mass.size)
    return float(composed.infinite + composed.mass @ np.maximum(-np.expm1(epsilon - losses), 0.0))


def test_pairs_are_charged_for_what_a_range_of_nodes_can_err_and_for_where_it_lies() -> None:
    epsilon, delta = forty().pairs()
    losses = forty().start + forty().mesh * np.arange(40)
    np.testing.assert_allclose(epsilon, [0.0, *losses[losses > 0]], rtol=1e-14)
    exact = [exact_delta(forty(), each) for each in epsilon]
    np.testing.assert_allclose(delta, exact, rtol=1e-12)
    assert np.all(delta >= exact)
    epsilon, delta = forty().pairs()
    later, larger = forty(error=1e-4, misplaced=1e-3).pairs()
    np.testing.assert_allclose(larger - delta, 1e-4, rtol=1e-9)
    np.testing.assert_allclose(later - epsilon, 1e-3, rtol=1e-9)
    assert np.all(forty(error=2.0).pairs()[1] == 1)


def test_tests_are_charged_for_what_a_range_of_nodes_can_err_and_for_where_it_lies() -> None:
    alpha, power = forty().tests()
    losses = forty().start + forty().mesh * np.arange(40)
    positive = np.flatnonzero(losses > 0)
    tails = [forty().mass[node:].sum() for node in positive]
    others = [(forty().mass[node:] * np.exp(-losses[node:])).sum() for node in positive]
    np.testing.assert_allclose(power, tails, rtol=1e-12)
    np.testing.assert_allclose(alpha, others, rtol=1e-12)
    assert np.all(power < tails)
    assert np.all(alpha > others)
    alpha, power = forty().tests()
    losses = forty().start + forty().mesh * np.arange(40)
    losses = losses[losses > 0]
    charged, less = forty(error=1e-4, misplaced=1e-3).tests()
    np.testing.assert_allclose(power - less, 1e-4, rtol=1e-9)
    np.testing.assert_allclose(charged, np.exp(1e-3) * (alpha + 1e-4 * np.exp(-losses)), rtol=1e-9)
    assert np.all(forty(error=2.0).tests()[1] == 0)
    assert np.all(forty(error=200.0).tests()[0] == 1)


def test_sums_of_masses_are_charged_five_units_for_each_term(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rounding, "UNIT", 0.0)
    (_, delta), (alpha, power) = forty().pairs(), forty().tests()
    monkeypatch.setattr(rounding, "UNIT", 1e-6)
    (_, more), (larger, less) = forty().pairs(), forty().tests()
    np.testing.assert_allclose(
        more - delta, 5 * delta.size * 1e-6 * np.append(power[:1], power), rtol=1e-8
    )
    np.testing.assert_allclose(power - less, 5 * power.size * 1e-6 * power, rtol=1e-8)
    np.testing.assert_allclose(larger - alpha, 5 * alpha.size * 1e-6 * alpha, rtol=1e-8)


def test_laws_whose_losses_are_all_positive_or_all_negative_have_pairs_and_tests() -> None:
    positive = ComposedLoss(0.05, 0.1, np.full(10, 0.09), 0.1, 0.0, 0.0)
    epsilon, delta = positive.pairs()
    np.testing.assert_allclose(delta, [exact_delta(positive, each) for each in epsilon], rtol=1e-12)
    assert epsilon.size == 11
    assert positive.tests()[1][0] == pytest.approx(0.9, abs=1e-12)
    negative = ComposedLoss(-3.0, 0.1, np.full(10, 0.1), 0.0, 0.0, 0.0)
    alpha, power = negative.tests()
    assert alpha.size == power.size == 1
    assert power[0] == pytest.approx(0.1)


def test_the_law_of_all_steps_is_the_convolution_up_to_its_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for counts, cut in product([(12, 0), (9, 4)], [2.0, 6.0, 46.0]):
        one = LossLaw(-0.4, 0.2, np.array([0.03, 0.2, 0.5, 0.17, 0.1]) * (1 - 1e-3), 1e-3)
        two = LossLaw(-0.6, 0.2, np.array([0.1, 0.1, 0.3, 0.0, 0.4, 0.1]) * (1 - 2e-4), 2e-4)
        pairs = [(one, counts[0]), (two, counts[1])]
        losses, mass, _ = convolved(
            [(LossLaw(law.offset, law.mesh, law.mass, 0.0), count) for law, count in pairs]
        )
        infinite = 1 - (1 - 1e-3) ** counts[0] * (1 - 2e-4) ** counts[1]
        moments = moments_of(one, two)
        monkeypatch.setattr(lattice, "CUT", cut)
        whole = composed_loss([one, two], np.array(counts), np.array([0.5, 0.5]), moments)
        assert whole.infinite == pytest.approx(infinite, rel=1e-12), (counts, cut)
        assert whole.error < 1e-11 or cut < 46, (counts, cut)
        place = np.rint((losses - whole.start) / whole.mesh).astype(int)
        inside = (place >= 0) & (place < whole.mass.size)
        exact = np.zeros(whole.mass.size)
        exact[place[inside]] = mass[inside]
        assert mass[~inside].sum() < 1e-15, (counts, cut)
        # The error of a range is a difference of two of these.
        sums = np.insert(np.cumsum(whole.mass - exact), 0, 0.0)
        assert np.ptp(sums) <= whole.error, (counts, cut)


def test_a_lattice_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    one = LossLaw(-0.4, 0.2, np.array([0.1, 0.2, 0.4, 0.2, 0.1]), 0.0)
    assert composed_loss([one], np.array([9]), np.ones(1), moments_of(one)).mass.size > 30
    monkeypatch.setattr(lattice, "MAX_PERIOD_NODES", 30)
    with pytest.raises(RuntimeError, match="too long"):
        composed_loss([one], np.array([9]), np.ones(1), moments_of(one))
