"""Epsilons of runs: no page waits for a slow one, and none is computed twice, however many sessions ask."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Kind
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.plan import plan
from pages.parts.runs import costs
from pages.parts.runs.costs import Cost, Spending, known_cost, learn, spending_of
from pages.parts.runs.run_rows import LATER
from tests.pages.runs_page import cells, opened
from tests.pages.train_page import CONFIG, recorded

MANY = replace(CONFIG, schedule="time", rate=0.001, level_steps=1)  # a sigma for each step
SOME = Cost(1.0, None, Kind.CERTIFIED)


class Gate:
    """Computes nothing before it is opened."""

    def __init__(self) -> None:
        self.open, self.asked = threading.Event(), []

    def __call__(self, spending: Spending) -> Cost:
        self.asked.append(spending)
        assert self.open.wait(30)
        return SOME


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "_known", type(costs._known)())


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    gate = Gate()
    monkeypatch.setattr(costs, "_computed", gate)
    yield gate
    gate.open.set()


def eventually(holds: Callable[[], object]) -> None:
    """Wait until something holds."""
    until = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.005)


def spent(store: Store, config: RunConfig, status: Status | None = Status.FINISHED) -> Spending:
    spending = spending_of(store.run(recorded(store, config, 40, status)), CERTIFIED)
    assert spending
    return spending


def test_nobody_waits_for_a_slow_one_and_all_sessions_together_compute_it_once(store: Store, gate: Gate):
    slow = spent(store, MANY)
    assert [learn([slow]) for _ in range(5)] == [1] * 5
    gate.open.set()
    eventually(lambda: known_cost(slow))
    assert learn([slow]) == 0
    assert gate.asked == [slow]


def test_behind_a_slow_one_those_that_take_a_blink_are_known_at_once(store: Store, monkeypatch: pytest.MonkeyPatch):
    waits = threading.Event()
    monkeypatch.setattr(costs, "_computed", lambda each: SOME if not costs._slow(each) or waits.wait(30) else None)
    slow, quick = spent(store, MANY), spent(store, CONFIG)
    assert learn([slow, quick]) == 1
    assert known_cost(quick) == SOME
    waits.set()


def test_what_one_session_computes_another_one_does_not_wait_for(store: Store, gate: Gate):
    quick = spent(store, CONFIG)
    session = threading.Thread(target=learn, args=([quick],))
    session.start()
    eventually(lambda: gate.asked)
    assert learn([quick]) == 1
    gate.open.set()
    session.join()
    assert (learn([quick]), gate.asked) == (0, [quick])


def test_the_background_needs_no_session_and_finds_what_the_accountant_says(store: Store):
    slow = spent(store, MANY)
    learn([slow])
    eventually(lambda: known_cost(slow))
    mechanism = plan(MANY).mechanism
    assert mechanism
    curve = ACCOUNTANTS[CERTIFIED].curve(mechanism, [plan(MANY).steps], MANY.delta)
    assert known_cost(slow) == Cost(float(curve.epsilon[0]), float(curve.lower[0]), Kind.CERTIFIED)


def test_after_one_that_cannot_be_computed_the_background_goes_on(store: Store, monkeypatch: pytest.MonkeyPatch):
    def fails_at_first(spending: Spending) -> Cost:
        if spending == bad:
            raise ZeroDivisionError
        return SOME

    bad, good = spent(store, MANY), spent(store, replace(MANY, sigma=2.0))
    monkeypatch.setattr(costs, "_computed", fails_at_first)
    learn([bad, good])
    eventually(lambda: known_cost(good))
    assert (learn([bad, good]), known_cost(bad)) == (0, None)


def test_a_slow_one_of_a_run_that_goes_on_is_told_once_it_has_ended(store: Store, gate: Gate):
    run = recorded(store, MANY, 40)
    page = opened()
    assert cells(page, run)["epsilon"] == LATER
    assert "still computed" not in " ".join(each.value for each in page.caption)
    assert gate.asked == []
