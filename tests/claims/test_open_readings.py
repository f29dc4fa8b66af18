"""What a claim leaves open, and what is proven for each way of drawing batches.

Bounds hold for all readings.
"""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from dpcore.claims import Claim, Printed, Standing, judge
from dpcore.claims.claim import BATCHES, own_adjacency
from dpcore.claims.setup import delta_without, sampler_bounds, setup_of
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import FloatArray, Mechanism, Release
from dpcore.privacy.sampling import SAMPLERS, sampler_of

ODD = Claim(delta=1e-5, batch=300, examples=1000, sigma=1.0, sampler="fixed_order")


def order_epsilon(epochs: int, sigma: float) -> float:
    """Epsilon of so many Gaussian releases at delta 1e-5, by its closed form."""
    mu = math.sqrt(epochs) / sigma

    def excess(value: float) -> float:
        return norm.logcdf(mu / 2 - value / mu) - math.log(
            1e-5 + math.exp(value + norm.logcdf(-mu / 2 - value / mu))
        )

    return brentq(excess, 0.01, 200)


def test_where_a_batch_does_not_divide_the_examples_both_lengths_of_an_epoch_are_judged() -> None:
    for batch, steps, least, most in [
        (280, 30, 8, 10),
        (300, 40, 10, 14),
        (250, 40, 10, 10),
        (600, 10, 5, 10),
    ]:
        claim = replace(ODD, batch=batch, steps=steps)
        found = judge(claim).certificate
        lower, upper = found.bounds.lower, found.bounds.upper
        assert lower == pytest.approx(order_epsilon(least, 1.0), rel=1e-3), (batch, steps, least)
        assert upper == pytest.approx(order_epsilon(most, 1.0), rel=1e-3), (batch, steps, least)
        between = Printed(f"{(lower + upper) / 2:.2f}")
        assert (judge(replace(claim, epsilon=between)).standing is Standing.UNPROVEN) == (
            least < most
        )
        told = " or ".join(f"{each}" for each in sorted({1000 // batch, -(-1000 // batch)}))
        assert f"{steps} steps, {told} an epoch" in str(found.setup), (batch, steps, least)
    found = judge(replace(ODD, epochs=10.0)).certificate
    assert found.bounds.lower == pytest.approx(found.bounds.upper, rel=1e-3)
    assert (found.setup.fewest, found.setup.most) == (30, 40)


def test_epochs_of_a_fixed_size_and_of_random_allocation_are_rounded_both_ways() -> None:
    claim = replace(ODD, batch=300, epochs=10.0, sampler="fixed_size")
    assert (setup_of(claim).fewest, setup_of(claim).most) == (30, 40)
    ends = [judge(replace(claim, epochs=None, steps=steps)).certificate for steps in (30, 40)]
    found = judge(claim).certificate
    assert (found.bounds.lower, found.bounds.upper) == (ends[0].bounds.lower, ends[1].bounds.upper)
    claim = Claim(
        delta=1e-5, batch=500, examples=1800, sigma=4.0, epochs=3.0, sampler="random_allocation"
    )
    bounds = setup_of(claim).proven_bounds()
    lower, upper = bounds.lower, bounds.upper
    own = [
        sampler_bounds("random_allocation", 1 / length, 4.0, 3 * length, 1e-5) for length in (3, 4)
    ]
    assert upper == own[0].upper > 0.938
    assert lower == own[1].lower < 0.805
    assert judge(replace(claim, epsilon=Printed("0.85"))).standing is Standing.UNPROVEN


@pytest.mark.parametrize("said", [0.01, 0.0097])
def test_a_rate_beside_batch_and_examples_is_judged_too(said: float) -> None:
    claim = Claim(None, 1e-5, said, 97, 10_000, 1.0, steps=500, sampler="poisson")
    low, high = (sampler_bounds("poisson", q, 1.0, 500, 1e-5) for q in (0.0097, said))
    found = judge(claim).certificate
    assert (found.bounds.lower, found.bounds.upper) == (low.lower, high.upper)
    assert ("q = 0.0097 to 0.01" in str(found.setup)) == (said == 0.01)
    if said == 0.01:
        assert judge(replace(claim, epsilon=Printed("1.30"))).standing is not Standing.HOLDS


def test_a_rate_that_is_rounded_beside_changing_noise_is_judged_too() -> None:
    mechanism = Mechanism((Release(1 / 118, 1.1, 500), Release(1 / 118, 1.0, 500)))
    claim = Claim(None, 1e-5, None, 512, 60_000, mechanism=mechanism)
    alone, beside = setup_of(replace(claim, batch=None, examples=None)), setup_of(claim)
    assert beside.proven_bounds().lower == alone.proven_bounds().lower
    assert beside.proven_bounds().upper > alone.proven_bounds().upper
    assert beside.rates == (1 / 118, 512 / 60_000)


def largest(shift: float, steps: int, share: float, at: FloatArray) -> FloatArray:
    """P(M <= c) where an epoch's one shifted coordinate is there with probability 1 - share, sigma
    being 1.
    """
    rest = norm.cdf(at) ** (steps - 1)
    return rest * ((1 - share) * norm.cdf(at - shift) + share * norm.cdf(at))


def told(steps: int, share: float, epochs: int, delta: float) -> float:
    """Epsilon of one or two epochs' largest coordinates in 600 slices, which is no more than is
    lost.
    """
    cuts = np.concatenate([[-np.inf], np.linspace(-3, 9, 599), [np.inf]])
    first, second = (np.diff(largest(shift, steps, share, cuts)) for shift in (2.0, 1.0))
    if epochs == 2:
        first, second = np.outer(first, first).ravel(), np.outer(second, second).ravel()
    return brentq(
        lambda value: np.maximum(first - math.exp(value) * second, 0).sum() - delta, 0.0, 40.0
    )


def test_shuffled_batches_that_drop_examples_tell_at_least_the_lower_bound() -> None:
    for (batch, steps), epochs in product([(300, 3), (280, 3), (90, 11)], [1, 2]):
        claim = replace(ODD, batch=batch, epochs=float(epochs), sampler="shuffle")
        share = 1 - steps * batch / 1000
        dropping, keeping = told(steps, share, epochs, 1e-5), told(steps + 1, 0.0, epochs, 1e-5)
        lower = setup_of(claim).proven_bounds().lower
        assert lower <= min(dropping, keeping) * 1.001, (batch, steps, epochs)
        assert lower > min(dropping, keeping) - 1.0, (batch, steps, epochs)
        dropped = SAMPLERS["shuffle"].log_chance_kept(share, epochs)
        own = sampler_bounds(
            "shuffle", 1 / steps, 1.0, epochs * steps, delta_without(1e-5, dropped)
        ).lower
        assert own + dropped <= dropping * 1.001, (batch, steps, epochs)


def test_an_order_that_stays_drops_an_example_once_and_what_is_dropped_counts() -> None:
    assert sampler_bounds("shuffle", 1 / 2, 1.0, 2, 1e-5).lower > 1.02 * told(2, 0.3, 1, 1e-5)
    assert SAMPLERS["shuffle_once"].log_chance_kept(0.1, 7) == pytest.approx(math.log(0.9))
    assert SAMPLERS["shuffle"].log_chance_kept(0.1, 7) == pytest.approx(7 * math.log(0.9))
    assert SAMPLERS["fixed_order"].log_chance_kept(0.1, 7) == 0


def test_every_sampler_has_bounds_in_order_or_says_why_not() -> None:
    for name in BATCHES:
        found = sampler_bounds(name, 0.01, 1.0, 300, 1e-5)
        assert 0 <= found.lower <= found.upper, name
        assert math.isfinite(found.upper) or found.note, name
        assert own_adjacency(name), name
    with pytest.raises(ValueError, match="Expected sampler='weighted' to be one of: poisson"):
        sampler_bounds("weighted", 0.01, 1.0, 300, 1e-5)


@pytest.mark.parametrize("sampler", ["poisson_group:4", "truncated_poisson:602:60000"])
def test_a_sampler_with_numbers_is_judged_by_its_own_bounds(sampler: str) -> None:
    claim = Claim(q=512 / 60_000, sigma=1.068, steps=468, delta=1e-5, sampler=sampler)
    last = sampler_of(sampler).curve(512 / 60_000, 1.068, 468, 1e-5).last
    setup = setup_of(claim)
    bounds = setup.proven_bounds()
    assert (bounds.lower, bounds.upper) == (last.lower, last.value)
    assert f"({sampler})" in str(setup)
    assert str(setup).endswith(
        " and add/remove adjacency of 4 records"
        if "group" in sampler
        else " and zero-out adjacency"
    )
    replaced = setup_of(replace(claim, adjacency="replace_one")).proven_bounds()
    assert replaced.lower == last.lower
    assert math.isinf(replaced.upper)
    with pytest.raises(ValueError, match="to be poisson_group:K, with K records of one person"):
        replace(claim, sampler="poisson_group")
    clash = judge(
        replace(claim, epsilon=Printed("3"), examples=50_000, sampler="truncated_poisson:602:60000")
    )
    assert clash.standing is Standing.CONTRADICTORY
    assert "are of 60,000 examples" in clash.sentence


def test_bounds_of_samplers_are_those_of_their_proofs() -> None:
    poisson = sampler_bounds("poisson", 0.01, 4.0, 10_000, 1e-5)
    band = ACCOUNTANTS["pld"].curve(Mechanism.constant(0.01, 4.0, 10_000), 10_000, 1e-5).last
    assert (poisson.lower, poisson.upper) == (band.lower, band.value)

    ordered = sampler_bounds("fixed_order", 512 / 60_000, 1.068, 4680, 1e-5)
    shuffled = sampler_bounds("shuffle", 512 / 60_000, 1.068, 4680, 1e-5)
    # Each example is used once in each of 40 epochs: the Gaussian's epsilon for 40 uses.
    assert ordered.upper == shuffled.upper == pytest.approx(42.04, rel=2e-4)
    assert 13.5 < shuffled.lower < ordered.lower <= ordered.upper

    replaced = sampler_bounds("poisson_replace_one", 0.01, 1.0, 1000, 1e-5)
    assert 2.83 < replaced.lower < replaced.upper < 2.86
