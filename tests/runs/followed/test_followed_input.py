"""What a training tells, right or wrong: it goes on, and is never counted cheaper."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch

from dpcore.privacy.mechanism import Release
from dpcore.runs.followed.events import Logged
from dpcore.runs.sweeps import all_released
from dpcore.training.events import Evaluated
from tests.runs.followed.telling import Q, stored, taken


def test_what_is_logged_reaches_the_store(store, follow, warned):
    run = taken(follow(), 10)
    run.log({"train/loss": 0.5, "test/accuracy": 0.75, "test/loss": 0.6, "batch": 498})
    taken(run, 5).log({"train/accuracy": 0.9})
    run.finish()
    events = store.events(run.id)
    first, second = [each for each in events if isinstance(each, Logged)]
    assert first.values == {
        "train/loss": 0.5,
        "test/accuracy": 0.75,
        "test/loss": 0.6,
        "batch": 498.0,
    }
    assert (first.step, first.epoch, second.step) == (10, pytest.approx(10 * Q), 15)
    (test,) = [each for each in events if isinstance(each, Evaluated)]
    assert (test.step, test.accuracy, test.loss) == (10, 0.75, 0.6)
    assert warned() == []


HUGE = 10**400  # no float holds it
ENDLESS = 10**5000  # Python does not even print it


class Hostile:
    """A number that nobody can read, compare or print."""

    def item(self) -> float:
        raise MemoryError

    def __eq__(self, other: object) -> bool:
        raise ArithmeticError

    def __repr__(self) -> str:
        raise NotImplementedError


# Neither a sampling rate nor a noise multiplier.
ABSURD = [
    -HUGE,
    Decimal(-1),
    Decimal("sNaN"),
    1j,
    b"1.1",
    [0.01],
    {"sigma": 1.1},
    np.array([0.1, 0.2]),
    np.bool_(True),
    np.complex128(1),
    torch.tensor([0.1, 0.2]),
    torch.tensor(True),
    torch.empty(1, device="meta"),
    Hostile(),
]


def kind(value: object) -> str:
    """The name of a case: Python prints no number as long as some."""
    return type(value).__name__


def shown(value: object) -> str:
    """A value as a warning begins to print it."""
    try:
        return " ".join(repr(value).split())[:60]
    except NotImplementedError:
        return "<Hostile>"


@pytest.mark.parametrize(
    "sigma", [HUGE, ENDLESS, Fraction(HUGE), math.inf, Decimal("1e99"), 2e9], ids=kind
)
def test_more_noise_than_there_is_makes_no_step_cheaper(store, follow, warned, sigma):
    run = taken(follow(target_epsilon=3.0), 4)
    run.step(sigma=sigma)
    taken(run, 2, sigma=sigma).finish()
    (words,) = warned()
    assert words.startswith("dpcore.follow: run.step(sigma=")
    assert "These steps are counted with sigma = 1.1, as before" in words
    assert "Give the noise multiplier with which the noise was drawn." in words
    assert stored(store, run).plan.charged == (Release(Q, 1.1, 7),)


@pytest.mark.parametrize(
    "q", [HUGE, ENDLESS, Fraction(1, HUGE), Decimal("1e-200"), math.inf], ids=kind
)
def test_a_rate_beyond_all_others_is_counted_as_everybody(store, follow, warned, q):
    taken(run := follow(), 3, q=q).finish()
    (words,) = warned()
    assert "counted with q = 1" in words
    assert stored(store, run).plan.charged == (Release(1.0, 1.1, 3),)


@pytest.mark.parametrize(
    "number",
    [Decimal("0.5"), Fraction(1, 2), np.float32(0.5), np.array([0.5]), torch.tensor(0.5)],
)
def test_numbers_of_other_libraries_are_numbers(store, follow, warned, number):
    run = taken(follow(), 3)
    taken(run, 2, sigma=number, q=number).finish()
    assert warned() == []
    assert stored(store, run).plan.charged == (Release(Q, 1.1, 3), Release(0.5, 0.5, 2))


@pytest.mark.parametrize("value", [*ABSURD, HUGE, ENDLESS, Fraction(HUGE), 5e-324, 1e308], ids=kind)
def test_nothing_raises_after_the_start_and_no_step_is_lost(store, follow, value):
    run = taken(follow(target_epsilon=3.0), 4)
    run.step(sigma=value, q=value)
    run.log(value)
    run.log({"loss": value, "good": 1.0})
    before = run.epsilon().lower or 0.0
    assert run.would_exceed() in (True, False)
    assert run.steps_left() >= 0
    assert run.privacy()["privacy/steps"] == 5
    run.step(sigma=1.1, q=Q)
    assert run.epsilon().value >= before
    run.finish()
    assert stored(store, run).plan.steps == 6
    told = [each.values for each in store.events(run.id) if isinstance(each, Logged)]
    assert told[-1]["good"] == 1.0


class Tensor:
    """What the number of a tensor looks like."""

    def __init__(self, *values: float) -> None:
        self.values = values

    def item(self) -> float:
        if len(self.values) > 1:
            raise RuntimeError("a Tensor with 2 elements cannot be converted to Scalar")
        return self.values[0]


@pytest.mark.parametrize(
    ("logged", "kept", "said"),
    [
        ({"loss": math.nan, "other": 1.0}, {"other": 1.0}, "'loss' is nan after step 3"),
        ({"loss": Tensor(0.5)}, {"loss": 0.5}, "Log value.item()"),
        ({"loss": Tensor(0.5, 0.6)}, None, "'loss' is of type Tensor, not a number"),
        ({"loss": "low"}, None, "Log one number, such as value.mean().item()"),
        ({"privacy/epsilon": 0.1}, None, "since the run counts privacy/... itself"),
        ({"": 1.0}, None, "Name it in 1 to 80 letters"),
        ({7: 1.0}, None, "Name it in 1 to 80 letters"),
        ({"test/accuracy": 97.5}, {"test/accuracy": 97.5}, "Log a share from 0 to 1"),
        (0.7, None, "give numbers by name"),
    ],
)
def test_a_log_that_is_none_is_said_once_and_the_training_goes_on(
    store, follow, warned, logged, kept, said
):
    run = taken(follow(), 3)
    run.log(logged)
    run.log(logged)
    taken(run, 2).finish()
    (words,) = warned()
    assert words.startswith("dpcore.follow: run.log")
    assert said in words
    values = [each.values for each in store.events(run.id) if isinstance(each, Logged)]
    assert values == ([] if kept is None else [kept, kept])
    assert stored(store, run).done == 5


@pytest.mark.parametrize("q", [1.7, 0, -1, math.nan, "half", True, *ABSURD], ids=kind)
def test_an_impossible_rate_is_counted_as_everybody(store, follow, warned, q):
    run = taken(follow(), 4)
    taken(run, 2, q=q).finish()
    (words,) = warned()
    assert f"run.step(q={shown(q)}" in words
    assert "Give q = batch / examples." in words
    assert stored(store, run).plan.charged == (Release(Q, 1.1, 4), Release(1.0, 1.1, 2))


@pytest.mark.parametrize("sigma", [0, -1.0, math.nan, "loud", True, 1e-7, *ABSURD], ids=kind)
def test_a_step_without_noise_leaves_no_epsilon(store, follow, warned, sigma):
    run = taken(follow(target_epsilon=3.0), 4)
    run.step(sigma=sigma)
    taken(run, 2, sigma=1.1).finish()
    (words,) = warned()
    assert f"run.step(sigma={shown(sigma)}" in words
    assert "Give the noise multiplier" in words
    assert run.would_exceed()
    assert run.steps_left() == 0
    assert math.isinf(run.epsilon().value)
    kept = stored(store, run)
    assert (kept.done, kept.plan.mechanism) == (7, None)
    assert kept.plan.unaccounted.startswith("Not private: step 5 was told without noise")
    assert all_released([kept]) is None


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"sigma": 0}, "Expected sigma=0 to be above 0."),
        ({"batch": None, "q": 1.7}, "Expected q=1.7 to be above 0 and at most 1."),
        ({"batch": 60_001}, "Expected batch=60001 to be at most examples=60000."),
        ({"q": 0.1}, "Give batch or q, not both"),
        ({"delta": 2}, "delta=2"),
        ({"delta": None}, "Give delta."),
        ({"examples": None}, "Give examples beside batch"),
        ({"sigma": None}, "Give sigma. A run needs delta, examples, batch (or q) and sigma"),
        ({"target_epsilon": -1}, "target_epsilon=-1"),
        ({"unit": " "}, "unit=' '"),
        ({"steps": 1.5}, "steps=1.5"),
        ({"id": "My run"}, "Expected id='My run' to be 1 to 32 small letters and digits."),
        ({"id": 5}, "Expected id='5' to be 1 to 32 small letters and digits."),
        ({"sigma": HUGE}, "0 to be finite."),
        ({"sigma": Decimal(1)}, "Expected sigma=Decimal('1') to be a number."),
        ({"sigma": Fraction(HUGE)}, "Expected sigma=inf to be finite."),
        ({"batch": ENDLESS}, "integer string conversion"),
        ({"examples": HUGE}, "examples=1000"),
        ({"target_epsilon": math.inf}, "target_epsilon=inf"),
        ({"unit": 5}, "Expected unit='5' to name what is protected"),
        ({"done": HUGE}, "to be a whole number from 0 to 1,000,000,000."),
        ({"name": "x" * 200}, "name"),
    ],
)
def test_wrong_settings_are_refused_before_the_training(store, follow, told, said):
    with pytest.raises(ValueError, match=r"^dpcore\.follow: ") as refused:
        follow(**told)
    assert said in str(refused.value)
    assert store.runs(kind=None) == []
