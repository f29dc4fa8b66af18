"""The influence of examples on the sum: what exceeds the clipping norm, and what that costs."""

import math

import numpy as np
import pytest

from dpcore.audit.bounds.influence import audit_influence
from dpcore.audit.bounds.lower_epsilon import lower_epsilon
from dpcore.privacy import gaussian
from dpcore.privacy.mechanism import Mechanism

WHOLE = Mechanism.constant(0.1, 1.5, 50)
DELTA = 1e-5


def test_the_clip_norm_itself_is_allowed_and_costs_what_is_charged() -> None:
    found = audit_influence([0.3, 1.0, 1.0 + 5e-5], WHOLE, DELTA)
    assert found.p_value == 1
    assert not found.rejected
    assert found.place == 2
    assert found.epsilon == pytest.approx(lower_epsilon(WHOLE, DELTA), rel=1e-3)
    assert found.epsilon <= lower_epsilon(WHOLE, DELTA) * (1 + 1e-3)


def test_more_than_the_clip_norm_is_rejected_and_costs_that_of_less_noise() -> None:
    found = audit_influence(np.array([0.5, 6.0]), WHOLE, DELTA, clip_norm=2.0)
    assert found.rejected
    assert found.p_value == 0
    assert found.largest == 3.0
    assert found.epsilon == pytest.approx(lower_epsilon(Mechanism.constant(0.1, 0.5, 50), DELTA), rel=2e-3)
    assert "moves it by 3 clipping norms" in found.shows


def test_without_sampling_it_is_the_closed_form() -> None:
    found = audit_influence([2.5], Mechanism.constant(1.0, 10.0, 16), DELTA, allowed=0.0)
    assert found.epsilon == pytest.approx(float(gaussian.epsilon_of(DELTA, 1.0)), rel=1e-4)


def test_what_rounding_can_make_of_it_is_taken_off_and_no_influence_shows_nothing() -> None:
    assert not audit_influence([1.009], WHOLE, DELTA, allowed=0.01).rejected
    assert audit_influence([1.011], WHOLE, DELTA, allowed=0.01).rejected
    assert audit_influence([0.0], WHOLE, DELTA).epsilon == 0


def test_bad_influences() -> None:
    assert audit_influence([], WHOLE, DELTA).shows == "Nothing can be shown: there are no influences."
    assert audit_influence([math.nan], WHOLE, DELTA).epsilon is None
    with pytest.raises(ValueError, match="influence=-1"):
        audit_influence([-1.0], WHOLE, DELTA)
    with pytest.raises(ValueError, match="clip_norm=0"):
        audit_influence([1.0], WHOLE, DELTA, clip_norm=0.0)
