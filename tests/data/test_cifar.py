"""CIFAR-10 from tiny batches written as the originals were: imported, loaded, transformed and
trained on.
"""

import io
import os
import pickle
import shutil
import tarfile
from pathlib import Path

import numpy as np
import pytest
import torch
from torchvision.datasets import CIFAR10 as PEER

from dpcore.__main__ import main
from dpcore.data.catalogue import CIFAR10, CifarFile, available, missing, raw_folder
from dpcore.data.importing import import_folder
from dpcore.data.loading import load, load_test_images
from dpcore.papers.catalogue import PAPERS
from dpcore.training.config import RunConfig
from dpcore.training.defaults import BATCH
from dpcore.training.features.compute import views_of
from dpcore.training.features.scattering import normalised, scattering
from dpcore.training.inputs import inputs_of
from dpcore.training.models import models_for
from tests.data.cifar_files import EACH, archived
from tests.data.idx_folders import write

assert PAPERS  # loaded here, while CIFAR-10 has its own size: their runs are of that


def test_an_import_takes_the_batches_in_torchvisions_layout_or_side_by_side(
    root, cifar10, tmp_path
):
    for layout, gzipped in (("", False), ("", True), ("cifar-10-batches-py", True)):
        write(tmp_path / str(gzipped) / layout, cifar10.contents, gzipped=gzipped)
        assert (available("cifar10") == ()) == (not root.exists())
        assert import_folder(tmp_path / str(gzipped)) == [cifar10.dataset], layout
        assert available("cifar10") == ("full",)
        split = load("cifar10", "full")
        alone = load_test_images("cifar10", "full")
        assert np.array_equal(alone.images, split.test.images)
        assert np.array_equal(alone.labels, split.test.labels)
        assert split.train.images.shape == (5 * EACH, 3, 32, 32)
        assert np.array_equal(split.train.images.reshape(-1, 3072), cifar10.pixels[: 5 * EACH])
        assert np.array_equal(split.train.labels, cifar10.labels[: 5 * EACH])
        assert np.array_equal(split.test.images.reshape(-1, 3072), cifar10.pixels[5 * EACH :])


def test_an_import_takes_the_published_archive_itself_or_in_a_folder(root, cifar10, tmp_path):
    path = archived(tmp_path / "given" / "cifar-10-python.tar.gz", cifar10.contents)
    for given in (path, path.parent):
        assert main(["data", "import", str(given)]) == 0
        assert np.array_equal(load("cifar10", "full").train.labels, cifar10.labels[: 5 * EACH])
        assert sorted(each.name for each in raw_folder(cifar10.dataset).iterdir()) == sorted(
            cifar10.contents
        )
        shutil.rmtree(root)


def test_an_archive_that_is_cut_short_or_none_or_lacks_a_batch_is_refused_and_nothing_installed(
    root, cifar10, tmp_path, capsys
):
    path = archived(tmp_path / "given.tar.gz", cifar10.contents)
    (tmp_path / "short.tar.gz").write_bytes(path.read_bytes()[:-4000])
    (tmp_path / "none.tar.gz").write_bytes(b"nonsense")
    fewer = {name: raw for name, raw in cifar10.contents.items() if name != "data_batch_4"}
    archived(tmp_path / "fewer.tar.gz", fewer)
    refusals = {
        "short": "to be a folder, or a whole zip or tar archive",
        "none": "whole zip or tar archive",
        "fewer": "data_batch_4",
        "absent": "to be a folder, or a zip or tar archive",
    }
    for name, said in refusals.items():
        assert main(["data", "import", str(tmp_path / f"{name}.tar.gz")]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert said in line
    assert not root.exists()


def test_an_archive_leads_nowhere_else(root, cifar10, tmp_path):
    path = tmp_path / "given.tar"
    with tarfile.open(path, "w") as archive:
        link = tarfile.TarInfo("cifar-10-batches-py/data_batch_1")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        archive.addfile(link)
        outside = tarfile.TarInfo("../../data_batch_2")
        outside.size = 4
        archive.addfile(outside, io.BytesIO(b"evil"))
    with pytest.raises(ValueError, match="data_batch_1"):
        import_folder(path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["given.tar"]


def test_without_a_network_the_download_ends_with_a_plain_sentence(
    root, cifar10, capsys, monkeypatch
):
    def unreachable(*_: object, **__: object) -> None:
        raise OSError("<urlopen error [Errno -2] Name or service not known>")

    monkeypatch.setattr("torchvision.datasets.CIFAR10", unreachable)
    assert main(["data", "download", "--dataset", "cifar10"]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert (
        last
        == "CIFAR-10: could not be downloaded; 'python -m dpcore data import DIR' takes it from"
        " files."
    )


def test_the_catalog_names_the_files_that_torchvision_checks():
    from torchvision.datasets import CIFAR10 as peer

    assert [(file.name, file.md5) for file in CIFAR10.batches] == [
        *map(tuple, peer.train_list + peer.test_list)
    ]
    assert raw_folder(CIFAR10, Path("root")) == Path("root") / peer.base_folder


def test_what_is_not_a_batch_is_refused(root, cifar10, tmp_path):
    spoiled = cifar10.contents | {"test_batch": cifar10.contents["test_batch"][:-1] + b"x"}
    with pytest.raises(ValueError, match="test_batch to have MD5"):
        import_folder(write(tmp_path / "given", spoiled))
    assert not root.exists()
    # Of the right sum.
    for content in (b"", b"nonsense", pickle.dumps({b"data": 1}), pickle.dumps([1, 2])):
        with pytest.raises(ValueError, match="to be a CIFAR-10 batch of 20 images"):
            CifarFile("test_batch", EACH, "").read(content, tmp_path)


class Trap:
    """Act as a malicious pickle does when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


def test_a_pickle_of_another_sum_runs_nothing_in_a_folder_or_in_the_data_root(
    root, cifar10, tmp_path
):
    assert all(file.md5 for file in (*CIFAR10.batches, *cifar10.dataset.batches))
    trap = pickle.dumps({b"data": Trap(tmp_path / "sprung"), b"labels": bytes(EACH * 3072)})
    with pytest.raises(ValueError, match="test_batch to have MD5"):
        import_folder(write(tmp_path / "given", cifar10.contents | {"test_batch": trap}))
    write(raw_folder(cifar10.dataset), cifar10.contents | {"test_batch": trap})
    for loaded in (load, load_test_images):
        with pytest.raises(ValueError, match="test_batch to have MD5"):
            loaded("cifar10", "full")
    assert not (tmp_path / "sprung").exists()


def test_a_missing_batch_is_named_and_the_way_out(root, cifar10, tmp_path, capsys):
    with pytest.raises(
        ValueError, match=r"full CIFAR-10 under .*data_batch_1 is missing.*data import DIR"
    ):
        load("cifar10", "full")
    with pytest.raises(ValueError, match="no sample of it is bundled"):
        load("cifar10", "sample")
    assert main(["data", "status"]) == 0
    assert "CIFAR-10: no sample is bundled; full set missing" in capsys.readouterr().out
    import_folder(write(tmp_path / "given", cifar10.contents))
    (raw_folder(cifar10.dataset) / "data_batch_3").write_bytes(b"short")
    assert missing(cifar10.dataset) == [
        f"data_batch_3 has 5 bytes instead of at least {EACH * 3072}"
    ]


CPU = torch.device("cpu")
COMMAND = [
    "train",
    "--dataset",
    "cifar10",
    "--source",
    "full",
    "--features",
    "scatter",
    "--device",
    "cpu",
]


@pytest.fixture
def here(root, cifar10, tmp_path, monkeypatch):
    """The tiny set, imported from an archive as it is published."""
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setitem(BATCH, "full", 20)
    import_folder(archived(tmp_path / "cifar-10-python.tar.gz", cifar10.contents))
    return cifar10


def config_of(**options):
    return RunConfig(
        dataset="cifar10",
        source="full",
        model="linear",
        batch=20,
        epochs=1.0,
        device="cpu",
        **options,
    )


def pixels(made):
    """The images as a network is given them, (6 EACH, 3, 32, 32)."""
    return torch.tensor(made.pixels / 127.5 - 1).float().view(-1, 3, 32, 32)


def test_torchvision_reads_the_same_from_these_files(here, root, monkeypatch):
    md5s = [(file.name, file.md5) for file in here.dataset.batches]
    monkeypatch.setattr(PEER, "train_list", md5s[:-1])
    monkeypatch.setattr(PEER, "test_list", md5s[-1:])
    monkeypatch.setattr(PEER, "meta", PEER.meta | {"md5": None})
    (root / PEER.base_folder / "batches.meta").write_bytes(
        pickle.dumps({"label_names": list(here.dataset.classes)})
    )
    split = load("cifar10", "full")
    for part, ours in ((True, split.train), (False, split.test)):
        peer = PEER(str(root), train=part)
        assert np.array_equal(peer.data.transpose(0, 3, 1, 2), ours.images)
        assert peer.targets == ours.labels.tolist()


def test_its_scattering_transform_is_that_of_each_channel_normalised(here):
    found = inputs_of(config_of(features="scatter"), CPU)
    expected = normalised(scattering(pixels(here)))
    assert found.train[0].shape == (5 * EACH, 243, 8, 8)
    assert found.test[0].shape == (EACH, 243, 8, 8)
    torch.testing.assert_close(
        torch.cat([found.train[0], found.test[0]]).float(), expected, atol=5e-3, rtol=0
    )
    assert inputs_of(config_of(features="scatter_random"), CPU).test[0].shape == (EACH, 192, 8, 8)


def test_views_of_its_images_stand_beside_them_in_both_parts(here):
    seen = views_of(pixels(here)[: 5 * EACH], 2).flatten(0, 1)
    for features, expected in (("pixels", seen), ("scatter", normalised(scattering(seen)))):
        found = inputs_of(config_of(features=features, views=2), CPU)
        assert found.train[0].shape[:2] == (5 * EACH, 2)
        torch.testing.assert_close(
            found.train[0].flatten(0, 1).float(), expected, atol=5e-3, rtol=0
        )
        assert found.test[0].shape == (EACH, 2, *expected.shape[1:])


def test_one_command_trains_on_its_features_with_views_and_a_private_mean(here, capsys):
    assert models_for("cifar10", "scatter") == ("abadi", "mlp", "map_cnn", "linear")
    for model, parameters in (("linear", 155_530), ("map_cnn", 122_314)):
        words = [
            "--model",
            model,
            "--epochs",
            "1",
            "--sigma",
            "2",
            "--views",
            "2",
            "--mean-sigma",
            "20",
        ]
        assert main([*COMMAND, *words]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].startswith(
            f"100 examples, 5 steps of q = 0.2, {parameters} parameters on cpu, book-keeping"
        )
        assert any(
            line.startswith("done: 5 steps in ") and "test accuracy" in line for line in lines
        )
        assert lines[-2].startswith("epsilon <= ")
        assert lines[-2].endswith(" at delta = 1e-5, certified (pld)")
