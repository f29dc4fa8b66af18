"""Budgets other than epsilon, the same epsilon with less noise, and budgets that make no sense or
cannot be kept.
"""

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from riskcal.calibration.dpsgd import get_advantage_for_dpsgd
from scipy.special import erf

from dpcore.privacy import renyi
from dpcore.privacy.accountants import ACCOUNTANTS, Kind
from dpcore.privacy.accountants.pld import Pld
from dpcore.privacy.calibration.solve import same_epsilon, solve, warnings
from dpcore.privacy.calibration.targets import AdvantageTarget, EpsilonTarget, MuTarget, Target
from dpcore.privacy.mechanism import Mechanism, Reading
from dpcore.privacy.report.verdict import judged
from dpcore.privacy.schedule import Recipe
from tests import golden
from tests.reference import mu_poisson

ACCOUNTANT_NAMES = list(ACCOUNTANTS)
PLAIN = Mechanism.constant(1.0, 2.0, 4)  # exactly 1-GDP
EXACT = {"advantage": float(erf(1 / math.sqrt(8))), "mu": 1.0}
TARGETS = (AdvantageTarget(0.2), MuTarget(0.6, 1e-5))
BUDGET = EpsilonTarget(3.0, 1e-5)


def test_every_accountant_grants_an_advantage_and_a_mu() -> None:
    for target, name in product(TARGETS, ACCOUNTANT_NAMES):
        for answer in (
            solve("sigma", target, q=0.01, steps=1000, accountant=name),
            solve("steps", target, q=0.01, sigma=8.0, accountant=name),
            solve("q", target, sigma=4.0, steps=100, accountant=name),
        ):
            again = target.spent_by(ACCOUNTANTS[name], answer.mechanism)
            assert again == answer.reading, (target, name)
            assert again.value <= target.size, (target, name)
            assert again.value >= 0.99 * target.size, (target, name)
            assert (again.lower is not None) == (name == "pld"), (target, name)


def test_no_bound_is_below_the_exact_number_of_a_plain_gaussian() -> None:
    for target, name in product(TARGETS, ACCOUNTANT_NAMES):
        reading, exact = target.spent_by(ACCOUNTANTS[name], PLAIN), EXACT[target.word]
        if reading.kind in (Kind.UPPER, Kind.CERTIFIED):
            assert reading.value >= exact, (target, name)
        if reading.lower is not None:
            assert reading.lower <= exact, (target, name)
            assert reading.value - reading.lower < 0.01 * exact, (target, name)


@pytest.mark.parametrize(("q", "sigma", "steps"), [(0.01, 1.5, 1000), (0.004, 0.8, 2000)])
def test_the_certified_advantage_holds_that_of_riskcal(q: float, sigma: float, steps: int) -> None:
    peer = get_advantage_for_dpsgd(noise_multiplier=sigma, sample_rate=q, num_steps=steps)
    reading = AdvantageTarget(0.1).spent_by(ACCOUNTANTS["pld"], Mechanism.constant(q, sigma, steps))
    assert reading.lower <= peer * (1 + 1e-6)
    assert peer <= reading.value * 1.002


def test_a_mu_by_the_central_limit_is_its_closed_form() -> None:
    answer = solve("sigma", MuTarget(0.5, 1e-5), q=0.01, steps=10_000, accountant="gdp")
    assert answer.reading.value == pytest.approx(mu_poisson(0.01, answer.value, 10_000))
    assert answer.value == pytest.approx(math.log1p(0.25) ** -0.5, rel=1e-3)


@pytest.mark.parametrize("row", golden.SAME_EPSILON, ids=str)
def test_less_noise_at_the_same_epsilon_is_the_papers(row: golden.SameNoise) -> None:
    steps = row.epochs / golden.SAME_EPSILON_Q
    # Fractional orders and the classic conversion, as the paper computed.
    orders = renyi.ORDERS[renyi.ORDERS <= 99]
    total = steps * renyi.log_moments(golden.SAME_EPSILON_Q, row.sigma)[None, renyi.ORDERS <= 99]
    promised = float(renyi.epsilon_classic(total, orders, np.array([1e-5]))[0])
    assert promised == pytest.approx(row.epsilon, abs=golden.SAME_EPSILON_MOMENTS_TOLERANCE)
    answer = solve(
        "sigma",
        EpsilonTarget(row.epsilon, 1e-5),
        q=golden.SAME_EPSILON_Q,
        steps=round(steps),
        accountant="gdp",
    )
    assert mu_poisson(golden.SAME_EPSILON_Q, answer.value, steps) == pytest.approx(
        row.mu, abs=5.1e-3
    )
    if row.less is not None:
        assert answer.value == pytest.approx(row.less, abs=5e-3)


def test_the_certified_accountant_allows_less_than_the_central_limit_claims() -> None:
    promise, (clt, certified) = same_epsilon(golden.SAME_EPSILON_Q, 1.3, 4688, 1e-5)
    assert round(clt.value, 2) == 1.06
    assert promise.kind is Kind.UPPER
    assert clt.value < certified.value < 1.3
    assert certified.reading.value <= promise.value
    there = BUDGET.spent_by(ACCOUNTANTS["pld"], clt.mechanism)
    assert there.lower > promise.value  # the central limit's sigma breaks the promise


BAD: list[tuple[Callable[[], object], str]] = [
    *[
        (lambda value=value: EpsilonTarget(value, 1e-5), f"epsilon={value!r}")
        for value in (0.0, -1.0, math.nan, math.inf, -math.inf)
    ],
    *[
        (lambda value=value: AdvantageTarget(value), f"advantage={value!r}")
        for value in (0.0, -0.1, 1.0, math.nan)
    ],
    *[
        (lambda value=value: MuTarget(value, 1e-5), f"mu={value!r}")
        for value in (0.0, -1.0, math.nan, math.inf, 9.0)
    ],
    *[
        (lambda value=value: EpsilonTarget(1.0, value), f"delta={value!r} to be above 0")
        for value in (0.0, 1.0, -1e-5)
    ],
    (lambda: solve("sigma", BUDGET, q=1.5, steps=10), "q=1.5 to be above 0 and at most 1"),
    (lambda: solve("sigma", BUDGET, q=0.1, steps=0), "steps=0"),
    (
        lambda: solve("sigma", BUDGET, q=0.1, steps=10, accountant="abadi"),
        "accountant='abadi' to be one of",
    ),
    (lambda: solve("sigma", BUDGET, q=0.1, steps=10, examples=0), "examples=0"),
    (lambda: solve("steps", BUDGET, q=0.1, sigma=-2.0), "sigma=-2.0"),
    (lambda: solve("q", BUDGET, sigma=0.0, steps=10), "sigma=0.0"),
    (lambda: solve("q", BUDGET, sigma=1.0, steps=0), "steps=0"),
    (lambda: solve("batch", BUDGET, examples=0, sigma=1.0, steps=10), "examples=0"),
    (lambda: Recipe("cosine"), "schedule='cosine' to be one of"),
    (lambda: Recipe("step", -1.0), "rate=-1.0"),
    (lambda: solve("sigma", BUDGET, q=0.1, steps=100, recipe=Recipe("linear", 0.5)), "rate=0.5"),
    (
        lambda: solve("sigma", BUDGET, q=0.1, steps=10_000, recipe=Recipe("time", 0.5, 1)),
        "level_steps=1",
    ),
    (lambda: same_epsilon(0.01, 1.0, 10, 1e-5, promised_by="abadi"), "promised_by='abadi'"),
    (lambda: same_epsilon(0.9, 5.0, 10, 1e-5, promised_by="zcdp"), "it gives inf"),
]


def test_bad_input_names_the_argument_and_its_value() -> None:
    for call, words in BAD:
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            call()
        assert words in str(caught.value), (call, words)


def test_a_target_out_of_reach_says_what_to_change() -> None:
    with pytest.raises(
        ValueError,
        match=r"^No sigma below 1000 reaches epsilon=0.01 in 40000 steps; lower the steps ",
    ):
        solve("sigma", EpsilonTarget(0.01, 1e-5), q=1.0, steps=40_000)
    with pytest.raises(
        ValueError,
        match=r"^One step already costs epsilon=\d.*; raise sigma, lower q, or raise epsil",
    ):
        solve("steps", EpsilonTarget(0.1, 1e-5), q=0.5, sigma=1.0)
    with pytest.raises(
        ValueError, match=r"^Even a batch of 1 costs epsilon=\d.* raise sigma, lower the steps, or "
    ):
        solve("batch", EpsilonTarget(0.1, 1e-9), examples=10, sigma=0.5, steps=100)
    with pytest.raises(ValueError, match=r"^Even q=1e-09 costs advantage=.* or raise advantage\."):
        solve("q", AdvantageTarget(1e-9), sigma=0.3, steps=10_000, accountant="mma")


def test_where_there_is_no_number_the_reason_and_the_way_out_are_told() -> None:
    with pytest.raises(
        ValueError, match="accountant zcdp has no number: The sampling form does not exist here"
    ):
        solve("sigma", EpsilonTarget(1e-3, 1e-9), q=0.5, steps=1000, accountant="zcdp")
    for (accountant, reason), solved in product(
        [("pld", "sigma=0.01 is below 0.05"), ("gdp", "e^(1/sigma^2)")], ["steps", "q", "batch"]
    ):
        with pytest.raises(ValueError, match="has no number") as caught:
            solve(solved, BUDGET, q=0.01, sigma=0.01, steps=10, examples=100, accountant=accountant)
        text = str(caught.value)
        assert text.startswith(f"The accountant {accountant} has no number: {reason}"), (
            accountant,
            reason,
            solved,
        )
        assert text.endswith(" Raise sigma."), (accountant, reason, solved)
        assert "inf" not in text, (accountant, reason, solved)
    with pytest.raises(ValueError, match="it needs q sigma < 1") as caught:
        solve("steps", BUDGET, q=0.5, sigma=4.0, accountant="zcdp")
    assert "aise sigma" not in str(caught.value)


def test_a_quantity_is_solved_by_its_name_without_its_own_value() -> None:
    known = {"q": 0.01, "sigma": 4.0, "steps": 1000}
    for solved in ("sigma", "steps", "q", "batch"):
        own = "q" if solved == "batch" else solved
        others = {name: value for name, value in known.items() if name != own} | {"examples": 6000}
        answer = solve(solved, BUDGET, **others, accountant="rdp")
        assert solve(solved, BUDGET, **others, **{own: 0}, accountant="rdp").value == answer.value
    with pytest.raises(ValueError, match="solve='epochs' to be one of: sigma, steps, q, batch"):
        solve("epochs", BUDGET, **known)
    with pytest.raises(ValueError, match="Give examples to solve batch"):
        solve("batch", BUDGET, **known)


def test_the_end_of_the_range_is_an_answer_with_a_note() -> None:
    whole = solve("q", EpsilonTarget(50.0, 1e-5), sigma=50.0, steps=1)
    assert (whole.value, whole.beyond) == (1.0, None)
    assert "Even q=1" in whole.note
    assert solve("batch", EpsilonTarget(50.0, 1e-5), examples=77, sigma=50.0, steps=1).value == 77
    short = solve(
        "steps",
        EpsilonTarget(40.0, 1e-5),
        q=0.1,
        sigma=5.0,
        recipe=Recipe("linear", 0.25),
        accountant="rdp",
    )
    assert short.value == 40
    assert "there is no number: Expected rate=0.25" in short.note
    answer = solve("sigma", EpsilonTarget(0.5, 0.01), q=1e-5, steps=1)
    assert answer.value == 0.05
    assert "there is no number: sigma=0.0" in answer.note
    answer = solve("sigma", EpsilonTarget(0.5, 1e-5), q=0.05, steps=50, accountant="zcdp")
    assert answer.reading.value <= 0.5
    assert answer.value * 0.05 < 1


def test_a_delta_above_one_record_and_a_part_of_an_epoch_are_told() -> None:
    answer = solve(
        "sigma", EpsilonTarget(3.0, 1e-3), q=0.01, steps=1000, accountant="rdp", examples=1000
    )
    assert "delta = 0.001 is not below 1/n = 0.001" in answer.note
    assert (
        solve(
            "sigma", EpsilonTarget(3.0, 1e-3), q=0.01, steps=1000, accountant="rdp", examples=999
        ).note
        == ""
    )
    for q, steps, words in [
        (0.01, 150, "150 steps are 1.5 epochs, not a whole number; 1 epoch would be 100 steps."),
        (0.01, 20, "20 steps are 0.2 epochs, not a whole number."),
        (256 / 60000, 2344, ""),  # 10 epochs are 2343.75 steps
        (256 / 60000, 2343, ""),
        (
            256 / 60000,
            2342,
            "2342 steps are 9.99253 epochs, not a whole number; 9 epochs would be 2109 steps.",
        ),
        (0.5, 3, "3 steps are 1.5 epochs, not a whole number; 1 epoch would be 2 steps."),
        (1.0, 7, ""),
        (
            1e-7,
            10_000_002,
            "10000002 steps are 1 epoch, not a whole number; 1 epoch would be 10000000 steps.",
        ),
        (0.01, 100, ""),
    ]:
        assert " ".join(warnings(BUDGET, Mechanism.constant(q, 1.0, steps), None)) == words, (
            q,
            steps,
            words,
        )


@pytest.mark.parametrize(
    ("target", "q", "sigma", "recipe", "last"),
    [
        (AdvantageTarget(0.5), 0.001, 0.1, Recipe("exponential", 0.1, 1), 7),
        (AdvantageTarget(0.777939), 3.38e-5, 1.608, Recipe("exponential", 0.0488, 55), 3960),
        (MuTarget(6.0, 1e-5), 0.001, 0.1, Recipe("exponential", 0.1, 1), 7),
    ],
    ids=["short", "long", "mu"],
)
@pytest.mark.long
def test_past_the_last_number_nothing_is_said_to_overshoot(
    target: Target,
    q: float,
    sigma: float,
    recipe: Recipe,
    last: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Once sigma has fallen below 0.05 nothing is certified, which does not mean that an attacker is
    # always right: q times the number of steps bounds the advantage by 0.008 and 0.14.
    counted, own = [], Pld.own_tradeoff
    monkeypatch.setattr(
        Pld, "own_tradeoff", lambda self, whole: counted.append(whole) or own(self, whole)
    )
    found = solve("steps", target, q=q, sigma=sigma, recipe=recipe)
    assert found.value == last
    assert found.beyond is None
    assert f"Past steps={last} there is no number" in found.note
    assert found.reading.value < target.size
    assert len(counted) <= 4  # each may take seconds where sigma is small and changes often


def test_an_accountant_without_a_number_has_an_infinite_reading_of_every_target() -> None:
    certain = Mechanism.constant(0.5, 0.01, 10)
    for target in (AdvantageTarget(0.5), MuTarget(1.0, 1e-5), EpsilonTarget(1.0, 1e-5)):
        for name in ("pld", "gdp"):
            found = target.spent_by(ACCOUNTANTS[name], certain)
            assert math.isinf(found.value)
            assert found.note
    nothing = Reading(math.inf, None, Kind.UPPER)
    found = judged(nothing, Reading(1.0, 0.99, Kind.CERTIFIED), "mu")
    assert found.text == "Gives no finite mu here."
