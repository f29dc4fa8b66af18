"""`python -m dpcore lab export`: the file, from the package's table or computed."""

from pathlib import Path

import pytest

from dpcore.__main__ import main
from dpcore.commands import lab
from dpcore.labfile.stops import Stops, opened
from dpcore.training.recorded import recorded
from tests.commands.printed import Output, Patch


def test_the_file_of_the_defaults_computes_nothing(
    tmp_path: Path, monkeypatch: Patch, capsys: Output
) -> None:
    monkeypatch.setattr(lab, "computed", None)  # would fail
    file = tmp_path / "lab.html"
    assert main(["lab", "export", str(file)]) == 0
    out, err = capsys.readouterr()
    page = file.read_text(encoding="utf-8")
    assert f"settings in {len(page.encode()):,} bytes" in out
    assert err == ""
    assert page.startswith("<!doctype html>")
    assert "--n 10000 --delta 1e-5 --dataset mnist" in page


def test_the_accuracies_are_those_of_the_data_set(tmp_path: Path) -> None:
    pages = []
    for dataset in ("mnist", "fashion_mnist"):
        file = tmp_path / f"{dataset}.html"
        assert main(["lab", "export", str(file), "--dataset", dataset]) == 0
        pages.append(file.read_text(encoding="utf-8"))
        row = recorded(dataset, "sample")[0]
        assert f'"accuracy":"{100 * row.accuracy:.0f}"' in pages[-1]
        assert f"{100 * row.baseline:.0f} without privacy" in pages[-1]
    assert pages[0] != pages[1]


@pytest.mark.long
def test_another_n_and_delta_are_computed_by_processes_with_a_bar(
    tmp_path: Path, monkeypatch: Patch, capsys: Output
) -> None:
    start = opened("mnist", 400)
    few = Stops(tuple(sorted({0.5, start.sigma})), (start.batch, 400), (1.0, start.epochs))
    monkeypatch.setattr(lab, "stops_of", lambda dataset, n: few)
    file = tmp_path / "lab.html"
    assert main(["lab", "export", str(file), "--n", "400", "--delta", "1e-4"]) == 0
    out, err = capsys.readouterr()
    assert "8 settings" in out
    assert "100%" in err
    page = file.read_text(encoding="utf-8")
    assert "n = 400, delta = 0.0001" in page
    assert "the best recipe that we know, on all 60,000 images of MNIST" in page
