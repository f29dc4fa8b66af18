"""The smallest delta: every accountant is sound there, and what is smaller is refused by name."""

import functools
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dpcore import check
from dpcore.__main__ import main
from dpcore.privacy import gaussian
from dpcore.privacy.accountants import ACCOUNTANTS, Curve, Kind
from dpcore.privacy.calibration.same_epsilon import same_epsilon
from dpcore.privacy.calibration.targets import EpsilonTarget, MuTarget
from dpcore.privacy.certified.lattice import SMALLEST_SIGMA
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.report.attack_risk import risks_of
from dpcore.training.config import RunConfig

LEAST = check.SMALLEST_DELTA
WHOLE = [(1.0, 1), (0.3, 10), (SMALLEST_SIGMA, 1), (SMALLEST_SIGMA, 3), (50.0, 1000)]  # (sigma, steps) at q = 1
MECHANISMS = [
    *(Mechanism.constant(1.0, sigma, steps) for sigma, steps in WHOLE),
    Mechanism.constant(0.01, 2.0, 200),
    Mechanism.constant(0.999, SMALLEST_SIGMA, 1),
    Mechanism.constant(1e-9, 1.0, 10**9),
    Mechanism((Release(1.0, 7.0), Release(0.02, 4.0, 50), Release(0.02, 0.5, 50))),
]


@pytest.mark.parametrize("delta", [5e-324, 1e-320, 1e-300, math.nextafter(LEAST, 0)])
def test_a_smaller_delta_is_refused_by_name(delta: float) -> None:
    with pytest.raises(ValueError, match=f"^Expected delta={delta!r} to be at least 1e-60: "):
        check.delta(delta=delta)


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-5, math.nan, math.inf])
def test_no_delta_at_all_is_refused_as_ever(delta: float) -> None:
    with pytest.raises(ValueError, match=rf"^Expected delta={delta!r} (in \(0, 1\)|to be a number)\.$"):
        check.delta(delta=delta)


@functools.cache
def last(name: str, mechanism: Mechanism) -> Curve:
    """Epsilon after the last step at the smallest delta: asked for once, the certified one takes seconds."""
    return ACCOUNTANTS[name].curve(mechanism, mechanism.steps, LEAST)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
@pytest.mark.parametrize("name", ACCOUNTANTS)
def test_every_accountant_answers_at_the_smallest_delta_and_is_sound(name: str, mechanism: Mechanism) -> None:
    check.delta(delta=LEAST)
    band, curve = last("pld", mechanism), last(name, mechanism)
    assert not np.isnan(curve.epsilon).any()
    assert band.lower is not None
    assert band.lower[0] <= band.epsilon[0] < math.inf
    if curve.kind in (Kind.UPPER, Kind.CERTIFIED):
        assert curve.epsilon[0] >= band.lower[0]


@pytest.mark.parametrize(("sigma", "steps"), WHOLE)
def test_the_certified_band_holds_the_exact_gaussian_there(sigma: float, steps: int) -> None:
    exact = float(gaussian.epsilon_of(np.array([LEAST]), np.array([math.sqrt(steps) / sigma]))[0])
    band = ACCOUNTANTS["pld"].curve(Mechanism.constant(1.0, sigma, steps), steps, LEAST)
    assert band.lower is not None
    assert band.lower[0] <= exact * (1 + 1e-9)
    assert band.epsilon[0] >= exact * (1 - 1e-9)


def test_the_risks_are_numbers_there() -> None:
    found = risks_of(tradeoff_bounds(Mechanism.constant(0.01, 2.0, 200)), LEAST)
    assert 0 < found.mu.lower <= found.mu.upper < math.inf
    assert 0.5 < found.sure <= 1.0


TOO_SMALL = 1e-320
CALLS: dict[str, Callable[[], object]] = {
    **{name: (lambda a=a: a.curve(MECHANISMS[0], 1, TOO_SMALL)) for name, a in ACCOUNTANTS.items()},
    "profile": lambda: ACCOUNTANTS["rdp"].profile(MECHANISMS[0], [1e-5, TOO_SMALL]),
    "epsilon target": lambda: EpsilonTarget(1.0, TOO_SMALL),
    "mu target": lambda: MuTarget(1.0, TOO_SMALL),
    "less noise": lambda: same_epsilon(0.01, 1.0, 10, TOO_SMALL),
    "risks": lambda: risks_of(tradeoff_bounds(Mechanism.constant(0.01, 2.0, 200)), TOO_SMALL),
    "run": lambda: RunConfig(delta=TOO_SMALL),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_everything_that_takes_a_delta_refuses_a_smaller_one_by_name(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"^Expected delta=1e-320 to be at least 1e-60: "):
        call()


@pytest.mark.parametrize("accountant", ["rdp", "pld", "gdp"])
def test_a_mu_is_read_at_the_smallest_delta(accountant: str) -> None:
    reading = MuTarget(1.0, LEAST).reading(ACCOUNTANTS[accountant], Mechanism.constant(1.0, 2.0, 4))  # exactly 1-GDP
    assert 1 - 1e-3 <= reading.value < math.inf  # loose, but not below
    assert (reading.lower or 0.0) <= 1.0


@pytest.mark.parametrize("command", ["epsilon", "tradeoff", "calibrate", "train"])
def test_every_command_refuses_a_smaller_one_before_it_does_anything(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path))
    mechanism = ["--q", ".01", "--sigma", "2", "--steps", "200"]
    more = {"train": ["--model", "mlp"], "calibrate": [*mechanism[:2], *mechanism[4:], "--solve", "sigma"]}
    target = ["--target-epsilon", "3"] if command == "calibrate" else []
    assert main([command, *more.get(command, mechanism), *target, "--delta", "1e-320"]) == 2
    assert "Expected delta=1e-320 to be at least 1e-60: " in capsys.readouterr().err
    assert not any(tmp_path.rglob("*"))
