"""Training examples that stay bytes on their device are trained on bit for bit as those that were scaled at once."""

import dataclasses

import numpy as np
import pytest
import torch

from dpcore.data.loading import Images, load
from dpcore.training import inputs
from dpcore.training.inputs import ByteRows, rows_of, tensors
from tests.training.small_runs import CNN, ended, run_of

CPU = torch.device("cpu")


def as_bytes(part: Images, device: torch.device, change: object = None) -> tuple[ByteRows, torch.Tensor]:
    """The rows for CUDA, on this machine."""
    return ByteRows(torch.tensor(part.images), inputs.numbers), tensors(part, device)[1]


@pytest.mark.parametrize("shape", [(50, 28, 28), (50, 3, 32, 32), (50, 7)], ids=["grey", "colour", "features"])
def test_what_is_taken_is_bit_for_bit_what_scaling_everything_gives(shape):
    draws = np.random.default_rng(1)
    part = Images(draws.integers(0, 256, shape, dtype=np.uint8), draws.integers(0, 10, 50).astype(np.uint8))
    (rows, _), (scaled, _) = as_bytes(part, CPU), tensors(part, CPU)
    at = torch.tensor([3, 3, 49, 0])
    assert len(rows) == len(scaled) == 50
    assert torch.equal(rows[at], scaled[at])
    assert torch.equal(rows[7:20], scaled[7:20])
    assert torch.equal(rows[:], scaled)
    assert torch.equal(rows.first(9)[:], scaled[:9])
    assert len(rows.first(9)) == 9
    assert not torch.equal(rows[at], scaled[at + torch.tensor([1, 0, 0, 0])])


OPTIONS = {
    "sgd": {},
    "public": {"acceptance": "sa", "public": 500},
    "pca": {"model": "abadi", "pca": 20, "pca_sigma": 4.0, "activation": "relu"},
    "relevance": {"optimizer": "adppl"},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_a_run_on_bytes_ends_bit_for_bit_as_one_on_floats(name, monkeypatch):
    config = dataclasses.replace(CNN, **OPTIONS[name])
    ordinary = run_of(config)
    monkeypatch.setattr(inputs, "rows_of", as_bytes)
    run = run_of(config)
    assert isinstance(run.train[0], torch.Tensor) == (name == "pca")
    assert torch.equal(ended(run, 3), ended(ordinary, 3))
    assert run.evaluated(3) == ordinary.evaluated(3)


def test_a_batch_that_memory_does_not_hold_is_gathered_in_the_smaller_parts_that_it_is_summed_in(monkeypatch):
    def short(values: torch.Tensor) -> torch.Tensor:
        if len(values) > 16:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return inputs.numbers(values)

    ordinary, run = run_of(CNN), run_of(CNN)
    run.train = ByteRows(torch.tensor(load("mnist", "sample").train.images), short), run.train[1]
    before = run.engine.parameters.clone()
    moved = ended(ordinary, 3) - before
    assert (ended(run, 3) - before - moved).norm() < 1e-3 * moved.norm()
    assert run.engine.chunk <= 16


@pytest.mark.cuda
def test_on_cuda_images_are_bytes_and_numbers_are_not():
    cuda = torch.device("cuda")
    part = Images(np.arange(4 * 784, dtype=np.uint32).astype(np.uint8).reshape(4, 28, 28), np.zeros(4, dtype=np.uint8))
    rows, _ = rows_of(part, cuda)
    assert isinstance(rows, ByteRows)
    assert torch.equal(rows[:], tensors(part, cuda)[0])
    features = Images(np.zeros((4, 3), dtype=np.float32), part.labels)
    assert isinstance(rows_of(features, cuda)[0], torch.Tensor)
