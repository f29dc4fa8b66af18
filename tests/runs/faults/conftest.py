"""What most faults need: runs that are under way, and somebody who writes down how they end."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from tests.runs.faults.afterwards import note_endings

Eventually = Callable[..., None]


@pytest.fixture
def runs(store: Store, home: Path) -> list[str]:
    """Two runs that wait."""
    note_endings(store)
    return [store.submit(RunConfig(seed=seed)) for seed in (None, 4)]


@pytest.fixture
def under_way(store: Store, runs: list[str], eventually: Eventually) -> Callable[[], None]:
    """Wait until the first run has said something, and will say more."""
    return lambda: eventually(lambda: 2 < store.run(runs[0]).sequence < 15, within=60)


@pytest.fixture
def all_ended(store: Store, runs: list[str], eventually: Eventually) -> Callable[[], None]:
    """Wait until both runs have ended."""
    return lambda: eventually(lambda: not any(store.run(run).active for run in runs), within=100)
