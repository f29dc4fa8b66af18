"""A store of its own for each test, which dpcore.follow writes to."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpcore.runs.followed import run as run_module
from dpcore.runs.store import Store


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """An empty store at DPCORE_HOME; what a test leaves open is finished."""
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    with Store() as store:
        yield store
        for each in list(run_module.open_runs):
            each.finish()
