"""Poisson samples pass, and each way of drawing batches that is not Poisson fails the test that is
meant for it.
"""

import numpy as np
import pytest
from scipy import stats

from dpcore.audit.bounds.finding import Finding
from dpcore.audit.bounds.sampling import _disjoint_pairs, audit_sampling, middle

Q, STEPS, EXAMPLES = 0.1, 120, 200
CANARIES = 100  # the first of the examples


def poisson(generator: np.random.Generator) -> np.ndarray:
    return generator.random((STEPS, EXAMPLES)) < Q


def shuffled(generator: np.random.Generator) -> np.ndarray:
    return np.concatenate([_epoch(generator) for _ in range(STEPS // 10)])


def reused(generator: np.random.Generator) -> np.ndarray:
    return np.tile(_epoch(generator), (STEPS // 10, 1))


def reused_poisson(generator: np.random.Generator) -> np.ndarray:
    return np.tile(generator.random((40, EXAMPLES)) < Q, (3, 1))


def fixed_size(generator: np.random.Generator) -> np.ndarray:
    order = np.argsort(generator.random((STEPS, EXAMPLES)), axis=1)
    return order < round(Q * EXAMPLES)


def weighted(generator: np.random.Generator) -> np.ndarray:
    return generator.random((STEPS, EXAMPLES)) < np.where(
        generator.random(EXAMPLES) < 0.5, 0.5 * Q, 1.5 * Q
    )


def coupled(generator: np.random.Generator) -> np.ndarray:
    return np.repeat(generator.random((STEPS, EXAMPLES // 2)) < Q, 2, axis=1)


def twins(generator: np.random.Generator) -> np.ndarray:
    drawn = poisson(generator)
    drawn[:, 41] = drawn[:, 8]
    return drawn


def another_rate(generator: np.random.Generator) -> np.ndarray:
    return generator.random((STEPS, EXAMPLES)) < 1.25 * Q


def _epoch(generator: np.random.Generator) -> np.ndarray:
    size = round(Q * EXAMPLES)
    place = generator.permutation(EXAMPLES) // size
    return place == np.arange(EXAMPLES // size)[:, None]


def audit(drawn: np.ndarray) -> Finding:
    return audit_sampling(drawn[:, :CANARIES], Q, batch_sizes=drawn.sum(axis=1), examples=EXAMPLES)


def p_of(found: Finding, name: str) -> float:
    return next(part.p_value for part in found.figures["parts"] if part.name == name)


CAUGHT = [
    (shuffled, "once an epoch"),
    (shuffled, "spread of batches"),
    (reused, "batches drawn anew"),
    (reused_poisson, "batches drawn anew"),
    (fixed_size, "spread of batches"),
    (weighted, "equal rates"),
    (coupled, "pairs of examples"),
    (twins, "any two examples"),
    (another_rate, "rate"),
    (another_rate, "mean batch"),
]


@pytest.mark.parametrize(
    ("draw", "name"), CAUGHT, ids=[f"{draw.__name__}, {name}" for draw, name in CAUGHT]
)
def test_each_wrong_way_fails_the_test_that_is_meant_for_it(draw, name: str) -> None:
    for seed in (1, 2, 3):
        found = audit(draw(np.random.default_rng(seed)))
        assert p_of(found, name) < 1e-4, seed
        assert found.rejected, seed


def test_poisson_samples_fail_each_test_no_more_often_than_they_may() -> None:
    found = [audit(poisson(np.random.default_rng(seed))) for seed in range(200)]
    for place, part in enumerate(found[0].figures["parts"]):
        fails = sum(each.figures["parts"][place].p_value <= 0.05 for each in found)
        assert stats.binomtest(fails, 200, 0.05, alternative="greater").pvalue > 1e-3, part.name
    assert sum(each.rejected for each in found) <= 20
    inside = sum(each.figures["rate_above"] <= Q <= each.figures["rate_below"] for each in found)
    assert stats.binomtest(inside, 200, 0.95, alternative="less").pvalue > 1e-3


def test_disjoint_pairs_of_steps_are_counted_as_they_are() -> None:
    for steps in (2, 3, 7, 30):
        brute = [
            sum(t // far % 2 == 0 and t + far < steps for t in range(steps))
            for far in range(1, steps)
        ]
        assert _disjoint_pairs(steps).tolist() == brute


def test_the_middle_of_the_batch_sizes_is_that_of_the_law() -> None:
    for examples, q in [(1, 0.3), (50, 0.02), (200, 0.1), (60_000, 512 / 60_000), (10, 1.0)]:
        low, high, chance = middle(examples, q)
        law = stats.binom(examples, q)
        assert (low, high) == (law.ppf(0.25), law.ppf(0.75)), (examples, q)
        assert chance == pytest.approx(law.cdf(high) - law.cdf(low - 1), abs=1e-9)


def test_batches_of_everybody_are_right_at_rate_one_alone() -> None:
    everybody = np.ones((10, 20), dtype=bool)
    assert audit_sampling(everybody, 1.0, batch_sizes=np.full(10, 20), examples=20).p_value == 1
    assert audit_sampling(everybody, 0.5).rejected
    everybody[3, 4] = False
    assert audit_sampling(everybody, 1.0).p_value == 0


def test_one_step_or_one_canary_has_fewer_tests() -> None:
    for shape in ((1, 400), (400, 1)):
        found = audit_sampling(np.random.default_rng(0).random(shape) < Q, Q)
        assert not found.rejected
        assert 0 < len(found.figures["parts"]) < 6


def test_bad_input_is_told_apart() -> None:
    few = audit_sampling(np.zeros((3, 4), dtype=bool), 0.01)
    assert (
        few.shows == "Nothing can be shown: 4 canaries in 3 steps are drawn 0.12 times on average."
    )
    drawn = poisson(np.random.default_rng(0))
    for call, message in [
        (lambda: audit_sampling(drawn, 0.0), "q=0"),
        (lambda: audit_sampling(drawn[0], Q), "2 dimensions"),
        (lambda: audit_sampling(2 * drawn.astype(int), Q), "false or true"),
        (lambda: audit_sampling(drawn, Q, batch_sizes=[3], examples=9), "batch_sizes of shape"),
        (lambda: audit_sampling(drawn, Q, batch_sizes=drawn.sum(axis=1)), "examples=None"),
        (
            lambda: audit_sampling(drawn, Q, batch_sizes=drawn.sum(axis=1), examples=5),
            "batch_size=",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
