"""Solving for batches that are not Poisson: never past the budget, near to it, and against closed forms."""

import numpy as np
import pytest
from scipy.optimize import brentq

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.calibration.for_sampler import CLOSE, sigma_for_sampler, steps_for_sampler
from dpcore.privacy.calibration.solve import sigma_for
from dpcore.privacy.calibration.targets import EpsilonTarget
from dpcore.privacy.sampling import SAMPLERS, Sampler, steps_of_epoch
from tests.reference import gaussian_delta

Q, TARGET = 0.1, EpsilonTarget(3.0, 1e-5)
ALL = pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)


@ALL
def test_the_noise_keeps_the_target_and_is_near_to_it(sampler: Sampler) -> None:
    found = sigma_for_sampler(sampler, TARGET, Q, 20)
    again = sampler.curve(Q, found.sigma, 20, 1e-5).last
    assert again == found.reading
    assert CLOSE * TARGET.epsilon <= again.value <= TARGET.epsilon
    if found.beyond is not None:
        assert sampler.curve(Q, found.beyond, 20, 1e-5).last.value > TARGET.epsilon
        assert found.beyond < found.sigma


@ALL
def test_the_length_is_the_longest(sampler: Sampler) -> None:
    found = steps_for_sampler(sampler, TARGET, Q, 3.0)
    unit = steps_of_epoch(Q) if sampler.by_epoch else 1
    assert found.steps % unit == 0
    assert found.beyond == found.steps + unit
    assert sampler.curve(Q, 3.0, found.steps, 1e-5).last.value <= TARGET.epsilon
    assert sampler.curve(Q, 3.0, found.steps + unit, 1e-5).last.value > TARGET.epsilon


def test_a_fixed_order_has_a_closed_form() -> None:
    exact = brentq(lambda sigma: gaussian_delta(3.0, np.sqrt(2) / sigma) - 1e-5, 0.5, 20)
    found = sigma_for_sampler(SAMPLERS["fixed_order"], TARGET, Q, 20)
    assert exact <= found.sigma <= 1.001 * exact


def test_poisson_batches_need_what_the_certified_accountant_says() -> None:
    exact = sigma_for(TARGET, Q, 20).value
    assert sigma_for_sampler(SAMPLERS["poisson"], TARGET, Q, 20).sigma == pytest.approx(exact, rel=2e-3)
    assert ACCOUNTANTS["pld"].kind == SAMPLERS["poisson"].curve(Q, exact, 20, 1e-5).kind


def test_a_target_out_of_reach_is_a_sentence() -> None:
    with pytest.raises(ValueError, match=r"The first epoch costs epsilon=4.3[0-9], above epsilon=1; raise sigma"):
        steps_for_sampler(SAMPLERS["shuffle"], EpsilonTarget(1.0, 1e-5), Q, 1.0)
    with pytest.raises(ValueError, match="No sigma below 1000 reaches epsilon=1e-05"):
        sigma_for_sampler(SAMPLERS["fixed_order"], EpsilonTarget(1e-5, 1e-9), 1.0, 10_000)


@pytest.mark.parametrize(("steps", "q"), [(0, 0.1), (10, 0.0), (10, 1.5)])
def test_nonsense_is_refused(steps: int, q: float) -> None:
    with pytest.raises(ValueError, match="Expected"):
        sigma_for_sampler(SAMPLERS["shuffle"], TARGET, q, steps)
