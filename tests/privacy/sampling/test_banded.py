"""The reduction of a banded matrix mechanism to Poisson batches."""

import numpy as np
import pytest

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.sampling.banded import banded, rounds_of


def test_one_band_is_dp_sgd() -> None:
    assert banded(0.01, 4.0, 1000, 1) == Mechanism.constant(0.01, 4.0, 1000)


def test_as_many_bands_as_steps_of_an_epoch_are_one_gaussian_an_epoch() -> None:
    assert banded(0.01, 4.0, 1000, 100) == Mechanism.constant(1.0, 4.0, 10)


def test_a_round_that_has_begun_counts() -> None:
    assert banded(0.01, 4.0, 1001, 8).steps == 126
    assert np.array_equal(rounds_of([1, 8, 9, 16], 8), [1, 1, 2, 2])


def test_more_bands_cost_more_at_the_same_noise() -> None:
    """What correlated noise gains must outweigh this: a larger sampling rate over fewer steps."""
    last = [banded(0.01, 2.0, 1000, bands) for bands in (1, 4, 16)]
    epsilons = [float(ACCOUNTANTS["pld"].curve(each, each.steps, 1e-5).epsilon[0]) for each in last]
    assert epsilons == sorted(epsilons)


@pytest.mark.parametrize(("bands", "words"), [(0, "bands=0"), (101, "bands=101 to be at most 1/q = 100")])
def test_bands_that_do_not_fit_are_refused(bands: int, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        banded(0.01, 4.0, 1000, bands)
