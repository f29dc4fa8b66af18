"""Epsilons of runs: no page waits for one, none is computed twice, and each is drawn once it is
known.
"""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.plan import plan
from pages.parts.results import costs
from pages.parts.results.costs import Spending, known_cost, learn, spending_of
from pages.parts.runs.listing import LATER
from tests.pages.runs_page import SHOW, cells, opened, shown
from tests.pages.train_page import CONFIG, recorded

ROOT = Path(__file__).parents[3]
MANY = replace(CONFIG, schedule="time", rate=0.001, level_steps=1)  # a sigma for each step


class Later:
    """A background that works when it is told to."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Spending, Future]] = []
        self.put = self.waiting.append

    def work(self) -> None:
        while self.waiting:
            spending, done = self.waiting.pop(0)
            done.set_result(costs.cost_of(spending))


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Iterator[Later]:
    """The background, and nothing is known, neither before nor after the test."""
    monkeypatch.setattr(costs, "waiting", later := Later())
    costs._asked.cache_clear()
    yield later
    costs._asked.cache_clear()


def spent(store: Store, config: RunConfig, status: Status | None = Status.FINISHED) -> Spending:
    spending = spending_of(store.run(recorded(store, config, 40, status)))
    assert spending
    return spending


def test_nobody_waits_for_one_and_all_sessions_together_compute_it_once(store: Store, later: Later):
    slow, quick = spent(store, MANY), spent(store, CONFIG)
    assert [learn([slow, quick, slow]) for _ in range(3)] == [2] * 3
    assert known_cost(slow) is None
    assert len(later.waiting) == 2
    later.work()
    assert learn([slow, quick]) == 0
    curve = ACCOUNTANTS[CERTIFIED].curve(plan(MANY).mechanism, [plan(MANY).steps], MANY.delta)
    assert known_cost(slow) == curve.last


def test_that_of_a_run_that_goes_on_is_told_at_once_or_where_it_is_slow_after_the_run(
    store: Store, later: Later
):
    quick, slow = recorded(store, CONFIG, 40), recorded(store, MANY, 40)
    page = opened()
    assert cells(page, quick)["epsilon"].startswith("≤ ")
    assert cells(page, slow)["epsilon"] == LATER
    assert later.waiting == []


def test_the_table_and_the_front_have_it_once_it_is_known(store: Store, later: Later):
    run = recorded(store, CONFIG, 70, Status.FINISHED)
    page = opened(show=SHOW)
    assert cells(page, run)["epsilon"] == ""
    assert "1 epsilon still to come." in shown(page)
    later.work()
    page.run()
    assert cells(page, run)["epsilon"].startswith("≤ ")
    assert "still computed" not in shown(page)


def test_a_server_that_is_stopped_waits_for_no_epsilon() -> None:
    lines = """import threading; from pages.parts.results import costs; begun = threading.Event()
costs.cost_of = lambda spending: (begun.set(), threading.Event().wait())
costs.waiting.put((None, costs.Future())); assert begun.wait(60)"""
    assert (
        subprocess.run([sys.executable, "-c", lines], cwd=ROOT, timeout=120, check=False).returncode
        == 0
    )
