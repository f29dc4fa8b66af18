"""Batches of tests, which are small, are shared out among cores too."""

import pytest

from dpcore.training.gradients import clipped_sum


@pytest.fixture
def small_shares(monkeypatch):
    monkeypatch.setattr(clipped_sum, "FEWEST", 2)
