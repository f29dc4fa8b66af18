"""The laws of one step at their nodes and between, from end to end, against hockey sticks in sixty digits."""

import mpmath
import numpy as np
import pytest

from dpcore.privacy.certified.cells import step_deviation, step_span
from dpcore.privacy.certified.loss_law import LossLaw
from dpcore.privacy.certified.step_law import step_laws

STEPS = [
    (1e-5, 0.6),
    (1e-3, 0.3),
    (0.01, 4.0),
    (0.1, 1.0),
    (0.5, 2.0),
    (0.9, 0.6),
    (0.99, 20.0),
    (1.0, 1.0),
    (1.0, 0.3),
]
TAIL = 1e-20
SEEN = 1e-17  # deltas below are lost in rounding


def hockey_sticks(q: float, sigma: float, epsilon: float) -> tuple[float, float]:
    """delta(epsilon) of one step with the record removed, and with it added; from the normal law alone."""
    with mpmath.workdps(60):
        q, sigma, epsilon = mpmath.mpf(q), mpmath.mpf(sigma), mpmath.mpf(epsilon)

        def below(ratio: mpmath.mpf) -> tuple[mpmath.mpf, mpmath.mpf]:
            """Masses under P and Q of likelihood ratios below this one."""
            if ratio <= 1 - q:
                return mpmath.mpf(0), mpmath.mpf(0)
            cut = sigma**2 * mpmath.log((ratio - 1 + q) / q) + mpmath.mpf(1) / 2
            null = mpmath.ncdf(cut / sigma)
            return (1 - q) * null + q * mpmath.ncdf((cut - 1) / sigma), null

        p, null = below(mpmath.exp(epsilon))
        removed = (1 - p) - mpmath.exp(epsilon) * (1 - null)
        p, null = below(mpmath.exp(-epsilon))
        return float(removed), float(null - mpmath.exp(epsilon) * p)


def hockey_stick_of(law: LossLaw, epsilon: float) -> float:
    losses = law.offset + law.mesh * np.arange(law.mass.size)
    return float(law.infinite + law.mass @ np.maximum(-np.expm1(epsilon - losses), 0.0))


def places(law: LossLaw) -> list[float]:
    """A few nodes from end to end, points between them, and one beyond either end."""
    nodes = np.unique(np.linspace(0, law.mass.size - 1, 9).astype(int))
    chosen = [law.offset + law.mesh * (node + part) for node in nodes for part in (0.0, 0.37)]
    return [law.offset - law.mesh, *chosen, law.offset + law.mesh * (law.mass.size + 1)]


@pytest.mark.parametrize("tail", [TAIL, 1e-4, 0.05])  # what is cut off is charged, however much it is
@pytest.mark.parametrize("factor", [0.05, 0.6, 3.0])
@pytest.mark.parametrize(("q", "sigma"), STEPS)
def test_the_laws_enclose_the_step_at_their_nodes_and_between(
    q: float, sigma: float, factor: float, tail: float
) -> None:
    mesh = max(factor * step_deviation(q, sigma), step_span(q, sigma, tail) / 20_000)
    laws = step_laws(q, sigma, mesh, tail)
    for epsilon in places(laws.remove):
        removed, added = hockey_sticks(q, sigma, epsilon)
        _, added_there = hockey_sticks(q, sigma, -epsilon)
        rounding = 1e-9 * removed + 1e-14 * abs(epsilon) * np.exp(min(epsilon, 0.0)) + SEEN
        where = epsilon, removed, added
        assert hockey_stick_of(laws.remove, epsilon) >= removed - rounding, where
        assert hockey_stick_of(laws.dominated, epsilon) <= removed + rounding, where
        assert hockey_stick_of(laws.add, -epsilon) >= added_there - 1e-9 * added_there - SEEN, where


@pytest.mark.parametrize(("q", "sigma"), STEPS[1:])  # the first has too rare losses for so few nodes
def test_the_laws_are_not_far_from_the_step(q: float, sigma: float) -> None:
    """An enclosure that is far too wide would pass every other test."""
    mesh = max(0.02 * step_deviation(q, sigma), step_span(q, sigma, TAIL) / 100_000)
    laws = step_laws(q, sigma, mesh, TAIL)
    for epsilon in step_deviation(q, sigma) * np.array([0.1, 0.5, 1.0, 2.0]):
        removed, added = hockey_sticks(q, sigma, float(epsilon))
        if removed > 1e-10:
            assert hockey_stick_of(laws.remove, epsilon) == pytest.approx(removed, rel=0.05)
            assert hockey_stick_of(laws.dominated, epsilon) == pytest.approx(removed, rel=0.05)
        if added > 1e-10:
            assert hockey_stick_of(laws.add, epsilon) == pytest.approx(added, rel=0.05)


@pytest.mark.parametrize("tail", [1e-4, 0.05])
@pytest.mark.parametrize("factor", [0.05, 0.6])
@pytest.mark.parametrize(("q", "sigma"), STEPS)
def test_what_is_cut_off_is_neither_lost_nor_counted_twice(q: float, sigma: float, factor: float, tail: float) -> None:
    """All mass of the numerator is there; of the denominator what the numerator shows, and no more than all."""
    mesh = max(factor * step_deviation(q, sigma), step_span(q, sigma, tail) / 20_000)
    for law in step_laws(q, sigma, mesh, tail):
        assert law.mass.sum() + law.infinite == pytest.approx(1, abs=1e-9)
        assert (law.mass * np.exp(-law.offset - law.mesh * np.arange(law.mass.size))).sum() <= 1 + 1e-9
