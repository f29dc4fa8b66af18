"""CIFAR-10 from its published archive to accuracy and epsilon: features in colour, views, and what trains on them."""

import json
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
    with pytest.raises(ValueError, match="no pixel_scale='centred' without the pixels of a grey data set"):
        config_of(pixel_scale="centred")


def test_its_scattering_transform_is_that_of_each_channel_normalised(here):
    found = inputs_of(config_of(features="scatter"), CPU)
    expected = normalised(scattering(pixels(here)))
    assert found.train[0][:].shape == (5 * EACH, 243, 8, 8)
    assert found.test[0].shape == (EACH, 243, 8, 8)
    torch.testing.assert_close(torch.cat([found.train[0][:], found.test[0]]).float(), expected, atol=5e-3, rtol=0)
    assert inputs_of(config_of(features="scatter_random"), CPU).test[0].shape == (EACH, 192, 8, 8)


@pytest.mark.parametrize("features", ["pixels", "scatter"])
def test_views_of_its_images_stand_beside_them_in_both_parts(here, features):
    found = inputs_of(config_of(features=features, views=3), CPU)
    seen = views_of(pixels(here)[: 5 * EACH], 3).flatten(0, 1)
    expected = normalised(scattering(seen)) if features == "scatter" else seen
    assert found.train[0][:].shape[:2] == (5 * EACH, 3)
    torch.testing.assert_close(found.train[0][:].flatten(0, 1).float(), expected, atol=5e-3, rtol=0)
    assert found.test[0].shape == (EACH, 3, *expected.shape[1:])


def test_the_models_that_take_it_and_the_one_to_start_from():
    assert models_for("cifar10", "scatter") == ("abadi", "mlp", "map_cnn", "linear")
    assert models_for("cifar10")[-1] == "cnn9"
    with pytest.raises(ValueError, match="cifar10 scatter's model='cnn9' to be one of: abadi, mlp, map_cnn, linear"):
        RunConfig(dataset="cifar10", source="full", features="scatter", model="cnn9")


@pytest.mark.parametrize(("model", "parameters"), [("linear", 155_530), ("map_cnn", 122_314)])
def test_one_command_trains_on_its_features_and_reports_accuracy_and_epsilon(here, capsys, model, parameters):
    assert main([*COMMAND, "--model", model, "--epochs", "2", "--sigma", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"100 examples, 10 steps of q = 0.2, {parameters} parameters on cpu, book-keeping")
    assert any(line.startswith("done: 10 steps in ") and "test accuracy" in line for line in lines)
    assert lines[-2].startswith("epsilon <= ")
    assert lines[-2].endswith(" at delta = 1e-05, certified (pld)")


@pytest.mark.parametrize("options", [["--views", "2"], ["--mean-sigma", "20"]])
def test_its_features_train_with_views_and_without_their_private_mean(here, capsys, options):
    assert main([*COMMAND, "--model", "linear", "--epochs", "1", "--json", *options]) == 0
    *_, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert (last["event"], last["step"]) == ("finished", 5)
    assert 0 <= last["accuracy"] <= 1


@pytest.mark.parametrize(("model", "lr"), [("linear", 2.0), ("map_cnn", 1.0)])
def test_what_can_be_seen_in_the_images_is_learned_from_their_features(here, model, lr):
    config = RunConfig(
        dataset="cifar10", source="full", features="scatter", model=model, batch=50, epochs=20.0, sigma=0.3, lr=lr,
        seed=0, device="cpu",
    )  # fmt: skip
    *_, last = train(config)
    assert last.accuracy >= 0.5  # chance: 0.1
