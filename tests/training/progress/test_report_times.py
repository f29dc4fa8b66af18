"""When a run speaks: early, often enough, and never at a price."""

from itertools import pairwise

import pytest

from dpcore.training.progress.report_times import EVALUATE, FIRST, REPORT, SHARE, ReportTimes


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def story(step_seconds: float, evaluation_seconds: float, steps: int, epoch_steps: int = 10**9):
    """The times of the reports and of the ends of evaluations of a run whose every step takes so long."""
    clock = Clock()
    pace = ReportTimes(clock, 1 / epoch_steps)
    pace.start()
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


def test_accuracy_comes_every_two_seconds_or_every_epoch():
    for evaluation_seconds in [0.001, 0.02, 0.1]:
        _, evaluations, _ = story(0.05, evaluation_seconds, steps=1000)
        assert max(gaps(evaluations)) <= EVALUATE + 0.05 + evaluation_seconds + 1e-9, evaluation_seconds
        _, evaluations, _ = story(0.05, 0.001, steps=1000, epoch_steps=10)  # an epoch takes half a second
        assert max(gaps(evaluations[2:])) <= 0.5 + 0.05 + 0.01, evaluation_seconds


def test_evaluations_take_at_most_a_tenth_of_the_time():
    for evaluation_seconds in [0.001, 0.1, 0.5, 3.0]:
        for epoch_steps in [1, 10, 10**9]:
            _, evaluations, total = story(0.05, evaluation_seconds, steps=4000, epoch_steps=epoch_steps)
            after_first = len(evaluations) - 1  # the first may come before ten times its cost has passed
            assert after_first * evaluation_seconds <= SHARE * total + 1e-9, (evaluation_seconds, epoch_steps)
            assert after_first > 0, (evaluation_seconds, epoch_steps)
