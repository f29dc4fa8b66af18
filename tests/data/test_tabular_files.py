"""Tables that come as files: read in their exact formats, refused with a sentence, brought from a
folder or fetched.
"""

import gzip
import shutil
from pathlib import Path

import numpy as np
import pytest

from dpcore.__main__ import main
from dpcore.data import download
from dpcore.data.tabular import ORIGINALS, TABLES
from dpcore.training.perturbation.comparison import compare
from dpcore.training.perturbation.events import Measured
from dpcore.training.perturbation.request import Request
from tests.data.table_files import WRITERS

# Of the small files, those that are kept.
ROWS = {"adult": 12, "bank": 12, "kddcup99": 16, "credit_card": 16}


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPCORE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def given(tmp_path: Path) -> Path:
    folder = tmp_path / "given"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("name", ORIGINALS)
def test_an_import_reads_the_original_files_and_a_comparison_runs_on_them(
    name, given, root, capsys
) -> None:
    (line,) = refused(["perturb", "--dataset", name], capsys)
    assert "'python -m dpcore data import DIR' brings it" in line
    WRITERS[name](given)
    for gzipped in (False, True):
        if gzipped:
            shutil.rmtree(root)
            for path in list(given.iterdir()):
                path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
                path.unlink()
        assert main(["data", "import", str(given)]) == 0
        assert "checked" in capsys.readouterr().out
        rows = ORIGINALS[name].read()
        assert rows.features.shape == (ROWS[name], TABLES[name].features)
        assert np.abs(rows.features).max() <= 1
        assert set(rows.labels) == {0, 1}
    events = list(compare(Request(dataset=name, methods=("output",), epsilons=(1.0,), seeds=2)))
    assert any(isinstance(event, Measured) for event in events)


def refused(words: list[str], capsys) -> list[str]:
    """The lines with which the words are refused."""
    assert main(words) == 2
    return capsys.readouterr().err.splitlines()


def test_what_stands_in_a_row_becomes_its_features(given) -> None:
    WRITERS["bank"](given)
    first = ORIGINALS["bank"].rows(given).features[0]
    assert first[0] == pytest.approx((2 * 56 - 17 - 98) / (98 - 17))
    jobs = first[1:13]
    assert jobs.sum() == 1
    assert jobs[3] == 1  # housemaid
    assert len(first) == TABLES["bank"].features == 65


def test_adult_keeps_complete_rows_and_frauds_are_taken_with_as_many_others(given) -> None:
    WRITERS["adult"](given)
    # The dots of its test file are no classes.
    assert ORIGINALS["adult"].rows(given).labels.tolist() == [1, 0] * 6
    WRITERS["credit_card"](given)
    assert np.bincount(ORIGINALS["credit_card"].rows(given).labels).tolist() == [8, 8]


def test_a_file_that_is_wrong_is_named_and_nothing_is_imported(given, root, capsys) -> None:
    WRITERS["bank"](given)
    path = given / ORIGINALS["bank"].files[0]
    right = path.read_text()
    for wrong, words in {
        right.replace(';"no"\n', "\n", 1): "21 fields in each row .* row 1 has 20",
        right.replace('"yes"\n', '"perhaps"\n', 1): "not 'perhaps'",
        right.splitlines()[0]: "there are none",
        right.replace("housemaid", "x" * 200_000): "delimited text; field larger",
    }.items():
        path.write_text(wrong)
        with pytest.raises(ValueError, match=words):
            ORIGINALS["bank"].rows(given)
        assert refused(["data", "import", str(given)], capsys)
        assert not root.exists()
    path.unlink()
    WRITERS["adult"](given)
    (given / "adult.test").unlink()
    assert "adult.test" in refused(["data", "import", str(given)], capsys)[0]
    assert not root.exists()


@pytest.mark.parametrize("name", ["adult", "kddcup99", "credit_card"])
def test_what_openml_returns_is_kept_as_the_original_file(name, given, monkeypatch, capsys) -> None:
    import pandas

    original = ORIGINALS[name]
    WRITERS[name](given)
    here = original.rows(given)
    values = original._values(
        original.chosen([line for file in original.files for line in original._lines(given, file)])
    )
    frame = pandas.DataFrame(
        {field: list(column) for field, column in zip(original.fields, values, strict=True)}
    )
    frame = frame.drop(columns=[field for field in ("Time",) if field in frame]).replace(
        "?", np.nan
    )
    monkeypatch.setattr(
        download, "_fetched", lambda number: frame if number == original.openml else None
    )
    assert main(["data", "download", "--dataset", name]) == 0
    assert "checked" in capsys.readouterr().out
    there = original.read()
    assert np.array_equal(np.sort(there.labels), np.sort(here.labels))
    assert there.features.shape == here.features.shape
    assert main(["data", "download", "--dataset", name]) == 0
    assert "already here" in capsys.readouterr().out


def test_a_name_that_no_download_has_is_answered_with_all_that_there_are(capsys) -> None:
    assert main(["data", "download", "--dataset", "kdd"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("dpcore: Expected dataset='kdd' to be one of: mnist, ")
    assert said.endswith(", bank, kddcup99, credit_card.\n")


def test_a_table_that_cannot_be_fetched_is_said(monkeypatch, capsys) -> None:
    def offline(number: int) -> None:
        raise OSError("no route to host")

    monkeypatch.setattr(download, "_fetched", offline)
    assert main(["data", "download", "--dataset", "adult"]) == 1
    assert "no route to host" in capsys.readouterr().out
    assert main(["data", "download", "--dataset", "bank"]) == 1
    said = capsys.readouterr().out
    assert (
        "Bank: no number at openml.org is known here; 'python -m dpcore data import DIR' takes"
        " bank-" in said
    )
