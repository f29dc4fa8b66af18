"""Full data sets arrive checked and whole, or not at all; hostile files are refused in bounded
memory.
"""

import gzip
import os
import resource
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest

from dpcore.__main__ import main
from dpcore.data import catalogue
from dpcore.data.catalogue import available, missing, raw_folder
from dpcore.data.importing import import_folder, install
from dpcore.data.loading import load, load_test_images
from tests.data.idx_folders import tiny, write


def everything(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_an_import_takes_torchvisions_layout_the_folder_within_and_flat_folders_gzipped_or_not(
    root, mnist, tmp_path
):
    raw = "MNIST/raw"
    for layout, inner in (("", ""), (raw, ""), ("MNIST", ""), (raw, "MNIST"), (raw, raw)):
        for gzipped in (False, True):
            given = tmp_path / f"{layout}{inner}{gzipped}".replace("/", "")
            write(given / layout, mnist.contents, gzipped=gzipped)
            assert import_folder(given / inner) == [mnist.dataset], (layout, inner, gzipped)
            assert everything(root) == {
                f"{raw}/{name}": content for name, content in mnist.contents.items()
            }
            assert available("mnist") == ("full", "sample")
            assert len(load("mnist", "full").train) == 12
            alone, test = load_test_images("mnist", "full"), load("mnist", "full").test
            assert (alone.images.tolist(), alone.labels.tolist()) == (
                test.images.tolist(),
                test.labels.tolist(),
            )
            shutil.rmtree(root)


def test_both_data_sets_are_imported_at_once_and_flat_files_are_told_apart_by_content(
    root, mnist, fashion, tmp_path
):
    write(tmp_path / "both" / "MNIST" / "raw", mnist.contents)
    write(tmp_path / "both" / "FashionMNIST" / "raw", fashion.contents, gzipped=True)
    assert import_folder(tmp_path / "both") == [mnist.dataset, fashion.dataset]
    assert import_folder(write(tmp_path / "flat", fashion.contents)) == [fashion.dataset]


def test_torchvision_reads_what_an_import_wrote(root, mnist, tmp_path):
    # Late: it takes seconds, and no other test needs it.
    from torchvision import datasets as torchvision_datasets

    import_folder(write(tmp_path / "given", mnist.contents))
    split = load("mnist", "full")
    for part, train in ((split.train, True), (split.test, False)):
        peer = torchvision_datasets.MNIST(root, train=train)
        assert np.array_equal(peer.data.numpy(), part.images)
        assert np.array_equal(peer.targets.numpy(), part.labels)


def flipped(raw: bytes) -> bytes:
    return raw[:-1] + bytes([raw[-1] ^ 1])


FAULTS = {
    "truncated": (lambda raw: raw[:-2], r"to hold \d+ bytes uncompressed; it holds \d+"),
    "changed": (flipped, "to have MD5"),
    "not IDX": (lambda raw: b"\x00\x00\x0d" + raw[3:], "to have MD5"),
    "other shape": (lambda raw: raw[:7] + bytes([raw[7] + 1]) + raw[8:], "to have MD5"),
    "empty": (lambda raw: b"", "bytes uncompressed; it holds 0"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_bad_file_is_named_and_leaves_the_root_as_it_was(root, mnist, tmp_path, fault):
    spoil, words = FAULTS[fault]
    import_folder(write(tmp_path / "good", mnist.contents))
    before = everything(root)
    for layout in ("", "MNIST/raw"):
        for name, raw in mnist.contents.items():
            bad = write(tmp_path / "bad" / name / layout, mnist.contents | {name: spoil(raw)})
            with pytest.raises(ValueError, match=f"{name}.*{words}"):
                import_folder(tmp_path / "bad" / name)
            assert everything(root) == before, (name, layout)
            assert os.listdir(root) == ["MNIST"]
            shutil.rmtree(bad)


def test_a_truncated_gzip_file_and_a_missing_file_are_named(root, mnist, tmp_path):
    folder = write(tmp_path / "bad" / "MNIST" / "raw", mnist.contents, gzipped=True)
    path = folder / "train-images-idx3-ubyte.gz"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"train-images-idx3-ubyte.gz to be a readable file"):
        import_folder(tmp_path / "bad")
    folder = write(tmp_path / "given", mnist.contents)
    (folder / "t10k-labels-idx1-ubyte").unlink()
    with pytest.raises(
        ValueError, match=r"Expected t10k-labels-idx1-ubyte or t10k-labels-idx1-ubyte\.gz in"
    ):
        import_folder(folder)
    assert not root.exists()


def test_one_bad_data_set_keeps_the_good_one_out_too(root, mnist, fashion, tmp_path):
    write(tmp_path / "both" / "MNIST" / "raw", mnist.contents)
    name = "t10k-images-idx3-ubyte"
    write(
        tmp_path / "both" / "FashionMNIST" / "raw",
        fashion.contents | {name: fashion.contents[name][:-2]},
    )
    with pytest.raises(ValueError, match=r"FashionMNIST/raw/t10k-images-idx3-ubyte"):
        import_folder(tmp_path / "both")
    assert not root.exists()


def test_files_of_no_known_data_set_are_refused(root, mnist, fashion, tmp_path):
    _, strangers = tiny("mnist", seed=3)
    with pytest.raises(ValueError, match="to be those of MNIST or Fashion-MNIST"):
        import_folder(write(tmp_path / "given", strangers))


def test_a_damaged_root_is_said_and_mended_by_an_import(root, mnist, tmp_path, capsys):
    import_folder(write(tmp_path / "good", mnist.contents))
    path = raw_folder(mnist.dataset) / "train-labels-idx1-ubyte"
    path.write_bytes(path.read_bytes()[:-1])
    assert missing(mnist.dataset) == [
        f"train-labels-idx1-ubyte has {path.stat().st_size} bytes instead of 20"
    ]
    assert available("mnist") == ("sample",)
    assert main(["data", "status"]) == 0
    assert (
        "MNIST: bundled sample here; full set damaged: train-labels-idx1-ubyte has 19"
        in capsys.readouterr().out
    )
    import_folder(tmp_path / "good")
    assert available("mnist") == ("full", "sample")
    # Of the right size, so that only who loads it notices.
    path.write_bytes(flipped(path.read_bytes()))
    with pytest.raises(ValueError, match="train-labels-idx1-ubyte to have MD5"):
        load("mnist", "full")


def test_a_root_that_cannot_be_a_folder_is_named(mnist, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DPCORE_DATA", str(tmp_path / "file" / "root"))
    with pytest.raises(ValueError, match=r"data root .*file/root to be a writable folder"):
        install(mnist.dataset, write(tmp_path / "given", mnist.contents))


def test_an_installed_debian_package_counts_as_the_full_set(root, fashion, tmp_path, capsys):
    assert catalogue.FASHION_MNIST.debian_folder == tmp_path / "debian" / "fashion-mnist"
    write(tmp_path / "debian" / "fashion-mnist", fashion.contents, gzipped=True)
    assert available("fashion_mnist") == ("full", "sample")
    assert len(load("fashion_mnist", "full").test) == 5
    main(["data", "status"])
    assert f"Fashion-MNIST: bundled sample here; full set in {tmp_path}" in capsys.readouterr().out


ROOT = Path(__file__).parents[2]
MEMORY = 2**31  # bytes of addresses that the import may take
PART = gzip.compress(bytes(2**26))
HUGE = PART * 144  # gzip members follow each other: 9 GiB of zeros in 9 MB


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def imported(path: Path) -> str:
    """The one line of an import that is refused, with little memory at hand."""
    command = [sys.executable, "-m", "dpcore", "data", "import", str(path)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=60, preexec_fn=limited
    )
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
    assert (
        "train-images-idx3-ubyte.gz to hold at most 47040016 bytes uncompressed; it holds more"
        in line
    )


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
    assert f"{images.name} to hold at most 47040016 bytes uncompressed; it holds more" in imported(
        tmp_path
    )


def test_a_folder_or_a_data_root_that_no_system_has_is_one_line_and_holds_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (
        "a" * 5000,
        "/" + "a/" * 2500,
        "/" + "a" * 5000 + "/raw",
        "~nobody-of-that-name/x",
    ):
        assert main(["data", "import", path]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "to be a folder, or a zip or tar archive" in line or "found none" in line
        assert len(line) < 400
    for root in ("/" + "a" * 5000, "~nobody-of-that-name/x"):
        monkeypatch.setenv("DPCORE_DATA", root)
        assert available("mnist") == ("sample",)
        assert main(["data", "status"]) == 0
        assert "bundled sample here; full set missing" in capsys.readouterr().out
