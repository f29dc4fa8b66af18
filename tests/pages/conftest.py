"""A run store for the pages."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from dpcore.runs import pool
from dpcore.runs.store import Store


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A store that no worker serves."""
    with Store(tmp_path) as store:
        monkeypatch.setattr(pool, "ensure_pool", lambda: SimpleNamespace(store=store, trouble=None))
        yield store
