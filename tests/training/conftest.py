"""Records of what a run draws."""

import pytest

from dpcore.training import training_run as module
from dpcore.training.randomness.gaussian_noise import GaussianNoise


@pytest.fixture
def batches(monkeypatch):
    """The batches drawn so far, and the arguments they were drawn with."""
    record = []

    def recording(n, q, generator):
        drawn = poisson_sample(n, q, generator)
        record.append((n, q, drawn))
        return drawn

    poisson_sample = module.poisson_sample
    monkeypatch.setattr(module, "poisson_sample", recording)
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
