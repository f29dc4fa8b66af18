"""One cluster for all tests of a process, started where the first of them asks for it; short waits for a crew."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpcore.runs.ray_pool import crew, roster, staffing
from tests.runs.ray.nodes import Nodes


@pytest.fixture(scope="session")
def nodes() -> Iterator[Nodes]:
    """Two nodes that work, with one CPU each, and one that does not."""
    nodes = Nodes()
    try:
        nodes.add()
        nodes.add()
        yield nodes
    finally:
        nodes.close()


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A crew that waits for little, and workers in this process that leave it as it was."""
    for name, seconds in {"WITHIN": 0.01, "LOOK": 0.02, "STAFF": 0.02, "GRACE": 0.3}.items():
        monkeypatch.setattr(crew, name, seconds)
    monkeypatch.setattr(roster, "EVERY", 0.01)
    monkeypatch.setattr(staffing, "NEW", 0.0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"):  # a worker sets them in its process
        monkeypatch.setenv(name, "1")
