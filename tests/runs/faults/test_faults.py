"""Workers and servers are killed, the store is held, fills up, or is moved away: every run finishes once, as it would.

What an undisturbed run says is known of the doubles in stepping.py, and of real training by training once more.
"""

import os
import random
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from dpcore.runs.record import Status, StoreError
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Finished
from tests.benchmarks.page_opener import opened
from tests.loop_of_its_own import awaited
from tests.runs.faults.afterwards import note_endings, sound, wrongs
from tests.runs.faults.killing import App, Server, kill_workers, serving, until_done
from tests.runs.live_workers import held

Eventually = Callable[..., None]
pytestmark = pytest.mark.long
REAL = RunConfig(model="mlp", batch=64, epochs=1.0, sigma=1.0, device="cpu")  # 157 steps


class UnderWay:
    """Two runs, the first of which stops in its middle until `go_on`."""

    def __init__(self, store: Store, eventually: Eventually) -> None:
        note_endings(store)
        self.store, self._eventually = store, eventually
        self.runs = [store.submit(RunConfig(seed=seed)) for seed in (None, 4)]

    def wait(self) -> None:
        self._eventually(lambda: self.store.run(self.runs[0]).sequence > 2)

    def go_on(self) -> None:
        (self.store.home / "go").touch()

    def end(self) -> None:
        """Wait until both have ended, as they should."""
        self.go_on()
        self._eventually(lambda: not any(self.store.run(run).active for run in self.runs))
        assert wrongs(self.store, self.runs) == []


@pytest.fixture
def under_way(store: Store, eventually: Eventually) -> UnderWay:
    return UnderWay(store, eventually)


def test_runs_outlive_random_kills_of_workers_and_of_two_servers(store: Store, home: Path) -> None:
    note_endings(store)
    runs = [store.submit(RunConfig(seed=None if seed % 2 else seed)) for seed in range(12)]
    start = partial(Server, home, "train", slots=2)
    killed = until_done(store, start, random.Random(7), servers=2, most=80, within=1200.0)
    assert killed.workers > 0
    assert killed.servers > 0
    assert wrongs(store, runs) == []


def test_runs_go_on_where_the_app_itself_is_killed_and_started_again_and_its_pages_show_them(
    under_way: UnderWay, home: Path, eventually: Eventually
) -> None:
    first = App(home, "held")
    try:
        under_way.wait()
        kill_workers(home)
        first.kill()
        second = App(home, "held")
        try:
            under_way.end()
            eventually(second.answers)
            pages = [awaited(errors_of(second.url, page, under_way.runs)) for page in ("train", "runs", "")]
        finally:
            second.kill()
    finally:
        first.kill()
        kill_workers(home)
    assert pages == [[], [], []]


async def errors_of(url: str, page: str, runs: list[str]) -> list[str]:
    """What a page complains of."""
    found: list[str] = []

    def take(message: ForwardMsg) -> None:
        element = message.delta.new_element
        if element.WhichOneof("type") == "exception":
            found.append(element.exception.message)
        if element.WhichOneof("type") == "alert":
            found.append(element.alert.body)

    async with opened(url, page, "&".join(f"run={run}" for run in runs), take=take):
        return found


def test_a_run_outlives_a_database_that_is_held_for_thirty_seconds(under_way: UnderWay, home: Path) -> None:
    store, first = under_way.store, under_way.runs[0]
    with serving(home, "held"):
        under_way.wait()
        with held(store.path, 30) as holder:
            worker = store.run(first).worker
            said = store.tail(first)
            under_way.go_on()
            assert holder.wait(120) == 0
        assert store.run(first).worker == worker  # it was silent, for it could not speak, and is not dead
        assert store.tail(first)[: len(said)] == said
        under_way.end()
    assert store.run(first).worker == worker


def test_a_directory_that_is_away_for_a_while_costs_no_run_anything(
    under_way: UnderWay, home: Path, eventually: Eventually
) -> None:
    with serving(home, "held") as server:
        under_way.wait()
        away = home.rename(home.parent / "away")
        eventually(lambda: "runs.sqlite3" in server.trouble)
        assert not home.exists()  # nobody begins another store in its place
        with pytest.raises(StoreError, match="to be a file in a writable directory"):
            under_way.store.runs()
        away.rename(home)
        under_way.end()


def test_a_real_run_whose_workers_are_killed_ends_bit_for_bit_as_an_undisturbed_one_of_the_same_secret_seed(
    store: Store, home: Path, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    random_ = random.Random(3)
    disturbed, undisturbed = store.submit(REAL), store.new_id()
    with serving(home, "tests.runs.faults.slowed_training:train"):
        for _ in range(3):
            said = store.run(disturbed).sequence + random_.randrange(3, 9)
            eventually(lambda said=said: store.run(disturbed).sequence >= said)
            worker = store.run(disturbed).worker or ""
            os.kill(int(worker.rpartition(":")[2]), signal.SIGKILL)
            eventually(lambda worker=worker: store.run(disturbed).worker not in (worker, None))
        eventually(lambda: not store.run(disturbed).active)
        store.submit_as(undisturbed, REAL, secret=store.secret(disturbed))
        eventually(lambda: not store.run(undisturbed).active)
    tested = []
    for run in (disturbed, undisturbed):
        assert (store.run(run).status, store.run(run).error) == (Status.FINISHED, None)
        numbers, said = zip(*store.tail(run), strict=True)
        assert sound(said)
        assert list(numbers) == list(range(1, len(said) + 1))
        tested.append({event.step: event for event in said if isinstance(event, Evaluated)})
    last, last_too = store.run(disturbed).last, store.run(undisturbed).last
    assert isinstance(last, Finished)
    assert isinstance(last_too, Finished)
    assert last.accuracy == last_too.accuracy
    common = tested[0].keys() & tested[1].keys()  # which steps are tested follows a clock
    assert last.step in common
    assert len(common) > 2
    assert {step: tested[0][step] for step in common} == {step: tested[1][step] for step in common}
