"""Events of a comparison, also at the ends of its ranges, and requests that cross processes."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from dpcore.runs.kinds import event_from_json, event_to_json
from dpcore.training.perturbation import noise
from dpcore.training.perturbation.comparison import compare
from dpcore.training.perturbation.events import Finished, Measured, Prepared, Skipped
from dpcore.training.perturbation.methods import METHODS
from dpcore.training.perturbation.methods.objective import ObjectivePerturbation
from dpcore.training.perturbation.models import Logistic
from dpcore.training.perturbation.request import (
    MAX_EPSILON,
    MAX_RATE,
    MAX_REGULARISER,
    MAX_STEPS,
    MIN_EPSILON,
    Request,
)
from dpcore.training.perturbation.task import Task

SMALL = Request(
    dataset="iris",
    classes=("setosa", "rest"),
    methods=("none", "output"),
    epsilons=(1.0, 4.0),
    seeds=3,
)


def test_a_request_and_its_events_cross_processes_as_json() -> None:
    request = Request.from_json(json.loads(json.dumps(SMALL.to_json())))
    assert request == SMALL
    for event in compare(replace(request, seed=1)):
        assert (
            event_from_json("perturbation", json.loads(json.dumps(event_to_json(event)))) == event
        )


def test_a_comparison_reports_every_method_at_every_epsilon() -> None:
    first, *measured, last = compare(SMALL)
    assert isinstance(first, Prepared)
    assert (first.examples, first.tests, first.features) == (120, 30, 5)
    assert isinstance(last, Finished)
    assert [(each.method, each.epsilon) for each in measured if isinstance(each, Measured)] == [
        ("none", None),
        ("output", 1.0),
        ("output", 4.0),
    ]
    assert all(
        len(each.accuracies) == len(each.gaps) == 3
        for each in measured[1:]
        if isinstance(each, Measured)
    )


def test_by_default_the_noise_is_fresh_and_a_fixed_seed_repeats_it() -> None:
    one, other = (
        [each for each in compare(SMALL) if isinstance(each, Measured)][1:] for _ in range(2)
    )
    assert all(a.gaps != b.gaps for a, b in zip(one, other, strict=True))
    fixed = replace(SMALL, seed=7)
    assert [each for each in compare(fixed) if isinstance(each, Measured)] == [
        each for each in compare(fixed) if isinstance(each, Measured)
    ]


def test_a_wrong_setting_is_named() -> None:
    for wrong, words in [
        ({"dataset": "moons"}, "dataset='moons'"),
        ({"classes": ("setosa",)}, "two different"),
        ({"methods": ("magic",)}, "method 1='magic'"),
        ({"methods": ()}, "at least one method"),
        ({"epsilons": (0.0,)}, "epsilon=0.0"),
        ({"epsilons": (1.0, 1.0)}, "once"),
        ({"delta": 1.0}, "delta=1.0"),
        ({"rate": 0.0}, "rate=0.0"),
        ({"regulariser": -1.0}, "regulariser=-1.0"),
        ({"seeds": 0}, "seeds=0"),
    ]:
        with pytest.raises(ValueError, match=words):
            replace(SMALL, **wrong)


def test_what_is_released_has_no_more_digits_than_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    losses = Logistic.losses

    def watched(model, thetas, rows, labels, regulariser):
        seen.append(thetas)
        return losses(model, thetas, rows, labels, regulariser)

    monkeypatch.setattr(Logistic, "losses", watched)
    list(compare(SMALL))
    assert len(seen) == 3  # L*, and two methods
    for thetas in seen[1:]:
        assert np.array_equal(thetas, thetas.astype(np.float32))


def test_no_two_fits_share_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []

    def watched(start: int, what: dict) -> noise.Stream:
        drawn.append(stream_of(start, what))
        return drawn[-1]

    stream_of = noise.stream_of
    monkeypatch.setattr(noise, "stream_of", watched)
    request = replace(SMALL, seed=7, methods=("output", "gradient"))
    for each in (
        request,
        replace(request, delta=1e-6),
        replace(request, seed=8),
        replace(request, classes=()),
    ):
        list(compare(each))
    assert len(drawn) == 4 * 2 * 2 * 3
    assert len({float(stream.normals(1)[0]) for stream in drawn}) == len(drawn)
    assert len({float(stream.uniforms(1)[0]) for stream in drawn}) == len(drawn)


def test_one_method_at_one_epsilon_draws_what_it_draws_among_others() -> None:
    alone = replace(SMALL, seed=7, methods=("output",), epsilons=(4.0,), seeds=2)
    (one,) = [each for each in compare(alone) if isinstance(each, Measured)]
    last = [each for each in compare(replace(SMALL, seed=7)) if isinstance(each, Measured)][-1]
    assert one.gaps == pytest.approx(last.gaps[:2], rel=1e-6)


def test_an_epsilon_at_which_learning_fails_is_skipped_and_the_others_are_shown() -> None:
    # Without a regulariser, classes that can be told apart have no minimiser; a small epsilon
    # brings a regulariser.
    request = replace(SMALL, methods=("objective", "output"), regulariser=0.0, epsilons=(0.5, 1e6))
    events_ = [each for each in compare(request) if isinstance(each, Measured | Skipped)]
    assert [(each.method, each.epsilon, type(each)) for each in events_] == [
        ("objective", 0.5, Measured),
        ("objective", 1e6, Skipped),
        ("output", 0.5, Measured),
        ("output", 1e6, Measured),
    ]
    assert "raise the regulariser" in events_[1].reason  # type: ignore[union-attr]


EPSILONS = (MIN_EPSILON, 1.0, 1e4, MAX_EPSILON)
CORNERS = [
    Task(model, examples, 5, delta, steps, rate, regulariser, clip_norm)
    for (model, clip_norm), examples, delta, (steps, rate), regulariser in itertools.product(
        [("logistic", 1.0), ("mlp", 1e-6), ("mlp", 1e6)],
        [2, 70_000],
        [1e-60, 0.999999],
        [(1, 1e-300), (MAX_STEPS, None), (MAX_STEPS, MAX_RATE)],
        [0.0, MAX_REGULARISER],
    )
]


@pytest.mark.parametrize("name", METHODS)
def test_noise_is_finite_or_a_sentence_at_the_ends_of_all_ranges(name: str) -> None:
    method = METHODS[name]
    for task, epsilon in itertools.product(CORNERS, EPSILONS):
        assert all(each.said for each in method.conditions(task, epsilon))
        if name == "output" and task.rate == MAX_RATE:
            with pytest.raises(RuntimeError, match="lower the step size or the steps"):
                method.noise(task, epsilon)
        else:
            assert math.isfinite(noise := method.noise(task, epsilon))
            assert noise > 0 or name == "none"


def test_without_a_regulariser_curvature_is_a_number_and_leaves_most_of_a_large_epsilon() -> None:
    for epsilon in [1300.0, 1400.0, 3000.0, 1e4, MAX_EPSILON]:
        method, task = (
            ObjectivePerturbation(),
            Task("logistic", 70_000, 5, 1e-5, 50, None, 0.0, 1.0),
        )
        curvature = method.curvature(task, epsilon)
        assert curvature > 1e-300, epsilon
        assert math.log1p(0.25 / (task.examples * curvature)) <= epsilon / 2, epsilon
        assert math.isfinite(method.hiding(task, epsilon)), epsilon
