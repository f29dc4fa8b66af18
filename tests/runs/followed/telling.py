"""A training that is followed, as these tests tell it, and what the store has of it."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dpcore.runs.record import Run
from dpcore.runs.store import Store

TOLD = {"delta": 1e-5, "examples": 60_000, "batch": 512, "sigma": 1.1}
Q = 512 / 60_000
ROOT = Path(__file__).parents[3]


def taken(run: Any, count: int, **told: Any) -> Any:
    for _ in range(count):
        run.step(**told)
    return run


def stored(store: Store, run: Any) -> Run:
    return store.run(run.id)


def until(holds: Callable[[], bool], within: float = 5.0) -> None:
    end = time.monotonic() + within
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)
