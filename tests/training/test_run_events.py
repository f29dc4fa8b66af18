"""Events of a run, their order, times and end, and its origin: versions, machine and data, and no
secret.
"""

import dataclasses
import json
import math
import platform
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from dpcore import __version__
from dpcore.data.loading import Images, Split, fingerprint_of, load
from dpcore.runs.kinds import event_from_json, event_to_json
from dpcore.training import inputs, training_run
from dpcore.training.events import Evaluated, Finished, Started, Stepped
from dpcore.training.gradients.clipping import Flat
from dpcore.training.loop import train
from dpcore.training.progress import (
    EVALUATE_SECONDS as EVALUATE,
)
from dpcore.training.progress import (
    EVALUATION_SHARE as SHARE,
)
from dpcore.training.progress import (
    FIRST_SECONDS as FIRST,
)
from dpcore.training.progress import (
    REPORT_SECONDS as REPORT,
)
from dpcore.training.progress import (
    ReportTimes,
    StepTotals,
)
from dpcore.training.resume_point import origin_of
from dpcore.training.training_run import rmse_of
from tests.training.small_runs import CNN, SMALL, module_of, run_of, ticking


def test_the_clock_changes_what_is_shown_but_not_what_is_learned():
    slow, fast = (list(train(SMALL, ticking(seconds))) for seconds in (5.0, 1e-6))
    assert len(slow) > len(fast)
    assert slow[-2] == fast[-2]  # the last evaluation


def test_a_run_tells_its_story_in_order():
    events = list(train(SMALL, ticking()))
    assert [type(event) for event in events[:2]] == [Started, Stepped]
    assert [type(event) for event in events[-2:]] == [Evaluated, Finished]
    started, finished = events[0], events[-1]
    assert started == Started(10_000, 8, 0.0064, "cpu", 795_010, "book-keeping", started.origin)
    assert dict(started.origin)["device"].startswith("cpu")
    assert finished.step == started.steps
    assert finished.accuracy == events[-2].accuracy
    steps = [event.step for event in events if isinstance(event, Stepped)]
    assert steps == sorted(set(steps))
    assert steps[-1] == 8
    assert [event.step for event in events if isinstance(event, Evaluated)][-1] == 8
    for event in events:
        assert event_from_json("training", event_to_json(event)) == event


def test_an_evaluation_counts_right_answers_in_all_and_for_each_class():
    run = run_of(CNN)
    run.step(1)
    event = run.evaluated(1)
    x, y = run.test
    guesses = module_of(run)(x).argmax(1)
    assert event.accuracy == pytest.approx((guesses == y).double().mean().item())
    for digit, accuracy in enumerate(event.per_class):
        assert accuracy == pytest.approx((guesses[y == digit] == digit).double().mean().item())
    assert event.loss == pytest.approx(F.cross_entropy(module_of(run)(x), y).item(), rel=1e-5)
    assert event.epoch == 64 / 10_000


def test_a_report_covers_every_step_since_the_last(batches):
    run = run_of(dataclasses.replace(SMALL, clip_norm=8.0))
    norms, losses = [], []
    x, y = run.train
    for step in range(1, 4):
        before = run.engine.parameters.clone()
        run.step(step)
        after = run.engine.parameters.clone()
        run.engine.parameters.copy_(before)
        found = run.engine.clipped_sum(x[batches[-1][2]], y[batches[-1][2]], Flat(math.inf))
        norms += found.norms.tolist()
        losses += found.losses.tolist()
        run.engine.parameters.copy_(after)
    report = run.step_totals.report(3, 0.5, 10.0)
    assert report.loss == pytest.approx(np.mean(losses), rel=1e-5)
    assert report.clipped == pytest.approx(np.mean(np.array(norms) > 8.0))
    assert 0 < report.clipped < 1
    assert report.norms == pytest.approx(
        np.quantile(norms, [0.05, 0.25, 0.5, 0.75, 0.95]), rel=1e-5
    )


def test_closing_the_events_stops_before_another_step(batches):
    events = train(dataclasses.replace(SMALL, epochs=50), ticking(1.0))
    for _ in range(6):
        next(events)
    done = len(batches)
    events.close()
    assert len(batches) == done < 6


def test_a_loss_that_is_no_longer_finite_ends_the_run_with_its_step():
    config = dataclasses.replace(SMALL, activation="relu", lr=1e38, epochs=1)
    with pytest.raises(RuntimeError, match=r"loss is not finite at step [2-9]"):
        list(train(config, ticking()))


def test_auto_takes_the_fastest_device_that_is_here_and_one_that_is_not_is_named(monkeypatch):
    for cuda, mps, expected in ((True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda cuda=cuda: cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda mps=mps: mps)
        assert training_run.device_of("auto").type == expected
    with pytest.raises(ValueError, match=r"device='cuda' to be one of this machine: auto, .*cpu"):
        next(train(dataclasses.replace(SMALL, device="cuda")))


def test_data_of_another_size_than_the_configuration_counts_with_is_refused(monkeypatch):
    whole = load("mnist", "sample")
    part = Split(Images(whole.train.images[:100], whole.train.labels[:100]), whole.test)
    monkeypatch.setattr(inputs, "load", lambda name, source: part)
    with pytest.raises(ValueError, match="10000 training examples"):
        next(train(SMALL))


def test_the_end_tells_which_classes_were_taken_for_which():
    *_, evaluated, finished = train(SMALL, ticking())
    counts, labels = np.array(finished.confusion), load("mnist", "sample").test.labels
    np.testing.assert_array_equal(counts.sum(1), np.bincount(labels, minlength=10))
    assert counts.trace() / counts.sum() == pytest.approx(evaluated.accuracy)
    np.testing.assert_allclose(counts.diagonal() / counts.sum(1), evaluated.per_class)


def test_the_error_is_that_of_the_class_that_is_expected():
    y = torch.tensor([0, 4, 2])
    logits = torch.full((3, 5), -1e3)
    logits[[0, 1, 2], [0, 1, 2]] = 0.0  # sure, and once three off
    assert rmse_of(logits, y) == pytest.approx(3**0.5)
    assert rmse_of(torch.zeros(3, 5), y) == pytest.approx((8 / 3) ** 0.5)  # expects 2 of all


def test_figures_left_on_a_device_are_summed_up_as_those_looked_at_at_once():
    generator = torch.Generator().manual_seed(1)
    now, later = StepTotals(), StepTotals(at_once=False)
    for step, size in enumerate([4, 0, 7], 1):
        losses, norms = torch.rand(2, size, generator=generator)
        now.add(step, losses, norms, norms > 0.5)
        later.add(step, losses, norms, (norms > 0.5).float())
    assert later.report(3, 0.1, 1.0) == now.report(3, 0.1, 1.0)


def test_a_loss_that_is_not_finite_is_named_by_its_own_step_when_it_is_found_later():
    tally = StepTotals(at_once=False)
    for step, loss in ((1, 0.5), (2, float("nan")), (3, float("nan"))):
        tally.add(step, torch.tensor([loss, 1.0]), torch.ones(2), torch.zeros(2))
    with pytest.raises(RuntimeError, match="loss is not finite at step 2"):
        tally.settle()


def test_it_names_versions_machine_and_data() -> None:
    run = run_of(dataclasses.replace(SMALL, device="auto"))
    found = origin_of(run)
    assert not found["device"].startswith("auto")
    assert found["dpcore"] == __version__
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__
    assert {key: found[key] for key in ("device", "threads", "torch")} == run.machine
    assert found["data"] == fingerprint_of(load(SMALL.dataset, SMALL.source))
    assert json.loads(json.dumps(found)) == found


def test_the_secret_of_a_run_is_not_in_it() -> None:
    run = run_of(dataclasses.replace(SMALL, seed=None))
    assert run.secret
    text = json.dumps(origin_of(run))
    assert f"{run.secret}" not in text
    assert f"{run.secret:x}" not in text


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def story(step_seconds: float, evaluation_seconds: float, steps: int, epoch_steps: int = 10**9):
    """The times of the reports and of the ends of evaluations of a run whose every step takes so
    long.
    """
    clock = Clock()
    pace = ReportTimes(clock, 1 / epoch_steps)
    pace.start(0)
    reports, evaluations = [], []
    for step in range(1, steps + 1):
        clock.now += step_seconds
        if pace.report_due(step):
            reports.append((clock.now - 100, pace.reported(step)))
        if pace.evaluation_due(step):
            with pace.evaluating(step):
                clock.now += evaluation_seconds
            evaluations.append(clock.now - 100)
    return reports, evaluations, clock.now - 100


def gaps(times):
    return [later - earlier for earlier, later in pairwise(times)]


def test_steps_are_reported_about_four_times_a_second():
    for step_seconds in [0.001, 0.02, 0.2]:
        reports, _, _ = story(step_seconds, 0.01, steps=int(10 / step_seconds))
        times = [time for time, _ in reports]
        assert times[0] == pytest.approx(step_seconds), step_seconds
        assert max(gaps(times)) <= REPORT + 2 * step_seconds + 0.011, step_seconds
        assert min(gaps(times[1:])) >= REPORT - 1e-9, step_seconds


def test_the_rate_counts_training_alone():
    reports, _, _ = story(0.02, 0.5, steps=2000)
    assert all(rate == pytest.approx(50) for _, rate in reports)


def test_the_first_accuracy_comes_within_a_second_or_with_the_first_step():
    for step_seconds in (0.001, 0.05, 0.3):
        _, evaluations, _ = story(step_seconds, 0.25, steps=int(5 / step_seconds))
        assert evaluations[0] <= FIRST + step_seconds + 0.25 + 1e-9 < 1
    _, evaluations, _ = story(4.0, 0.1, steps=3)
    assert evaluations[0] == pytest.approx(4.1)
    _, evaluations, _ = story(0.003, 0.005, steps=200, epoch_steps=40)
    assert evaluations[0] == pytest.approx(0.065), "half an epoch has passed"
    assert len(evaluations) == 10


def test_accuracy_comes_every_two_seconds_or_every_half_epoch():
    for evaluation_seconds in [0.001, 0.02, 0.1]:
        _, evaluations, _ = story(0.05, evaluation_seconds, steps=1000)
        assert max(gaps(evaluations)) <= EVALUATE + 0.05 + evaluation_seconds + 1e-9, (
            evaluation_seconds
        )
        # An epoch takes half a second.
        _, evaluations, _ = story(0.05, 0.001, steps=1000, epoch_steps=10)
        assert max(gaps(evaluations[2:])) <= 0.25 + 0.05 + 0.01, evaluation_seconds


def test_evaluations_take_at_most_a_tenth_of_the_time():
    for evaluation_seconds in [0.001, 0.1, 0.5, 3.0]:
        for epoch_steps in [1, 10, 10**9]:
            _, evaluations, total = story(
                0.05, evaluation_seconds, steps=4000, epoch_steps=epoch_steps
            )
            # The first may come before ten times its cost has passed.
            after_first = len(evaluations) - 1
            assert after_first * evaluation_seconds <= SHARE * total + 1e-9, (
                evaluation_seconds,
                epoch_steps,
            )
            assert after_first > 0, (evaluation_seconds, epoch_steps)
