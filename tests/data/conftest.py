"""Tiny data sets in place of the real ones, and a data root of its own for each test."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from dpcore.data import catalogue
from dpcore.data.catalogue import DATASETS, Dataset
from tests.data.cifar_files import TinyCifar, tiny_cifar
from tests.data.idx_folders import tiny


@dataclass
class Tiny:
    """The data set that stands in for a real one, and its files' contents."""

    dataset: Dataset
    contents: dict[str, bytes]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data root, and no Debian package."""
    monkeypatch.setenv("DPCORE_DATA", str(tmp_path / "root"))
    monkeypatch.setattr(catalogue, "DEBIAN_FOLDER", tmp_path / "debian")
    return tmp_path / "root"


@pytest.fixture
def mnist(monkeypatch: pytest.MonkeyPatch) -> Tiny:
    """A tiny MNIST, in place of the real one."""
    dataset, contents = tiny("mnist", seed=1)
    monkeypatch.setitem(DATASETS.shipped, "mnist", dataset)
    return Tiny(dataset, contents)


@pytest.fixture
def fashion(monkeypatch: pytest.MonkeyPatch) -> Tiny:
    """A tiny Fashion-MNIST, in place of the real one."""
    dataset, contents = tiny("fashion_mnist", seed=2)
    monkeypatch.setitem(DATASETS.shipped, "fashion_mnist", dataset)
    return Tiny(dataset, contents)


@pytest.fixture
def cifar10(monkeypatch: pytest.MonkeyPatch) -> TinyCifar:
    """A tiny CIFAR-10, in place of the real one."""
    made = tiny_cifar()
    monkeypatch.setitem(DATASETS.shipped, "cifar10", made.dataset)
    return made
