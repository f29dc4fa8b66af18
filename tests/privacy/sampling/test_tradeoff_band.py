"""The trade-off functions of all samplers, against closed forms and against attacks that are known."""

import numpy as np
import pytest
from scipy.special import ndtr

from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.sampling import SAMPLERS, Sampler, steps_of_epoch
from dpcore.privacy.sampling.tradeoff_band import tradeoff_band
from dpcore.privacy.tradeoff import Gaussian, Points

ALPHA = np.concatenate([[0.0], np.geomspace(1e-6, 1.0, 200)])
Q, SIGMA = 0.1, 1.5
ALL = pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)


@ALL
def test_the_curves_are_in_order_and_blind_guessing_is_above_both(sampler: Sampler) -> None:
    band = tradeoff_band(sampler, Q, SIGMA, 20)
    lower, upper = band.lower.beta(ALPHA), band.upper.beta(ALPHA)
    assert not band.empty
    assert np.all(lower <= upper + 1e-12)
    assert np.all(upper <= 1 - ALPHA + 1e-12)
    assert np.max(1 - ALPHA - upper) > 0.05  # it excludes something


def test_the_exact_curve_of_a_fixed_order_lies_in_its_band() -> None:
    band, exact = tradeoff_band(SAMPLERS["fixed_order"], Q, 2.0, 40), Gaussian(1.0).beta(ALPHA)
    assert np.all(band.lower.beta(ALPHA) <= exact + 1e-9)
    assert np.all(band.upper.beta(ALPHA) >= exact - 1e-9)
    assert np.max(band.upper.beta(ALPHA) - band.lower.beta(ALPHA)) < 0.03


def test_the_band_of_poisson_batches_holds_that_of_the_certified_room() -> None:
    band, closer = tradeoff_band(SAMPLERS["poisson"], Q, SIGMA, 20), tradeoff_bounds(Mechanism.constant(Q, SIGMA, 20))
    assert np.all(band.lower.beta(ALPHA) <= closer.upper.beta(ALPHA) + 1e-9)
    assert np.all(band.upper.beta(ALPHA) >= closer.lower.beta(ALPHA) - 1e-9)


def test_whoever_looks_at_the_largest_sum_of_a_shuffled_epoch_gets_below_the_upper_curve() -> None:
    steps, place = steps_of_epoch(Q), np.linspace(-6, 12, 400)
    found, wrongly = (1 - ndtr((place - own) / SIGMA) * ndtr(place / SIGMA) ** (steps - 1) for own in (2.0, 1.0))
    band = tradeoff_band(SAMPLERS["shuffle"], Q, SIGMA, steps)
    assert np.all(Points(wrongly, found).beta(ALPHA) <= band.upper.beta(ALPHA) + 1e-6)  # the bounds know this attack
    assert np.all(1 - found >= band.lower.beta(wrongly) - 1e-6)  # and no attack gets below this curve


def test_where_nothing_is_promised_the_band_is_empty_and_says_why() -> None:
    band = tradeoff_band(SAMPLERS["fixed_size"], 0.01, 0.05, 10_000)
    assert band.empty
    assert band.note
    assert np.all(band.lower.beta(ALPHA) == 0)
