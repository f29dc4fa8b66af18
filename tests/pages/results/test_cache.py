"""What the pages keep of what accountants have said."""

from collections.abc import Sequence

import numpy as np
import pytest

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Curve
from dpcore.privacy.mechanism import Mechanism
from pages.parts.results import cache

DELTA = 1e-5


def test_of_a_run_that_goes_on_only_the_steps_since_the_last_look_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[int]] = []

    def watched(name: str, mechanism: Mechanism, steps: Sequence[int], delta: float) -> Curve:
        asked.append(list(steps))
        return answer(name, mechanism, steps, delta)

    answer = cache.epsilon_after
    monkeypatch.setattr(cache, "epsilon_after", watched)
    mechanism = Mechanism.constant(0.0123, 1.2345, 1_000)
    first = cache.epsilons(CERTIFIED, mechanism, DELTA, (10, 20))
    later = cache.epsilons(CERTIFIED, mechanism, DELTA, (40, 10, 20, 30, 40))
    again = cache.epsilons(CERTIFIED, mechanism, DELTA, (10, 20, 30, 40))
    assert asked == [[10, 20], [30, 40]]
    assert later == (again[3], *first, *again[2:])
    assert cache.epsilons(CERTIFIED, mechanism, 2 * DELTA, (10,)) < first[:1]


def test_what_is_computed_piece_by_piece_is_what_is_computed_at_once() -> None:
    for name in ACCOUNTANTS:
        mechanism = Mechanism.constant(0.01, 1.1, 1_000)
        for upto in (1, 100, 700, 1_000):
            pieces = cache.epsilons(name, mechanism, DELTA, [step for step in (1, 100, 700, 1_000) if step <= upto])
        whole = ACCOUNTANTS[name].curve(mechanism, [1, 100, 700, 1_000], DELTA).epsilon
        np.testing.assert_allclose(pieces, whole, rtol=2e-3)
        assert cache.epsilons(name, mechanism, DELTA, ()) == (), name
