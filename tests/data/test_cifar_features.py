"""CIFAR-10 from its published archive to accuracy and epsilon: features in colour, views, and what trains on them."""

import pickle

import numpy as np
import pytest
import torch
from torchvision.datasets import CIFAR10 as PEER

from dpcore.__main__ import main
from dpcore.data.importing import import_folder
from dpcore.data.loading import load
from dpcore.training.config import RunConfig
from dpcore.training.defaults import BATCH
from dpcore.training.features.normalised import normalised
from dpcore.training.features.scattering import scattering
from dpcore.training.features.views import views_of
from dpcore.training.inputs import inputs_of
from dpcore.training.loop import train
from dpcore.training.models import models_for
from tests.data.cifar_files import EACH, archived

CPU = torch.device("cpu")
COMMAND = ["train", "--dataset", "cifar10", "--source", "full", "--features", "scatter", "--device", "cpu"]


@pytest.fixture
def here(root, cifar10, tmp_path, monkeypatch):
    """The tiny set, imported from an archive as it is published."""
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setitem(BATCH, "full", 20)
    import_folder(archived(tmp_path / "cifar-10-python.tar.gz", cifar10.contents))
    return cifar10


def config_of(**options):
    return RunConfig(dataset="cifar10", source="full", model="linear", batch=20, epochs=1.0, device="cpu", **options)


def pixels(made):
    """The images as a network is given them, (6 EACH, 3, 32, 32)."""
    return torch.tensor(made.pixels / 127.5 - 1).float().view(-1, 3, 32, 32)


def test_torchvision_reads_the_same_from_these_files(here, root, monkeypatch):
    md5s = [(file.name, file.md5) for file in here.dataset.batches]
    monkeypatch.setattr(PEER, "train_list", md5s[:-1])
    monkeypatch.setattr(PEER, "test_list", md5s[-1:])
    monkeypatch.setattr(PEER, "meta", PEER.meta | {"md5": None})
    (root / PEER.base_folder / "batches.meta").write_bytes(pickle.dumps({"label_names": list(here.dataset.classes)}))
    split = load("cifar10", "full")
    for part, ours in ((True, split.train), (False, split.test)):
        peer = PEER(str(root), train=part)
        assert np.array_equal(peer.data.transpose(0, 3, 1, 2), ours.images)
        assert peer.targets == ours.labels.tolist()


def test_its_pixels_are_on_one_scale_whatever_they_are(here):
    found, split = inputs_of(config_of(), CPU), load("cifar10", "full")
    assert torch.allclose(torch.cat([found.train[0][:], found.test[0]]), pixels(here), atol=1e-6)
    assert found.train[1].tolist() == split.train.labels.tolist()


def test_its_scattering_transform_is_that_of_each_channel_normalised(here):
    found = inputs_of(config_of(features="scatter"), CPU)
    expected = normalised(scattering(pixels(here)))
    assert found.train[0][:].shape == (5 * EACH, 243, 8, 8)
    assert found.test[0].shape == (EACH, 243, 8, 8)
    torch.testing.assert_close(torch.cat([found.train[0][:], found.test[0]]).float(), expected, atol=5e-3, rtol=0)
    assert inputs_of(config_of(features="scatter_random"), CPU).test[0].shape == (EACH, 192, 8, 8)


def test_views_of_its_images_stand_beside_them_in_both_parts(here):
    seen = views_of(pixels(here)[: 5 * EACH], 2).flatten(0, 1)
    for features, expected in (("pixels", seen), ("scatter", normalised(scattering(seen)))):
        found = inputs_of(config_of(features=features, views=2), CPU)
        assert found.train[0][:].shape[:2] == (5 * EACH, 2)
        torch.testing.assert_close(found.train[0][:].flatten(0, 1).float(), expected, atol=5e-3, rtol=0)
        assert found.test[0].shape == (EACH, 2, *expected.shape[1:])


def test_one_command_trains_on_its_features_with_views_and_a_private_mean(here, capsys):
    assert models_for("cifar10", "scatter") == ("abadi", "mlp", "map_cnn", "linear")
    for model, parameters in (("linear", 155_530), ("map_cnn", 122_314)):
        words = ["--model", model, "--epochs", "1", "--sigma", "2", "--views", "2", "--mean-sigma", "20"]
        assert main([*COMMAND, *words]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].startswith(f"100 examples, 5 steps of q = 0.2, {parameters} parameters on cpu, book-keeping")
        assert any(line.startswith("done: 5 steps in ") and "test accuracy" in line for line in lines)
        assert lines[-2].startswith("epsilon <= ")
        assert lines[-2].endswith(" at delta = 1e-05, certified (pld)")


@pytest.mark.parametrize(("model", "lr"), [("linear", 2.0), pytest.param("map_cnn", 1.0, marks=pytest.mark.long)])
def test_what_can_be_seen_in_the_images_is_learned_from_their_features(here, model, lr):
    features = {"features": "scatter", "model": model, "batch": 50, "epochs": 20.0, "sigma": 0.3, "lr": lr}
    *_, last = train(RunConfig(dataset="cifar10", source="full", seed=0, device="cpu", **features))
    assert last.accuracy >= 0.5  # chance: 0.1
