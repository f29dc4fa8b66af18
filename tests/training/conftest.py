"""Streams that are equal on every machine, records of a run's draws, and memory that is freed."""

import ctypes
import gc

import pytest
import torch

from dpcore.training import training_run as module
from dpcore.training.gradients import clipped_sum
from dpcore.training.perturbation import noise as perturbation_noise
from dpcore.training.randomness import gaussian_noise
from dpcore.training.randomness.gaussian_noise import GaussianNoise

# It enters every stream; more would wait for one another beside other tests.
torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def same_machine(monkeypatch):
    """Seeds give the same draws wherever the tests run: of the machine, only the number of threads
    has a say.
    """

    def machine_of(device: torch.device, threads: int) -> dict[str, str]:
        return {"device": str(device), "threads": str(threads), "torch": "any"}

    for user in (module, gaussian_noise, perturbation_noise):
        monkeypatch.setattr(user, "machine_of", machine_of)


@pytest.fixture(autouse=True, scope="module")
def memory_of_others():
    """Return the memory of a file's tests to the system, since the C library keeps freed memory."""
    yield
    gc.collect()
    if hasattr(library := ctypes.CDLL(None), "malloc_trim"):  # of glibc
        library.malloc_trim(0)


@pytest.fixture
def batches(monkeypatch):
    """The batches drawn so far, and the arguments they were drawn with."""
    record = []

    def recording(sampler, n, q, generator):
        drawn = batch_of_step(sampler, n, q, generator)
        record.append((n, q, drawn))
        return drawn

    batch_of_step = module.batch_of_step
    monkeypatch.setattr(module, "batch_of_step", recording)
    return record


@pytest.fixture
def stds(monkeypatch):
    """The std of every draw of noise so far."""
    record = []
    add = GaussianNoise.add

    def recording(noise, piece, target, std, scale=None):
        if piece == 0:
            record.append(std)
        add(noise, piece, target, std, scale)

    monkeypatch.setattr(GaussianNoise, "add", recording)
    return record


@pytest.fixture
def small_shares(monkeypatch):
    """Batches of tests, which are small, are shared out among cores too."""
    monkeypatch.setattr(clipped_sum, "MIN_ROWS_OF_CORE", 2)
