"""A gate for doubles."""

import tempfile
from pathlib import Path

import pytest


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The file that lets doubles in this process go on; workers leave the process as it was."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"):  # a worker sets them in its process
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("DOUBLES_GATE", str(tmp_path / "gate"))
    return tmp_path / "gate"
