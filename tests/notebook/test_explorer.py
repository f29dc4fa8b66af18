"""Sliders and runs in a notebook show what the library answers, what events said, and what the
pages show.
"""

import importlib
import re
import sys
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

import dpcore
from dpcore import extras, figures
from dpcore.notebook import LiveRun, explore, live
from dpcore.notebook.explorer import control_of, redraw
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import marked, percent
from dpcore.training import loop
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Event, Finished, Started, Stepped
from dpcore.training.plan import plan
from dpcore.training.settings import SETTINGS, Choice
from dpcore.training.slider_stops import grid
from pages.parts.controls.fields import quantity_of
from tests.training.small_runs import SMALL

FULL = RunConfig(source="full", batch=600, sigma=4.0, epochs=100)  # Abadi et al.'s
MECHANISM = Mechanism.constant(0.01, 4.0, 10_000)
WITH_CONTROL = [
    name
    for name, each in SETTINGS.items()
    if isinstance(each, Choice) or getattr(each, "slider", None)
]


def assert_shows(shown: Any, figure: Any) -> None:
    """The widget's figure is this one, line by line."""
    # Checked anew, as the widget does; the library does not.
    lines = [line.to_plotly_json() for line in figure.data]
    asked = go.Figure(lines, figure.layout.to_plotly_json())
    assert len(shown.data) == len(asked.data) > 0
    for line, wanted in zip(shown.data, asked.data, strict=True):
        values, uid = line.to_plotly_json(), "uid"  # the widget numbers its lines
        assert str({key: each for key, each in values.items() if key != uid}) == str(
            wanted.to_plotly_json()
        )
        np.testing.assert_array_equal(line.y, wanted.y)
    assert shown.layout.to_plotly_json() == asked.layout.to_plotly_json()


def mechanism_of(config: RunConfig) -> Mechanism:
    found = plan(config).mechanism
    assert found is not None
    return found


def stops(control: Any) -> list[float]:
    return [value for _, value in control.options]


def test_the_figure_is_the_librarys_and_a_slider_that_is_moved_redraws_every_line():
    explorer = explore(FULL)
    assert_shows(explorer.figure, figures.epsilon_figure(MECHANISM))
    explorer.controls["sigma"].value = 2.0
    assert explorer.config == replace(FULL, sigma=2.0)
    assert_shows(explorer.figure, figures.epsilon_figure(Mechanism.constant(0.01, 2.0, 10_000)))
    explorer.controls["delta"].value = 1e-6
    explorer.controls["epochs"].value = 50.0
    assert_shows(
        explorer.figure, figures.epsilon_figure(Mechanism.constant(0.01, 2.0, 5_000), 1e-6)
    )
    asked = explore(FULL, accountants=["zcdp"], log=True).figure
    assert_shows(asked, figures.epsilon_figure(MECHANISM, accountants=["zcdp"], log=True))


def test_the_words_mark_every_number_by_its_kind_and_judge_it():
    words = explore(FULL, accountants=tuple(ACCOUNTANTS)).words.value
    for name, accountant in ACCOUNTANTS.items():
        end = accountant.curve(MECHANISM, [10_000], 1e-5).last
        assert f'<td data-label="Epsilon">{marked(end.value, end.kind)}</td>' in words, name
    assert "Certified: the exact epsilon lies between 0.946" in words
    assert "Unsafe: " in words


def test_settings_that_do_not_go_together_are_said_and_change_nothing_until_they_do():
    explorer = explore()
    before = explorer.config
    explorer.controls["batch"].value = 20_000
    assert "Expected batch=20000 to be at most the 10000 training examples." in explorer.words.value
    assert explorer.config == before
    explorer.controls["source"].value = "full"
    assert explorer.config == replace(before, source="full", batch=20_000)
    assert "Expected" not in explorer.words.value


def test_a_value_between_two_stops_is_taken_exactly_and_shown():
    explorer = explore()
    explorer.set(sigma=1.2345, momentum=0.5)
    assert explorer.config.sigma == explorer.controls["sigma"].value == 1.2345
    assert explorer.config.momentum == 0.5
    assert_shows(explorer.figure, figures.epsilon_figure(mechanism_of(explorer.config)))
    with pytest.raises(ValueError, match="Expected sigma=-1"):
        explorer.set(sigma=-1)
    with pytest.raises(ValueError, match="Expected setting='noise'"):
        explorer.set(noise=1)
    assert explorer.config.sigma == explorer.controls["sigma"].value == 1.2345


def test_a_run_without_privacy_says_so_and_draws_nothing():
    explorer = explore(controls=["private", "sigma"])
    explorer.controls["private"].value = False
    assert "Not private: no gradient is clipped" in explorer.words.value
    assert not explorer.figure.data
    explorer.controls["private"].value = True
    assert_shows(explorer.figure, figures.epsilon_figure(mechanism_of(explorer.config)))


def test_every_control_has_the_labels_and_values_of_the_table_and_a_slider_the_stops_of_the_pages():
    for name in WITH_CONTROL:
        setting, control = SETTINGS[name], control_of(name, RunConfig())
        assert (control.description, control.value) == (setting.label, setting.default), name
        assert control.tooltip, name
        for value in stops(control):
            setting.check(name, value)
        if not isinstance(setting, Choice):
            page, shown = quantity_of(name), quantity_of(name).slider
            wanted = shown.stops or grid(shown.low, shown.high, page.whole, shown.coarse)
            assert stops(control) == sorted({*wanted, setting.default}), name


def test_a_redrawn_figure_keeps_its_lines_where_they_have_the_same_names():
    shown = go.FigureWidget(figures.epsilon_figure(MECHANISM))
    kept = shown.data
    redraw(shown, figures.epsilon_figure(Mechanism.constant(0.02, 2.0, 100)))
    assert all(now is before for now, before in zip(shown.data, kept, strict=True))
    fewer = figures.epsilon_figure(MECHANISM, accountants=["rdp"])
    redraw(shown, fewer)
    assert_shows(shown, fewer)


def test_a_package_that_is_missing_is_named_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "anywidget" else object())
    monkeypatch.delitem(sys.modules, "dpcore.notebook")
    with pytest.raises(
        ImportError, match=r"anywidget is not installed\..*pip install 'dpcore\[notebook\]'"
    ):
        importlib.import_module("dpcore.notebook")


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
    return next(line for line in run.accuracy.data if line.name == "this run")


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
    assert run.evaluated[-1] == list(loop.train(SMALL))[-2], (
        "the run is the one that the library trains"
    )


def test_epsilon_is_that_of_the_steps_at_which_accuracy_was_measured():
    run = LiveRun(LONGER, ["rdp"])
    run.follow(event for event in [stepped(3), evaluated(3, 0.4), stepped(5)])
    spent = epsilon_after(3)
    (said,) = re.findall(r"epsilon ≤ ([\d.]+)", told(run))
    assert spent <= float(said) <= 1.01 * spent
    assert told(run).startswith(f"Step 5 of {plan(LONGER).steps:,}.")
    assert run.epsilon
    assert run.epsilon.layout.shapes[0].x0 == accuracy_of(run).x[-1], "the mark is at the last test"


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
    # The button was pressed while the second event was drawn.
    run._take = interrupted_at(2, run._take)
    with pytest.raises(KeyboardInterrupt):
        run.follow(events())
    assert closed == [True]
    assert told(run).startswith(f"Stopped soon after step 1 of {plan(LONGER).steps:,}.")
    assert float(re.findall(r"epsilon ≤ ([\d.]+)", told(run))[0]) >= epsilon_after(
        plan(LONGER).steps
    )


def interrupted_at(count, take):
    seen = []

    def taking(event):
        seen.append(event)
        if len(seen) == count:
            raise KeyboardInterrupt
        take(event)

    return taking


def test_an_interrupt_within_a_step_ends_real_training(
    monkeypatch: pytest.MonkeyPatch, shown: list[object]
):
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
    assert [line.name for line in run.accuracy.data] == ["this run"]
    assert run.epsilon is None
    assert "Not private" in told(run)
    assert "≤" not in told(run)


def test_bad_settings_are_refused_before_anything_is_shown(shown: list[object]):
    with pytest.raises(ValueError, match="accountant='nonsense'"):
        live(RunConfig(), ["nonsense"])
    assert shown == []
