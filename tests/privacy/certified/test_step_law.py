"""The laws of one step against the closed form of its hockey-stick curve."""

import numpy as np
import pytest
from scipy.special import ndtr

from dpcore.privacy.certified.cells import step_deviation, step_span
from dpcore.privacy.certified.lower_law import _convex
from dpcore.privacy.certified.step_law import HIGHEST, _bounded_laws, step_laws
from tests.privacy.law_curve import of_law

STEPS = [(q, sigma) for q in (1e-5, 1e-3, 0.1, 0.9, 1 - 1e-12, 1.0) for sigma in (0.3, 0.6, 1.0, 4.0, 100.0)]
MESHES = (0.05, 0.3, 2.0)  # in standard deviations of the loss
TAIL = 1e-20


def exact_remove(q: float, sigma: float, epsilon: np.ndarray) -> np.ndarray:
    """H(P || Q) = P(x > c) - e^epsilon Q(x > c), where the loss at c is epsilon; for epsilon above ln(1 - q)."""
    cut = sigma**2 * np.log((np.expm1(epsilon) + q) / q) + 0.5
    return (1 - q) * ndtr(-cut / sigma) + q * ndtr((1 - cut) / sigma) - np.exp(epsilon) * ndtr(-cut / sigma)


def exact_add(q: float, sigma: float, epsilon: np.ndarray) -> np.ndarray:
    """H(Q || P) for epsilon below -ln(1 - q); 0 beyond."""
    inner = (np.expm1(-epsilon) + q) / q
    cut = sigma**2 * np.log(np.maximum(inner, 1e-300)) + 0.5
    p = (1 - q) * ndtr(cut / sigma) + q * ndtr((cut - 1) / sigma)
    return np.where(inner > 0, ndtr(cut / sigma) - np.exp(epsilon) * p, 0.0)


def meshes(q: float, sigma: float) -> list[float]:
    return [max(factor * step_deviation(q, sigma), step_span(q, sigma, TAIL) / 20_000) for factor in MESHES]


@pytest.mark.parametrize(("q", "sigma"), STEPS)
def test_the_laws_lie_on_either_side_of_the_exact_hockey_stick(q: float, sigma: float) -> None:
    epsilon = step_deviation(q, sigma) * np.array([0.0, 0.3, 1.0, 2.5, 6.0])
    for mesh in meshes(q, sigma):
        law = step_laws(q, sigma, mesh, TAIL)
        remove, add = exact_remove(q, sigma, epsilon), exact_add(q, sigma, epsilon)
        rounding = 1e-14 + 1e-9 * remove  # the closed form cancels, too
        assert np.all(of_law(law.remove, epsilon) >= remove - rounding)
        assert np.all(of_law(law.dominated, epsilon) <= remove + rounding)
        assert np.all(of_law(law.add, epsilon) >= add - 1e-14 - 1e-9 * add)


@pytest.mark.parametrize(("q", "sigma"), STEPS)
def test_the_laws_are_probabilities_under_both_hypotheses(q: float, sigma: float) -> None:
    for mesh in meshes(q, sigma):
        for law in step_laws(q, sigma, mesh, TAIL):
            opposite = law.mass * np.exp(-law.offset - law.mesh * np.arange(law.mass.size))
            assert np.all(law.mass >= 0)
            assert law.mass.sum() + law.infinite == pytest.approx(1, abs=1e-12)
            assert opposite.sum() <= 1 + 1e-12


@pytest.mark.parametrize(("q", "sigma"), [(0.01, 4.0), (0.01, 1.0), (1.0, 20.0), (0.5, 2.0)])
def test_both_laws_close_in_with_the_square_of_the_mesh(q: float, sigma: float) -> None:
    order, mesh = np.array([2.0]), 0.2 * step_deviation(q, sigma)
    coarse, fine, finest = (step_laws(q, sigma, mesh / 2**k, TAIL) for k in (0, 1, 4))
    between = 0.5 * (finest.remove.log_moments(order) + finest.dominated.log_moments(order))
    for name in ("remove", "dominated"):
        far = abs(getattr(coarse, name).log_moments(order) - between)
        near = abs(getattr(fine, name).log_moments(order) - between)
        assert 3 < far[0] / near[0] < 8


def test_the_convex_hull_keeps_mass_and_mean_and_never_rises() -> None:
    generator = np.random.default_rng(3)
    w = np.cumsum(generator.uniform(0.1, 2.0, 60))
    mass = generator.uniform(0.0, 1.0, 60)
    mass[10:50] -= 0.45  # some of them negative
    curve = np.array([mass @ np.maximum(w - at, 0.0) for at in w])
    hull = _convex(w, mass.copy())
    lowered = np.array([hull @ np.maximum(w - at, 0.0) for at in w])
    assert (mass < 0).any()
    assert np.all(hull >= 0)
    assert hull.sum() == pytest.approx(mass.sum())
    assert hull @ w == pytest.approx(mass @ w)
    assert np.all(lowered <= curve + 1e-9)
    assert np.any(lowered < curve - 1e-3)


def test_a_lattice_far_too_coarse_says_nothing_rather_than_something_wrong() -> None:
    law = step_laws(0.1, 2.0, 5.0, TAIL).dominated
    assert of_law(law, np.array([0.0]))[0] <= exact_remove(0.1, 2.0, np.array([0.0]))[0]


def test_a_lattice_may_reach_just_as_far_as_ratios_are_floats():
    laws = _bounded_laws(0.5, 0.05, 2.0, 690.0)  # its nodes are wide apart there: the last one lies beyond 690
    assert np.isfinite(laws.remove.mass).all()
    for high in (696.0, 2 * HIGHEST - 10):  # of the first only the last node is too far
        with pytest.raises(RuntimeError, match="leave the floats"):
            _bounded_laws(0.5, 0.05, 2.0, high)
