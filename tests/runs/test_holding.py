"""A held run waits between two steps, takes one more for each that is granted, and does not count
the wait as time.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from dpcore.runs.holding import MAX_SECONDS, Holding, can_be_held, hold, let_go, steps_granted
from dpcore.runs.record import StoreError
from dpcore.runs.store import Store
from dpcore.runs.worker import perform
from dpcore.training.config import RunConfig
from dpcore.training.events import REPORT_SECONDS, Evaluated, Stepped
from dpcore.training.loop import train
from tests.training.small_runs import CNN

RUN = "abc"


class Reader:
    """Does one thing at each look of the run; the time passes by a tenth of a second between two
    looks.
    """

    def __init__(self, *acts: Callable[[], object]) -> None:
        self.acts, self.time, self.looks = list(acts), 0.0, 0

    def pause(self, seconds: float) -> None:
        self.looks += 1
        self.time += 0.1
        if self.acts:
            self.acts.pop(0)()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_only_what_a_process_trains_that_heeds_it_can_be_held(store: Store):
    assert not can_be_held(store, RUN)
    held = Holding(store, RUN)
    assert can_be_held(store, RUN)
    hold(store, RUN)
    assert steps_granted(Store(store.home), RUN) == 0
    Holding(store, RUN)  # the process that takes over finds it held
    assert steps_granted(store, RUN) == 0
    held.end()
    assert not can_be_held(store, RUN)


def test_each_step_that_is_granted_is_taken_and_no_more(store: Store):
    reader = Reader(*[lambda: hold(store, RUN)] * 2, lambda: None, lambda: let_go(store, RUN))
    held = Holding(store, RUN, reader.pause, lambda: reader.time)
    held.wait(1)
    assert reader.looks == 0  # nobody holds it
    hold(store, RUN)
    held.wait(7)  # until the first grant
    assert (reader.looks, steps_granted(store, RUN)) == (1, 1)
    held.wait(7)  # an evaluation after the same step does not use it up, and is not waited for
    held.wait(8)
    assert (reader.looks, steps_granted(store, RUN)) == (2, 2)
    held.wait(9)
    assert (reader.looks, steps_granted(store, RUN)) == (4, None)
    held.wait(10)
    assert reader.looks == 4


def test_the_wait_does_not_count_but_for_one_report(store: Store):
    reader = Reader(*[lambda: times.append(held.clock())] * 50, lambda: let_go(store, RUN))
    times: list[float] = []
    held = Holding(store, RUN, reader.pause, lambda: reader.time)
    hold(store, RUN)
    before = held.clock()
    held.wait(3)
    assert times == [before] * 50  # it stands still meanwhile
    assert held.clock() - before == pytest.approx(REPORT_SECONDS)


def test_a_store_that_takes_nothing_keeps_nobody_from_training(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    def full(name: str, value: str | None) -> None:
        raise StoreError("The disk is full.")

    monkeypatch.setattr(store, "post", full)
    held = Holding(store, RUN)
    held.wait(1)
    held.end()


def test_a_forgotten_one_goes_on_by_itself(store: Store):
    reader = Reader()
    held = Holding(store, RUN, reader.pause, lambda: reader.time)
    hold(store, RUN)
    held.wait(3)
    assert reader.time == pytest.approx(MAX_SECONDS, abs=1)
    assert steps_granted(store, RUN) is None


def test_held_it_reports_step_by_step_and_ends_where_the_undisturbed_run_ends(store: Store):
    config: RunConfig = CNN
    undisturbed = [event for event in train(config) if not isinstance(event, Stepped)][-1]
    reader = Reader(*[lambda: hold(store, RUN)] * 3, lambda: let_go(store, RUN))
    held = Holding(store, RUN, reader.pause, lambda: reader.time)
    events, steps = train(config, clock=held.clock), []
    event = None
    hold(store, RUN)
    while True:
        held.wait(getattr(event, "step", 0))
        if (event := next(events, None)) is None:
            break
        if isinstance(event, Stepped):
            steps.append(event.step)
        last = event
    assert steps[:3] == [1, 2, 3]
    assert (last.accuracy, last.confusion) == (undisturbed.accuracy, undisturbed.confusion)  # type: ignore[union-attr]


def test_held_each_step_is_tested_before_the_run_waits_and_no_bit_changes(store: Store):
    config = CNN
    undisturbed = [event for event in train(config) if not isinstance(event, Stepped)][-1]
    store.submit(config)
    run = store.claim("a worker", 1)
    assert run
    seen: list[list[object]] = []

    def grant() -> None:
        seen.append(store.events(run.id)[-2:])
        hold(store, run.id)

    hold(store, run.id)  # the process that takes it finds it held
    reader = Reader(grant, grant, grant, lambda: let_go(store, run.id))
    perform(store, run, train, reader.pause)
    assert [[type(each) for each in two] for two in seen[1:]] == [[Stepped, Evaluated]] * 2
    assert [two[-1].step for two in seen[1:]] == [1, 2]  # type: ignore[attr-defined]
    last = store.events(run.id)[-1]
    assert (last.accuracy, last.confusion) == (undisturbed.accuracy, undisturbed.confusion)  # type: ignore[union-attr]
