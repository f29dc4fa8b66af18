"""The Gaussian mechanism's closed forms; and the smallest delta, at which every accountant is
sound.
"""

import functools
import math
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from dpcore import check
from dpcore.__main__ import main
from dpcore.privacy import gaussian
from dpcore.privacy.accountants import ACCOUNTANTS, Curve, Kind
from dpcore.privacy.calibration.solve import same_epsilon
from dpcore.privacy.calibration.targets import EpsilonTarget, MuTarget
from dpcore.privacy.certified.lattice import SMALLEST_SIGMA
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.report.attack_risk import risks_of
from dpcore.training.config import RunConfig
from tests.reference import gaussian_delta

MUS = [1e-8, 1e-5, 1e-3, 0.0099, 0.0101, 0.5, 1.0, 5.0, 30.0, 1e3, 1e4]
DELTAS = [1e-15, 1e-9, 1e-5, 1e-2, 0.5]


def test_epsilon_has_exactly_the_delta_it_was_asked_for() -> None:
    for delta, mu in product(DELTAS, MUS):
        epsilon = float(gaussian.epsilon_of(delta, mu))
        if epsilon == 0:
            assert gaussian_delta(0.0, mu) <= delta * (1 + 1e-9), (delta, mu)
        else:
            assert gaussian_delta(epsilon, mu) == pytest.approx(delta, rel=1e-9, abs=0), (delta, mu)


def test_the_series_for_small_mu_meets_the_closed_form() -> None:
    for x in (0.0, 0.5, 4.0, 8.0):
        below, above = gaussian.SMALL * (1 - 1e-9), gaussian.SMALL * (1 + 1e-9)
        after = gaussian.delta_of(x * above, above)
        assert gaussian.delta_of(x * below, below) == pytest.approx(after, rel=1e-7, abs=0)


def test_delta_falls_with_epsilon_rises_with_mu_and_ends_at_no_loss_and_total_loss() -> None:
    epsilon, mu = np.linspace(0, 30, 301), np.geomspace(0.001, 50, 200)
    assert np.all(np.diff(gaussian.delta_of(epsilon, 2.0)) <= 0)
    assert np.all(np.diff(gaussian.delta_of(1.0, mu)) >= 0)
    assert gaussian.epsilon_of(1e-5, [0.0, np.inf]).tolist() == [0.0, np.inf]
    assert gaussian.delta_of(1.0, [0.0, np.inf]).tolist() == [0.0, 1.0]
    assert gaussian.epsilon_of(np.full((3, 1), 1e-5), np.ones(4)).shape == (3, 4)


def test_mu_is_rounded_to_the_safe_side_of_what_keeps_delta() -> None:
    for delta, epsilon in product(
        [1e-30, 1e-9, 1e-5, 0.3], [0.0, 1e-6, 0.01, 0.25, 1.0, 8.0, 100.0, 1e4]
    ):
        mu = float(gaussian.mu_of(epsilon, delta))
        assert gaussian_delta(epsilon, mu) <= delta, (delta, epsilon)
        assert gaussian_delta(epsilon, mu * (1 + 1e-8)) > delta, (delta, epsilon)
    epsilon = np.geomspace(1e-3, 0.99, 20)
    assert np.all(1 / gaussian.mu_of(epsilon, 1e-5) < np.sqrt(2 * np.log(1.25e5)) / epsilon)
    assert gaussian.mu_of(np.inf, 1e-5) == np.inf


LEAST = check.SMALLEST_DELTA
# (sigma, steps) at q = 1.
WHOLE = [(1.0, 1), (0.3, 10), (SMALLEST_SIGMA, 1), (SMALLEST_SIGMA, 3), (50.0, 1000)]
MECHANISMS = [
    *(Mechanism.constant(1.0, sigma, steps) for sigma, steps in WHOLE),
    Mechanism.constant(0.01, 2.0, 200),
    Mechanism.constant(0.999, SMALLEST_SIGMA, 1),
    Mechanism.constant(1e-9, 1.0, 10**9),
    Mechanism((Release(1.0, 7.0), Release(0.02, 4.0, 50), Release(0.02, 0.5, 50))),
]


def test_a_smaller_delta_and_no_delta_at_all_are_refused_by_name() -> None:
    for delta in [5e-324, 1e-320, 1e-300, math.nextafter(LEAST, 0)]:
        with pytest.raises(ValueError, match=f"^Expected delta={delta!r} to be at least 1e-60: "):
            check.delta(delta=delta)
    for delta in [0.0, 1.0, -1e-5, math.nan, math.inf]:
        with pytest.raises(
            ValueError, match=rf"^Expected delta={delta!r} to be (above 0 and below 1|a number)\.$"
        ):
            check.delta(delta=delta)


@functools.cache
def last(name: str, mechanism: Mechanism) -> Curve:
    """Epsilon after the last step at the smallest delta: asked for once, the certified one takes
    seconds.
    """
    return ACCOUNTANTS[name].curve(mechanism, mechanism.steps, LEAST)


def test_every_accountant_answers_at_the_smallest_delta_and_is_sound() -> None:
    for name, mechanism in product(ACCOUNTANTS, MECHANISMS):
        check.delta(delta=LEAST)
        band, curve = last("pld", mechanism), last(name, mechanism)
        assert not np.isnan(curve.epsilon).any(), (name, mechanism)
        assert band.lower[0] <= band.epsilon[0] < math.inf, (name, mechanism)
        if curve.kind in (Kind.UPPER, Kind.CERTIFIED):
            assert curve.epsilon[0] >= band.lower[0], (name, mechanism)


def test_the_certified_band_holds_the_exact_gaussian_there() -> None:
    for sigma, steps in WHOLE:
        exact = float(
            gaussian.epsilon_of(np.array([LEAST]), np.array([math.sqrt(steps) / sigma]))[0]
        )
        band = ACCOUNTANTS["pld"].curve(Mechanism.constant(1.0, sigma, steps), steps, LEAST)
        assert band.lower[0] <= exact * (1 + 1e-9), (sigma, steps)
        assert band.epsilon[0] >= exact * (1 - 1e-9), (sigma, steps)


def test_risks_and_a_mu_are_numbers_there() -> None:
    found = risks_of(tradeoff_bounds(Mechanism.constant(0.01, 2.0, 200)), LEAST)
    assert 0 < found.mu.lower <= found.mu.upper < math.inf
    assert 0.5 < found.sure <= 1.0
    for accountant in ["rdp", "pld", "gdp"]:
        reading = MuTarget(1.0, LEAST).spent_by(
            ACCOUNTANTS[accountant], Mechanism.constant(1.0, 2.0, 4)
        )  # exactly 1-GDP
        assert 1 - 1e-3 <= reading.value < math.inf, accountant  # loose, but not below
        assert (reading.lower or 0.0) <= 1.0, accountant


TOO_SMALL = 1e-320
CALLS: dict[str, Callable[[], object]] = {
    **{name: lambda a=a: a.curve(MECHANISMS[0], 1, TOO_SMALL) for name, a in ACCOUNTANTS.items()},
    "profile": lambda: ACCOUNTANTS["rdp"].profile(MECHANISMS[0], [1e-5, TOO_SMALL]),
    "epsilon target": lambda: EpsilonTarget(1.0, TOO_SMALL),
    "mu target": lambda: MuTarget(1.0, TOO_SMALL),
    "less noise": lambda: same_epsilon(0.01, 1.0, 10, TOO_SMALL),
    "risks": lambda: risks_of(tradeoff_bounds(Mechanism.constant(0.01, 2.0, 200)), TOO_SMALL),
    "run": lambda: RunConfig(delta=TOO_SMALL),
}


def test_everything_that_takes_a_delta_refuses_a_smaller_one_by_name() -> None:
    for call in CALLS.values():
        with pytest.raises(ValueError, match=r"^Expected delta=1e-320 to be at least 1e-60: "):
            call()


@pytest.mark.parametrize("command", ["epsilon", "tradeoff", "calibrate", "train"])
def test_every_command_refuses_a_smaller_one_before_it_does_anything(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path))
    mechanism = ["--q", ".01", "--sigma", "2", "--steps", "200"]
    more = {
        "train": ["--model", "mlp"],
        "calibrate": [*mechanism[:2], *mechanism[4:], "--solve", "sigma"],
    }
    target = ["--target-epsilon", "3"] if command == "calibrate" else []
    assert main([command, *more.get(command, mechanism), *target, "--delta", "1e-320"]) == 2
    assert "Expected delta=1e-320 to be at least 1e-60: " in capsys.readouterr().err
    assert not any(tmp_path.rglob("*"))
