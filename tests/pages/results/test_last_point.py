"""The end of a certified curve is the number of the whole mechanism alone."""

import pytest

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism, Release
from pages.parts.results import cache


@pytest.mark.parametrize(
    "mechanism",
    [
        Mechanism.constant(0.0256, 1.23, 196),
        Mechanism.constant(0.0256, 4.0, 196),
        Mechanism.constant(0.005, 0.55, 6000),
        Mechanism.constant(1.0, 2.0, 4),
        Mechanism.constant(0.5, 0.01, 30),
        Mechanism((Release(1.0, 7.0), Release(0.01, 1.5, 300))),
    ],
)
def test_the_lab_and_every_other_place_have_one_epsilon(mechanism: Mechanism):
    curve = cache.curve(CERTIFIED, mechanism, 1e-5)
    assert curve.last == ACCOUNTANTS[CERTIFIED].spent(mechanism, 1e-5)
    assert curve.steps[-1] == mechanism.steps
    assert curve.epsilon.size == curve.steps.size
