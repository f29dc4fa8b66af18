"""Streams of tasks in this process, led round by round on a clock that hardly goes on by itself."""

from collections.abc import Callable
from typing import Any

import pytest

from dpcore.runs.ray_pool import streams as streams_module
from dpcore.runs.ray_pool.streams import Streams
from dpcore.runs.store import Store
from tests.runs.ray.fake_cluster import FakeCluster

ROUNDS = 1000  # in which a condition has to come true


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each round looks at everything."""
    for name in ("LOOK_SECONDS", "NEW_SECONDS"):
        monkeypatch.setattr(streams_module, name, 0.0)


def streams_of(store: Store, cluster: FakeCluster, train: str, cpus: int = 1) -> Streams:
    work = train if ":" in train else f"node_doubles:{train}"
    return Streams(store, cluster, work, cpus, 1.0, clock=cluster.clock, pause=lambda seconds: None)


def lead(streams: Streams, until: Callable[[], Any]) -> None:
    """Lead them until a condition holds."""
    for _ in range(ROUNDS):
        if until():
            return
        rounds(streams)
    raise AssertionError("the condition did not come true in time")


def rounds(streams: Streams, count: int = 1) -> None:
    for _ in range(count):
        streams._clock.go_on(1e-6)  # type: ignore[attr-defined]
        streams.round()


def over(store: Store) -> bool:
    return not any(run.active for run in store.runs(kind=None))


def steps_of(store: Store, run: str) -> list[int]:
    """The steps that its events name, in order."""
    assert [number for number, _ in store.bodies(run)] == list(
        range(1, store.run(run).sequence + 1)
    )
    return [event.step for event in store.events(run) if hasattr(event, "step")]
