"""The certified band against closed forms, the reference library, itself, and thousands of random
settings.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as reference
from scipy.optimize import brentq

from dpcore.privacy import gaussian
from dpcore.privacy.accountants import ACCOUNTANTS, Accountant, Kind
from dpcore.privacy.certified import lattice
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.schedule import Recipe
from tests import golden
from tests.privacy.certified.test_step_law import exact_add, exact_remove

PLD = ACCOUNTANTS["pld"]


def band(
    mechanism: Mechanism, delta: float, steps: list[int] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    curve = PLD.curve(mechanism, steps or [mechanism.steps], delta)
    return curve.lower, curve.epsilon


def narrow(lower: np.ndarray, upper: np.ndarray) -> bool:
    """The promise inside the box: 1 % of epsilon, or 0.01 if larger."""
    return bool(np.all(upper - lower <= 0.01 * np.maximum(lower, 1.0)))


def test_the_band_holds_the_reference_value_and_is_narrow() -> None:
    for anchor in golden.EXACT + golden.EXACT_MORE:
        lower, upper = band(Mechanism.constant(anchor.q, anchor.sigma, anchor.steps), anchor.delta)
        assert lower[0] - anchor.tolerance <= anchor.epsilon <= upper[0] + anchor.tolerance, anchor
        assert upper[0] - lower[0] <= 0.005 * upper[0], anchor
    # The checks above have power: a sigma 2 % off leaves the band.
    anchor = golden.EXACT[0]
    lower, upper = band(
        Mechanism.constant(anchor.q, 1.02 * anchor.sigma, anchor.steps), anchor.delta
    )
    assert not lower[0] - anchor.tolerance <= anchor.epsilon <= upper[0] + anchor.tolerance


def test_near_q_1_the_lattice_s_band_holds_the_exact_gaussian() -> None:
    for sigma, delta in product([0.3, 1.0, 7.0, 100.0], [1e-12, 1e-5, 0.1]):
        # Sampled, so that there is no closed form, but all but Gaussian.
        steps, q = [1, 10, 1000], 1 - 1e-15
        lower, upper = band(Mechanism.constant(q, sigma, 1000), delta, steps)
        exact = gaussian.epsilon_of(delta, np.sqrt(steps) / sigma)
        assert np.all(lower <= exact * (1 + 1e-9)), (sigma, delta)
        assert np.all(exact <= upper * (1 + 1e-9)), (sigma, delta)
        inside = exact <= 100
        assert narrow(lower[inside], upper[inside]), (sigma, delta)


@pytest.mark.parametrize("delta", [1e-12, 1e-7, 1e-3])
@pytest.mark.parametrize("sigma", [0.3, 0.7, 2.0, 20.0])
@pytest.mark.parametrize("q", [1e-5, 1e-3, 0.1, 0.9])
def test_one_step_agrees_with_its_closed_form(q: float, sigma: float, delta: float) -> None:
    def excess(epsilon: float) -> float:
        at = np.array([epsilon])
        return float(max(exact_remove(q, sigma, at)[0], exact_add(q, sigma, at)[0])) - delta

    exact = brentq(excess, 0.0, 60.0, xtol=1e-13) if excess(0.0) > 0 else 0.0
    lower, upper = band(Mechanism.constant(q, sigma, 1), delta)
    assert lower[0] <= exact * (1 + 1e-5) + 1e-12
    assert exact <= upper[0] * (1 + 1e-5) + 1e-12
    assert narrow(lower, upper)


def bounds_of_reference(releases: tuple[Release, ...], delta: float) -> tuple[float, float]:
    """dp-accounting's optimistic and pessimistic epsilon of a composition."""
    both = []
    for pessimistic in (False, True):
        total = None
        for each in releases:
            one = reference.from_gaussian_mechanism(
                each.sigma,
                sampling_prob=each.q,
                value_discretization_interval=2e-4,
                pessimistic_estimate=pessimistic,
                use_connect_dots=pessimistic,
            ).self_compose(each.count)
            total = one if total is None else total.compose(one)
        assert total is not None
        both.append(float(total.get_epsilon_for_delta(delta)))
    return both[0], both[1]


@pytest.mark.long
def test_the_band_agrees_with_the_reference_library_on_a_random_grid() -> None:
    generator = np.random.default_rng(5)
    for _ in range(12):
        q, sigma = float(10 ** generator.uniform(-2.5, 0)), float(generator.uniform(0.8, 4.0))
        steps, delta = int(10 ** generator.uniform(0, 2.5)), float(10 ** generator.uniform(-8, -3))
        low, high = bounds_of_reference((Release(q, sigma, steps),), delta)
        lower, upper = band(Mechanism.constant(q, sigma, steps), delta)
        assert lower[0] <= high * (1 + 1e-6) + 1e-9
        assert upper[0] >= low * (1 - 1e-6) - 1e-9
        assert upper[0] <= high * 1.01 + 0.01
        assert narrow(lower, upper)


def test_different_releases_compose_as_in_the_reference_library() -> None:
    releases = (Release(1.0, 7.0, 1), Release(0.01, 2.0, 400), Release(0.02, 1.5, 100))
    low, high = bounds_of_reference(releases, 1e-5)
    lower, upper = band(Mechanism(releases), 1e-5)
    assert lower[0] <= high
    assert low <= upper[0]
    assert narrow(lower, upper)


def test_merging_levels_widens_the_band_around_the_same_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mechanism = Recipe("exponential", 0.004, 2).mechanism(0.02, 3.0, 300)
    lower, upper = band(mechanism, 1e-5)
    monkeypatch.setattr(lattice, "LEVELS", 20)
    merged_lower, merged_upper = band(mechanism, 1e-5)
    assert len(mechanism.releases) == 150
    assert merged_lower[0] < lower[0] < upper[0] < merged_upper[0]
    assert merged_upper[0] - merged_lower[0] < 0.1 * upper[0]


def random_box(generator: np.random.Generator) -> tuple[Mechanism, float]:
    q = float(generator.choice([10 ** generator.uniform(-5, 0), 1.0], p=[0.95, 0.05]))
    sigma, steps = (
        float(10 ** generator.uniform(np.log10(0.3), 2)),
        int(10 ** generator.uniform(0, 6)),
    )
    return Mechanism.constant(q, sigma, steps), float(10 ** generator.uniform(-12, -1))


def check_box(generator: np.random.Generator, settings: int) -> None:
    for _ in range(settings):
        mechanism, delta = random_box(generator)
        steps = np.unique(
            np.linspace(max(1, mechanism.steps // 20), mechanism.steps, 20).astype(int)
        )
        curve = PLD.curve(mechanism, steps, delta)
        where = (mechanism, delta, curve.lower, curve.epsilon)
        assert np.all(np.isfinite(curve.epsilon)), where
        assert np.all((curve.lower >= 0) & (curve.lower <= curve.epsilon)), where
        assert np.all(np.diff(curve.lower) >= 0), where
        assert np.all(np.diff(curve.epsilon) >= 0), where
        inside = curve.lower <= 100
        assert narrow(curve.lower[inside], curve.epsilon[inside]), where


@pytest.mark.long
def test_the_band_is_narrow_and_monotone_at_1000_random_settings() -> None:
    for seed in range(10):
        check_box(np.random.default_rng(200 + seed), 100)


def test_where_nothing_is_available_it_is_said_why() -> None:
    curve = PLD.curve(Mechanism.constant(0.1, 0.01, 10), [0, 10], 1e-5)
    assert curve.kind is Kind.CERTIFIED
    assert list(curve.epsilon) == [0.0, np.inf]
    assert curve.lower[0] == 0
    # Drawn three times at least with probability 0.07.
    assert 0.9 * 3 * 4000 < curve.lower[1] < 10 * 5000 + 100
    assert curve.note == "sigma=0.01 is below 0.05, where one step already tells all."
    mixed = Mechanism((Release(0.1, 0.045, 1), Release(1.0, 1.0, 10)))
    curve = PLD.curve(mixed, [mixed.steps], 1e-5)
    assert list(curve.epsilon) == [np.inf]
    assert curve.lower[0] > 150  # 1/(2 0.045^2) is 247
    assert curve.note == "sigma=0.045 is below 0.05, where one step already tells all."
    assert PLD.hopeless(mixed)
    assert not PLD.hopeless(Mechanism.constant(0.1, 0.05, 1))
    steps = 10**9
    curve = PLD.curve(Mechanism.constant(0.5, 0.05, steps), [steps], 0.999)
    assert 0.7 * curve.epsilon < curve.lower < curve.epsilon  # the lattice alone has no lower bound
    curve = PLD.curve(Mechanism.constant(0.5, 0.05, steps), [steps], 0.999999)
    assert curve.epsilon.tolist() == [np.inf]
    assert curve.lower.tolist() == [0.0]
    assert (
        curve.note
        == "So many steps need a lattice so coarse that the ratios at its nodes overflow."
    )


def test_a_proven_tradeoff_function_is_promised_whatever_its_note_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    noted = replace(tradeoff_bounds(Mechanism.constant(1.0, 2.0, 4)), note="The band is wide.")
    monkeypatch.setattr("dpcore.privacy.accountants.pld.tradeoff_bounds", lambda mechanism: noted)
    curve = PLD.own_tradeoff(Mechanism.constant(1.0, 2.0, 4))
    assert (curve.lower, curve.note) == (noted.lower, "The band is wide.")


def test_pairs_at_one_epsilon_are_no_hindrance_to_a_trade_off_function():
    found = tradeoff_bounds(Mechanism.constant(1e-90, 0.0501, 10**9))
    assert found.lower.beta([0.1]) <= 0.9 <= found.upper.beta([0.1]) + 1e-9


CHEAP = [each for each in ACCOUNTANTS.values() if each.kind is not Kind.CERTIFIED]
MOST = 8.5  # powers of ten: steps of a release
# Of different releases, for the band: more take up to a minute, and have cases of their own below.
MAX_MIXED = 5.0
LONG_MIXED = [  # (q, sigma, count) of releases, and delta
    ([(0.00035, 2.82, 220_000_000), (4.5e-6, 6.21, 33_000_000)], 1.6e-11),
    ([(0.0028, 375.0, 45), (6.8e-6, 2620.0, 69_000_000)], 4.1e-13),
    ([(1.0, 17.5, 260_000_000), (0.12, 156.0, 69_000), (1.0, 7.39, 18_000_000)], 1.6e-8),
    ([(9.5e-7, 0.303, 1100), (0.00086, 8.91, 46_000_000), (0.00016, 8280.0, 1_200_000)], 6.9e-13),
]


def random_setting(
    generator: np.random.Generator, most_mixed: float = MOST
) -> tuple[Mechanism, float]:
    """One to three releases with q in [1e-7, 1], sigma in [0.01, 1e4], up to 1e9 steps; delta in
    [1e-15, 0.5].
    """
    levels = int(generator.choice([1, 1, 1, 2, 3]))
    releases = tuple(
        Release(
            q=float(generator.choice([10 ** generator.uniform(-7, 0), 1.0], p=[0.9, 0.1])),
            sigma=float(10 ** generator.uniform(-2, 4)),
            count=int(10 ** generator.uniform(0, MOST if levels == 1 else most_mixed)),
        )
        for _ in range(levels)
    )
    return Mechanism(releases), float(10 ** generator.uniform(-15, np.log10(0.5)))


def check_curve(
    accountant: Accountant, mechanism: Mechanism, steps: np.ndarray, delta: float
) -> None:
    curve, where = accountant.curve(mechanism, steps, delta), (accountant.name, mechanism, delta)
    assert not np.isnan(curve.epsilon).any(), where
    assert np.all(curve.epsilon >= 0), where
    assert np.all(curve.epsilon[1:] >= curve.epsilon[:-1] * (1 - 1e-6) - 1e-9), where


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 8))]
)
def test_2000_random_settings_give_no_nan_and_no_exception(seed: int) -> None:
    generator = np.random.default_rng(seed)
    for _ in range(250):
        mechanism, delta = random_setting(generator)
        steps = np.unique([1, 1 + mechanism.steps // 3, mechanism.steps])
        for accountant in CHEAP:
            check_curve(accountant, mechanism, steps, delta)


def check_band(mechanism: Mechanism, delta: float) -> None:
    steps = np.unique([1, mechanism.steps])
    band = ACCOUNTANTS["pld"].curve(mechanism, steps, delta)
    assert not np.isnan(band.epsilon).any()
    assert np.all((band.lower >= 0) & (band.lower <= band.epsilon))
    for accountant in CHEAP:
        curve = accountant.curve(mechanism, steps, delta)
        if curve.kind is Kind.UPPER:
            where = (accountant.name, mechanism, delta, band.lower, curve.epsilon)
            assert np.all(band.lower <= curve.epsilon * (1 + 1e-9) + 1e-12), where


def check_bands(generator: np.random.Generator, settings: int) -> None:
    for _ in range(settings):
        check_band(*random_setting(generator, MAX_MIXED))


def test_no_proven_lower_bound_exceeds_a_valid_upper_bound_at_random() -> None:
    check_bands(np.random.default_rng(100), 10)


@pytest.mark.long
def test_no_proven_lower_bound_exceeds_a_valid_upper_bound_at_300_random_settings() -> None:
    for seed in range(15):
        check_bands(np.random.default_rng(1000 + seed), 20)


@pytest.mark.long
def test_no_lower_bound_exceeds_a_valid_upper_bound_after_millions_of_releases() -> None:
    for releases, delta in LONG_MIXED:
        check_band(Mechanism(tuple(Release(*each) for each in releases)), delta)
