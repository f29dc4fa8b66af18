"""A home of its own for each test, and no process left behind."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dpcore.runs.store import Store
from tests.runs.live_workers import processes


@pytest.fixture
def eventually() -> Callable[..., None]:
    """Wait until a condition holds; fail where it does not within so many seconds."""

    def wait(condition: Callable[[], object], within: float = 120.0) -> None:
        deadline = time.monotonic() + within
        while not condition():
            assert time.monotonic() < deadline, "the condition did not come true in time"
            time.sleep(0.01)

    return wait


@pytest.fixture
def home(tmp_path: Path, eventually: Callable[..., None]) -> Iterator[Path]:
    """A directory for a store; none of its workers may outlive the test."""
    home = tmp_path / "home"
    yield home
    try:
        eventually(lambda: not processes(home))
    finally:
        for pid in processes(home):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    """An empty store."""
    with Store(home) as store:
        yield store
