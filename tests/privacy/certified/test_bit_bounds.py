"""Lower bounds from one bit of each step: against the best test in 60 digits, closed forms, and two
upper bounds.
"""

from functools import partial

import mpmath
import numpy as np
import pytest
from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism
from scipy.special import betainc, ndtr

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.certified.bit_bounds import POWER, bit_epsilons, counted_epsilons, log_tail
from dpcore.privacy.certified.gaussian_bounds import ALLOWED
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.sampling import SAMPLERS
from tests.privacy.certified.test_gaussian_bounds import exact_delta

DIGITS = 90
Number = mpmath.mpf


def tail_from(count: int, trials: int, chance: Number) -> Number:
    """The chance of `count` ones or more, term by term."""
    term = mpmath.binomial(trials, count) * chance**count * (1 - chance) ** (trials - count)
    total, ones = term, count
    while ones < trials and (ones <= trials * chance or term > total * Number(10) ** -30):
        term *= Number(trials - ones) / (ones + 1) * chance / (1 - chance)
        total, ones = total + term, ones + 1
    return total


def above(z: Number) -> Number:
    return mpmath.erfc(z / mpmath.sqrt(2)) / 2


def best_epsilon(q: float, sigma: float, trials: int, delta: float, places: int = 1) -> Number:
    """The best of all counts and of ever finer thresholds, by the exact laws of the bits."""

    def at(height: float) -> Number:
        own, place = Number(height), Number(height) + 1 / Number(sigma)
        # Ln of the chance that no other step is a one.
        others = (places - 1) * mpmath.log1p(-above(place))
        error = -mpmath.expm1(others + mpmath.log1p(-above(place)))
        power = -mpmath.expm1(
            others + mpmath.log1p(-Number(q) * above(own) - (1 - Number(q)) * above(place))
        )
        ratios = [
            (tail_from(count, trials, power) - Number(delta)) / tail_from(count, trials, error)
            for count in range(1, trials + 1)
        ]
        return mpmath.log(max(1, *ratios))

    best = max(np.arange(-8, 10, 0.5), key=at)
    for width in (0.5, 0.05):
        best = max(best + width * np.linspace(-1, 1, 21), key=at)
    return at(best)


@pytest.mark.parametrize(
    ("q", "sigma"), [(1.0, 0.02), (0.3, 0.012), (0.01, 0.2), (0.2, 1.0), (1e-4, 1e-3)]
)
@pytest.mark.parametrize(("trials", "delta"), [(1, 1e-5), (2, 0.05), (7, 1e-9), (25, 1e-3)])
def test_it_is_the_best_test_of_the_bits(q: float, sigma: float, trials: int, delta: float) -> None:
    with mpmath.workdps(DIGITS):
        best = best_epsilon(q, sigma, trials, delta)
        found = float(counted_epsilons(q, sigma, np.array([trials]), np.array([delta]))[0])
        assert 0.997 * best - 0.15 <= found <= best * (1 + 1e-5), best


@pytest.mark.parametrize(("places", "epochs"), [(2, 1), (117, 1), (10, 4)])
def test_an_epoch_is_the_largest_of_its_steps(places: int, epochs: int) -> None:
    with mpmath.workdps(DIGITS):
        for sigma in (0.05, 0.3):
            best = best_epsilon(1.0, sigma, epochs, 1e-5, places)
            found = float(
                counted_epsilons(1.0, sigma, np.array([epochs]), np.array([1e-5]), places)[0]
            )
            assert 0.997 * best - 0.15 <= found <= best * (1 + 1e-5), (sigma, best)


def test_no_bound_exceeds_the_mixture_of_all_that_may_be_drawn() -> None:
    """Given its n draws the record is in n Gaussian steps: delta is at most the mean over n of
    their closed form.
    """
    generator = np.random.default_rng(5)
    for _ in range(25):
        q, sigma = float(10 ** generator.uniform(-6, 0)), float(10 ** generator.uniform(-6, 0.3))
        trials, delta = int(10 ** generator.uniform(0, 9)), float(10 ** generator.uniform(-12, -1))
        trials = min(trials, int(200 / q) + 1)
        found = float(counted_epsilons(q, sigma, np.array([trials]), np.array([delta]))[0])
        with mpmath.workdps(DIGITS + 3 * int(np.log10(1 + found))):
            term, chance, mean = (1 - Number(q)) ** trials, Number(q), Number(0)
            for n in range(min(trials, 600) + 1):
                mean += term * (exact_delta(found, mpmath.sqrt(n) / Number(sigma)) if n else 0)
                term *= Number(trials - n) / (n + 1) * chance / (1 - chance)
            assert found == 0 or mean >= Number(delta), (q, sigma, trials, delta, found)


def test_a_tail_is_never_smaller_than_the_exact_one_and_close_where_it_is_rare() -> None:
    generator = np.random.default_rng(8)
    with mpmath.workdps(DIGITS):
        for _ in range(150):
            trials, log_chance = (
                int(10 ** generator.uniform(0, 9)),
                -float(10 ** generator.uniform(-1, 6)),
            )
            mean = trials * float(np.exp(log_chance))
            spread = min(5e3, 0.3 * trials)
            count = int(np.clip(mean + generator.uniform(0, 1) ** 4 * spread + 1, 1, trials))
            if mean > 1e5:
                continue
            if mean >= 1:
                assert (
                    log_tail(np.array([np.floor(mean)]), np.array([trials]), np.array([log_chance]))
                    == 0
                )
            found = float(
                log_tail(np.array([float(count)]), np.array([trials]), np.array([log_chance]))[0]
            )
            exact = mpmath.log(tail_from(count, trials, mpmath.exp(Number(log_chance))))
            assert found >= exact, (trials, count, log_chance)
            if count > 2 * mean:
                assert found <= exact + 0.15 + 1e-12 * abs(exact), (trials, count, log_chance)


def test_the_certified_band_lies_above_where_there_is_one() -> None:
    for q, sigma, steps in [(0.01, 0.06, 1000), (0.5, 0.1, 20), (0.1, 0.5, 100), (1.0, 2.0, 30)]:
        whole = Mechanism.constant(q, sigma, steps)
        for delta in (1e-12, 1e-5, 0.1):
            reading = ACCOUNTANTS["pld"].spent(whole, delta)
            found = bit_epsilons(whole, np.array([steps]), np.array([delta]))
            assert 0.3 * (reading.lower or 0.0) <= found <= reading.value, (q, sigma, steps, delta)


def test_the_functions_err_by_no_more_than_the_proof_assumes() -> None:
    generator = np.random.default_rng(3)
    with mpmath.workdps(DIGITS):
        for _ in range(150):
            trials, chance = (
                int(10 ** generator.uniform(0, 9)),
                float(10 ** generator.uniform(-9, -0.01)),
            )
            mean = trials * chance
            count = int(np.clip(mean + generator.uniform(-1, 12) * (1 + np.sqrt(mean)), 1, trials))
            if (
                mean < 1e6
                and (exact := tail_from(count, trials, Number(chance))) > Number(10) ** -61
            ):
                assert abs(betainc(count, trials - count + 1, chance) / exact - 1) < ALLOWED / 10, (
                    trials,
                    count,
                )
        for z in generator.uniform(-8, 37, 300):
            assert abs(ndtr(-z) / above(Number(z)) - 1) < POWER / 2, z


@pytest.mark.parametrize(
    ("sigma", "q", "steps"), [(0.04, 0.01, 100), (0.03, 0.01, 100), (0.02, 0.01, 10)]
)
def test_the_reference_library_says_a_little_more_where_it_answers(
    sigma: float, q: float, steps: int
) -> None:
    law = partial(
        from_gaussian_mechanism,
        sigma,
        sampling_prob=q,
        value_discretization_interval=0.1,
        use_connect_dots=False,
        log_mass_truncation_bound=-50,
    )
    below, above = (law(pessimistic_estimate=side).self_compose(steps) for side in (False, True))
    found = float(
        bit_epsilons(Mechanism.constant(q, sigma, steps), np.array([steps]), np.array([1e-5]))[0]
    )
    assert 0.85 * below.get_epsilon_for_delta(1e-5) < found < above.get_epsilon_for_delta(1e-5)


def test_of_a_schedule_the_least_noise_counts_at_its_own_largest_sigma_and_smallest_rate() -> None:
    one, all_steps = np.array([1e-5]), np.array([400])
    mixed = Mechanism((Release(0.02, 0.04, 300), Release(0.03, 0.039, 70), Release(1e-9, 9.0, 30)))
    both = counted_epsilons(0.02, 0.04, np.array([370]), one)
    assert (
        bit_epsilons(mixed, all_steps, one)
        == both
        > counted_epsilons(0.03, 0.039, np.array([70]), one)
    )
    longer = bit_epsilons(mixed, np.array([0, 10, 31, 330, 400]), np.full(5, 1e-5))
    assert longer[0] == 0
    assert np.all(np.diff(longer) >= 0)
    # Each step alone is drawn too rarely.
    many = Mechanism(tuple(Release(1e-3, 0.01 + 1e-6 * k) for k in range(1000)))
    assert bit_epsilons(many, np.array([1000]), np.array([0.01])) > 0.9 / (2 * 0.011**2)


def test_a_long_curve_has_a_bound_at_its_end_and_rises_in_some_steps() -> None:
    whole = Mechanism.constant(0.01, 0.02, 3000)
    curve = ACCOUNTANTS["pld"].curve(whole, np.arange(1, 3001), 1e-5)
    assert np.all(np.diff(curve.lower) >= 0)
    assert curve.lower[-1] == ACCOUNTANTS["pld"].spent(whole, 1e-5).lower
    few = ACCOUNTANTS["pld"].curve(whole, [10, 100, 1000], 1e-5)
    assert np.all(curve.lower[[9, 99, 999]] > 0.5 * few.lower)


@pytest.mark.parametrize("sigma", [2e-6, 0.002, 0.012, 0.0499])
def test_every_sampler_has_a_lower_bound_at_any_sigma(sigma: float) -> None:
    for name, sampler in SAMPLERS.items():
        curve = sampler.curve(0.01, sigma, [100, 1000], 1e-5)
        one_step = 0.5 * (1 / sigma - 5) ** 2  # a threshold five deviations below the record's sum
        assert curve.lower[0] >= 0.9 * one_step, name
        assert np.all(curve.lower <= curve.epsilon), name
    # The record is drawn too rarely.
    assert counted_epsilons(0.01, sigma, np.array([5]), np.array([0.06])) == 0
