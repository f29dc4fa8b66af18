"""A crew with workers in this process, led round by round on a clock that hardly goes on by itself."""

import math
import time
from collections.abc import Callable
from typing import Any

import pytest

from dpcore.runs.ray_pool import crew as crew_module
from dpcore.runs.ray_pool import roster, staffing
from dpcore.runs.ray_pool.crew import Crew
from dpcore.runs.store import Store
from tests.runs.ray.fake_cluster import FakeCluster

LIMIT = 120.0  # seconds that a condition has to come true, on whatever machine


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each round looks at everything, and nobody is ended for being slow or idle."""
    for module, name in ((crew_module, "LOOK"), (crew_module, "STAFF"), (roster, "EVERY"), (staffing, "NEW")):
        monkeypatch.setattr(module, name, 0.0)
    for module, name in ((crew_module, "GRACE"), (staffing, "IDLE")):
        monkeypatch.setattr(module, name, math.inf)


def crew_of(store: Store, cluster: FakeCluster, train: str, stale: float = math.inf, cpus: int = 1) -> Crew:
    work = train if ":" in train else f"node_doubles:{train}"
    return Crew(store, cluster, work, cpus, 1.0, stale, clock=cluster.clock, pause=lambda seconds: None)


def lead(crew: Crew, until: Callable[[], Any]) -> None:
    """Lead it until a condition holds."""
    deadline = time.monotonic() + LIMIT
    while not until():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        rounds(crew)
        time.sleep(0.001)  # others have their turn


def rounds(crew: Crew, count: int = 1) -> None:
    for _ in range(count):
        crew._clock.go_on(1e-6)  # type: ignore[attr-defined]
        crew.round()


def over(store: Store) -> bool:
    return not any(run.active for run in store.runs(kind=None))


def steps_of(store: Store, run: str) -> list[int]:
    """The steps that its events name, in order."""
    assert [number for number, _ in store.tail(run)] == list(range(1, store.run(run).sequence + 1))
    return [event.step for _, event in store.tail(run) if hasattr(event, "step")]
