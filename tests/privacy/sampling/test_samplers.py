"""Laws of every sampler; samplers with a closed form; lengths, bounds of many rounds, trade-off
bands.
"""

import math
from itertools import product
from math import inf
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from dpcore.privacy import gaussian
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.certified.epsilon_bounds import EpsilonBounds
from dpcore.privacy.certified.step_law import step_laws
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Kind, Mechanism
from dpcore.privacy.sampling import SAMPLERS, Sampler, base, round_laws, sampler_of, steps_of_epoch
from dpcore.privacy.sampling.base import (
    POINTS,
    banded,
    epochs_meant,
    points_of,
    rounds_of,
    steps_counted,
    tradeoff_band,
)
from dpcore.privacy.sampling.round_laws import RoundLaws, bounds_around
from dpcore.privacy.tradeoff import Gaussian, Points

ALL = pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)


@ALL
def test_an_id_has_the_numbers_that_its_form_shows_and_runs_and_claims_need_none(
    sampler: Sampler,
) -> None:
    assert len(sampler.parameters) == sampler.form.count(":")
    starts = [each.start for each in sampler.parameters]
    made = sampler_of(":".join([sampler.name, *map(str, starts)]))
    assert [getattr(made, each.name) for each in sampler.parameters] == starts
    if sampler.parameters:
        assert (sampler.draw, sampler.event, sampler.spellings) == (None, None, "")


@ALL
def test_bounds_are_in_order_and_never_fall_with_the_steps(sampler: Sampler) -> None:
    for q, sigma in [(0.1, 1.0), (1 / 30, 1.82), (1.0, 2.0)]:
        steps = np.arange(0, 3 * steps_of_epoch(q) + 1, max(steps_of_epoch(q) // 4, 1))
        curve = sampler.curve(q, sigma, steps, 1e-5)
        assert curve.kind is Kind.CERTIFIED, (q, sigma)
        assert curve.epsilon[0] == curve.lower[0] == 0, (q, sigma)
        assert np.all(curve.lower <= curve.epsilon), (q, sigma)
        assert np.all(np.diff(curve.epsilon) >= -1e-9), (q, sigma)
        assert np.all(np.diff(curve.lower) >= -1e-9), (q, sigma)
        assert np.isfinite(curve.epsilon).all(), (q, sigma)


@ALL
def test_more_noise_never_costs_more_and_a_point_of_the_curve_is_one_of_the_profile(
    sampler: Sampler,
) -> None:
    steps = 2 * steps_of_epoch(0.1)
    point, profile = (
        sampler.curve(0.1, 1.0, steps, 1e-5),
        sampler.profile(0.1, 1.0, steps, [1e-5, 1e-3]),
    )
    assert profile.epsilon[0] == pytest.approx(float(point.epsilon[0]), rel=1e-2)
    assert profile.lower[0] == pytest.approx(float(point.lower[0]), rel=1e-2)
    assert profile.epsilon[1] < profile.epsilon[0]
    curves = [sampler.curve(0.1, sigma, 20, 1e-5) for sigma in (0.8, 1.6, 3.2)]
    assert [float(curve.epsilon[0]) for curve in curves] == sorted(
        (float(c.epsilon[0]) for c in curves), reverse=True
    )


@ALL
def test_noise_however_little_is_answered_in_order(sampler: Sampler) -> None:
    """Warnings are errors: no overflow, and no index beyond the end."""
    for sigma in [1e-3, 0.01, 0.015, 0.02, 0.0225, 0.025, 0.03, 0.035, 0.04, 0.05, 0.7, 2.0]:
        curve = sampler.curve(0.01, sigma, [100, 200, 500, 1000], 1e-5)
        assert np.all(curve.lower <= curve.epsilon), sigma
        assert np.all(np.diff(curve.lower) >= 0), sigma
        assert np.isfinite(curve.epsilon).all() or curve.note.endswith("."), sigma
        if sampler.by_epoch:
            most = SAMPLERS["fixed_order"].curve(0.01, sigma, [100, 200, 500, 1000], 1e-5).epsilon
            assert np.all(curve.epsilon <= most), sigma


def exactly_alike(sampler: Sampler, q: float, sigma: float, steps: int) -> float:
    """1 less the total variation of a record's largest change: by quadrature for one step, or in
    closed form.
    """
    if sampler.by_epoch:
        return float(2 * ndtr(-np.sqrt(-(-steps // steps_of_epoch(q))) / (2 * sigma)))
    assert steps == 1
    x = np.linspace(-12 * sigma - 2, 12 * sigma + 2, 200_001)
    without, there, other = (
        np.exp(-0.5 * ((x - place) / sigma) ** 2) for place in (0.0, 1.0, -1.0)
    )
    pair = ((1 - q) * without + q * there, without)
    if sampler.name == "poisson_group":  # of two records
        both = np.exp(-0.5 * ((x - 2) / sigma) ** 2)
        pair = ((1 - q) ** 2 * without + 2 * q * (1 - q) * there + q * q * both, without)
    elif sampler.name == "poisson_replace_one":
        pair = (pair[0], (1 - q) * without + q * other)
    elif sampler.name == "fixed_size":
        pair = ((1 - q) * other + q * there, other)
    return float(np.minimum(*pair).sum() / without.sum())


@ALL
def test_a_delta_that_covers_all_that_is_told_leaves_no_epsilon(sampler: Sampler) -> None:
    # A smaller delta leaves some epsilon: the common mass is neither too large nor too small.
    for q, sigma, steps in [(0.1, 1.0, 1), (0.5, 2.0, 1), (0.9, 0.7, 1), (1.0, 3.0, 1)]:
        alike = exactly_alike(sampler, q, sigma, steps)
        curve = sampler.curve(q, sigma, steps, 1 - alike * (1 - 1e-5))
        # What is common to mixtures has no closed form.
        nearly = 0 if sampler.records == 1 else 1e-3
        assert curve.lower[0] == 0 <= curve.epsilon[0] <= nearly, (q, sigma, steps)
        below = sampler.curve(q, sigma, steps, 0.9 * (1 - alike))
        hides_more = sampler.name.startswith("random_allocation")  # than the order that is known
        assert below.epsilon[0] > 0 or hides_more, (q, sigma, steps)
    curve = sampler.curve(0.01, 1.0, [0, 100, 1000], 1 - 2e-16)
    assert curve.lower.tolist() == curve.epsilon.tolist() == [0, 0, 0]
    far = sampler.curve(0.1, 0.5, 300, 1 - 1e-15)  # where epsilon is still above 0
    assert far.lower[0] == 0 <= far.epsilon[0]


def test_what_would_take_minutes_is_refused_by_a_sentence() -> None:
    curve = SAMPLERS["fixed_size"].curve(5e-5, 1.0, [0, 1000], 1e-5)
    assert curve.epsilon.tolist() == [0, np.inf]
    assert (
        curve.note
        == "Nothing is counted for batches of a fixed size with q below 0.0001: it would take"
        " minutes."
    )
    far = SAMPLERS["random_allocation"].curve(1e-9, 1.0, 10**9, 1e-5)
    assert far.epsilon[0] == SAMPLERS["fixed_order"].curve(1e-9, 1.0, 10**9, 1e-5).epsilon[0]
    assert "1,000,000,000 steps is too long" in far.note


@ALL
def test_nonsense_is_refused_by_name(sampler: Sampler) -> None:
    for arguments, name in [
        ((0.0, 1.0, 1, 1e-5), "q"),
        ((1.5, 1.0, 1, 1e-5), "q"),
        ((0.1, 0.0, 1, 1e-5), "sigma"),
        ((0.1, 1.0, -1, 1e-5), "steps"),
        ((0.1, 1.0, 1.5, 1e-5), "steps"),
        ((0.1, 1.0, [2, 1], 1e-5), "steps"),
        ((0.1, 1.0, 1, 0.0), "delta"),
        ((0.1, 1.0, 1, 1.0), "delta"),
    ]:
        with pytest.raises(ValueError, match=f"Expected {name}"):
            sampler.curve(*arguments)


@ALL
def test_where_every_record_is_in_every_batch_it_is_the_gaussian_mechanism(
    sampler: Sampler,
) -> None:
    twice = 2.0 if sampler.adjacency in ("replace-one", "add/remove of 2 records") else 1.0
    curve = sampler.curve(1.0, 3.0, [1, 4], 1e-5)
    exact = gaussian.epsilon_of(1e-5, twice * np.sqrt([1.0, 4.0]) / 3)
    assert curve.epsilon == pytest.approx(exact, rel=1e-5)
    assert np.all(curve.epsilon >= exact * (1 - 1e-12))
    assert np.all(curve.lower <= exact * (1 + 1e-12))


def test_poisson_batches_are_those_of_the_certified_accountant() -> None:
    steps = np.array([10, 100, 1000])
    band = ACCOUNTANTS["pld"].curve(Mechanism.constant(0.01, 1.0, 1000), steps, 1e-5)
    curve = SAMPLERS["poisson"].curve(0.01, 1.0, steps, 1e-5)
    assert curve.epsilon.tolist() == band.epsilon.tolist()
    assert curve.lower.tolist() == band.lower.tolist()


def test_golden_numbers_of_a_fixed_order() -> None:
    for steps, sigma, epochs, delta, epsilon in [
        (100, 1.0, 1, 1e-5, 4.377), (1000, 0.5, 1, 1e-6, 10.997), (1000, 0.35, 1, 1e-6, 17.08),
        (117, 1.068, 40, 1e-5, 42.04), (30, 1.82, 40, 1e-5, 20.21), (234, 0.7, 20, 1e-5, 46.89),
    ]:  # fmt: skip
        curve = SAMPLERS["fixed_order"].curve(1 / steps, sigma, epochs * steps, delta)
        assert curve.epsilon[0] == pytest.approx(epsilon, rel=5e-4), (steps, sigma, epochs)
        mu = np.sqrt(epochs) / sigma
        at = float(curve.epsilon[0])
        assert ndtr(mu / 2 - at / mu) - np.exp(at) * ndtr(-mu / 2 - at / mu) == pytest.approx(
            delta, rel=1e-4
        )


def test_an_epoch_that_has_begun_counts_in_full_against_privacy() -> None:
    order = SAMPLERS["fixed_order"].curve(0.1, 1.0, [1, 10, 11, 20], 1e-5)
    assert order.epsilon[0] == order.epsilon[1]
    assert order.epsilon[2] == order.epsilon[3] > order.epsilon[1]
    for name in ("shuffle", "shuffle_once", "random_allocation", "random_allocation_once"):
        curve = SAMPLERS[name].curve(0.1, 1.0, [1, 10, 11, 20], 1e-5)
        first_step = SAMPLERS["poisson"].curve(0.1, 1.0, 1, 1e-5)  # where it is as well hidden
        assert 0 < curve.lower[0] <= first_step.epsilon[0]
        assert curve.epsilon[0] == pytest.approx(float(curve.epsilon[1]), rel=1e-3)
        assert curve.lower[1] == pytest.approx(float(curve.lower[2]), rel=1e-3)
        assert curve.lower[3] > curve.lower[2]


def test_whole_epochs_that_were_rounded_up_to_steps_are_whole_again_and_parts_stay_parts() -> None:
    for epochs, q in product([1, 5, 40, 128], [1.0, 0.6, 0.3, 256 / 10_000, 512 / 60_000, 1e-4]):
        steps = math.ceil(epochs / q - 1e-9)
        assert epochs_meant(q, steps) == epochs, (epochs, q)
        assert steps_counted(SAMPLERS["shuffle"], q, steps) == epochs * steps_of_epoch(q), (
            epochs,
            q,
        )
        assert steps_counted(SAMPLERS["fixed_size"], q, steps) == steps, (epochs, q)
    assert epochs_meant(0.01, 250) == 2.5
    assert steps_counted(SAMPLERS["shuffle"], 0.01, 250) == 250
    assert steps_counted(SAMPLERS["shuffle"], 0.01, 1) == 1


@ALL
def test_a_curve_begins_at_nothing_and_ends_at_the_end(sampler: Sampler) -> None:
    for q, steps in [(0.0256, 196), (0.1, 25), (1.0, 3), (0.01, 100_000), (0.01, 7), (0.6, 5)]:
        at, epochs = points_of(sampler, q, steps)
        assert at[0] == epochs[0] == 0, (q, steps)
        assert at[-1] == steps_counted(sampler, q, steps), (q, steps)
        assert np.all(np.diff(at) > 0), (q, steps)
        assert np.all(np.diff(epochs) > 0), (q, steps)
        assert at.size <= POINTS + 2, (q, steps)
        if sampler.by_epoch:
            assert np.all(at[:-1] % steps_of_epoch(q) == 0), (q, steps)
            np.testing.assert_array_equal(
                epochs[:-1] * steps_of_epoch(q), at[:-1], err_msg=str((q, steps))
            )


def laws_on(fineness: float, most: int = 0, error: float = 0.0) -> RoundLaws:
    return RoundLaws(step_laws(0.1, 2.0, 0.006 * fineness, 1e-12), error)


def test_bounds_are_those_of_the_certified_accountant() -> None:
    from dpcore.privacy.sampling import SAMPLERS

    known = SAMPLERS["poisson"].curve(0.1, 2.0, [10, 100], 1e-5)
    lower, upper = round_laws.law_bounds(laws_on, np.array([10, 100]), np.full(2, 1e-5))
    assert np.all(lower <= known.epsilon)
    assert np.all(upper >= known.lower)
    assert upper == pytest.approx(lower, rel=5e-3)


def test_errors_of_a_round_are_charged_once_for_each_round_and_may_use_up_delta() -> None:
    rounds, delta = np.array([10, 100]), np.full(2, 1e-5)
    lower, upper = round_laws._bounds_on(laws_on(0.5), rounds, delta)
    low, high = round_laws._bounds_on(laws_on(0.5, error=5e-8), rounds, delta)
    exact = round_laws._bounds_on(laws_on(0.5), rounds, delta - 5e-8 * rounds)[1]
    more = round_laws._bounds_on(laws_on(0.5), rounds, delta + 5e-8 * rounds)[0]
    assert high == pytest.approx(exact, rel=1e-9)
    assert low == pytest.approx(more, rel=1e-6)
    assert np.all(high > upper)
    assert np.all(low < lower)
    lower, upper = round_laws._bounds_on(
        laws_on(0.5, error=1e-7), np.array([10, 100]), np.full(2, 1e-5)
    )
    assert np.isfinite(upper[0])
    assert (lower[1], upper[1]) == (0.0, inf)


def test_bounds_that_cross_promise_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    crossing = np.array([2.0, 1.0]), np.array([1.0, 2.0])
    monkeypatch.setattr(round_laws, "_bounds_on", lambda *_: crossing)
    lower, upper = round_laws.law_bounds(laws_on, np.array([1, 2]), np.full(2, 1e-5))
    assert lower.tolist() == [0.0, 1.0]
    assert upper.tolist() == [inf, 2.0]


def test_a_lattice_that_is_too_long_keeps_what_the_one_before_gave() -> None:
    def only_coarse(fineness: float, most: int) -> RoundLaws:
        if fineness < 1:
            raise RuntimeError("too long")
        return laws_on(8.0)

    lower, upper = round_laws.law_bounds(only_coarse, np.array([50]), np.full(1, 1e-5))
    assert 0 < lower[0] < upper[0] < inf
    lower, upper = bounds_around(
        laws_on, np.array([0, 1, 1]), np.array([1, 1, 2]), np.full(3, 1e-5)
    )
    assert lower[0] == 0
    assert lower[1] == lower[2] > 0
    assert upper[0] == upper[1] < upper[2]


@ALL
def test_every_sampler_has_a_lower_bound_above_zero_also_at_a_tiny_delta(sampler: Sampler) -> None:
    """Laws without a tilt err by 1e-13 or so, and say nothing at a smaller delta."""
    for q, sigma in [(0.5, 0.5), (0.5, 3.0), (0.1, 1.0), (0.01, 1.0)]:
        steps = 3 * steps_of_epoch(q)
        for delta in (1e-12, 1e-30, 1e-50):
            curve = sampler.curve(q, sigma, [1, steps], delta)
            assert np.all(curve.lower > 0), (q, sigma, delta)
            assert np.all(curve.lower <= curve.epsilon), (q, sigma, delta)


def test_one_epoch_alone_counts_where_the_laws_of_all_say_less() -> None:
    for name, q, sigma, steps, delta, least in [
        ("random_allocation", 0.01, 1.0, 300, 1e-12, 2.69),
        ("random_allocation_once", 1 / 6, 0.6188, 51, 1e-9, 30.0),
    ]:
        curve = SAMPLERS[name].curve(q, sigma, steps, delta)
        assert least < curve.lower[0] < curve.epsilon[0], name


@pytest.mark.parametrize(
    ("name", "q", "sigma", "steps", "delta"),
    [
        ("poisson_group:1", 0.0075166, 1.90761, [910, 3186, 6372], 2.2968403568081988e-60),
        ("poisson_group:3", 5.055e-8, 16465.01, [317_310, 1_110_585, 2_221_171], 1.353e-21),
        ("random_allocation", 0.5, 0.5, [2, 4, 6], 1e-50),
        ("random_allocation_once", 0.5, 0.5, [2, 4, 6], 3.5e-29),
    ],
)
def test_a_lower_bound_never_falls_and_no_delta_crashes(
    name: str, q: float, sigma: float, steps: list[int], delta: float
) -> None:
    curve = sampler_of(name).curve(q, sigma, steps, delta)
    assert np.all(np.diff(curve.lower) >= 0)
    assert np.all(curve.lower > 0)
    assert np.all(curve.lower <= curve.epsilon)


@pytest.mark.parametrize(
    ("name", "q", "sigma", "steps", "delta"),
    [
        ("random_allocation", 1 / 9, 0.3195, 27, 2.1e-28),
        ("random_allocation", 1 / 33, 0.261, 5874, 2.07e-20),
        ("random_allocation", 1 / 35, 0.3009, 15_365, 2.4e-17),
        ("poisson_replace_one", 1e-5, 0.5, 1000, 1e-6),
        ("poisson_replace_one", 1.93e-9, 0.246, 3413, 4.8e-8),
        ("poisson_group:53", 1.49e-8, 0.4025, [1, 3], 3.2e-7),
    ],
)
def test_no_lattice_is_longer_than_its_limit(
    name: str, q: float, sigma: float, steps: Any, delta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lattice of 932,696,348 nodes was asked for; the coarser one still has bounds above 0."""
    longest, real = [], round_laws._bounds_on

    def counted(given: RoundLaws, *others: Any) -> tuple[np.ndarray, np.ndarray]:
        longest.append(given.nodes)
        return real(given, *others)

    monkeypatch.setattr(round_laws, "_bounds_on", counted)
    curve = sampler_of(name).curve(q, sigma, steps, delta)
    assert 0 < max(longest) <= 1.01 * round_laws.NODES
    assert 0 < curve.lower[-1] <= curve.epsilon[-1] < inf


def test_of_many_points_each_has_a_coarser_lattice() -> None:
    assert round_laws.most_nodes(1) == round_laws.NODES
    assert round_laws.most_nodes(85) < round_laws.NODES / 2
    assert round_laws.most_nodes(10**6) >= round_laws.FEWEST_NODES
    # Took most of a minute.
    band = tradeoff_band(SAMPLERS["random_allocation_once"], 1 / 6, 0.6188, 51)
    # What a known order would tell, of nine epochs that have begun.
    exact = Gaussian(math.sqrt(9) / 0.6188)
    assert band.lower.beta(0.1) >= 0.98 * exact.beta(0.1)


def test_notes_are_of_the_ends_that_are_shown() -> None:
    """The bits raise the lower ends of both, from 0."""
    narrow = sampler_of("poisson_group:2").curve(1e-5, 0.3, 1000, 1e-6)
    assert narrow.epsilon[0] / narrow.lower[0] < 1.01
    assert narrow.note == ""
    wide = SAMPLERS["random_allocation"].curve(0.5, 0.3, 6, 1e-14)
    assert wide.epsilon[0] / wide.lower[0] == pytest.approx(1.077, abs=6e-4)
    assert "lie 7.7 % of the lower one apart" in wide.note


def test_ends_that_cross_are_handed_out_by_no_sampler(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = EpsilonBounds(np.array([2.0]), np.array([1.0]))
    monkeypatch.setattr(base.Poisson, "_account", lambda *_: wrong)
    monkeypatch.setattr(base.Poisson, "_bits", lambda *_: np.zeros(1))
    curve = SAMPLERS["poisson"].curve(0.1, 1.0, 10, 1e-5)
    assert (curve.lower[0], curve.epsilon[0]) == (0.0, inf)
    assert curve.note


ALPHA = np.concatenate([[0.0], np.geomspace(1e-6, 1.0, 200)])
Q, SIGMA = 0.1, 1.5


@ALL
def test_the_curves_are_in_order_and_blind_guessing_is_above_both(sampler: Sampler) -> None:
    band = tradeoff_band(sampler, Q, SIGMA, 20)
    lower, upper = band.lower.beta(ALPHA), band.upper.beta(ALPHA)
    assert not band.empty
    assert np.all(lower <= upper + 1e-12)
    assert np.all(upper <= 1 - ALPHA + 1e-12)
    assert np.max(1 - ALPHA - upper) > 0.05  # it excludes something


def test_trade_off_bands_hold_the_exact_curve_that_of_the_certified_room_and_the_best_attack() -> (
    None
):
    band, exact = tradeoff_band(SAMPLERS["fixed_order"], Q, 2.0, 40), Gaussian(1.0).beta(ALPHA)
    assert np.all(band.lower.beta(ALPHA) <= exact + 1e-9)
    assert np.all(band.upper.beta(ALPHA) >= exact - 1e-9)
    assert np.max(band.upper.beta(ALPHA) - band.lower.beta(ALPHA)) < 0.03
    band, closer = (
        tradeoff_band(SAMPLERS["poisson"], Q, SIGMA, 20),
        tradeoff_bounds(Mechanism.constant(Q, SIGMA, 20)),
    )
    assert np.all(band.lower.beta(ALPHA) <= closer.upper.beta(ALPHA) + 1e-9)
    assert np.all(band.upper.beta(ALPHA) >= closer.lower.beta(ALPHA) - 1e-9)
    steps, place = steps_of_epoch(Q), np.linspace(-6, 12, 400)
    found, wrongly = (
        1 - ndtr((place - own) / SIGMA) * ndtr(place / SIGMA) ** (steps - 1) for own in (2.0, 1.0)
    )
    band = tradeoff_band(SAMPLERS["shuffle"], Q, SIGMA, steps)
    # The bounds know this attack.
    assert np.all(Points(wrongly, found).beta(ALPHA) <= band.upper.beta(ALPHA) + 1e-6)
    # And no attack gets below this curve.
    assert np.all(1 - found >= band.lower.beta(wrongly) - 1e-6)
    band = tradeoff_band(SAMPLERS["fixed_size"], 0.01, 0.05, 10_000)
    assert band.empty
    assert band.note
    assert np.all(band.lower.beta(ALPHA) == 0)


def test_bands_are_poisson_batches_of_fewer_steps_at_a_larger_rate() -> None:
    assert banded(0.01, 4.0, 1000, 1) == Mechanism.constant(0.01, 4.0, 1000)
    assert banded(0.01, 4.0, 1000, 100) == Mechanism.constant(1.0, 4.0, 10)
    assert banded(0.01, 4.0, 1001, 8).steps == 126  # a round that has begun counts
    assert np.array_equal(rounds_of([1, 8, 9, 16], 8), [1, 1, 2, 2])
    # They cost more at the same noise.
    last = [banded(0.01, 2.0, 1000, bands) for bands in (1, 4, 16)]
    epsilons = [float(ACCOUNTANTS["pld"].curve(each, each.steps, 1e-5).epsilon[0]) for each in last]
    assert epsilons == sorted(epsilons)
    for bands, words in ((0, "bands=0"), (101, "bands=101 to be at most 1/q = 100")):
        with pytest.raises(ValueError, match=words):
            banded(0.01, 4.0, 1000, bands)
