"""The certificate under attack: bounds from any mesh and any tilt must not cross, and two steps have an exact delta."""

import numpy as np
import pytest

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.certified import compose, lattice, log_moments, step_law
from dpcore.privacy.certified.cells import step_deviation
from dpcore.privacy.certified.lattice import Composition, Lattice, lattice_of, log_moments_of, widest_span
from dpcore.privacy.certified.loss_law import LossLaw
from dpcore.privacy.mechanism import Mechanism
from tests.privacy.certified.test_step_law import exact_add, exact_remove

FACTORS = (1.5, 0.5, 0.15, 0.04)  # meshes, in standard deviations of the loss of one step
NODES, WEIGHTS = np.polynomial.legendre.leggauss(400)


def lattices(steps: Composition, delta: np.ndarray) -> list[Lattice]:
    """The same steps on meshes far apart."""
    deviation = min(step_deviation(q, sigma) for q, sigma in steps.kinds)
    return [lattice_of(steps, delta, max(each * deviation, widest_span(steps, delta) / 2**14)) for each in FACTORS]


def opposite(loss: LossLaw) -> LossLaw:
    """The add direction of a law given in the remove direction, without infinite losses."""
    values = loss.offset + loss.mesh * np.arange(loss.mass.size)
    return LossLaw(-float(values[-1]), loss.mesh, (loss.mass * np.exp(-values))[::-1], 0.0)


def bounds(lattice: Lattice, uses: np.ndarray, delta: np.ndarray, add: bool) -> tuple[float, float]:
    """Lower and upper epsilon of one direction on one lattice, with no knowledge of each other."""
    if add:
        above, below = [each.add for each in lattice.laws], [opposite(each.dominated) for each in lattice.laws]
    else:
        above, below = [each.remove for each in lattice.laws], [each.dominated for each in lattice.laws]
    moments = lattice.add if add else lattice.remove
    lower = compose.composed_epsilons(below, uses, delta, log_moments_of(below, moments.orders, moments.reaching), -1)
    return float(lower[0]), float(compose.composed_epsilons(above, uses, delta, moments, +1)[0])


def crossing(steps: Composition, delta: float, add: bool) -> float:
    """The highest lower bound less the lowest upper bound, over the meshes."""
    target = np.array([delta])
    both = np.array([bounds(each, steps.counts, target, add) for each in lattices(steps, target)])
    return float(both[:, 0].max() - both[:, 1].min())


def random_steps(generator: np.random.Generator) -> Composition:
    """One kind of step, or two with the second unsampled now and then."""
    q, sigma = float(10 ** generator.uniform(-5, 0)), float(10 ** generator.uniform(-0.5, 1.5))
    kinds = [(q, sigma), (1.0, 3 * sigma)][: int(generator.integers(1, 3))]
    return Composition(kinds, np.array([[int(10 ** generator.uniform(0, 5)) for _ in kinds]]))


def disturb(generator: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tilts, shorter periods, fewer frequencies, wider cells, nearer cuts: worse bounds, but bounds."""
    monkeypatch.setattr(log_moments, "PRECISION", generator.uniform(-4, 20))
    monkeypatch.setattr(log_moments, "CUT", generator.uniform(25, 60))
    monkeypatch.setattr(log_moments, "TAIL", generator.uniform(3, 50))
    monkeypatch.setattr(log_moments, "SPARE_PERIOD", generator.uniform(0.5, 40))
    monkeypatch.setattr(log_moments, "LONGEST", int(2 ** generator.uniform(5, 20)))
    monkeypatch.setattr(step_law, "GROWTH", int(2 ** generator.uniform(1, 7)))
    monkeypatch.setattr(step_law, "FAR", generator.uniform(0, 5))
    monkeypatch.setattr(lattice, "CUT_OFF", 10 ** generator.uniform(-10, -1))


@pytest.mark.parametrize("add", [False, True], ids=["remove", "add"])
@pytest.mark.long
def test_no_lower_bound_of_one_mesh_crosses_an_upper_bound_of_another(add: bool) -> None:
    generator = np.random.default_rng(17)
    for _ in range(25):
        steps, delta = random_steps(generator), float(10 ** generator.uniform(-12, -1))
        assert crossing(steps, delta, add) <= 0, (steps, delta)


@pytest.mark.parametrize("add", [False, True], ids=["remove", "add"])
@pytest.mark.long
def test_no_bounds_cross_under_disturbed_tilts_and_periods(add: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(23)
    for _ in range(25):
        steps, delta = random_steps(generator), float(10 ** generator.uniform(-12, -1))
        disturb(generator, monkeypatch)
        assert crossing(steps, delta, add) <= 0, (steps, delta)


@pytest.mark.parametrize(("q", "count"), [(1e-7, 2_000_000), (2e-7, 4_000_000)])
def test_no_bounds_cross_where_losses_are_rare_and_steps_many(q: float, count: int) -> None:
    steps = Composition([(q, 0.5)], np.array([[count]]))
    deviation, target = step_deviation(q, 0.5), np.array([1e-12])
    meshes = [max(0.12 * deviation, widest_span(steps, target) / 2**13) * each for each in (1, 0.6, 0.35, 0.2)]
    both = np.array([bounds(lattice_of(steps, target, mesh), steps.counts, target, False) for mesh in meshes])
    assert both[:, 0].max() <= both[:, 1].min()


def piecewise(edges: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes and weights on consecutive intervals."""
    middle, half = 0.5 * (np.add(edges[1:], edges[:-1])), 0.5 * np.diff(edges)
    return (middle[:, None] + half[:, None] * NODES).ravel(), (half[:, None] * WEIGHTS).ravel()


def two_step_delta(q: float, sigma: float, epsilon: float, remove: bool) -> float:
    """Delta of two equal steps: the first outcome shifts the epsilon that is asked of the second."""
    far, bound = 14 * sigma, np.log1p(-q)
    kink = sigma**2 * np.log(max((np.exp(epsilon - bound) - 1 + q) / q, 1e-300)) + 0.5  # second loss at its bound
    x, weight = piecewise(sorted({-far, 0.0, 1.0, 1 + far, float(np.clip(kink, -far, 1 + far))}))
    null = np.exp(-0.5 * (x / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi))
    ratio = 1 - q + q * np.exp((x - 0.5) / sigma**2)
    left = epsilon - np.log(ratio) if remove else epsilon + np.log(ratio)
    if remove:
        certain = left <= bound  # the second loss exceeds this whatever happens
        second = np.where(certain, -np.expm1(left), exact_remove(q, sigma, np.where(certain, 1.0, left)))
    else:
        second = exact_add(q, sigma, left)
    return float(weight @ (null * (ratio if remove else 1.0) * second))


@pytest.mark.parametrize("delta", [1e-8, 1e-4, 0.03])
@pytest.mark.parametrize("sigma", [0.6, 1.0, 3.0])
@pytest.mark.parametrize("q", [1e-3, 0.05, 0.5, 0.95])
def test_two_steps_agree_with_their_quadrature(q: float, sigma: float, delta: float) -> None:
    """delta(lower) >= delta >= delta(upper), with the exact delta of two steps."""
    curve = ACCOUNTANTS["pld"].curve(Mechanism.constant(q, sigma, 2), [2], delta)
    assert curve.lower is not None
    for epsilon, bound_below in ((float(curve.lower[0]), True), (float(curve.epsilon[0]), False)):
        exact = max(two_step_delta(q, sigma, epsilon, remove) for remove in (True, False))
        if bound_below:
            assert epsilon == 0 or exact >= delta * (1 - 1e-5)
        else:
            assert exact <= delta * (1 + 1e-5)
