"""Ends that cross are never handed out, by any type that holds a pair or any way to one."""

import math
import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import dpcore
from dpcore.claims import Claim, Printed, judge
from dpcore.claims.setup import Bounds, sampler_bounds
from dpcore.privacy.accountants import ACCOUNTANTS, pld
from dpcore.privacy.accountants.base import Curve
from dpcore.privacy.calibration.solve import solve
from dpcore.privacy.calibration.targets import AdvantageTarget, EpsilonTarget, MuTarget
from dpcore.privacy.certified.epsilon_bounds import EpsilonBounds
from dpcore.privacy.certified.tradeoff_bounds import Band
from dpcore.privacy.ends import CROSSED, CROSSING, safe_ends
from dpcore.privacy.mechanism import Kind, Mechanism, Reading
from dpcore.privacy.report import attack_risk
from dpcore.privacy.report.attack_risk import risks_of
from dpcore.privacy.sampling import SAMPLERS, base
from dpcore.privacy.selection import best_of as selection
from dpcore.privacy.selection.best_of import best_of, read_runs
from dpcore.privacy.tradeoff import Gaussian

WHOLE = Mechanism.constant(0.01, 1.0, 100)


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        (1.0, 2.0, (1.0, 2.0)),
        (1.0, 1.0, (1.0, 1.0)),
        (0.0, 0.0, (0.0, 0.0)),
        (math.inf, math.inf, (math.inf, math.inf)),
        (1.0 + 0.5 * CROSSED, 1.0, (1.0, 1.0)),
        (1.0 + 3 * CROSSED, 1.0, (0.0, math.inf)),
        (0.0, sys.float_info.max, (0.0, sys.float_info.max)),
        (1e-12, 0.0, (0.0, math.inf)),
        (math.inf, 1.0, (0.0, math.inf)),
        (math.nan, 1.0, (0.0, math.inf)),
        (1.0, math.nan, (0.0, math.inf)),
    ],
)
def test_every_type_that_holds_two_ends_gives_neither_of_two_that_cross(
    lower: float, upper: float, expected: tuple[float, float]
) -> None:
    note = CROSSING if expected == (0.0, math.inf) else "as it was"
    low, high, told = safe_ends([0.0, lower], [1.0, upper], "as it was")
    assert (low.tolist(), high.tolist(), told) == ([0.0, expected[0]], [1.0, expected[1]], note)
    reading = Reading(upper, lower, Kind.CERTIFIED, "as it was")
    assert (reading.lower, reading.value, reading.note) == (*expected, note)
    again = replace(Reading(math.inf, 0.0, Kind.CERTIFIED, "as it was"), value=upper, lower=lower)
    assert again == reading, "a changed pair is compared, too"
    bounds = Bounds(lower, upper, Kind.CERTIFIED, "as it was")
    assert (bounds.lower, bounds.upper, bounds.note) == (*expected, note)
    steps, delta = np.array([1, 2]), np.full(2, 1e-5)
    curve = Curve(
        steps, delta, np.array([upper, 9.0]), np.array([lower, 8.0]), Kind.CERTIFIED, "as it was"
    )
    assert (curve.lower[0], curve.epsilon[0], curve.note) == (*expected, note)
    assert (curve.lower[1], curve.epsilon[1]) == (8.0, 9.0)


def test_a_number_without_a_lower_end_is_as_it_was() -> None:
    assert Reading(2.0, None, Kind.UPPER, "a note").note == "a note"
    assert Curve(np.array([1]), np.array([0.1]), np.array([2.0]), None, Kind.UPPER).epsilon[0] == 2


def test_a_band_that_crosses_anywhere_is_empty() -> None:
    kept = Band(Gaussian(1.0), Gaussian(1.0), "as it was")
    assert (kept.empty, kept.note) == (False, "as it was")
    crossing = Band(Gaussian(1.0), Gaussian(1.0 + 1e-9))
    assert (crossing.empty, crossing.note) == (True, CROSSING)
    assert risks_of(crossing, 1e-5).advantage == (0.0, 1.0)
    assert risks_of(crossing, 1e-5).mu == (0.0, math.inf)
    assert replace(kept, upper=Gaussian(2.0)).empty


def test_numbers_read_off_a_band_are_compared_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attack_risk, "advantage", lambda f: f.closed_mu)
    monkeypatch.setattr(attack_risk, "mu_above", lambda f, least: -f.closed_mu)
    found = risks_of(Band(Gaussian(0.5), Gaussian(0.25)), 1e-5)
    assert found.advantage == (0.25, 0.5)
    assert found.mu == (0.0, math.inf)


@pytest.fixture
def crossing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A certified accountant whose lower end lies 1 % above its upper one."""

    def bounds(mechanism: Mechanism, steps: np.ndarray, delta: np.ndarray) -> EpsilonBounds:
        return EpsilonBounds(np.full(steps.shape, 1.01), np.full(steps.shape, 1.0))

    monkeypatch.setattr(pld, "epsilon_bounds", bounds)
    monkeypatch.setattr(base, "epsilon_bounds", bounds)
    sampler_bounds.cache_clear()
    monkeypatch.setattr(
        pld, "tradeoff_bounds", lambda mechanism: Band(Gaussian(1.0), Gaussian(1.1))
    )
    yield
    sampler_bounds.cache_clear()


@pytest.mark.usefixtures("crossing")
def test_no_way_to_a_pair_of_ends_hands_out_one_that_crosses() -> None:
    certified = ACCOUNTANTS["pld"]
    for found in (
        dpcore.epsilon(WHOLE, 1e-5),
        certified.curve(WHOLE, [50, 100], 1e-5).last,
        best_of(read_runs("3"), [WHOLE], certified, 1e-5),
        best_of(read_runs("geometric:3"), [WHOLE], certified, 1e-5),
        EpsilonTarget(1.0, 1e-5).spent_by(certified, WHOLE),
    ):
        assert (found.lower, found.value) == (0.0, math.inf)
        assert found.note == CROSSING
    sampled = SAMPLERS["poisson"].curve(0.01, 1.0, 100, 1e-5).last
    assert math.isinf(sampled.value)
    assert sampled.lower < 0.5, "that of one bit of each step, which has a proof of its own"
    assert sampled.note == CROSSING
    for target in (AdvantageTarget(0.5), MuTarget(1.0, 1e-5)):
        found = target.spent_by(certified, WHOLE)
        assert math.isinf(found.value)
        assert found.note == CROSSING
    assert dpcore.tradeoff(WHOLE).lower is None
    assert dpcore.tradeoff(WHOLE).note == CROSSING
    with pytest.raises(ValueError, match="neither is given"):
        solve("sigma", EpsilonTarget(2.0, 1e-5), q=0.01, steps=100)
    claim = Claim(Printed("0.5"), delta=1.2e-5, q=0.01, sigma=1.0, steps=100, sampler="poisson")
    assert judge(claim).standing == "unproven"
    assert CROSSING in judge(claim).notes


def test_the_best_of_runs_whose_ends_cross_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "selected_epsilon", lambda *_: 0.1)
    found = best_of(read_runs("geometric:3"), [WHOLE], ACCOUNTANTS["pld"], 1e-5)
    assert (found.lower, found.value, found.note) == (0.0, math.inf, CROSSING)
