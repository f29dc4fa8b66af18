"""A store of its own for each test, which dpcore.follow writes to."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpcore.runs.followed import run as run_module
from dpcore.runs.store import Store

# Nothing is told to anybody: these libraries read that when they are imported.
os.environ["FLWR_TELEMETRY_ENABLED"] = "0"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """An empty store at DPCORE_HOME; what a test leaves open is finished."""
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    with Store() as store:
        yield store
        for each in list(run_module.open_runs):
            each.finish()
