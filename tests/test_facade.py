"""The names that `import dpcore` gives, what importing them costs, and the page about them."""

import ast
import doctest
import inspect
import json
import math
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

import dpcore
from dpcore.privacy.beside import Beside
from dpcore.privacy.calibration.solve import solve
from dpcore.privacy.calibration.targets import (
    AdvantageTarget,
    EpsilonTarget,
    ErrorTarget,
    MuTarget,
)
from dpcore.privacy.mechanism import Kind
from dpcore.privacy.sampling import sampler_of
from dpcore.privacy.sampling.base import tradeoff_band
from tests.api_page import GROUPS, PAGE, page
from tests.reference import gaussian_delta

ROOT = Path(__file__).parents[1]
WHOLE = dpcore.Mechanism.constant(q=0.01, sigma=4.0, steps=1000)
ONE_GDP = dpcore.Mechanism.constant(q=1.0, sigma=2.0, steps=4)
KNOWN = {"q": 0.01, "steps": 1000}


def test_every_name_is_there_and_no_other() -> None:
    assert dir(dpcore) == sorted(dpcore.__all__)
    assert all(getattr(dpcore, name) is not None for name in dir(dpcore))
    with pytest.raises(AttributeError, match="sigmas"):
        _ = dpcore.sigmas  # type: ignore[attr-defined]


def test_type_checkers_see_the_same_names_from_the_same_modules() -> None:
    tree = ast.parse((ROOT / "dpcore" / "__init__.pyi").read_text())
    told = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            told |= {alias.name: node.module for alias in node.names}
    assert told == dpcore.HOME_OF  # type: ignore[attr-defined]


def test_every_public_call_is_typed_and_says_its_errors_source_and_an_example() -> None:
    for name in set(dir(dpcore)) - {"ACCOUNTANTS", "SAMPLERS"}:
        found = getattr(dpcore, name)
        words = inspect.getdoc(found) or ""
        assert ">>>" in words, name
        assert "Source:" in words, name
        if name != "Reading":
            assert "rrors:" in words, name
        if inspect.isfunction(found):
            for each in inspect.signature(found).parameters.values():
                assert each.annotation not in (inspect.Parameter.empty, "Any"), (name, each)


def test_importing_it_loads_no_array_and_a_first_mechanism_neither_torch_nor_pages() -> None:
    code = """
import sys, json, dpcore
heavy = ("numpy", "scipy", "torch", "streamlit", "plotly", "PIL", "sklearn")
first = [name for name in heavy if name in sys.modules]
float(dpcore.epsilon(dpcore.Mechanism.constant(0.01, 4.0, 100), 1e-5))
dpcore.calibrate_sigma(q=0.01, steps=100, epsilon=1.0, delta=1e-5)
dpcore.judge("epsilon 3 at delta 1e-5")
dpcore.RunConfig
print(json.dumps([first, [name for name in heavy[2:] if name in sys.modules]]))"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == [[], []]


def test_its_numbers_are_those_of_the_accountants() -> None:
    for name, accountant in dpcore.ACCOUNTANTS.items():
        found = dpcore.epsilon(WHOLE, 1e-5, accountant=name)
        assert found == accountant.curve(WHOLE, 1000, 1e-5).last
        assert dpcore.tradeoff(WHOLE, accountant=name).kind is accountant.tradeoff(WHOLE, 1e-9).kind


@pytest.mark.parametrize("sampler", ["fixed_order", "shuffle", "fixed_size", "poisson_group:2"])
def test_a_sampler_answers_every_question_by_its_own_bounds(sampler: str) -> None:
    steps = dpcore.Mechanism.constant(q=0.1, sigma=2.0, steps=40)
    drawn = sampler_of(sampler)
    spent = drawn.curve(0.1, 2.0, 40, 1e-5).last
    assert dpcore.epsilon(steps, 1e-5, sampler=sampler) == spent
    band = tradeoff_band(drawn, 0.1, 2.0, 40)
    error = dpcore.beta(steps, 0.05, sampler=sampler)
    assert error.lower == band.lower.beta(0.05)
    assert float(error) == error.lower
    gained = dpcore.advantage(steps, sampler=sampler)
    assert gained.lower <= gained.value == band.lower.delta(0.0)
    least = dpcore.delta(steps, spent.value, sampler=sampler)
    assert least.lower <= 1e-5 * 1.003
    assert least.value >= 1e-5 * 0.997


def test_delta_is_between_the_ends_that_a_closed_form_lies_between() -> None:
    for epsilon in (0.0, 0.5, 1.0, 3.0, 6.0):
        found = dpcore.delta(ONE_GDP, epsilon)
        exact = float(gaussian_delta(epsilon, 1.0))
        assert found.lower <= exact <= found.value <= 1.003 * exact, epsilon
        assert found.lower > 0.997 * exact
    bound = dpcore.delta(ONE_GDP, 1.0, accountant="rdp")
    assert bound.kind is Kind.UPPER
    assert bound.value > gaussian_delta(1.0, 1.0)
    assert dpcore.epsilon(ONE_GDP, bound.value, accountant="rdp").value <= 1.0


def test_a_readings_float_is_its_safe_side_and_its_text_says_its_kind() -> None:
    cost = dpcore.Reading(1.2345, 1.2, Kind.CERTIFIED)
    error = dpcore.Reading(0.75, 0.7, Kind.CERTIFIED, larger_is_safer=True)
    assert (float(cost), float(error)) == (1.2345, 0.7)
    assert str(cost) == "1.20 to 1.24 (proven from both sides)"
    assert str(dpcore.Reading(1.2345, None, Kind.UPPER)) == "at most 1.24 (proven upper bound)"
    assert str(dpcore.Reading(1.2345, None, Kind.APPROXIMATE)).startswith("1.23 (approximation")
    assert str(dpcore.Reading(1.2345, None, Kind.CLAIMED)).startswith("1.23 (claimed")
    assert (
        str(dpcore.Reading(math.inf, 7.0, Kind.CERTIFIED, "Why.")) == "at least 7.00, proven. Why."
    )
    assert str(dpcore.Reading(math.inf, None, Kind.UPPER, "Why.")) == "no number. Why."
    assert "CERTIFIED" in repr(cost)
    trivial = dpcore.Reading(0.9, None, Kind.UPPER, larger_is_safer=True)
    assert float(trivial) == 0.0  # nothing is promised


def test_phases_add_up_as_all_their_steps_do() -> None:
    whole = dpcore.Mechanism.constant(0.01, 4.0, 600) + dpcore.Mechanism.constant(0.01, 4.0, 400)
    assert whole == WHOLE
    two = WHOLE + dpcore.Mechanism.constant(0.02, 2.0, 50)
    assert [each.count for each in two.releases] == [1000, 50]
    assert float(dpcore.epsilon(two, 1e-5)) > float(dpcore.epsilon(WHOLE, 1e-5))
    with pytest.raises(TypeError):
        _ = WHOLE + 1  # type: ignore[operator]


def test_a_calibration_is_that_of_its_target() -> None:
    for asked, target in (
        ({"epsilon": 2.0, "delta": 1e-5}, EpsilonTarget(2.0, 1e-5)),
        ({"advantage": 0.2}, AdvantageTarget(0.2)),
        ({"alpha": 0.05, "beta": 0.8}, ErrorTarget(1 - 0.8, 0.05)),
        ({"mu": 0.6, "delta": 1e-5}, MuTarget(0.6, 1e-5)),
    ):
        found = dpcore.calibrate_sigma(**KNOWN, **asked, accountant="gdp")
        assert found == solve("sigma", target, **KNOWN, accountant="gdp"), target


def test_errors_of_attackers_are_kept_and_nearly_used_up() -> None:
    found = dpcore.calibrate_sigma(**KNOWN, alpha=0.05, beta=0.9)
    assert 0.9 <= float(dpcore.beta(found.mechanism, 0.05)) < 0.9002
    most = dpcore.calibrate_steps(q=0.01, sigma=2.0, alpha=0.05, beta=0.9)
    assert float(dpcore.beta(most.mechanism, 0.05)) >= 0.9
    beyond = dpcore.Mechanism.constant(0.01, 2.0, int(most.value) + 1)
    assert float(dpcore.beta(beyond, 0.05)) < 0.9


@pytest.mark.parametrize("accountant", ["pld", "rdp", "gdp"])
def test_what_was_spent_before_is_counted_in_the_same_product(accountant: str) -> None:
    first = dpcore.Mechanism.constant(q=0.02, sigma=1.5, steps=300)
    asked = {"epsilon": 3.0, "delta": 1e-5, "spent": first, "accountant": accountant}
    found = dpcore.calibrate_sigma(**KNOWN, **asked)
    whole = first + dpcore.Mechanism.constant(0.01, found.value, 1000)
    assert dpcore.epsilon(whole, 1e-5, accountant=accountant) == found.reading
    assert 2.99 < found.reading.value <= 3.0
    assert "includes 300 steps" in found.note
    alone = dpcore.calibrate_sigma(**KNOWN, epsilon=3.0, delta=1e-5, accountant=accountant)
    assert found.value > alone.value
    most = dpcore.calibrate_steps(q=0.01, sigma=2.0, **asked)
    for steps, keeps in ((most.value, True), (most.beyond, False)):
        longer = first + dpcore.Mechanism.constant(0.01, 2.0, int(steps))
        cost = dpcore.epsilon(longer, 1e-5, accountant=accountant).value
        assert (cost <= 3.0) is keeps
    batch = dpcore.calibrate_batch(examples=10_000, sigma=4.0, steps=500, **asked)
    larger = first + dpcore.Mechanism.constant((batch.value + 1) / 10_000, 4.0, 500)
    assert dpcore.epsilon(larger, 1e-5, accountant=accountant).value > 3.0


def test_the_best_of_several_runs_after_an_earlier_stage_counts_that_stage_once() -> None:
    first = dpcore.Mechanism.constant(q=0.02, sigma=1.5, steps=300)
    found = dpcore.calibrate_sigma(**KNOWN, epsilon=3.0, delta=1e-5, spent=first, best_of=5)
    whole = first + dpcore.Mechanism.constant(0.01, found.value, 5000)
    assert dpcore.epsilon(whole, 1e-5).value == found.reading.value
    one = first + dpcore.Mechanism.constant(0.01, found.value, 1000)
    assert dpcore.epsilon(one, 1e-5).lower == found.reading.lower
    with pytest.raises(ValueError, match="fixed number of runs beside an earlier"):
        dpcore.calibrate_sigma(**KNOWN, epsilon=3.0, delta=1e-5, spent=first, best_of="geometric:5")


def test_releases_beside_the_steps_are_counted_in_every_number() -> None:
    others = [dpcore.Laplace(4.0), dpcore.DiscreteGaussian(6.0, count=2)]
    whole = ONE_GDP + others[0] + others[1]
    assert ONE_GDP + (ONE_GDP + others[0]) == (ONE_GDP + ONE_GDP) + others[0]
    spent = dpcore.epsilon(whole, 1e-5)
    assert spent == Beside(others).spent(ONE_GDP, 1e-5)
    least = dpcore.delta(whole, spent.value)
    assert least.value <= 1e-5 * 1.01
    gained = dpcore.advantage(whole)
    assert 0 < gained.lower <= gained.value < 1
    assert gained.value > dpcore.advantage(ONE_GDP).value
    error = dpcore.beta(whole, 0.05)
    assert 0 < float(error) <= error.value < float(dpcore.beta(ONE_GDP, 0.05))
    unproven = {"accountant": "rdp"}, {"sampler": "shuffle"}, {"best_of": 2}
    for asked in unproven:
        with pytest.raises(ValueError, match="not Gaussian"):
            dpcore.epsilon(whole, 1e-5, **asked)


def test_a_stage_that_was_not_all_gaussian_is_counted_before_the_next_one() -> None:
    first = dpcore.Mechanism.constant(q=0.02, sigma=1.5, steps=300) + dpcore.Guarantee(0.5, 1e-7)
    asked = {"epsilon": 3.0, "delta": 1e-5, "spent": first}
    found = dpcore.calibrate_sigma(**KNOWN, **asked)
    whole = first + dpcore.Mechanism.constant(0.01, found.value, 1000)
    assert dpcore.epsilon(whole, 1e-5) == found.reading
    assert 2.98 < found.reading.value <= 3.0
    bare = dpcore.calibrate_sigma(**KNOWN, **{**asked, "spent": first.mechanism})
    assert found.value > bare.value
    too_much = first + dpcore.Laplace(0.3)
    with pytest.raises(ValueError, match="already costs epsilon"):
        dpcore.calibrate_sigma(**KNOWN, epsilon=3.0, delta=1e-5, spent=too_much)


def test_a_budget_that_is_spent_already_is_said() -> None:
    first = dpcore.Mechanism.constant(q=0.02, sigma=0.7, steps=300)
    with pytest.raises(
        ValueError, match=r"released before already costs epsilon=.* above epsilon=1"
    ):
        dpcore.calibrate_sigma(**KNOWN, epsilon=1.0, delta=1e-5, spent=first)
    with pytest.raises(ValueError, match=r"costs power=.*: lower beta"):
        dpcore.calibrate_sigma(**KNOWN, alpha=0.05, beta=0.9, spent=first)


def test_a_sampler_is_calibrated_for_every_target() -> None:
    for sampler, asked in product(
        ("fixed_order", "shuffle"),
        ({"epsilon": 3.0, "delta": 1e-5}, {"advantage": 0.3}, {"alpha": 0.05, "beta": 0.6}),
    ):
        found = dpcore.calibrate_sigma(q=0.1, steps=20, sampler=sampler, **asked)
        assert found.accountant == sampler
        assert found.reading.value <= found.target.size
        batch = dpcore.calibrate_batch(examples=500, sigma=4.0, steps=20, sampler=sampler, **asked)
        assert batch.reading.value <= batch.target.size


def test_what_is_wrong_is_named() -> None:
    cases = {
        "exactly one of epsilon, advantage, beta, mu as the target; found none": {},
        "found epsilon and mu": {"epsilon": 1.0, "mu": 1.0, "delta": 1e-5},
        "Give delta with the target epsilon": {"epsilon": 1.0},
        "Give alpha with the target beta": {"beta": 0.9},
        "below 1 - alpha": {"beta": 0.99, "alpha": 0.05},
        "mu=0": {"mu": 0.0, "delta": 1e-5},
        "no best_of with the target mu": {"mu": 1.0, "delta": 1e-5, "best_of": 3},
        "no spent with sampler='shuffle'": {"advantage": 0.1, "sampler": "shuffle", "spent": WHOLE},
        "no recipe with sampler": {
            "advantage": 0.1,
            "sampler": "shuffle",
            "recipe": dpcore.Recipe("step", 0.7),
        },
        "accountant='pld' with sampler='shuffle'": {
            "advantage": 0.1,
            "sampler": "shuffle",
            "accountant": "rdp",
        },
        "no best_of with sampler": {
            "epsilon": 1.0,
            "delta": 1e-5,
            "sampler": "shuffle",
            "best_of": 2,
        },
    }
    for message, asked in cases.items():
        with pytest.raises(ValueError, match=message):
            dpcore.calibrate_sigma(**KNOWN, **asked)
    with pytest.raises(ValueError, match="accountant='tarot'"):
        dpcore.epsilon(WHOLE, 1e-5, accountant="tarot")
    with pytest.raises(ValueError, match="epsilon=-1"):
        dpcore.delta(WHOLE, -1)
    with pytest.raises(ValueError, match="alpha=2"):
        dpcore.beta(WHOLE, 2)
    with pytest.raises(ValueError, match="steps that are all alike"):
        dpcore.epsilon(WHOLE + ONE_GDP, 1e-5, sampler="shuffle")


def test_the_page_of_the_library_is_made_from_it() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.api_page"
    named = [name for names in GROUPS.values() for name in names]
    assert sorted(named) == dir(dpcore)


def test_the_examples_of_that_page_are_right() -> None:
    known = {name: getattr(dpcore, name) for name in dir(dpcore)}
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, globs=known)
    assert tried > 30
    assert failed == 0
