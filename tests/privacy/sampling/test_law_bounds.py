"""From the laws of one round to a band over many."""

from math import inf

import numpy as np
import pytest

from dpcore.privacy.certified.step_law import step_laws
from dpcore.privacy.sampling import law_bounds
from dpcore.privacy.sampling.law_bounds import bounds_around
from dpcore.privacy.sampling.round_laws import RoundLaws


def laws_on(fineness: float, error: float = 0.0) -> RoundLaws:
    return RoundLaws(step_laws(0.1, 2.0, 0.006 * fineness, 1e-12), error)


def test_bounds_are_those_of_the_certified_accountant() -> None:
    from dpcore.privacy.sampling import SAMPLERS

    known = SAMPLERS["poisson"].curve(0.1, 2.0, [10, 100], 1e-5)
    lower, upper = law_bounds.law_bounds(laws_on, np.array([10, 100]), np.full(2, 1e-5))
    assert known.lower is not None
    assert np.all(lower <= known.epsilon)
    assert np.all(upper >= known.lower)
    assert upper == pytest.approx(lower, rel=5e-3)


def test_errors_of_a_round_are_charged_once_for_each_round() -> None:
    rounds, delta = np.array([10, 100]), np.full(2, 1e-5)
    lower, upper = law_bounds._bounds_on(laws_on(0.5), rounds, delta)
    low, high = law_bounds._bounds_on(laws_on(0.5, 5e-8), rounds, delta)
    exact = law_bounds._bounds_on(laws_on(0.5), rounds, delta - 5e-8 * rounds)[1]
    more = law_bounds._bounds_on(laws_on(0.5), rounds, delta + 5e-8 * rounds)[0]
    assert high == pytest.approx(exact, rel=1e-9)
    assert low == pytest.approx(more, rel=1e-6)
    assert np.all(high > upper)
    assert np.all(low < lower)


def test_where_errors_use_up_delta_nothing_is_promised() -> None:
    lower, upper = law_bounds._bounds_on(laws_on(0.5, 1e-7), np.array([10, 100]), np.full(2, 1e-5))
    assert np.isfinite(upper[0])
    assert (lower[1], upper[1]) == (0.0, inf)


def test_bounds_that_cross_promise_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    crossing = np.array([2.0, 1.0]), np.array([1.0, 2.0])
    monkeypatch.setattr(law_bounds, "_bounds_on", lambda *_: crossing)
    lower, upper = law_bounds.law_bounds(laws_on, np.array([1, 2]), np.full(2, 1e-5))
    assert lower.tolist() == [0.0, 1.0]
    assert upper.tolist() == [inf, 2.0]


def test_a_lattice_that_is_too_long_keeps_what_the_one_before_gave() -> None:
    def only_coarse(fineness: float) -> RoundLaws:
        if fineness < 1:
            raise RuntimeError("too long")
        return laws_on(8.0)

    lower, upper = law_bounds.law_bounds(only_coarse, np.array([50]), np.full(1, 1e-5))
    assert 0 < lower[0] < upper[0] < inf


def test_whole_rounds_count_below_and_begun_ones_above() -> None:
    lower, upper = bounds_around(laws_on, np.array([0, 1, 1]), np.array([1, 1, 2]), np.full(3, 1e-5))
    assert lower[0] == 0
    assert lower[1] == lower[2] > 0
    assert upper[0] == upper[1] < upper[2]
