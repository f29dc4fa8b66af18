"""The catalogue says what is here, asking costs no torch, and a fingerprint changes with every
example.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dpcore.data.catalogue import DATASETS, SAMPLES, available, data_root, dataset_of
from dpcore.data.loading import Images, Split, fingerprint_of, load
from dpcore.training.config import RunConfig

SAMPLED = [name for name, dataset in DATASETS.items() if dataset.sampled]


@pytest.mark.parametrize("name", SAMPLED)
def test_a_sample_holds_as_many_images_of_every_class_and_says_its_origin_and_licence(name):
    split, dataset = load(name, "sample"), DATASETS[name]
    for part, per_class in ((split.train, 1000), (split.test, 200)):
        assert part.images.shape == (10 * per_class, 28, 28)
        assert part.images.dtype == part.labels.dtype == np.uint8
        assert np.bincount(part.labels).tolist() == [per_class] * 10
        assert len(np.unique(part.images.reshape(len(part), -1), axis=0)) > 0.99 * len(part)
    assert len(dataset.classes) == 10
    with np.load(SAMPLES / f"{dataset.name}.npz") as parts:
        assert (str(parts["origin"]), str(parts["licence"])) == (dataset.origin, dataset.licence)
        assert "sample" in str(parts["note"])
    notice = (SAMPLES / "NOTICE.md").read_text()
    assert f"{name}.npz" in notice
    assert dataset.origin.split(",")[0] in notice


def test_a_worker_that_looks_at_both_samples_reads_none_again_when_a_run_begins():
    first = load("mnist", "sample")
    load("fashion_mnist", "sample")
    assert load("mnist", "sample") is first


def test_a_samples_images_look_like_their_labels():
    split = load("mnist", "sample")
    means = np.stack(
        [split.train.images[split.train.labels == digit].mean(0) for digit in range(10)]
    ).reshape(10, -1)
    pixels = split.test.images.reshape(len(split.test), -1).astype(float)
    nearest = ((pixels[:, None] - means) ** 2).sum(2).argmin(1)
    # The nearest class mean gets about 80 % of MNIST right.
    assert (nearest == split.test.labels).mean() > 0.75


def test_the_counts_and_shapes_of_the_catalogue_are_those_of_the_data():
    for name, dataset in DATASETS.items():
        for source in available(name):
            images = load(name, source).train.images
            assert len(images) == dataset.examples(source)
            assert images.shape[1:] == dataset.shape[-(images.ndim - 1) :]
    known = {"mnist": 60_000, "fashion_mnist": 60_000, "cifar10": 50_000}
    known |= {"adult": 29_305, "imdb": 25_000, "movielens": 800_167}
    assert {name: DATASETS[name].examples("full") for name in known} == known


def test_an_unknown_data_set_is_named():
    with pytest.raises(ValueError, match=r"dataset='cifar' to be one of: mnist, fashion_mnist"):
        dataset_of("cifar")
    with pytest.raises(ValueError, match=r"dataset=\[\] to be one of: mnist, .*, movielens\.$"):
        RunConfig.from_json({"dataset": []})
    with pytest.raises(ValueError, match="source='half'"):
        load("mnist", "half")


def test_the_root_is_the_variable_or_the_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("DPCORE_DATA", str(tmp_path / "chosen"))
    assert data_root() == tmp_path / "chosen"
    monkeypatch.delenv("DPCORE_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert data_root() == tmp_path / "cache" / "dpcore" / "data"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert data_root() == Path.home() / ".cache" / "dpcore" / "data"


def test_without_the_full_set_only_the_sample_is_available(root):
    assert available("mnist") == ("sample",)
    with pytest.raises(
        ValueError, match=r"full MNIST under .*train-images-idx3-ubyte is missing.*data import DIR"
    ):
        load("mnist", "full")


def test_asking_and_loading_import_neither_torch_nor_pages_and_tables_no_scikit_learn():
    code = (
        "import sys, dpcore.data.tabular, dpcore.training.perturbation.request,"
        " dpcore.training.perturbation.events\nprint('sklearn' in sys.modules)\nfrom"
        " dpcore.data.loading import load; from dpcore.data.catalogue import available\nfrom"
        " dpcore.training.defaults import defaults\navailable('mnist'); load('mnist',"
        " 'sample')\nprint(sorted({'torch', 'streamlit'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["False", "[]", ""]


def split(images: np.ndarray, labels: np.ndarray) -> Split:
    return Split(Images(images, labels), Images(images[:2], labels[:2]))


IMAGES = np.arange(4 * 28 * 28, dtype=np.uint8).reshape(4, 28, 28)
LABELS = np.array([3, 1, 2, 0], dtype=np.uint8)


def test_the_same_numbers_have_the_same_fingerprint_wherever_they_lie() -> None:
    doubled = np.repeat(IMAGES, 2, axis=0)[::2]
    assert not doubled.flags.c_contiguous
    assert fingerprint_of(split(doubled, LABELS.copy())) == fingerprint_of(split(IMAGES, LABELS))


def test_whatever_is_different_has_another() -> None:
    pixel, label = IMAGES.copy(), LABELS.copy()
    pixel[3, 27, 27] += 1
    label[3] += 1
    same, order = split(IMAGES, LABELS), [0, 1, 3, 2]
    others = {
        "a pixel": split(pixel, LABELS),
        "a label": split(IMAGES, label),
        "the shape": split(IMAGES.reshape(4, 14, 56), LABELS),
        "the kind": split(IMAGES.view(np.int8), LABELS),
        "the order": split(IMAGES[order], LABELS[order]),
        "the test part": Split(same.train, Images(IMAGES[1:3], LABELS[1:3])),
    }
    found = {what: fingerprint_of(other) for what, other in others.items()}
    assert len({*found.values(), fingerprint_of(same)}) == 1 + len(others), found
