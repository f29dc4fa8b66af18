"""The training page says what was measured on a GPU, or that nothing was."""

import json
from pathlib import Path

from pages.parts.train.gpu_figures import NOT_MEASURED, gpu_sentence

FOUND = {
    "device": "NVIDIA A100",
    "date": "2026-01-02",
    "phases": {
        "steps": {"figures": {"cnn-512 private": {"ms": 0.2, "of plain": 1.0649}}},
        "epochs": {"figures": {"cnn-512": {"seconds": 0.04567, "engine": "book-keeping, captured"}}},
    },
}


def written(folder: Path, found: object) -> Path:
    path = folder / "gpu.json"
    path.write_text(json.dumps(found))
    return path


def test_what_was_measured_is_said_with_device_and_date(tmp_path: Path) -> None:
    assert gpu_sentence(written(tmp_path, FOUND)) == (
        "Measured on NVIDIA A100, 2026-01-02: an epoch of 60,000 examples takes the tanh cnn at batch 512 "
        "45.7 ms, its private step (recorded) 1.06 times a plain one."
    )


def test_where_a_figure_is_missing_nothing_is_measured(tmp_path: Path) -> None:
    for found in (
        [], {}, {"phases": {"steps": {"failed": "it ran past 80 s"}}},
        FOUND | {"phases": {"epochs": {"figures": {}}}},
    ):  # fmt: skip
        assert gpu_sentence(written(tmp_path, found)) == NOT_MEASURED, found
        (tmp_path / "gpu.json").write_text("{")
        assert gpu_sentence(tmp_path / "gpu.json") == NOT_MEASURED, found
