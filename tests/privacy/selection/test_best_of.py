"""The best of several runs: against every test of the exact law of the best, closed forms, and
dp-accounting.
"""

import math
from dataclasses import replace
from itertools import product

import mpmath
import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.rdp.rdp_privacy_accountant import RdpAccountant
from scipy.special import ndtr

from dpcore.claims import Claim, Printed, judge
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.accountants.base import Accountant, Curve
from dpcore.privacy.certified import epsilon_bounds
from dpcore.privacy.mechanism import Kind, Mechanism, Release
from dpcore.privacy.selection.best_of import (
    COARSE,
    NumberOfRuns,
    best_of,
    delta_of_one,
    read_runs,
    selected_epsilon,
    shifts,
)
from dpcore.privacy.tradeoff import Gaussian, Pairs, Tradeoff

PLD = ACCOUNTANTS["pld"]
LAWS = [
    "geometric:3",
    "logarithmic:10",
    "negative_binomial:5:-0.5",
    "negative_binomial:5:4",
    "poisson:0.4",
    "poisson:6",
    "binomial:4:5",
    "binomial:10:40",
]


def chances(number: NumberOfRuns, most: int = 1500) -> np.ndarray:
    """P(K = k) for k = 0, 1, .., as the papers define the laws."""
    k = np.arange(most)
    log_factorial = np.cumsum(np.log(np.maximum(k, 1)))
    if number.law == "poisson":
        return np.exp(k * math.log(number.mean) - number.mean - log_factorial)
    if number.law == "binomial":
        n, p = int(number.other), number.mean / number.other
        return np.array([math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(n + 1)])
    shape = {"geometric": 1.0, "logarithmic": 0.0}.get(number.law, number.other)

    def law(gamma: float) -> np.ndarray:
        if shape == 0:
            return np.where(k > 0, (1 - gamma) ** k / np.maximum(k, 1) / -math.log(gamma), 0.0)
        # Binom(k + shape - 1, k).
        steps = np.cumprod(np.append(1.0, (k[:-1] + shape) / (k[:-1] + 1)))
        return np.where(k > 0, steps * (1 - gamma) ** k * gamma**shape / (1 - gamma**shape), 0.0)

    low, high = 1e-3, 1 - 1e-9
    for _ in range(80):
        gamma = (low + high) / 2
        low, high = (gamma, high) if law(gamma) @ k > number.mean else (low, gamma)
    return law(low)


def generating(number: NumberOfRuns, x: np.ndarray) -> np.ndarray:
    """E x^K."""
    law = chances(number)
    return np.polynomial.polynomial.polyval(x, law[: int(np.max(np.flatnonzero(law > 1e-16))) + 1])


def best_law(number: NumberOfRuns, one: np.ndarray) -> np.ndarray:
    """The law of the best of the runs, whose outcomes (n,) are listed from the worst to the best;
    last: no run.
    """
    reached = generating(number, np.append(0.0, np.cumsum(one)))
    return np.append(np.diff(reached), reached[0])


def stick(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    """The hockey-stick divergence of two lists of masses, in the worse direction."""
    return max(np.maximum(a - math.exp(epsilon) * b, 0).sum() for a, b in ((p, q), (q, p)))


def epsilon_at(delta: float, p: np.ndarray, q: np.ndarray) -> float:
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if stick(p, q, middle) > delta else (low, middle)
    return low


@pytest.mark.parametrize("text", LAWS)
def test_no_score_makes_the_best_run_tell_more(text: str) -> None:
    number, generator = read_runs(text), np.random.default_rng(9)
    assert chances(number) @ np.arange(chances(number).size) == pytest.approx(number.mean, rel=1e-6)
    for trial in range(4):
        p, q = generator.dirichlet(np.full(6, generator.choice([0.3, 1, 5])), 2) * 0.999 + 0.001 / 6
        # The best has the largest ratio.
        order = np.argsort(p / q) if trial % 2 else generator.permutation(6)
        known = np.linspace(0, 12, 400)
        one = Pairs(known, [stick(p, q, each) for each in known])
        for delta in (1e-6, 1e-3, 0.05):
            exact = epsilon_at(delta, best_law(number, p[order]), best_law(number, q[order]))
            assert exact <= selected_epsilon(number, one, delta) * (1 + 1e-9), (trial, delta)


@pytest.mark.parametrize("text", LAWS)
def test_the_lines_of_coarse_cells_lie_above_every_test(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpcore.privacy.selection.best_of.CELLS", 30)
    number, generator = read_runs(text), np.random.default_rng(4)
    law = chances(number)
    u, r = generator.uniform(0, 1, (2000, 1)) ** 4, generator.uniform(0, 3, 50)
    slopes = np.polynomial.polynomial.polyval(1 - u, np.arange(1, law.size) * law[1:])  # F'(1 - u)
    np.testing.assert_allclose(number.weight(u), slopes / number.mean, rtol=1e-5, atol=1e-9)
    assert number.some == pytest.approx(1 - law[0], abs=1e-12)
    one = Gaussian(1.0)
    share, log_ratio = shifts(number, one)
    assert share.sum() == pytest.approx(1)
    above = (share * np.maximum(r[:, None] - np.exp(log_ratio), 0)).sum(axis=1)
    assert np.all(number.weight(u) * r - number.weight(one.power(u)) <= above + 1e-12)


@pytest.mark.parametrize("text", [*LAWS, "fixed"])
@pytest.mark.parametrize("mu", [0.3, 1.0, 2.5])
def test_the_largest_of_gaussian_runs_is_covered_and_not_by_much_more(text: str, mu: float) -> None:
    """The score is the run's own output: its law is that of the largest or the smallest of K normal
    numbers.
    """
    number, x = read_runs("3" if text == "fixed" else text), np.linspace(-12, 15, 8001)
    laws = []
    for mean in (0.0, mu):
        below = ndtr(x - mean)
        reached = below**3 if text == "fixed" else generating(number, below)
        laws.append(np.append(np.diff(reached), reached[0]))
    exact = epsilon_at(1e-4, *laws)
    found = best_of(number, [Mechanism.constant(1.0, 1 / mu, 1)], PLD, 1e-4)
    alone = epsilon_at(1e-4, *(np.diff(ndtr(x - mean)) for mean in (0.0, mu)))
    assert exact <= found.value
    if number.mean > 1:
        assert found.lower <= alone + 1e-3
        assert alone < found.value < 3 * exact


def paper(one: Tradeoff, gamma: float, delta: float) -> float:
    """Koskela, Redberg and Wang 2024 for a geometric number: one shift, 2 ln(e^e1 + (1 -
    gamma)/gamma delta(e1)).
    """
    e1 = np.linspace(0, 20, 4001)
    shift = 2 * np.min(np.log(np.exp(e1) + (1 - gamma) / gamma * one.delta(e1)))
    e = np.linspace(0, 60, 60_001)
    return float(shift + e[np.argmax(one.delta(e) <= delta * gamma)])


@pytest.mark.parametrize(("mu", "mean"), [(0.5, 3), (1.0, 10), (1.0, 100), (3.0, 10)])
def test_it_is_the_published_bound_or_less(mu: float, mean: int) -> None:
    published = paper(Gaussian(mu), 1 / mean, 1e-5)
    found = selected_epsilon(NumberOfRuns("geometric", mean), Gaussian(mu), 1e-5)
    assert 0.85 * published < found <= published + 1e-3


def test_runs_without_delta_cost_at_most_the_multiple_that_is_proven_for_them() -> None:
    """Epsilon-DP becomes (2 + shape) epsilon: Liu and Talwar 2019, Theorem 3.2; Papernot and
    Steinke 2022.
    """
    for epsilon, (text, multiple) in product(
        [0.1, 1.0], [("geometric:50", 3), ("logarithmic:50", 2)]
    ):
        one = Pairs([epsilon], [0.0])
        assert selected_epsilon(read_runs(text), one, 1e-60) == pytest.approx(
            multiple * epsilon, rel=0.15
        )
        assert selected_epsilon(read_runs(text), one, 1e-60) <= multiple * epsilon + 0.003


@pytest.mark.parametrize(
    ("text", "shape"), [("geometric:10", 1), ("logarithmic:10", 0), ("poisson:10", math.inf)]
)
@pytest.mark.parametrize(
    ("q", "sigma", "steps"), [(512 / 60_000, 1.068, 4680), (0.01, 4.0, 10_000), (1.0, 1.0, 1)]
)
def test_the_reference_library_shows_more_than_the_profile_and_one_run_less(
    text: str, shape: float, q: float, sigma: float, steps: int
) -> None:
    step = dp_event.PoissonSampledDpEvent(q, dp_event.GaussianDpEvent(sigma))
    accountant = RdpAccountant()
    accountant.compose(
        dp_event.RepeatAndSelectDpEvent(dp_event.SelfComposedDpEvent(step, steps), 10, shape)
    )
    whole = Mechanism.constant(q, sigma, steps)
    found = best_of(read_runs(text), [whole], PLD, 1e-5)
    assert found.lower < found.value < accountant.get_epsilon(1e-5)
    assert found.value > 1.2 * PLD.spent(whole, 1e-5).value
    assert best_of(read_runs(text), [whole], ACCOUNTANTS["rdp"], 1e-5).value > found.value


def test_a_fixed_number_is_the_composition_of_all_runs_of_all_settings() -> None:
    one, other = (
        Mechanism.constant(0.01, 1.0, 500),
        Mechanism((Release(0.02, 2.0, 100), Release(0.5, 9.0, 7))),
    )
    found = best_of(read_runs("4"), [one, other], PLD, 1e-5)
    together = Mechanism((Release(0.01, 1.0, 2000), Release(0.02, 2.0, 400), Release(0.5, 9.0, 28)))
    assert found.value == PLD.spent(together, 1e-5).value
    assert found.lower == max(PLD.spent(each, 1e-5).lower for each in (one, other))
    assert best_of(read_runs("1"), [one], PLD, 1e-5).value == PLD.spent(one, 1e-5).value
    # With a score that leaves all to chance.
    some = best_of(read_runs("poisson:0.4"), [one], PLD, 1e-5)
    exact = PLD.spent(one, 1e-5 / -math.expm1(-0.4)).lower
    assert exact * (1 - 1e-8) < some.lower < exact < PLD.spent(one, 1e-5).lower


def test_a_random_setting_costs_no_more_than_the_worst_of_them() -> None:
    settings = [Mechanism.constant(0.01, sigma, 500) for sigma in (0.8, 1.0, 2.0)]
    number = read_runs("geometric:12")
    worst = best_of(number, settings[:1], PLD, 1e-5).value
    found = best_of(number, settings, PLD, 1e-5)
    assert found.value == pytest.approx(worst, rel=1e-6)
    assert found.lower is None, "the setting with the largest bound may never have been picked"
    assert best_of(number, settings[2:], PLD, 1e-5).value < worst


def test_where_one_run_has_no_number_the_best_has_none() -> None:
    found = best_of(read_runs("geometric:3"), [Mechanism.constant(0.01, 0.01, 100)], PLD, 1e-5)
    assert math.isinf(found.value)
    assert found.lower is not None
    assert found.lower > 1000
    assert "sigma=0.01" in found.note
    claimed = best_of(
        read_runs("geometric:3"), [Mechanism.constant(0.01, 0.5, 100)], ACCOUNTANTS["mma"], 1e-5
    )
    assert claimed.kind is Kind.CLAIMED
    assert "conditions" in claimed.note
    assert (
        best_of(read_runs("poisson:1e-6"), [Mechanism.constant(1.0, 1.0, 1)], PLD, 1e-5).value == 0
    )


TINY = [
    "binomial:6.380468405983295e-14:589",
    "binomial:9.99e-6:700000000",
    "binomial:9.99e-8:500000001",
    "binomial:1e-8:1000000000",
    "binomial:3:4",
    "binomial:19.999999999999996:20",
    "binomial:99.5:100",
    "poisson:1e-17",
    "poisson:1e-9",
    "poisson:0.3",
    "poisson:80",
]


@pytest.mark.parametrize("text", TINY)
def test_the_chance_of_any_run_has_all_its_digits(text: str) -> None:
    """Against 60 digits, and delta of one run is never too small."""
    number = read_runs(text)
    with mpmath.workdps(60):
        mean, trials = mpmath.mpf(number.mean), mpmath.mpf(number.other or 1)
        none = mpmath.exp(-mean) if number.law == "poisson" else (1 - mean / trials) ** trials
        assert abs(number.some / (1 - none) - 1) < 1e-14
        for share in (1e-9, 0.196689, 1 - 1e-10, 1.0, 7.0):
            delta = min(float(share * (1 - none)), 1 - 1e-12)
            exact, found = mpmath.mpf(delta) / (1 - none), delta_of_one(number, delta)
            assert found >= min(exact, 1)
            assert found <= exact * (1 + 2e-9) or share > 0.999


@pytest.mark.parametrize("text", TINY[:4] + TINY[7:10])
@pytest.mark.parametrize("share", [1e-3, 0.196689, 0.9])
def test_the_ends_of_hardly_any_run_are_those_of_one(text: str, share: float) -> None:
    """With a tiny mean nearly all that is published is one run: epsilon is that of one at delta/P(K
    > 0), by mpmath.
    """
    number = read_runs(text)
    with mpmath.workdps(40):
        exact = gaussian_epsilon(mpmath.mpf(share))
    delta = share * number.some
    found = best_of(number, [Mechanism.constant(1.0, 1.0, 1)], PLD, max(delta, 1e-60))
    assert found.note == ""
    assert found.lower <= exact * (1 + 1e-9)
    assert exact * (1 - 1e-5) - 1e-6 < found.lower
    assert exact <= found.value * (1 + 1e-9)
    if number.mean < 1e-6:
        assert found.value < exact * 1.005 + 2e-3


def gaussian_epsilon(delta: mpmath.mpf) -> float:
    """Epsilon of one Gaussian release with mu = 1, from its closed form."""
    half = mpmath.mpf(1) / 2

    def excess(epsilon: mpmath.mpf) -> mpmath.mpf:
        return (
            mpmath.ncdf(half - epsilon) - mpmath.exp(epsilon) * mpmath.ncdf(-half - epsilon) - delta
        )

    return (
        float(mpmath.findroot(excess, (0, 12), solver="bisect", maxsteps=200))
        if excess(0) > 0
        else 0.0
    )


@pytest.mark.parametrize(
    "text", ["binomial:1e-8:1e9", "binomial:5e-324:1e9", "poisson:1e-17", "poisson:0.5"]
)
def test_where_delta_exceeds_the_chance_of_a_run_the_lower_end_is_0(text: str) -> None:
    """An accountant may prove an epsilon of one run at any delta below 1; the best is mostly not
    there.
    """
    loud = Mechanism.constant(1.0, 0.05, 1)
    for delta in (0.5, 0.9):
        found = best_of(read_runs(text), [loud], Loud(), delta)
        assert (found.lower, found.value, found.note) == (0.0, 0.0, "")
        assert best_of(read_runs(text), [loud], PLD, delta).lower == 0
        judged = judge(
            Claim(Printed("0.1"), delta=delta, q=1.0, sigma=0.05, steps=1, runs=read_runs(text))
        )
        assert judged.standing != "refuted"
    seldom = best_of(read_runs("poisson:0.5"), [loud], Loud(), 0.3)
    assert seldom.lower == 7, "0.3 is below P(K > 0) = 0.39"


class Loud(Accountant):
    """One that proves an epsilon of 7 at every delta."""

    name = title = note = source = caveat = ""
    kind = Kind.CERTIFIED

    def _account(self, mechanism: Mechanism, steps: np.ndarray, delta: np.ndarray) -> Curve:
        return Curve(steps, delta, np.full(steps.shape, 8.0), np.full(steps.shape, 7.0), self.kind)


def test_a_true_claim_of_a_tiny_mean_is_not_called_impossible() -> None:
    number = read_runs("binomial:6.380468405983295e-14:589")
    claim = Claim(
        Printed("0.67"), delta=1.254998841220979e-14, q=1.0, sigma=1.0, steps=1, runs=number
    )
    assert judge(claim).standing == "holds"
    refuted = judge(replace(claim, epsilon=Printed("0.66")))
    assert refuted.standing == "refuted", "epsilon of one run at delta/P(K > 0) is 0.66724"


@pytest.mark.parametrize(
    ("text", "sigma", "steps", "delta"),
    [
        ("negative_binomial:6.689571:0.5", 0.3987239, 63, 0.00622),
        ("poisson:4.48", 0.32, 1_395_161, 3.7e-7),
        ("geometric:3", 0.01, 1, 1e-5),
    ],
)
def test_no_best_is_infinite_without_a_reason(
    text: str, sigma: float, steps: int, delta: float
) -> None:
    whole = Mechanism.constant(1.0, sigma, steps)
    found = best_of(read_runs(text), [whole], PLD, delta)
    assert math.isinf(found.value)
    assert "No epsilon up to 200" in found.note
    claim = Claim(
        Printed("3.0"),
        delta=delta,
        q=1.0,
        sigma=sigma,
        steps=steps,
        sampler="poisson",
        runs=read_runs(text),
    )
    assert any("No epsilon up to 200" in each for each in judge(claim).notes)


def test_where_certified_bounds_take_too_long_the_upper_end_is_that_of_moments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    number, faint = read_runs("geometric:3.5"), Mechanism.constant(1.432e-5, 0.8, 75)
    found = best_of(number, [faint], PLD, 7e-58)
    assert found.note == COARSE
    assert found.kind is Kind.CERTIFIED
    assert found.value == best_of(number, [faint], ACCOUNTANTS["rdp"], 7e-58).value
    assert 8 < found.value < 10, "8.99 by the certified profile, in a minute and a half"
    whole = Mechanism.constant(0.01, 1.0, 500)
    close = best_of(number, [whole], PLD, 1e-5)
    assert close.note == ""
    monkeypatch.setattr(epsilon_bounds, "MOST_WORK", 10)
    coarse = best_of(number, [whole], PLD, 1e-5)
    assert coarse.note == COARSE
    assert close.value < coarse.value == best_of(number, [whole], ACCOUNTANTS["rdp"], 1e-5).value
    assert coarse.lower <= close.lower


def test_no_random_best_crosses_its_ends_or_is_infinite_without_a_reason() -> None:
    generator = np.random.default_rng(46)
    for trial in range(60):
        mean = float(10 ** generator.uniform(-20, 3))
        law = str(
            generator.choice(
                ["poisson", "binomial", "geometric", "logarithmic", "negative_binomial"]
            )
        )
        other = {
            "binomial": int(mean * 10 ** generator.uniform(0.1, 4)) + 2,
            "negative_binomial": 0.5,
        }.get(law, 0.0)
        number = NumberOfRuns(law, mean if law in ("poisson", "binomial") else 1.1 + mean, other)
        whole = Mechanism.constant(
            1.0, float(10 ** generator.uniform(-2, 3)), int(10 ** generator.uniform(0, 6))
        )
        delta = float(10 ** generator.uniform(-60, -0.01))
        for name in ("pld", "rdp", "gdp"):
            found = best_of(number, [whole], ACCOUNTANTS[name], delta)
            assert (found.lower or 0.0) <= found.value, (trial, name)
            assert "cross" not in found.note, (trial, name)
            assert math.isfinite(found.value) or found.note, (trial, name)


def test_a_number_of_runs_is_read_or_refused_with_the_way_to_write_it() -> None:
    for text in (
        "10",
        "geometric:10",
        "logarithmic:1.5",
        "poisson:0.5",
        "negative_binomial:10:-0.5",
        "binomial:10:20",
        "poisson:1e-06",
        "geometric:12345.678",
        "negative_binomial:1.2345678:0.1234567",
        "binomial:10:12345678",
    ):
        assert read_runs(text).text == text
        assert all(number in read_runs(text).phrase for number in text.split(":")[1:])
    for text, words in [
        ("geometric", "such as"),
        ("geometric:x", "such as"),
        ("ten:3", "such as"),
        ("geometric:1", "above 1"),
        ("0", "runs=0"),
        ("2.5", "whole"),
        ("binomial:10", "binomial:10:20"),
        ("binomial:20:20", "below 20"),
        ("negative_binomial:3:-1", "at least -0.5"),
        ("poisson:-1", "above 0"),
        ("geometric:3:4", "such as"),
    ]:
        with pytest.raises(ValueError, match=words):
            read_runs(text)
