"""Workers and servers are killed, the store is held, fills up, or is moved away: every run finishes
once, as it would.

What an undisturbed run says is known of the doubles in stepping.py.
"""

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from dpcore.runs.record import StoreError
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from tests.runs.faults.afterwards import note_endings, wrongs
from tests.runs.faults.killing import Server, serving, until_done
from tests.runs.live_workers import held

Eventually = Callable[..., None]
pytestmark = pytest.mark.long


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


def test_a_run_outlives_a_database_that_is_held_for_thirty_seconds(
    under_way: UnderWay, home: Path
) -> None:
    store, first = under_way.store, under_way.runs[0]
    with serving(home, "held"):
        under_way.wait()
        with held(store.path, 30) as holder:
            worker = store.run(first).worker
            said = store.events(first)
            under_way.go_on()
            assert holder.wait(120) == 0
        # It was silent, for it could not speak, and is not dead.
        assert store.run(first).worker == worker
        assert store.events(first)[: len(said)] == said
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
