"""The names that `import dpcore` gives, and what importing them costs."""

import pytest

import dpcore
from dpcore.privacy.calibration.solve import solve
from dpcore.privacy.calibration.targets import AdvantageTarget, EpsilonTarget, MuTarget

WHOLE = dpcore.Mechanism.constant(q=0.01, sigma=4.0, steps=1000)


def test_every_name_is_there_and_no_other() -> None:
    assert all(getattr(dpcore, name) is not None for name in dpcore.__all__)
    with pytest.raises(AttributeError, match="sigmas"):
        _ = dpcore.sigmas


def test_its_numbers_are_those_of_the_accountants() -> None:
    for name, accountant in dpcore.ACCOUNTANTS.items():
        assert dpcore.epsilon(WHOLE, 1e-5, name) == accountant.curve(WHOLE, 1000, 1e-5).last
        assert dpcore.tradeoff(WHOLE, name).kind is accountant.tradeoff(WHOLE, 1e-9).kind


def test_a_calibration_is_that_of_its_target() -> None:
    for asked, target in (
        ({"target_epsilon": 2.0, "delta": 1e-5}, EpsilonTarget(2.0, 1e-5)),
        ({"target_advantage": 0.2}, AdvantageTarget(0.2)),
        ({"target_mu": 0.6, "delta": 1e-5}, MuTarget(0.6, 1e-5)),
    ):
        found = dpcore.calibrate("sigma", **asked, q=0.01, steps=1000, accountant="gdp")
        assert found == solve("sigma", target, q=0.01, steps=1000, accountant="gdp"), target


def test_what_is_wrong_is_named() -> None:
    cases = {
        "Give exactly one of": {"q": 0.1, "steps": 1},
        "Give delta": {"target_epsilon": 1.0, "q": 0.1, "steps": 1},
        "Give steps to solve sigma": {"target_advantage": 0.1, "q": 0.1},
        "mu=0": {"target_mu": 0.0, "delta": 1e-5, "q": 0.1, "steps": 1},
    }
    for message, asked in cases.items():
        with pytest.raises(ValueError, match=message):
            dpcore.calibrate("sigma", **asked)
    with pytest.raises(ValueError, match="Give examples"):
        dpcore.calibrate("batch", target_advantage=0.1, sigma=1.0, steps=9)
    with pytest.raises(ValueError, match="accountant='tarot'"):
        dpcore.epsilon(WHOLE, 1e-5, "tarot")
