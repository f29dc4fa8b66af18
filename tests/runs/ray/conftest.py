"""One real cluster for all tests of a process, started where the first of them asks for it; a gate for its doubles."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runs.ray.nodes import Nodes


@pytest.fixture(scope="session")
def cluster() -> Iterator[Nodes]:
    """Two nodes that work, with one CPU each, and one that does not."""
    nodes = Nodes()
    try:
        nodes.add()
        nodes.add()
        yield nodes
    finally:
        nodes.close()


@pytest.fixture
def nodes(cluster: Nodes) -> Nodes:
    """The cluster, with its gate shut."""
    cluster.gate.unlink(missing_ok=True)
    return cluster


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The file that lets doubles in this process go on; their workers leave the process as it was."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"):  # a worker sets them in its process
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("DOUBLES_GATE", str(tmp_path / "gate"))
    return tmp_path / "gate"
