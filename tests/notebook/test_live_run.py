"""A run drawn in a notebook: its figures say what its events said, and an interrupt ends it."""

import re
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dpcore
from dpcore.figures import charted, epochs_at
from dpcore.figures.lab import LabRun, lab_figure
from dpcore.figures.style import DEFAULT_ACCOUNTANTS
from dpcore.notebook import LiveRun, live
from dpcore.notebook.redrawing import lines_of
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import percent
from dpcore.training import loop
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Event, Finished, Started, Stepped
from dpcore.training.plan import plan
from tests.training.small_runs import SMALL

LONGER = replace(SMALL, epochs=5.0)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What was displayed."""
    found: list[object] = []
    monkeypatch.setattr("IPython.display.display", found.append)
    return found


def stepped(step: int) -> Stepped:
    return Stepped(step, step * LONGER.q, 2.3, 0.5, (0.1, 0.2, 0.3, 0.4, 0.5), 40.0)


def evaluated(step: int, accuracy: float) -> Evaluated:
    return Evaluated(step, step * LONGER.q, accuracy, 2.0, (accuracy,) * 10)


def epsilon_after(steps: int) -> float:
    """The certified epsilon of the longer run's first steps."""
    return dpcore.epsilon(Mechanism.constant(LONGER.q, LONGER.sigma, steps), LONGER.delta).value


def accuracy_of(run: LiveRun) -> Any:
    """The line of the test accuracy."""
    return next(line for line in lines_of(run.figure) if line.name == "this run")


def told(run: LiveRun) -> str:
    return re.sub(r"<.*?>", "", run.words.value)


def test_a_real_run_is_drawn_as_its_events_say(shown: list[object]):
    run = live(SMALL)
    assert shown == [run.widget]
    assert isinstance(run.events[0], Started)
    last = run.events[-1]
    assert isinstance(last, Finished)
    line = accuracy_of(run)
    assert list(line.x) == [each.epoch for each in run.evaluated]
    assert list(line.y) == [100 * each.accuracy for each in run.evaluated]
    assert run.step == plan(SMALL).steps
    assert f"the test accuracy is {percent(last.accuracy)}" in told(run)
    assert run.statement.facts
    assert run.evaluated[-1] == list(loop.train(SMALL))[-2], "the run is the one that the library trains"


def test_epsilon_is_that_of_the_steps_at_which_accuracy_was_measured():
    run = LiveRun(LONGER, ["rdp"])
    run.follow(event for event in [stepped(3), evaluated(3, 0.4), stepped(5)])
    spent = epsilon_after(3)
    (said,) = re.findall(r"epsilon ≤ ([\d.]+)", told(run))
    assert spent <= float(said) <= 1.01 * spent
    assert told(run).startswith(f"Step 5 of {plan(LONGER).steps:,}.")
    assert accuracy_of(run).yaxis == "y2"  # below epsilon, over the same epochs


def test_an_epsilon_that_nobody_can_compute_is_infinite_and_the_run_goes_on(monkeypatch: pytest.MonkeyPatch):
    run = LiveRun(LONGER, ["rdp"])

    def gives_up(*_: object) -> None:
        raise RuntimeError("The numbers left the floats.")

    monkeypatch.setattr(type(ACCOUNTANTS[CERTIFIED]), "_account", gives_up)
    run.follow(event for event in [stepped(3), evaluated(3, 0.4), stepped(5)])
    assert "infinite" in told(run)
    assert told(run).startswith("Step 5 of")


def test_a_mark_walks_along_the_curves_until_the_run_has_finished():
    run = LiveRun(LONGER, ["rdp"])
    run.follow(event for event in [evaluated(3, 0.4), evaluated(6, 0.5)])
    (mark,) = run.figure.to_plotly_json()["layout"]["shapes"]
    assert mark["x0"] == 6 * LONGER.q
    run.follow(event for event in [Finished(6, 1.0, 0.5)])
    assert not run.figure.to_plotly_json()["layout"].get("shapes")


def test_the_figure_is_the_pages():
    run = LiveRun(LONGER, DEFAULT_ACCOUNTANTS)
    run.follow(event for event in [evaluated(3, 0.4), evaluated(6, 0.6)])
    mechanism = Mechanism.constant(LONGER.q, LONGER.sigma, plan(LONGER).steps)
    curves = {name: each.curve(mechanism, charted(mechanism), LONGER.delta) for name, each in ACCOUNTANTS.items()}
    end, now = LONGER.q * mechanism.steps, 6 * LONGER.q
    drawn = LabRun("this run", 0, [3 * LONGER.q, now], [0.4, 0.6], now=now, end=end)
    kept = {name: curve for name, curve in curves.items() if name in (*DEFAULT_ACCOUNTANTS, CERTIFIED)}
    page = lab_figure(kept, epochs_at(mechanism, charted(mechanism)), [drawn])
    assert [line.name for line in lines_of(run.figure)] == [line.name for line in lines_of(page)]
    for line, wanted in zip(lines_of(run.figure), lines_of(page), strict=True):
        np.testing.assert_array_equal(line.x, wanted.x)
        np.testing.assert_array_equal(line.y, wanted.y)


def test_an_interrupt_ends_the_run_and_says_what_it_cost_at_most():
    closed: list[bool] = []

    def events() -> Generator[Event, None, None]:
        try:
            yield stepped(1)
            yield evaluated(1, 0.2)
            yield stepped(2)
        finally:
            closed.append(True)

    run = LiveRun(LONGER, ["rdp"])
    run._take = interrupted_at(2, run._take)  # the button was pressed while the second event was drawn
    with pytest.raises(KeyboardInterrupt):
        run.follow(events())
    assert closed == [True]
    assert told(run).startswith(f"Stopped soon after step 1 of {plan(LONGER).steps:,}.")
    assert float(re.findall(r"epsilon ≤ ([\d.]+)", told(run))[0]) >= epsilon_after(plan(LONGER).steps)


def interrupted_at(count, take):
    seen = []

    def taking(event):
        seen.append(event)
        if len(seen) == count:
            raise KeyboardInterrupt
        take(event)

    return taking


def test_an_interrupt_within_a_step_ends_real_training(monkeypatch: pytest.MonkeyPatch, shown: list[object]):
    from dpcore.training.training_run import TrainingRun

    steps, step = [], TrainingRun.step

    def pressed(self: TrainingRun, number: int) -> None:
        steps.append(number)
        if number == 3:
            raise KeyboardInterrupt
        step(self, number)

    monkeypatch.setattr(TrainingRun, "step", pressed)
    with pytest.raises(KeyboardInterrupt):
        live(LONGER)
    assert steps == [1, 2, 3]


def test_a_run_without_privacy_shows_no_epsilon():
    run = LiveRun(replace(LONGER, private=False), ["rdp"])
    run.follow(event for event in [stepped(3), evaluated(3, 0.4), stepped(5)])
    assert [line.name for line in lines_of(run.figure)] == ["this run"]
    assert "Not private" in told(run)
    assert "≤" not in told(run)


def test_bad_settings_are_refused_before_anything_is_shown(shown: list[object]):
    with pytest.raises(ValueError, match="accountant='nonsense'"):
        live(RunConfig(), ["nonsense"])
    assert shown == []
