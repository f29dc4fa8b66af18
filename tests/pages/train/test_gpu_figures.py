"""The training page says what was measured on a GPU, or that nothing was."""

import json
from pathlib import Path

import pytest

from pages.parts.train import gpu_figures
from pages.parts.train.gpu_figures import NOT_MEASURED, gpu_sentence
from tests.pages.train_page import opened

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


def test_a_step_that_could_not_be_recorded_is_not_called_so(tmp_path: Path) -> None:
    words = json.dumps(FOUND).replace("book-keeping, captured", "book-keeping; not captured: it draws other noise")
    assert "its private step (not recorded) 1.06" in gpu_sentence(written(tmp_path, json.loads(words)))


@pytest.mark.parametrize(
    "found",
    [[], {}, {"phases": {"steps": {"failed": "it ran past 80 s"}}}, FOUND | {"phases": {"epochs": {"figures": {}}}}],
    ids=str,
)
def test_where_a_figure_is_missing_nothing_is_measured(found: object, tmp_path: Path) -> None:
    assert gpu_sentence(written(tmp_path, found)) == NOT_MEASURED
    (tmp_path / "gpu.json").write_text("{")
    assert gpu_sentence(tmp_path / "gpu.json") == NOT_MEASURED


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("measured", [False, True])
def test_the_training_page_says_it_once_before_a_run(measured: bool, tmp_path: Path, monkeypatch) -> None:
    path = written(tmp_path, FOUND) if measured else tmp_path / "none.json"
    monkeypatch.setattr(gpu_figures.gpu_sentence, "__defaults__", (path,))
    said = [each.value for each in opened().caption if "GPU" in each.value or "A100" in each.value]
    assert said == [gpu_sentence(path)]


def test_the_figures_of_this_repository_are_whole_if_they_are_there() -> None:
    assert gpu_figures.MEASURED.exists() == (gpu_sentence() != NOT_MEASURED)
