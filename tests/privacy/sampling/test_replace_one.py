"""Poisson batches under replace-one adjacency, against closed forms, the plane and the reference library."""

import numpy as np
import pytest
from scipy.special import ndtr

from dpcore.privacy.sampling import SAMPLERS
from dpcore.privacy.sampling.replace_one_law import loss_at, place_at, replace_one_laws
from tests.privacy.law_curve import of_law

STEPS = [(q, sigma) for q in (1e-4, 0.02, 0.5, 0.99) for sigma in (0.4, 1.0, 5.0)]


def exact(q: float, sigma: float, epsilon: np.ndarray) -> np.ndarray:
    cut = place_at(q, sigma, epsilon)
    p = (1 - q) * ndtr(-cut / sigma) + q * ndtr((1 - cut) / sigma)
    other = (1 - q) * ndtr(-cut / sigma) + q * ndtr((-1 - cut) / sigma)
    return p - np.exp(epsilon) * other


@pytest.mark.parametrize(("q", "sigma"), STEPS)
def test_places_and_losses_are_inverse(q: float, sigma: float) -> None:
    losses = np.linspace(-4, 4, 33)
    assert loss_at(q, sigma, place_at(q, sigma, losses)) == pytest.approx(losses, abs=1e-9)
    place = np.linspace(-3, 3, 31)
    p, other = ((1 - q) + q * np.exp((sign * place - 0.5) / sigma**2) for sign in (1, -1))
    assert loss_at(q, sigma, place) == pytest.approx(np.log(p / other), abs=1e-12)


@pytest.mark.parametrize(("q", "sigma"), STEPS)
def test_the_laws_lie_on_either_side_of_the_exact_hockey_stick(q: float, sigma: float) -> None:
    scale = q / sigma if sigma > 1 else min(q, 0.5)
    epsilon = scale * np.array([0.0, 0.3, 1.0, 2.5])
    laws = replace_one_laws(q, sigma, max(0.1 * scale, 1e-3), 1e-15)
    known = exact(q, sigma, epsilon)
    assert np.all(of_law(laws.remove, epsilon) >= known - 1e-13)
    assert np.all(of_law(laws.add, epsilon) >= known - 1e-13)
    assert np.all(of_law(laws.dominated, epsilon) <= known + 1e-13)
    assert of_law(laws.remove, epsilon) == pytest.approx(of_law(laws.add, epsilon), abs=1e-12)


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


@pytest.mark.parametrize(
    ("q", "sigma", "steps", "delta"),
    [(0.01, 1.0, 1000, 1e-5), (0.1, 0.5, 10, 1e-6), (0.5, 2.0, 100, 1e-8), (0.001, 0.6, 10_000, 1e-6)],
)
def test_the_band_agrees_with_the_reference_library(q: float, sigma: float, steps: int, delta: float) -> None:
    dp_accounting = pytest.importorskip("dp_accounting")
    from dp_accounting.pld import PLDAccountant

    reference = PLDAccountant(dp_accounting.NeighboringRelation.REPLACE_ONE)
    reference.compose(dp_accounting.PoissonSampledDpEvent(q, dp_accounting.GaussianDpEvent(sigma)), steps)
    pessimistic = float(reference.get_epsilon(delta))
    curve = SAMPLERS["poisson_replace_one"].curve(q, sigma, steps, delta)
    assert curve.lower is not None
    assert curve.lower[0] <= pessimistic
    assert float(curve.epsilon[0]) == pytest.approx(pessimistic, rel=5e-3)
    assert curve.epsilon[0] <= 1.01 * curve.lower[0]
