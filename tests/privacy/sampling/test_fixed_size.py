"""Batches of one size, and Poisson batches under replace-one adjacency: small data sets, closed
forms, the plane.
"""

from itertools import combinations
from math import sqrt

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr

from dpcore.privacy import gaussian
from dpcore.privacy.sampling import SAMPLERS
from dpcore.privacy.sampling.fixed_size import (
    _log_central_moments,
    clt_mu,
    fixed_size_laws,
    log_moments,
)
from dpcore.privacy.sampling.replace_one import loss_at, place_at, replace_one_laws
from tests.privacy.law_curve import of_law

SAMPLER = SAMPLERS["fixed_size"]


def test_one_step_is_amplification_by_subsampling_in_closed_form() -> None:
    """With e^eps' = 1 + q (e^eps - 1), delta(eps') = q delta(eps) of the Gaussian whose record
    moves it by 2.
    """
    for q, sigma in [(0.01, 1.0), (0.2, 3.0), (0.5, 0.8), (0.9, 10.0)]:
        base = np.array([0.1, 0.5, 1.0, 2.0]) / sigma
        epsilon = np.log1p(q * np.expm1(base))
        exact = q * gaussian.delta_of(base, 2 / sigma)
        laws = fixed_size_laws(q, sigma, 0.02 * q / sigma, 1e-14)
        for law in (laws.remove, laws.add):
            found = of_law(law, epsilon)
            assert np.all(found >= exact - 1e-14), (q, sigma)
            assert found == pytest.approx(exact, rel=2e-3), (q, sigma)
            assert law.mass.sum() + law.infinite == pytest.approx(1, abs=1e-12), (q, sigma)


@pytest.mark.parametrize("seed", range(6))
def test_no_small_data_set_tells_more_than_the_upper_pair(seed: int) -> None:
    random = np.random.default_rng(seed)
    size, n, sigma = 2, 5, 0.7
    others = random.choice([-1.0, 1.0], n - 1) if seed < 3 else random.uniform(-1, 1, n - 1)
    x = np.linspace(-9, 9, 20_001)

    def density(record: float) -> np.ndarray:
        sums = [sum(batch) for batch in combinations([*others, record], size)]
        found = np.mean([np.exp(-0.5 * ((x - each) / sigma) ** 2) for each in sums], axis=0)
        return found / found.sum()

    epsilon = np.array([0.0, 0.2, 0.7, 1.5])
    laws = fixed_size_laws(size / n, sigma, 0.01, 1e-14)
    upper = of_law(laws.remove, epsilon)
    for record, replaced in ((1.0, -1.0), (-1.0, 1.0), tuple(random.uniform(-1, 1, 2))):
        p, q = density(record), density(replaced)
        found = np.array([np.maximum(p - np.exp(each) * q, 0).sum() for each in epsilon])
        assert np.all(found <= upper + 1e-9)


def test_the_lower_end_is_reached_by_one_record_against_all_others() -> None:
    """All others and the replacement pull by -1: with it the sum is -b, else -b or -b + 2."""
    q, sigma = 0.25, 2.0
    curve = SAMPLER.curve(q, sigma, 1, 1e-3)
    for epsilon, more in (
        (float(curve.lower[0]) * 0.999, True),
        (float(curve.epsilon[0]) * 1.001, False),
    ):
        cut = sigma**2 / 2 * np.log((np.expm1(epsilon) + q) / q) + 1
        delta = (
            (1 - q) * ndtr(-cut / sigma)
            + q * ndtr((2 - cut) / sigma)
            - np.exp(epsilon) * ndtr(-cut / sigma)
        )
        assert (delta > 1e-3) == more
    # One step: both ends are one.
    assert curve.lower[0] == pytest.approx(float(curve.epsilon[0]), rel=5e-3)


def test_the_upper_end_is_the_limit_of_many_small_steps_and_closer_than_the_renyi_bound() -> None:
    for q, sigma, steps in ((0.01, 4.0, 10_000), (0.1, 2.0, 10), (512 / 60_000, 1.068, 4680)):
        curve = SAMPLER.curve(q, sigma, steps, 1e-5)
        limit, renyi = SAMPLER.other_curves(q, sigma, np.array([steps]), 1e-5)
        assert curve.lower[0] < curve.epsilon[0] < renyi.curve.epsilon[0]
        assert (limit.curve.kind, renyi.curve.kind) == ("approximate", "upper")
    # For q -> 0 with q sqrt(T) fixed, the upper pair becomes the Gaussian of that mu.
    steps, q, sigma = 400_000, 0.001, 6.0
    mu = clt_mu(q, sigma) * sqrt(steps)
    limit = float(gaussian.epsilon_of(1e-5, mu))
    assert float(SAMPLER.curve(q, sigma, steps, 1e-5).epsilon[0]) == pytest.approx(limit, rel=0.01)


def test_renyi_moments_are_those_of_the_reference_library_at_half_the_noise() -> None:
    """At the whole noise, as in that library for batches of a fixed size, they would be far too
    small.
    """
    for q, sigma in [(0.01, 1.0), (512 / 60_000, 1.068), (0.1, 4.0), (0.5, 2.0)]:
        module = pytest.importorskip("dp_accounting.rdp.rdp_privacy_accountant")
        chosen = [2, 3, 4, 9, 64, 255]
        own = log_moments(q, sigma)[[order - 2 for order in chosen]]
        for scale, equal in ((0.5, True), (1.0, False)):
            theirs = module._compute_rdp_sample_wor_gaussian(q, scale * sigma, chosen) * (
                np.array(chosen) - 1
            )
            assert np.allclose(own, theirs, rtol=1e-6) == equal, (q, sigma)
            assert equal or np.all(own > 1.5 * theirs), (q, sigma)


def test_central_moments_of_the_ratio_agree_with_fifty_digits() -> None:
    for base in [0.5, 2.0, 30.0]:
        found = _log_central_moments(base)
        with mpmath.workdps(400):
            for order in (2, 8, 100, 256):
                s = mpmath.mpf(base)
                moment = mpmath.fsum(
                    (-1) ** k
                    * mpmath.binomial(order, k)
                    * mpmath.exp((order - k) * (order - k - 1) / (2 * s * s))
                    for k in range(order + 1)
                )
                exact = float(mpmath.log(moment))
                assert found[order // 2 - 1] >= exact, base
                assert found[order // 2 - 1] == pytest.approx(exact, abs=2e-9), base


STEPS = [(q, sigma) for q in (1e-4, 0.02, 0.5, 0.99) for sigma in (0.4, 1.0, 5.0)]


def exact(q: float, sigma: float, epsilon: np.ndarray) -> np.ndarray:
    cut = place_at(q, sigma, epsilon)
    p = (1 - q) * ndtr(-cut / sigma) + q * ndtr((1 - cut) / sigma)
    other = (1 - q) * ndtr(-cut / sigma) + q * ndtr((-1 - cut) / sigma)
    return p - np.exp(epsilon) * other


def test_places_and_losses_are_inverse() -> None:
    for q, sigma in STEPS:
        losses = np.linspace(-4, 4, 33)
        assert loss_at(q, sigma, place_at(q, sigma, losses)) == pytest.approx(losses, abs=1e-9), (
            q,
            sigma,
        )
        place = np.linspace(-3, 3, 31)
        p, other = ((1 - q) + q * np.exp((sign * place - 0.5) / sigma**2) for sign in (1, -1))
        assert loss_at(q, sigma, place) == pytest.approx(np.log(p / other), abs=1e-12), (q, sigma)


def test_the_laws_lie_on_either_side_of_the_exact_hockey_stick() -> None:
    for q, sigma in STEPS:
        scale = q / sigma if sigma > 1 else min(q, 0.5)
        epsilon = scale * np.array([0.0, 0.3, 1.0, 2.5])
        laws = replace_one_laws(q, sigma, max(0.1 * scale, 1e-3), 1e-15)
        known = exact(q, sigma, epsilon)
        assert np.all(of_law(laws.remove, epsilon) >= known - 1e-13), (q, sigma)
        assert np.all(of_law(laws.add, epsilon) >= known - 1e-13), (q, sigma)
        assert np.all(of_law(laws.dominated, epsilon) <= known + 1e-13), (q, sigma)
        assert of_law(laws.remove, epsilon) == pytest.approx(
            of_law(laws.add, epsilon), abs=1e-12
        ), (q, sigma)


@pytest.mark.parametrize("t", [0.3, 0.9, 1.0, 1.2, 2.0])
def test_no_two_records_in_the_plane_make_a_step_tell_more_than_the_pair(t: float) -> None:
    q, sigma = 0.3, 0.8
    x, y = np.meshgrid(np.linspace(-6, 6, 601), np.linspace(-6, 6, 601))
    area = (12 / 600) ** 2

    def normal(mean: tuple[float, float]) -> np.ndarray:
        distance = (x - mean[0]) ** 2 + (y - mean[1]) ** 2
        return np.exp(-0.5 * distance / sigma**2) / (2 * np.pi * sigma**2) * area

    def divergence(v: tuple[float, float], other: tuple[float, float]) -> float:
        p, r = ((1 - q) * normal((0, 0)) + q * normal(each) for each in (v, other))
        return float(np.maximum(p - t * r, 0).sum())

    pair = divergence((1, 0), (-1, 0))
    for angle in np.linspace(0, np.pi, 7):
        for first, second in ((1.0, 1.0), (1.0, 0.4), (0.5, 1.0), (0.0, 1.0)):
            found = divergence((first, 0), (second * np.cos(angle), second * np.sin(angle)))
            assert found <= pair + 1e-9


def test_the_band_agrees_with_the_reference_library() -> None:
    for q, sigma, steps, delta in [
        (0.01, 1.0, 1000, 1e-5),
        (0.1, 0.5, 10, 1e-6),
        (0.5, 2.0, 100, 1e-8),
        (0.001, 0.6, 10_000, 1e-6),
    ]:
        dp_accounting = pytest.importorskip("dp_accounting")
        from dp_accounting.pld import PLDAccountant

        reference = PLDAccountant(dp_accounting.NeighboringRelation.REPLACE_ONE)
        reference.compose(
            dp_accounting.PoissonSampledDpEvent(q, dp_accounting.GaussianDpEvent(sigma)), steps
        )
        pessimistic = float(reference.get_epsilon(delta))
        curve = SAMPLERS["poisson_replace_one"].curve(q, sigma, steps, delta)
        assert curve.lower[0] <= pessimistic, (q, sigma, steps)
        assert float(curve.epsilon[0]) == pytest.approx(pessimistic, rel=5e-3), (q, sigma, steps)
        assert curve.epsilon[0] <= 1.01 * curve.lower[0], (q, sigma, steps)
