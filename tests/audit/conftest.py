"""Streams that are the same on every machine."""

import pytest
import torch

from tests.audit.small_audits import pin_machine

torch.set_num_threads(1)  # more would wait for one another beside other tests


@pytest.fixture(autouse=True)
def same_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    pin_machine(monkeypatch)
