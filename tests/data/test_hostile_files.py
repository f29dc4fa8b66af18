"""Files and paths that nobody would keep: an import refuses them in one line, in bounded memory and time."""

import gzip
import io
import os
import resource
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from dpcore.__main__ import main
from dpcore.data.catalogue import available

ROOT = Path(__file__).parents[2]
MEMORY = 2**31  # bytes of addresses that the import may take
PART = gzip.compress(bytes(2**26))
HUGE = PART * 144  # gzip members follow each other: 9 GiB of zeros in 9 MB


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def imported(path: Path) -> str:
    """The one line of an import that is refused, with little memory at hand."""
    command = [sys.executable, "-m", "dpcore", "data", "import", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, preexec_fn=limited)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line


@pytest.mark.long
def test_a_gzip_that_unpacks_to_9_gib_is_refused_by_name(tmp_path: Path) -> None:
    raw = tmp_path / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for name in ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte"):
        (raw / f"{name}.gz").write_bytes(HUGE)
    line = imported(tmp_path)
    assert "train-images-idx3-ubyte.gz to hold 47040016 bytes uncompressed; it holds more" in line


def test_a_batch_that_unpacks_to_9_gib_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "data_batch_1.gz").write_bytes(HUGE)
    assert "data_batch_1.gz to hold" in imported(tmp_path)


def test_an_archive_that_unpacks_to_9_gib_is_refused_by_name(tmp_path: Path) -> None:
    header = tarfile.TarInfo("stuffing")
    header.size = 9 * 2**30
    path = tmp_path / "cifar-10-python.tar.gz"
    path.write_bytes(gzip.compress(header.tobuf()) + HUGE)
    line = imported(path)
    assert str(path) in line
    assert "unpacks to more than" in line


@pytest.mark.long
def test_an_archive_whose_header_is_9_gib_long_is_refused_by_name(tmp_path: Path) -> None:
    header = tarfile.TarInfo("pax_header")
    header.type, header.size = tarfile.XHDTYPE, 9 * 2**30
    path = tmp_path / "cifar-10-python.tar.gz"
    path.write_bytes(gzip.compress(header.tobuf(tarfile.GNU_FORMAT)) + HUGE)
    assert "unpacks to more than" in imported(path)


@pytest.mark.long
def test_a_plain_file_that_is_far_too_long_is_refused_by_name(tmp_path: Path) -> None:
    images = tmp_path / "train-images-idx3-ubyte"
    images.touch()
    os.truncate(images, 9 * 2**30)  # a file of holes
    assert "the IDX files" in imported(tmp_path)  # side by side nothing says whose they are
    (tmp_path / "MNIST").mkdir()
    images.rename(tmp_path / "MNIST" / images.name)
    assert f"{images.name} to hold 47040016 bytes uncompressed; it holds more" in imported(tmp_path)


def test_a_folder_or_a_data_root_that_no_system_has_is_one_line_and_holds_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in ("a" * 5000, "/" + "a/" * 2500, "/" + "a" * 5000 + "/raw", "~nobody-of-that-name/x"):
        assert main(["data", "import", path]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "to be a folder or CIFAR-10's archive" in line or "found none" in line
        assert len(line) < 400
    for root in ("/" + "a" * 5000, "~nobody-of-that-name/x"):
        monkeypatch.setenv("DPCORE_DATA", root)
        assert available("mnist") == ("sample",)
        assert main(["data", "status"]) == 0
        assert "bundled sample here; full set missing" in capsys.readouterr().out


def test_a_plain_tar_archive_is_read_as_well(tmp_path: Path) -> None:
    path = tmp_path / "given.tar"
    with tarfile.open(path, "w") as archive:
        archive.addfile(tarfile.TarInfo("cifar-10-batches-py/data_batch_1"), io.BytesIO())
    assert "data_batch_1" in imported(path)
