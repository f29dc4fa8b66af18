"""Sampled zCDP: the two branches of its minimum, where it exists, and when it is only a claim."""

import math

import numpy as np
import pytest

from dpcore.privacy.accountants import ACCOUNTANTS, Kind
from dpcore.privacy.mechanism import Mechanism, Release

ZCDP = ACCOUNTANTS["zcdp"]


def by_search(mechanism: Mechanism, delta: float) -> float:
    """The minimum over a fine grid of orders up to the cap."""
    rho = sum(r.count * (r.q / r.sigma) ** 2 for r in mechanism.releases)
    cap = min(1 - r.sigma**2 * math.log(r.q * r.sigma) for r in mechanism.releases)
    orders = np.concatenate([1 + np.geomspace(1e-6, cap - 1, 400_000), [cap]])
    return float(np.min(rho * orders - math.log(delta) / (orders - 1)))


@pytest.mark.parametrize(
    "mechanism",
    [
        Mechanism.constant(0.01, 2.0, 40_000),
        Mechanism.constant(0.01, 2.0, 1000),  # the cap binds
        Mechanism((Release(0.01, 8.0, 100), Release(0.01, 2.0, 100), Release(0.02, 1.5, 7))),
        Mechanism.constant(1e-5, 0.5, 10),
    ],
)
@pytest.mark.parametrize("delta", [1e-10, 1e-5, 0.1])
def test_epsilon_is_the_minimum_over_the_allowed_orders(mechanism: Mechanism, delta: float) -> None:
    assert ZCDP.curve(mechanism, mechanism.steps, delta).epsilon[0] == pytest.approx(
        by_search(mechanism, delta), rel=1e-6
    )


def test_it_is_an_upper_bound_only_where_its_step_bound_was_confirmed() -> None:
    assert ZCDP.curve(Mechanism.constant(0.01, 2.0, 40_000), 40_000, 1e-5).kind is Kind.UPPER
    # Known failures of the step bound: sigma below 1, and q 0.1, sigma 1 at order 3.
    assert ZCDP.curve(Mechanism.constant(0.01, 0.5, 100), 100, 1e-5).kind is Kind.CLAIMED
    rather_loud = Mechanism.constant(0.1, 1.0, 287)  # order 1 + sqrt(ln(1/delta)/rho) = 3
    curve = ZCDP.curve(rather_loud, 287, 1e-5)
    assert curve.kind is Kind.CLAIMED
    assert "not confirmed" in curve.note


def test_one_loud_release_makes_the_whole_curve_a_claim_from_there_on() -> None:
    mechanism = Mechanism((Release(0.01, 4.0, 1000), Release(0.01, 0.5, 10)))
    assert ZCDP.curve(mechanism, 1000, 1e-5).kind is Kind.UPPER
    assert ZCDP.curve(mechanism, [1000, 1001], 1e-5).kind is Kind.CLAIMED


def test_where_it_confirms_itself_it_is_not_below_the_moments_accountant() -> None:
    for q, sigma, steps in ((0.01, 1.0, 1000), (0.01, 4.0, 10_000), (0.05, 2.0, 300), (1e-3, 1.5, 10**6)):
        mechanism = Mechanism.constant(q, sigma, steps)
        curve = ZCDP.curve(mechanism, steps, 1e-5)
        if curve.kind is Kind.UPPER:
            assert curve.epsilon[0] >= ACCOUNTANTS["rdp"].curve(mechanism, steps, 1e-5).epsilon[0]


@pytest.mark.parametrize(("q", "sigma"), [(1.0, 1.0), (0.5, 2.0), (0.5, 100.0)])
def test_it_does_not_exist_at_large_q_sigma(q: float, sigma: float) -> None:
    curve = ZCDP.curve(Mechanism.constant(q, sigma, 10), [0, 5, 10], 1e-5)
    assert curve.epsilon.tolist() == [0.0, math.inf, math.inf]
    assert "does not exist" in curve.note
