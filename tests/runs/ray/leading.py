"""A crew with workers in this process, led round by round until something has come about."""

import time
from collections.abc import Callable
from typing import Any

from dpcore.runs.ray_pool.crew import Crew
from dpcore.runs.silence import STALE
from dpcore.runs.store import Store
from tests.runs.ray.fake_cluster import FakeCluster


def crew_of(store: Store, cluster: FakeCluster, train: str, stale: float = STALE) -> Crew:
    return Crew(store, cluster, f"node_doubles:{train}", 1, 1.0, stale)


def lead(crew: Crew, until: Callable[[], Any], within: float = 20.0) -> None:
    """Lead it until a condition holds."""
    deadline = time.monotonic() + within
    while not until():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        crew.round()


def over(store: Store) -> bool:
    return not any(run.active for run in store.runs(kind=None))


def steps_of(store: Store, run: str) -> list[int]:
    """The steps that its events name, in order."""
    assert [number for number, _ in store.tail(run)] == list(range(1, store.run(run).sequence + 1))
    return [event.step for _, event in store.tail(run) if hasattr(event, "step")]
