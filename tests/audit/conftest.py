"""Streams that are the same on every machine."""

import pytest
import torch

from dpcore.training import training_run
from dpcore.training.randomness import gaussian_noise

torch.set_num_threads(1)  # it enters every stream; more would wait for one another beside other tests


@pytest.fixture(autouse=True)
def same_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeds give the same draws wherever the tests run: of the machine, only the number of threads has a say."""

    def machine_of(device: torch.device, threads: int) -> dict[str, str]:
        return {"device": str(device), "threads": str(threads), "torch": "any"}

    for user in (training_run, gaussian_noise):
        monkeypatch.setattr(user, "machine_of", machine_of)
