"""Inputs of a network: features and views by their definitions, and runs that train on them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from dpcore.data import catalogue
from dpcore.data.catalogue import DATASETS
from dpcore.data.formats import IdxFile
from dpcore.data.loading import load
from dpcore.training import inputs
from dpcore.training.config import RunConfig
from dpcore.training.defaults import described
from dpcore.training.events import Finished, Preparing, Started
from dpcore.training.features import compute
from dpcore.training.features.compute import scaled
from dpcore.training.features.kinds import KINDS, FeatureKind
from dpcore.training.features.scattering import normalised, scattering
from dpcore.training.inputs import PickedRows, picked
from dpcore.training.loop import TOLD, train
from dpcore.training.resume_point import ResumePoint
from tests.training import small_runs
from tests.training.small_runs import run_of, ticking

CPU = torch.device("cpu")
SMALL: dict[str, Any] = {
    "dataset": "few",
    "model": "linear",
    "batch": 30,
    "lr": 0.5,
    "epochs": 0.5,
    "seed": 0,
    "device": "cpu",
}


@pytest.fixture(autouse=True)
def few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A data set of a few of MNIST's images, and a data root of the test's own."""
    files = [
        ("images", (120, 28, 28)),
        ("labels", (120,)),
        ("test-images", (40, 28, 28)),
        ("test-labels", (40,)),
    ]
    whole, parts = load("mnist", "sample"), {}
    for name, part, count in (("train", whole.train, 120), ("test", whole.test, 40)):
        parts |= {f"{name}_images": part.images[:count], f"{name}_labels": part.labels[:count]}
    np.savez(tmp_path / "few.npz", **parts)
    idx = tuple(IdxFile(name, shape, "") for name, shape in files)
    made = replace(
        DATASETS["mnist"], name="few", title="Few", folder="Few", idx=idx, sample_examples=120
    )
    monkeypatch.setattr(catalogue, "SAMPLES", tmp_path)
    monkeypatch.setitem(DATASETS.shipped, "few", made)
    monkeypatch.setenv("DPCORE_DATA", str(tmp_path / "root"))


def small(**options: Any) -> RunConfig:
    return RunConfig(**SMALL | options)


def ended(config: RunConfig) -> torch.Tensor:
    run = run_of(config)
    return small_runs.ended(run, run.plan.steps)


def test_scattered_inputs_are_the_normalised_transform_of_each_image() -> None:
    found = inputs.inputs_of(small(features="scatter", public=0), CPU)
    x, y = found.train
    images = scaled(torch.tensor(load("few", "sample").train.images))
    assert x.shape == (120, 81, 7, 7)
    torch.testing.assert_close(x.float(), normalised(scattering(images)), atol=5e-3, rtol=0)
    assert y.tolist() == load("few", "sample").train.labels.tolist()
    assert found.test[0].shape == (40, 81, 7, 7)


def test_views_stand_beside_the_image() -> None:
    config = small(views=3, acceptance="sa", public=20)
    found, plain = inputs.inputs_of(config, CPU), inputs.inputs_of(small(), CPU)
    assert found.train[0].shape == (100, 3, 1, 28, 28)
    assert found.public[0].shape == (20, 3, 1, 28, 28)
    assert found.test[0].shape == (40, 3, 1, 28, 28)
    pixels = plain.train[0]
    torch.testing.assert_close(found.train[0][:, 0].float(), pixels[:100], atol=5e-4, rtol=0)
    torch.testing.assert_close(found.public[0][:, 0].float(), pixels[100:], atol=5e-4, rtol=0)
    assert not torch.allclose(found.train[0][:, 1].float(), pixels[:100], atol=0.1)


@pytest.mark.parametrize("views", [1, 2])
def test_centred_pixels_go_from_minus_one_to_one(views: int) -> None:
    config = small(views=views)
    unit, centred = (
        inputs.inputs_of(replace(config, pixel_scale=scale), CPU) for scale in ("unit", "centred")
    )
    for one, other in zip((unit.train, unit.test), (centred.train, centred.test), strict=True):
        torch.testing.assert_close(other[0].float(), one[0].float() * 2 - 1, atol=2e-3, rtol=0)
    assert centred.train[0].min() == -1.0
    again = inputs.inputs_of(config, CPU)  # kept features do not change in place
    assert torch.equal(again.train[0], unit.train[0])


@pytest.mark.parametrize("model", ["linear", "map_cnn", "mlp"])
@pytest.mark.parametrize("views", [1, 2])
def test_a_run_trains_on_features_and_again_to_the_same_bits(model: str, views: int) -> None:
    config = small(
        features="scatter", model=model, views=views, width=20 if model == "mlp" else 1000
    )
    first, kept = ended(config), ended(config)  # computed, then read
    assert torch.equal(first, kept)
    *_, last = train(config, ticking())
    assert isinstance(last, Finished)
    assert not torch.equal(first, ended(replace(config, seed=1)))


@pytest.mark.parametrize("views", [1, 2])
def test_rows_taken_part_by_part_are_those_of_the_batch(views: int) -> None:
    x, at = (
        inputs.inputs_of(small(features="scatter", views=views), CPU).train[0],
        torch.tensor([3, 3, 99, 0]),
    )
    rows = picked(x, at)
    assert isinstance(rows, PickedRows)
    assert (len(rows), rows.shape) == (4, x[at].shape)
    assert torch.equal(torch.cat([rows[:3], rows[3:]]), x[at])


def test_a_batch_that_memory_does_not_hold_is_gathered_in_the_smaller_parts_that_it_is_summed_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ordinary, run = (run_of(small(features="scatter")) for _ in range(2))
    before = run.engine.parameters.clone()
    moved = small_runs.ended(ordinary, 2) - before
    taken = PickedRows.__getitem__

    def short(rows: PickedRows, part: slice) -> torch.Tensor:
        if part.stop - part.start > 8:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return taken(rows, part)

    monkeypatch.setattr(PickedRows, "__getitem__", short)
    assert (small_runs.ended(run, 2) - before - moved).norm() < 1e-3 * moved.norm()
    assert run.engine.chunk <= 8


@pytest.mark.parametrize("views", [1, 3])
def test_a_neighbour_moves_the_clipped_sum_by_at_most_c(views: int) -> None:
    run = run_of(small(features="scatter", views=views))
    x, y = run.train
    run.engine.parameters.normal_(generator=torch.Generator().manual_seed(3))
    whole = run.engine.clipped_sum(x, y, run.descent.clipping).total.double()
    for left_out in (0, 7, 119):
        rest = [i for i in range(120) if i != left_out]
        moved = (
            whole - run.engine.clipped_sum(x[rest], y[rest], run.descent.clipping).total.double()
        )
        assert moved.norm() <= run.config.clip_norm * (1 + 1e-4)
        # So large a weight makes every gradient long.
        assert moved.norm() >= run.config.clip_norm * 0.9


def test_other_features_have_another_fingerprint() -> None:
    scatter = small(features="scatter")
    prints = [
        inputs.inputs_of(each, CPU).fingerprint
        for each in (small(), scatter, replace(scatter, views=2))
    ]
    assert len({*prints}) == 3
    assert inputs.inputs_of(scatter, CPU).fingerprint == prints[1]


def test_a_run_says_how_far_features_are_while_they_are_computed_and_never_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compute, "AT_ONCE", 1)
    config = small(features="scatter", views=2)
    said = [event for event in train(config, ticking()) if isinstance(event, Preparing)]
    assert said
    assert len(said) <= 2 * TOLD
    assert all(0 < event.done < event.total for event in said)
    assert {event.total for event in said} <= {120, 40}
    # They are at hand.
    assert not any(isinstance(event, Preparing) for event in train(config, ticking()))
    started = next(event for event in train(config, ticking()) if isinstance(event, Started))
    for file in (catalogue.data_root() / "features").iterdir():
        file.unlink()
    # A worker that continues the run repeats no event.
    resume_point = ResumePoint(1, origin=dict(started.origin))
    assert not any(
        isinstance(event, Preparing)
        for event in train(config, ticking(), resume_point=resume_point)
    )


def test_what_does_not_go_together_is_named() -> None:
    for options, message in [
        (
            {"dataset": "adult", "source": "full", "model": "adult", "features": "scatter"},
            "adult's features='scatter'",
        ),
        ({"features": "scatter", "model": "cnn"}, "few scatter's model='cnn' to be one of"),
        ({"model": "map_cnn"}, "few's model='map_cnn' to be one of"),
        ({"features": "scatter", "model": "mlp", "pca": 5}, "choose the features pixels"),
        (
            {"features": "scatter", "pixel_scale": "centred"},
            "Leave pixel_scale at unit: centred needs the pixels",
        ),
        ({"views": 0}, "views=0"),
        ({"views": 17}, "views=17"),
        ({"views": 2, "model": "mlp", "pca": 5}, "Set views to 1"),
        ({"views": 2, "model": "cnn", "optimizer": "adppl"}, "Set views to 1"),
        (
            {"dataset": "adult", "source": "full", "model": "adult", "views": 2},
            "Leave views at 1: 2 needs a data",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            small(**options)


def test_a_kind_of_features_is_its_object_and_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    halves = FeatureKind(
        name="halves",
        title="halves",
        note="The upper half of each image.",
        source="this test",
        version=1,
        shape_of=lambda shape: (shape[0], shape[1] // 2, shape[2]),
        transform=lambda images: images[:, :, : images.shape[2] // 2],
    )
    monkeypatch.setitem(KINDS, "halves", halves)
    config = small(features="halves")
    assert config.shape == (1, 14, 28)
    assert inputs.inputs_of(config, CPU).train[0].shape == (120, 1, 14, 28)
    *_, last = train(config, ticking())
    assert isinstance(last, Finished)
    assert "halves" in described(config)
