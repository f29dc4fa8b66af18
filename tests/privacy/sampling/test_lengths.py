"""How long a training is with another sampler, and where its curve is drawn."""

import math

import numpy as np
import pytest

from dpcore.privacy.sampling import SAMPLERS, Sampler, steps_of_epoch
from dpcore.privacy.sampling.lengths import POINTS, epochs_meant, points_of, steps_counted

ALL = pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)


@pytest.mark.parametrize("q", [1.0, 0.6, 0.3, 256 / 10_000, 512 / 60_000, 1e-4])
@pytest.mark.parametrize("epochs", [1, 5, 40, 128])
def test_whole_epochs_that_were_rounded_up_to_steps_are_whole_again(q: float, epochs: int) -> None:
    steps = math.ceil(epochs / q - 1e-9)
    assert epochs_meant(q, steps) == epochs
    assert steps_counted(SAMPLERS["shuffle"], q, steps) == epochs * steps_of_epoch(q)
    assert steps_counted(SAMPLERS["fixed_size"], q, steps) == steps


def test_a_part_of_an_epoch_stays_a_part_and_is_rounded_up() -> None:
    assert epochs_meant(0.01, 250) == 2.5
    assert steps_counted(SAMPLERS["shuffle"], 0.01, 250) == 250
    assert steps_counted(SAMPLERS["shuffle"], 0.01, 1) == 1


@ALL
@pytest.mark.parametrize(("q", "steps"), [(0.0256, 196), (0.1, 25), (1.0, 3), (0.01, 100_000), (0.01, 7), (0.6, 5)])
def test_a_curve_begins_at_nothing_and_ends_at_the_end(sampler: Sampler, q: float, steps: int) -> None:
    at, epochs = points_of(sampler, q, steps)
    assert at[0] == epochs[0] == 0
    assert at[-1] == steps_counted(sampler, q, steps)
    assert np.all(np.diff(at) > 0)
    assert np.all(np.diff(epochs) > 0)
    assert at.size <= POINTS + 2
    if sampler.by_epoch:
        assert np.all(at[:-1] % steps_of_epoch(q) == 0)
        np.testing.assert_array_equal(epochs[:-1] * steps_of_epoch(q), at[:-1])
