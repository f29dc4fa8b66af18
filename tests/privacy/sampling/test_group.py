"""All records of one person under Poisson batches: 50 digits, records in the plane, a reference
library.
"""

from math import comb

import mpmath
import numpy as np
import pytest

from dpcore.privacy.sampling import SAMPLERS
from dpcore.privacy.sampling.group import PoissonGroup, group_laws, mixture_of
from tests.privacy.law_curve import of_law

STEPS = [
    (q, sigma, records)
    for q in (1e-3, 0.1, 0.6, 0.95)
    for sigma in (0.5, 2.0)
    for records in (1, 2, 5)
]


def exact(q: float, sigma: float, records: int, t: float, *, add: bool = False) -> float:
    """H_t of the mixture and N(0, sigma^2), or the other way round, where the ratio crosses t or
    1/t; 50 digits.
    """
    with mpmath.workdps(50):
        weights = [
            comb(records, j) * mpmath.mpf(q) ** j * (1 - mpmath.mpf(q)) ** (records - j)
            for j in range(records + 1)
        ]
        s, cut = mpmath.mpf(sigma), mpmath.mpf(1 / t if add else t)

        def ratio(x: mpmath.mpf) -> mpmath.mpf:
            parts = [
                w * mpmath.exp((2 * j * x - j * j) / (2 * s * s)) for j, w in enumerate(weights)
            ]
            return mpmath.fsum(parts)

        if cut <= weights[0]:
            return 0.0 if add else float(1 - t)
        low, high = mpmath.mpf(-200), mpmath.mpf(200)
        for _ in range(150):
            middle = (low + high) / 2
            low, high = (middle, high) if ratio(middle) < cut else (low, middle)
        sign = -1 if add else 1  # the lower half-line, or the upper one
        p = mpmath.fsum(w * mpmath.ncdf(sign * (j - low) / s) for j, w in enumerate(weights))
        other = mpmath.ncdf(-sign * low / s)
        return float(other - t * p if add else p - t * other)


@pytest.mark.parametrize(("q", "sigma", "records"), STEPS)
def test_the_laws_lie_on_either_side_of_fifty_digits(q: float, sigma: float, records: int) -> None:
    step = mixture_of(q, sigma, records)
    scale = min(0.5, q * records / sigma)
    laws = group_laws(step, 0.02 * scale, 1e-15)
    for epsilon in scale * np.array([0.0, 0.3, 1.0, 3.0]):
        remove, add = (
            exact(q, sigma, records, float(np.exp(epsilon)), add=each) for each in (False, True)
        )
        assert of_law(laws.remove, [epsilon])[0] >= remove - 1e-14, epsilon
        assert of_law(laws.add, [epsilon])[0] >= add - 1e-14, epsilon
        assert of_law(laws.dominated, [epsilon])[0] <= remove + 1e-14, epsilon
        assert of_law(laws.remove, [epsilon])[0] == pytest.approx(remove, rel=0.02, abs=1e-9), (
            epsilon
        )
        assert of_law(laws.add, [epsilon])[0] == pytest.approx(add, rel=0.02, abs=1e-9), epsilon


def test_places_and_losses_of_a_group_are_inverse() -> None:
    for q, sigma, records in [*STEPS, (0.01, 0.3, 40), (0.3, 20.0, 100)]:
        step = mixture_of(q, sigma, records)
        x = np.linspace(-2 * sigma, 2 + sigma, 41)
        assert step.places(step.losses(x)) == pytest.approx(x, abs=1e-7), (q, sigma, records)
        assert np.all(np.isneginf(step.places(np.log(step.chance[0]) - np.array([0.0, 1.0]))))


@pytest.mark.parametrize("t", [0.4, 0.9, 1.0, 1.3, 3.0])
def test_no_two_records_in_the_plane_tell_more_than_two_that_pull_alike(t: float) -> None:
    q, sigma = 0.3, 0.8
    x, y = np.meshgrid(np.linspace(-6, 7, 651), np.linspace(-6, 6, 601))

    def normal(mean: np.ndarray) -> np.ndarray:
        return (
            np.exp(-0.5 * ((x - mean[0]) ** 2 + (y - mean[1]) ** 2) / sigma**2)
            * 0.0004
            / (2 * np.pi * sigma**2)
        )

    def divergences(v: np.ndarray, other: np.ndarray) -> tuple[float, float]:
        none = normal(np.zeros(2))
        some = (
            (1 - q) ** 2 * none
            + q * (1 - q) * (normal(v) + normal(other))
            + q * q * normal(v + other)
        )
        return float(np.maximum(some - t * none, 0).sum()), float(
            np.maximum(none - t * some, 0).sum()
        )

    alike = exact(q, sigma, 2, t), exact(q, sigma, 2, t, add=True)
    assert divergences(np.array([1, 0]), np.array([1, 0])) == pytest.approx(alike, abs=1e-5)
    for angle in np.linspace(0, np.pi, 5):
        for length in (1.0, 0.4):
            found = divergences(np.array([1, 0]), length * np.array([np.cos(angle), np.sin(angle)]))
            assert np.all(np.array(found) <= np.array(alike) + 1e-5), (angle, length)


def test_the_band_agrees_with_the_reference_library() -> None:
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    for q, sigma, records, steps, delta in [
        (0.01, 1.0, 4, 1000, 1e-5),
        (0.1, 5.0, 10, 100, 1e-5),
        (0.5, 3.0, 3, 20, 1e-8),
    ]:
        chances = [comb(records, j) * q**j * (1 - q) ** (records - j) for j in range(records + 1)]
        one = pld.from_mixture_gaussian_mechanism(
            sigma, range(records + 1), chances, value_discretization_interval=1e-3
        )
        theirs = one.self_compose(steps).get_epsilon_for_delta(delta)
        curve = PoissonGroup(records).curve(q, sigma, steps, delta)
        assert curve.lower[0] <= theirs, (q, sigma, records)
        assert float(curve.epsilon[0]) == pytest.approx(theirs, rel=5e-3), (q, sigma, records)
        assert curve.epsilon[0] <= 1.005 * curve.lower[0], (q, sigma, records)


def test_one_record_is_poisson_and_more_are_neither_a_larger_rate_nor_a_longer_move() -> None:
    q, sigma, steps = 0.01, 1.0, [100, 1000]
    one, poisson = (
        each.curve(q, sigma, steps, 1e-5) for each in (PoissonGroup(1), SAMPLERS["poisson"])
    )
    assert np.all(one.lower <= poisson.epsilon)
    assert one.epsilon == pytest.approx(poisson.epsilon, rel=2e-3)
    three = PoissonGroup(3).curve(q, sigma, steps, 1e-5)
    # 3 at once tell more.
    assert np.all(three.lower > SAMPLERS["poisson"].curve(3 * q, sigma, steps, 1e-5).epsilon)
    # Seldom all at once.
    assert np.all(three.epsilon < SAMPLERS["poisson"].curve(q, sigma / 3, steps, 1e-5).lower)


def test_nonsense_and_what_reveals_too_much_is_a_sentence() -> None:
    for records in (0, 1.5, 101):
        with pytest.raises(ValueError, match="Expected records="):
            PoissonGroup(records)  # type: ignore[arg-type]
    assert "reveals so much" in PoissonGroup(100).curve(0.999, 3.0, 10, 1e-5).note
    assert PoissonGroup(1).adjacency == "add/remove of 1 record"
