"""The certified trade-off function: closed forms, a one-step oracle, dp-accounting, riskcal; rounds
of its mesh.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from riskcal.analysis import get_beta_from_pld
from scipy.stats import norm

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.certified import lattice
from dpcore.privacy.certified import tradeoff_bounds as band_module
from dpcore.privacy.certified import tradeoff_bounds as module
from dpcore.privacy.certified.tradeoff_bounds import Band, tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.schedule import Recipe
from dpcore.privacy.tradeoff import Gaussian, Pairs, Points
from tests.privacy.certified.test_step_law import exact_add

ALPHA = np.concatenate([[0.0], np.geomspace(1e-7, 1e-2, 60), np.linspace(0.011, 1, 140)])
ROUNDING = 1e-15  # of powers near 1
SETTINGS = [
    (0.01, 4.0, 10_000),
    (0.01, 2.0, 400),
    (256 / 60000, 0.7, 1_000),
    (0.5, 3.0, 50),
    (0.1, 1.0, 1),
    (1.0, 5.0, 30),
]


def one_step(q: float, sigma: float) -> Points:
    """Every threshold test on x, for P = (1-q) N(0) + q N(1) against Q = N(0), exact and very
    dense.
    """
    x = np.linspace(-9 * sigma, 9 * sigma + 1, 6001)
    return Points(norm.sf(x / sigma), (1 - q) * norm.sf(x / sigma) + q * norm.sf((x - 1) / sigma))


def test_at_q_1_it_holds_the_gaussian_curve() -> None:
    for sigma, steps in [
        (2.0, 4),
        (0.5, 1),
        (20.0, 100),
        (100.0, 1),
        (1.0, 100_000),
        (400.0, 6_000_000),
        (1e-3, 7),
    ]:
        band, exact = (
            tradeoff_bounds(Mechanism.constant(1.0, sigma, steps)),
            Gaussian(math.sqrt(steps) / sigma),
        )
        assert band.note == "", (sigma, steps)
        assert np.all(band.lower.power(ALPHA) >= exact.power(ALPHA) - ROUNDING), (sigma, steps)
        assert np.all(band.upper.power(ALPHA) <= exact.power(ALPHA) + ROUNDING), (sigma, steps)
        assert np.max(band.lower.power(ALPHA) - band.upper.power(ALPHA)) < 1e-11, (sigma, steps)


def test_where_epsilon_is_certified_the_trade_off_function_is_too() -> None:
    """Many steps of half the data each: the losses of all of them need a long lattice."""
    band = tradeoff_bounds(Mechanism.constant(0.5, 256.054, 4_950_810))
    gap = band.lower.power(ALPHA) - band.upper.power(ALPHA)
    assert band.note == ""
    assert np.all(gap >= -ROUNDING)
    assert np.max(gap) < 1e-3
    # Of the central limit theorem.
    limit = Gaussian(0.5 * math.sqrt(4_950_810 * math.expm1(256.054**-2)))
    assert np.max(np.abs(limit.power(ALPHA) - band.lower.power(ALPHA))) < 5e-3


@pytest.mark.parametrize("q", [1 - 1e-12, 1 - 1e-6])
def test_near_q_1_the_lattice_holds_the_gaussian_curve(q: float) -> None:
    """Sampled steps have nearly a closed form there: with probability q^T no step leaves the record
    out.
    """
    for sigma, steps in [(2.0, 4), (0.5, 1), (20.0, 100), (100.0, 1)]:
        band, exact = (
            tradeoff_bounds(Mechanism.constant(q, sigma, steps)),
            Gaussian(math.sqrt(steps) / sigma),
        )
        left_out = -math.expm1(steps * math.log(q))
        assert np.all(band.lower.power(ALPHA) >= exact.power(ALPHA) - left_out - ROUNDING)
        assert np.all(band.upper.power(ALPHA) <= exact.power(ALPHA) + ROUNDING)
        assert np.max(band.lower.power(ALPHA) - band.upper.power(ALPHA)) < 1e-3


def test_one_step_holds_the_exact_curve() -> None:
    for q, sigma in [(0.01, 1.0), (0.2, 0.5), (0.9, 3.0), (1e-3, 0.3)]:
        band, exact = tradeoff_bounds(Mechanism.constant(q, sigma, 1)), one_step(q, sigma)
        # The oracle's hull is itself a little below the true power, by its own spacing: 1e-6.
        assert np.all(band.lower.power(ALPHA) >= exact.power(ALPHA) * (1 - 1e-12)), (q, sigma)
        assert np.all(band.upper.power(ALPHA) <= exact.power(ALPHA) + 1e-6), (q, sigma)
        wrong = one_step(q * 1.05, sigma)  # and a slightly different mechanism does not fit
        assert np.any(band.lower.power(ALPHA) < wrong.power(ALPHA)) or np.any(
            band.upper.power(ALPHA) > wrong.power(ALPHA) + 1e-6
        ), (q, sigma)


def test_it_is_convex_falling_symmetric_and_in_order() -> None:
    for q, sigma, steps in SETTINGS:
        band, alpha = tradeoff_bounds(Mechanism.constant(q, sigma, steps)), np.linspace(0, 1, 1001)
        for f in (band.lower, band.upper):
            curve = f.beta(alpha)
            assert curve[0] <= 1, (q, sigma, steps)
            assert curve[-1] == 0, (q, sigma, steps)
            assert np.all(np.diff(curve) <= 1e-15), (q, sigma, steps)
            assert np.all(np.diff(curve, 2) >= -1e-12), (q, sigma, steps)
            assert np.all(curve <= 1 - alpha + 1e-15), (q, sigma, steps)
            live = curve > 1e-9
            np.testing.assert_allclose(
                f.beta(curve[live]), alpha[live], atol=1e-7, err_msg=str((q, sigma, steps))
            )
        assert np.all(band.lower.beta(ALPHA) <= band.upper.beta(ALPHA)), (q, sigma, steps)
        assert np.max(band.upper.beta(ALPHA) - band.lower.beta(ALPHA)) < 2e-3, (q, sigma, steps)
        assert band.note == "", (q, sigma, steps)


def test_its_duals_agree_with_the_certified_accountant() -> None:
    for q, sigma, steps in SETTINGS:
        mechanism = Mechanism.constant(q, sigma, steps)
        band, deltas = tradeoff_bounds(mechanism), np.array([1e-2, 1e-3, 1e-5])
        curve = ACCOUNTANTS["pld"].profile(mechanism, deltas)
        # Both are bands around the same curve: neither may exclude the other.
        assert np.all(band.upper.delta(curve.epsilon) <= deltas), (q, sigma, steps)
        some = curve.lower > 0
        assert np.all(band.lower.delta(curve.lower[some]) >= deltas[some]), (q, sigma, steps)


@pytest.mark.long
@pytest.mark.parametrize(("q", "sigma", "steps"), [(0.01, 4.0, 1000), (0.02, 1.0, 200)])
def test_dp_accounting_lies_within_the_band(q: float, sigma: float, steps: int) -> None:
    band, epsilons = (
        tradeoff_bounds(Mechanism.constant(q, sigma, steps)),
        np.array([0.0, 0.1, 0.5, 1.0, 2.0]),
    )
    mesh = {"value_discretization_interval": 1e-4, "sampling_prob": q}
    high, low = (
        reference.from_gaussian_mechanism(sigma, pessimistic_estimate=p, **mesh).self_compose(steps)
        for p in (True, False)
    )
    assert np.all(
        band.upper.delta(epsilons) <= np.array(high.get_delta_for_epsilon(epsilons)) + 1e-12
    )
    assert np.all(
        band.lower.delta(epsilons) >= np.array(low.get_delta_for_epsilon(epsilons)) - 1e-12
    )


@pytest.mark.parametrize(("q", "sigma", "steps"), [(0.01, 4.0, 1000), (0.02, 1.0, 200)])
def test_riskcal_lies_within_the_band(q: float, sigma: float, steps: int) -> None:
    band, alpha = (
        tradeoff_bounds(Mechanism.constant(q, sigma, steps)),
        np.linspace(0.001, 0.999, 201),
    )
    # At mesh 1e-4 riskcal 1.5.1 is 1e-5 above what dp-accounting's own pairs allow, at 1e-5 even
    # 1e-3: not at 1e-3.
    pld = reference.from_gaussian_mechanism(
        sigma, value_discretization_interval=1e-3, sampling_prob=q
    )
    # Of a dominating law, coarser than ours.
    beta = np.asarray(get_beta_from_pld(pld.self_compose(steps), alpha))
    assert np.all(beta <= band.upper.beta(alpha))
    np.testing.assert_allclose(beta, band.lower.beta(alpha), atol=1e-3)


def test_different_releases_compose_in_any_order() -> None:
    parts = (Release(0.01, 1.0, 300), Release(1.0, 8.0, 2), Release(0.05, 2.0, 100))
    one, other = tradeoff_bounds(Mechanism(parts)), tradeoff_bounds(Mechanism(parts[::-1]))
    np.testing.assert_allclose(one.lower.beta(ALPHA), other.lower.beta(ALPHA), atol=1e-9)
    split = Mechanism((Release(1.0, 3.0, 2), Release(1.0, 2.0, 3)))
    exact = Gaussian(math.sqrt(2 / 9 + 3 / 4))
    assert np.all(tradeoff_bounds(split).lower.power(ALPHA) >= exact.power(ALPHA))
    assert np.all(tradeoff_bounds(split).upper.power(ALPHA) <= exact.power(ALPHA))


def test_a_schedule_of_many_levels_is_merged_and_still_a_band(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mechanism = Recipe("exponential", 0.02, 10).mechanism(0.02, 4.0, 600)
    fine = tradeoff_bounds(mechanism)
    monkeypatch.setattr(lattice, "LEVELS", 12)
    coarse = tradeoff_bounds(mechanism)
    assert np.all(coarse.lower.beta(ALPHA) <= fine.upper.beta(ALPHA))
    assert np.all(coarse.upper.beta(ALPHA) >= fine.lower.beta(ALPHA))


@pytest.mark.long
def test_the_mesh_is_not_refined_for_a_gap_that_merging_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    meshes, real = [], band_module._bounds_on
    monkeypatch.setattr(
        band_module,
        "_bounds_on",
        lambda above, below, mesh: meshes.append(mesh) or real(above, below, mesh),
    )
    # 459 levels; a third round took 10 s and 2 GB.
    tradeoff_bounds(Recipe("exponential", 0.0084).mechanism(0.35, 74.0, 1377))
    assert len(meshes) == 2


def test_more_noise_and_fewer_steps_raise_the_curve() -> None:
    base = tradeoff_bounds(Mechanism.constant(0.02, 1.0, 200))
    for better in (
        Mechanism.constant(0.02, 1.1, 200),
        Mechanism.constant(0.02, 1.0, 150),
        Mechanism.constant(0.018, 1.0, 200),
    ):
        assert np.all(tradeoff_bounds(better).upper.beta(ALPHA) >= base.lower.beta(ALPHA))
        assert np.max(tradeoff_bounds(better).lower.beta(ALPHA) - base.upper.beta(ALPHA)) > 1e-3


def test_deltas_of_one_direction_are_not_filled_in_by_symmetry() -> None:
    # One step, add: type I errors are large and type II errors small where the slope is -1, so it
    # is not symmetric.
    q, sigma = 0.01, 0.5
    epsilon, known = np.linspace(0, 0.02, 41), np.linspace(0, 0.02, 11)
    chord = band_module._one_way(epsilon, known, exact_add(q, sigma, known))
    assert np.all(chord >= exact_add(q, sigma, epsilon) * (1 - 1e-12))
    np.testing.assert_allclose(chord[::4], exact_add(q, sigma, known), rtol=1e-12)
    assert np.any(
        Pairs(known, exact_add(q, sigma, known)).delta(epsilon) < 0.9 * exact_add(q, sigma, epsilon)
    )
    beyond = band_module._one_way(np.array([0.001, 5.0]), known[1:], exact_add(q, sigma, known[1:]))
    np.testing.assert_array_equal(beyond, [1.0, exact_add(q, sigma, known[-1:])[0]])


@pytest.mark.parametrize(
    "releases",
    [
        (Release(1e-9, 0.0501, 10**7),),
        (
            Release(4.525331854732288e-06, 1.9591179797068472, 32_312),
            Release(1.0, 0.10062436053040709, 6),
        ),
    ],
)
def test_rounding_in_one_step_does_not_add_up_over_many(releases: tuple[Release, ...]) -> None:
    # One step's mass sums to 1 but for 1e-16: over 10^7 steps that once exceeded both the gap and
    # the error charged.
    band = tradeoff_bounds(Mechanism(releases))
    assert np.all(band.upper.power(ALPHA) <= band.lower.power(ALPHA) * (1 + ROUNDING))
    assert band.upper.delta(0.0) <= band.lower.delta(0.0)


def test_a_sigma_that_hides_nothing_says_so_and_one_release_is_enough() -> None:
    band = tradeoff_bounds(Mechanism.constant(0.01, 0.01, 10))
    assert "sigma=0.01" in band.note
    assert band.empty
    assert np.all(band.lower.beta(ALPHA[1:]) == 0)
    np.testing.assert_allclose(band.upper.beta(ALPHA), 1 - ALPHA)
    mixed = Mechanism((Release(0.1, 0.9 * lattice.SMALLEST_SIGMA, 1), Release(0.1, 1.0, 10)))
    band = tradeoff_bounds(mixed)
    assert band.empty
    assert (
        f"sigma={0.9 * lattice.SMALLEST_SIGMA:g} is below {lattice.SMALLEST_SIGMA:g}" in band.note
    )
    band = tradeoff_bounds(Mechanism.constant(0.01, 0.049, 1))
    assert band.empty
    assert isinstance(band.lower, Pairs)
    assert isinstance(band.upper, Points)
    assert not tradeoff_bounds(Mechanism.constant(0.01, 0.05, 1)).empty


@settings(max_examples=40, deadline=None)
@given(st.floats(-5, 0), st.floats(-1, 2), st.floats(0, 5))
def test_over_the_slider_box_it_is_a_narrow_band(
    log_q: float, log_sigma: float, log_steps: float
) -> None:
    mechanism = Mechanism.constant(10**log_q, max(10**log_sigma, 0.3), round(10**log_steps))
    band = tradeoff_bounds(mechanism)
    gap = band.upper.beta(ALPHA) - band.lower.beta(ALPHA)
    assert np.all(gap >= -1e-15)
    assert np.max(gap[1:]) < 1e-2  # at alpha = 0 an epsilon beyond the floats may be needed
    assert np.all(np.isfinite(band.lower.beta(ALPHA)))


KNOWN, DELTAS = np.array([0.5, 1.0, 2.0, 3.0]), np.array([0.4, 0.25, 0.1, 0.02])


def test_one_directions_delta_is_the_chord_of_pairs_1_below_them_and_constant_above() -> None:
    for place in range(3):
        for share in (0.0, 0.2, 0.7, 1.0):
            powers = np.exp(KNOWN[place : place + 2])
            epsilon = np.log(powers[0] + share * (powers[1] - powers[0]))
            chord = DELTAS[place] + share * (DELTAS[place + 1] - DELTAS[place])
            assert band_module._one_way(np.array([epsilon]), KNOWN, DELTAS) == pytest.approx(
                chord, rel=1e-12
            )
    found = band_module._one_way(np.array([0.1, 0.4999, 3.0, 9.0]), KNOWN, DELTAS)
    assert found == pytest.approx(np.array([1.0, 1.0, 0.02, 0.02]), rel=1e-12)
    twice = np.array([0.5, 0.5, 3.0])
    assert band_module._one_way(np.array([0.5]), twice, np.array([0.4, 0.3, 0.1])).tolist() == [0.3]


MECHANISM = Mechanism.constant(0.01, 4.0, 400)
NARROW = Band(Gaussian(1.0), Gaussian(1.0))
WIDE = Band(Gaussian(2.0), Gaussian(1.0))
WIDER = Band(Gaussian(3.0), Gaussian(1.0))
TOO_LONG = None

Rounds = Callable[..., list[float]]


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> Rounds:
    """Lets the rounds give these bands, the last one again and again, and records their meshes."""

    def give(*bands: Band | None) -> list[float]:
        meshes: list[float] = []

        def bounds_on(above: object, below: object, mesh: float) -> Band:
            meshes.append(mesh)
            band = bands[min(len(meshes), len(bands)) - 1]
            if band is None:
                raise RuntimeError("the lattice would be too long")
            return band

        monkeypatch.setattr(module, "_bounds_on", bounds_on)
        return meshes

    return give


def test_a_lattice_that_is_too_long_is_tried_again_at_twice_the_mesh(rounds: Rounds) -> None:
    meshes = rounds(TOO_LONG, TOO_LONG, NARROW)
    assert tradeoff_bounds(MECHANISM) is NARROW
    assert meshes == [meshes[0], 2 * meshes[0], 4 * meshes[0]]


def test_where_every_lattice_is_too_long_nothing_is_certified_and_that_is_said(
    rounds: Rounds,
) -> None:
    meshes = rounds(TOO_LONG)
    band = tradeoff_bounds(MECHANISM)
    assert band.empty
    assert "too long" in band.note
    assert band.lower.power(0.5) == 1
    assert band.upper.power(0.5) == 0.5
    assert len(meshes) == 4


def test_a_finer_mesh_that_is_too_long_leaves_the_band_that_is_there(rounds: Rounds) -> None:
    meshes = rounds(WIDE, TOO_LONG, NARROW)
    assert tradeoff_bounds(MECHANISM) is WIDE
    assert len(meshes) == 2
    assert meshes[1] < meshes[0]


def test_a_narrow_band_ends_the_rounds_and_a_wide_one_gets_a_finer_mesh_each_time(
    rounds: Rounds,
) -> None:
    meshes = rounds(NARROW)
    assert tradeoff_bounds(MECHANISM) is NARROW
    assert len(meshes) == 1
    meshes = rounds(WIDER, WIDE, NARROW)
    assert tradeoff_bounds(MECHANISM) is NARROW
    assert len(meshes) == 3
    assert 0.1 * meshes[0] <= meshes[1] <= 0.7 * meshes[0]
    assert 0.1 * meshes[1] <= meshes[2] <= 0.7 * meshes[1]
