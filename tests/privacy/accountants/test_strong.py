"""Basic and advanced composition of amplified Gaussian steps."""

import math

import numpy as np
import pytest

from dpcore.privacy import gaussian
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.accountants.naive import amplified, per_use
from dpcore.privacy.accountants.strong import composed
from dpcore.privacy.mechanism import Mechanism, Release
from tests.reference import one_step_delta

NAIVE, STRONG = ACCOUNTANTS["naive"], ACCOUNTANTS["strong"]


def test_one_whole_gaussian_is_exact_in_basic_composition() -> None:
    for sigma in (0.5, 2.0, 50.0):
        exact = gaussian.epsilon_of(1e-5, 1 / sigma)
        assert NAIVE.curve(Mechanism.constant(1.0, sigma, 1), 1, 1e-5).epsilon[0] == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(("q", "sigma"), [(0.01, 1.0), (0.3, 4.0), (1e-4, 0.5), (0.9, 2.0)])
def test_one_amplified_use_covers_the_exact_sampled_gaussian(q: float, sigma: float) -> None:
    mechanism = Mechanism.constant(q, sigma, 1)
    for delta in (1e-9, 1e-5):
        epsilon = float(per_use(mechanism, np.array([delta]))[0, 0])
        assert one_step_delta(q, sigma, epsilon) <= delta * (1 + 1e-9)


def test_amplification_is_the_identity_for_whole_sampling_and_never_raises_epsilon() -> None:
    epsilon = np.array([0.0, 1e-9, 0.5, 29.999, 30.001, 800.0, 1e8])
    np.testing.assert_allclose(amplified(epsilon, np.array(1.0)), epsilon, rtol=1e-12)
    for q in (1e-7, 0.01, 0.9):
        assert np.all(amplified(epsilon, np.array(q)) <= epsilon)
        assert np.all(np.diff(amplified(epsilon, np.array(q))) > 0)


def test_composition_reduces_to_the_sum_for_one_use() -> None:
    each, once = np.array([[0.7]]), np.array([[1.0]])
    assert composed(each, once, np.array([1e-6]))[0] == pytest.approx(0.7)


def test_composition_of_many_small_epsilons_grows_with_the_root_of_their_number() -> None:
    each = np.array([[1e-6]])
    few, many = (composed(each, np.array([[count]]), np.array([0.1]))[0] for count in (1e5, 4e5))
    assert many / few == pytest.approx(2, rel=0.01)


def test_heterogeneous_composition_matches_the_theorem_term_by_term() -> None:
    each, uses, slack = np.array([[0.3, 0.05]]), np.array([[10.0, 200.0]]), 1e-6
    drift = sum(n * e * (math.exp(e) - 1) / (math.exp(e) + 1) for e, n in zip(each[0], uses[0], strict=True))
    squares = sum(n * e * e for e, n in zip(each[0], uses[0], strict=True))
    log = min(math.log(1 / slack), math.log(math.e + math.sqrt(squares) / slack))
    theorem = min(sum(n * e for e, n in zip(each[0], uses[0], strict=True)), drift + math.sqrt(2 * squares * log))
    assert composed(each, uses, np.array([slack]))[0] == pytest.approx(theorem, rel=1e-12)


def test_strong_beats_naive_over_many_steps() -> None:
    mechanism = Mechanism((Release(0.01, 4.0, 5000), Release(0.01, 3.0, 5000)))
    strong, naive = (each.curve(mechanism, 10_000, 1e-5).epsilon[0] for each in (STRONG, NAIVE))
    assert strong < naive / 5


@pytest.mark.parametrize(("q", "sigma", "steps"), [(0.01, 4.0, 10_000), (0.5, 20.0, 500), (1.0, 30.0, 400)])
def test_half_of_delta_pays_for_the_steps_and_half_for_the_composition(q: float, sigma: float, steps: int) -> None:
    # The total is steps times the per-use delta plus the slack of the theorem: it may not exceed delta.
    delta = 1e-5
    mechanism = Mechanism.constant(q, sigma, steps)
    found = STRONG.curve(mechanism, steps, delta).epsilon[0]
    each, uses = per_use(mechanism, np.array([delta / 2 / steps])), np.array([[float(steps)]])
    assert found == pytest.approx(composed(each, uses, np.array([delta / 2]))[0], rel=1e-12)
    too_cheap = per_use(mechanism, np.array([delta / steps]))
    assert found > composed(too_cheap, uses, np.array([delta / 2]))[0] * 1.001
    assert found > composed(each, uses, np.array([delta]))[0] * 1.001
