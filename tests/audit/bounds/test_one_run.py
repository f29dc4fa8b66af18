"""Audits in one run, against the sum of the theorem, a linear program, and mechanisms that they
must hold for.
"""

import itertools
import math

import numpy as np
import pytest
from mpmath import mp
from scipy import stats
from scipy.optimize import linprog

from dpcore.audit.bounds.finding import Evidence
from dpcore.audit.bounds.one_run import (
    OPTIONS,
    Guesses,
    attempts,
    audit_one_run,
    one_run_epsilon,
    one_run_p_value,
    options,
    ranked,
)
from dpcore.audit.bounds.one_run_tradeoff import (
    GaussianFamily,
    LeastError,
    NoiseFamily,
    audit_tradeoff,
    rejects,
    strongest,
    tradeoff_p_value,
)
from dpcore.privacy import gaussian
from dpcore.privacy.mechanism import MAX_SIGMA, Mechanism
from dpcore.privacy.tradeoff import Gaussian, Pairs, Tradeoff
from tests.golden import ONE_RUN_MU, ONE_RUN_MU_TOLERANCE

DELTA = 1e-3


def brute(canaries: int, guesses: int, correct: int, epsilon: float, delta: float) -> float:
    law = stats.binom(guesses, math.exp(epsilon) / (1 + math.exp(epsilon)))
    tail = law.sf(correct - 1)
    gaps = [
        sum(law.pmf(w) for w in range(max(correct - i, 0), correct)) / i
        for i in range(1, canaries + 1)
    ]
    return min(1.0, tail + 2 * canaries * delta * max(gaps))


@pytest.mark.parametrize(
    ("canaries", "guesses", "correct"), [(40, 40, 30), (40, 10, 9), (40, 10, 10), (7, 7, 1)]
)
def test_it_is_the_sum_of_the_theorem(canaries: int, guesses: int, correct: int) -> None:
    for epsilon, delta in itertools.product((0.0, 0.4, 2.0), (0.0, 1e-4, 0.02)):
        expected = brute(canaries, guesses, correct, epsilon, delta)
        found = one_run_p_value(canaries, guesses, correct, epsilon, delta)
        assert found == pytest.approx(expected, rel=1e-9), (epsilon, delta)


def tails(canaries: int, epsilon: float, delta: float) -> dict[str, np.ndarray]:
    """P[at least v right] for v = 0 ... m, of mechanisms that are (epsilon, delta)-DP for each
    canary, exactly.
    """
    rate = math.exp(epsilon) / (1 + math.exp(epsilon))
    v = np.arange(canaries + 1)
    response = stats.binom.sf(v - 1, canaries, rate)
    each_told = stats.binom.sf(v - 1, canaries, delta + (1 - delta) * rate)
    all_told = delta + (1 - delta) * response
    # With probability k delta a random k of the canaries are told: each of them with probability
    # delta.
    some = {}
    for told in (2, canaries // 2):
        share = min(1.0, delta * canaries / told)
        lucky = stats.binom.sf(v - told - 1, canaries - told, rate)
        some[f"{told} told"] = share * lucky + (1 - share) * response
    return {"randomized response": response, "each told": each_told, "all told": all_told, **some}


@pytest.mark.parametrize("canaries", [5, 30, 120])
def test_no_mechanism_of_this_epsilon_and_delta_is_right_more_often(canaries: int) -> None:
    for epsilon in (0.0, 0.5, 2.0):
        claimed = [
            one_run_p_value(canaries, canaries, v, epsilon, DELTA) for v in range(canaries + 1)
        ]
        for name, tail in tails(canaries, epsilon, DELTA).items():
            assert np.all(tail <= np.array(claimed) * (1 + 1e-9)), (name, epsilon)


def test_without_delta_randomized_response_is_met_and_another_mechanism_is_right_more() -> None:
    """The test above would see that delta is not charged: without it all that is charged is
    randomized response.
    """
    claimed = np.array([one_run_p_value(30, 30, v, 0.5, 0.0) for v in range(31)])
    np.testing.assert_allclose(claimed, tails(30, 0.5, 0.0)["randomized response"], rtol=1e-9)
    assert np.any(tails(30, 0.5, DELTA)["all told"] > 2 * claimed)


def response(
    generator: np.random.Generator, epsilon: float, canaries: int = 400
) -> tuple[np.ndarray, np.ndarray]:
    """Scores that randomized response of this epsilon gives, with a random number that ranks equal
    ones.
    """
    included = generator.random(canaries) < 0.5
    true = generator.random(canaries) < 1 / (1 + math.exp(-epsilon))
    return np.where(included == true, 1.0, 0.0) + 0.5 * generator.random(canaries), included


@pytest.mark.long
def test_the_bound_fails_no_more_often_than_it_may() -> None:
    fails, epsilon = 0, 1.0
    for seed in range(250):
        found = audit_one_run(
            *response(np.random.default_rng(seed), epsilon), 1e-5, claimed=epsilon
        )
        fails += found.rejected
        assert found.epsilon is not None
        assert found.rejected == (found.epsilon > epsilon) or abs(found.epsilon - epsilon) < 1e-3
    assert stats.binomtest(fails, 250, 0.05, alternative="greater").pvalue > 1e-3


def test_a_larger_epsilon_than_claimed_is_rejected() -> None:
    scores, included = response(np.random.default_rng(0), 3.0)
    found = audit_one_run(scores, included, 1e-5, claimed=1.0)
    assert found.rejected
    assert found.epsilon is not None
    assert 2.0 < found.epsilon < 3.0
    assert found.evidence is Evidence.BOUND
    assert found.figures["tried"] == len(options(400)) == len(OPTIONS)
    tried = [ranked(scores, included, *each) for each in options(400)]
    paid = [
        one_run_epsilon(400, each.made, each.correct, 1e-5, 0.05 / len(OPTIONS)) for each in tried
    ]
    assert found.epsilon == pytest.approx(max(paid))
    assert found.p_value == min(
        1, 9 * min(one_run_p_value(400, each.made, each.correct, 1.0, 1e-5) for each in tried)
    )
    assert found.shows.endswith(
        f"on 400 canaries are right: epsilon is at least {math.floor(100 * found.epsilon) / 100}."
    )


def test_at_the_bound_the_p_value_is_the_error() -> None:
    for canaries, correct, delta in [(100, 90, 0.0), (1000, 700, 1e-5), (50, 50, 1e-4)]:
        epsilon = one_run_epsilon(canaries, canaries, correct, delta, 0.05)
        p_value = one_run_p_value(canaries, canaries, correct, epsilon, delta)
        assert p_value == pytest.approx(0.05, rel=1e-2)
        assert p_value <= 0.05, canaries


def test_guesses_follow_from_scores_alone() -> None:
    scores = np.array([5.0, 1.0, 1.0, -2.0, 0.0])
    included = np.array([True, True, False, False, True])
    assert ranked(scores, included, 2, 0) == Guesses(2, 0, 2)
    assert ranked(scores, included, 0, 2) == Guesses(0, 2, 1)
    assert ranked(scores, included, 3, 2) == Guesses(3, 2, 3)
    assert all(up + down <= 101 for up, down in options(101))


def test_equal_scores_show_what_they_tell_and_no_more_however_the_canaries_are_ordered() -> None:
    """Those that are in stand first, or last, as concatenated scores do; the scores have nothing to
    do with it.
    """
    tied = {
        "two values": np.random.default_rng(0).integers(0, 2, 1000),
        "all 0 but one": np.arange(1000) == 700,
    }
    for (name, scores), first in itertools.product(tied.items(), (True, False)):
        included = (np.arange(1000) < 500) == first
        found = audit_one_run(scores, included, 1e-5, claimed=0.0)
        assert not found.rejected, (name, first)
        assert found.epsilon == 0, (name, first)
        *_, whole = attempts(scores * 1.0, included)
        assert one_run_p_value(1000, whole.made, whole.correct, 0.0, 1e-5) > 0.01, (name, first)
    included = np.arange(1000) < 500
    assert audit_one_run(included * 1.0, included, 1e-5, claimed=3.0).rejected


def test_too_few_canaries_and_bad_scores_give_a_sentence() -> None:
    few = audit_one_run([1.0, 2.0], [True, False], 1e-5)
    assert (
        few.shows
        == "Nothing can be shown: 2 canaries are too few for a confidence of 0.95; take 5."
    )
    included = np.arange(20) % 2 == 0
    assert (
        audit_one_run(np.ones(20), included, 1e-5).shows
        == "Nothing can be shown: all scores are equal."
    )
    broken = audit_one_run(np.where(included, np.nan, 1.0), included, 1e-5, claimed=1.0)
    assert broken.shows == "Nothing can be shown: 10 of 20 scores are not finite numbers."
    assert broken.p_value is None
    assert not broken.rejected


def test_errors_of_whoever_calls_are_named() -> None:
    for call, message in [
        (
            lambda: audit_one_run(np.ones(3), np.ones(4, dtype=bool), 1e-5),
            r"included of shape \(4,\)",
        ),
        (lambda: audit_one_run(np.ones((3, 2)), np.ones(3, dtype=bool), 1e-5), "1 dimensions"),
        (lambda: audit_one_run(np.arange(3), [0.5, 1, 0], 1e-5), "false or true"),
        (lambda: one_run_p_value(10, 11, 3, 1.0, 0.0), "guesses=11"),
        (lambda: one_run_p_value(10, 9, 10, 1.0, 0.0), "correct=10"),
        (lambda: one_run_p_value(10, 9, 3, -1.0, 0.0), "epsilon=-1"),
        (lambda: one_run_p_value(10, 9, 3, 1.0, 2.0), "delta=2"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()


PAIRS = [([0.5], [0.0]), ([1.0], [0.01]), ([0.2, 1.0, 3.0], [0.2, 0.05, 0.001])]


def lines_of(epsilons: list[float], deltas: list[float]) -> list[tuple[float, float]]:
    """(slope, offset) of the lines whose maximum is the least type I error at a power: h >= slope *
    r + offset.
    """
    steep = [(math.exp(-e), -d * math.exp(-e)) for e, d in zip(epsilons, deltas, strict=True)]
    return steep + [
        (math.exp(e), 1 - d - math.exp(e)) for e, d in zip(epsilons, deltas, strict=True)
    ]


def largest_tail(
    canaries: int, guesses: int, correct: int, lines: list[tuple[float, float]]
) -> float:
    """The largest P[at least c right] of any law p_0 ... p_r that keeps every h_(i-1) >= slope r_i
    + offset.
    """
    t = np.arange(guesses + 1)
    rows, bounds = [], []
    for i in range(1, guesses + 1):
        r = np.where(t >= i, t, 0) / canaries
        h = np.where(t >= i - 1, guesses - t, 0) / canaries
        for slope, offset in lines:
            rows.append(slope * r - h)
            bounds.append(-offset)
    found = linprog(
        -(t >= correct).astype(float),
        np.array(rows),
        bounds,
        np.ones((1, guesses + 1)),
        [1.0],
        method="highs",
    )
    assert found.status == 0
    return -found.fun


@pytest.mark.parametrize(("epsilons", "deltas"), PAIRS)
def test_the_p_value_is_the_largest_tail_that_a_linear_program_finds(
    epsilons: list[float], deltas: list[float]
) -> None:
    for counts in [
        (12, 12, 10),
        (30, 10, 9),
        (20, 20, 15),
        (12, 12, 8),
        (20, 20, 13),
        (40, 8, 8),
        (9, 9, 1),
    ]:
        exact = largest_tail(*counts, lines_of(epsilons, deltas))
        found = tradeoff_p_value(*counts, Pairs(epsilons, deltas))
        assert found == pytest.approx(min(exact, 1.0), rel=3e-4, abs=1e-9), counts


def gaussian_tail(canaries: int, mu: float) -> np.ndarray:
    """P[at least v right] where each canary is seen through N(0, 1) or N(mu, 1): guesses err with
    Phi(-mu/2).
    """
    return stats.binom.sf(np.arange(canaries + 1) - 1, canaries, stats.norm.cdf(mu / 2))


def test_no_mechanism_with_this_trade_off_is_right_more_often() -> None:
    for canaries, mu in itertools.product((6, 40), (0.0, 0.3, 1.0, 2.5)):
        claimed = np.array(
            [tradeoff_p_value(canaries, canaries, v, Gaussian(mu)) for v in range(canaries + 1)]
        )
        assert np.all(gaussian_tail(canaries, mu) <= claimed * (1 + 1e-6)), (canaries, mu)
        assert np.all(np.diff(claimed) <= 1e-9), (canaries, mu)


def test_of_the_most_certain_gaussian_guesses_no_more_are_right() -> None:
    """Abstaining: of 200 canaries the 10 furthest scores on either side, simulated."""
    generator, mu, counts = np.random.default_rng(0), 1.0, []
    for _ in range(2000):
        included = generator.random(200) < 0.5
        order = np.argsort(generator.normal(size=200) + mu * included)
        counts.append(int(included[order[-10:]].sum() + (~included[order[:10]]).sum()))
    for v in range(14, 21):
        tail = np.mean(np.array(counts) >= v)
        assert tail <= tradeoff_p_value(200, 20, v, Gaussian(mu)) + 4 * math.sqrt(tail / 2000)
    # A weaker curve is refuted.
    assert tradeoff_p_value(200, 20, 20, Gaussian(0.5)) < np.mean(np.array(counts) >= 20)


@pytest.mark.parametrize(
    "f", [Gaussian(0.7), Pairs([1.0], [0.05]), Pairs([0.1, 2.0], [0.3, 0.01]), Gaussian(4.0)]
)
def test_the_table_of_least_errors_is_never_above_the_curve(f: Tradeoff) -> None:
    for top in (1.0, 0.03):
        table = LeastError(f, top)
        power = top * np.concatenate(
            [np.linspace(0, 1 - 1e-6, 3001), np.geomspace(1e-9, 0.9, 3001)]
        )
        exact, found = f.beta(1 - power), np.array([table(float(each)) for each in power])
        assert np.all(found <= exact + 1e-13), top
        assert np.max(exact - found) < 1e-4, top


def test_a_verdict_agrees_with_the_p_value() -> None:
    f = Gaussian(0.5)
    p_value = tradeoff_p_value(300, 60, 44, f)
    assert rejects(300, 60, 44, f, p_value * 1.01)
    assert not rejects(300, 60, 44, f, p_value * 0.99)
    assert tradeoff_p_value(300, 60, 0, f) == 1
    assert not rejects(300, 60, 0, f, 0.5)


def gaussian_scores(seed: int, mu: float, canaries: int = 600) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    included = generator.random(canaries) < 0.5
    return generator.normal(size=canaries) + mu * included, included


def test_the_bound_of_mu_fails_no_more_often_than_it_may_and_refutes_a_smaller_mu() -> None:
    for mu, canaries, trials, refuted in [
        (1.0, 20, 200, 0.0),
        (1.0, 600, 100, 0.3),
        (3.0, 600, 50, 1.1),
    ]:
        found = []
        for seed in range(trials):
            guesses = ranked(*gaussian_scores(seed, mu, canaries), canaries // 10, canaries // 10)
            found.append(strongest(canaries, [guesses], GaussianFamily(), 0.05)[0])
        exceeding = sum(
            GaussianFamily().epsilon(each, 1e-5) > gaussian.epsilon_of(1e-5, mu) for each in found
        )
        assert exceeding <= stats.binom.ppf(0.999, trials, 0.05), (mu, canaries)
        assert np.median(found) >= refuted, (mu, canaries)


def test_the_refuted_mu_is_that_of_a_linear_program_and_its_epsilon_that_of_the_closed_form() -> (
    None
):
    canaries, guesses, correct, mu = ONE_RUN_MU
    assert rejects(canaries, guesses, correct, Gaussian(mu - ONE_RUN_MU_TOLERANCE), 0.05)
    assert not rejects(canaries, guesses, correct, Gaussian(mu + ONE_RUN_MU_TOLERANCE), 0.05)
    for each in (0.05, mu, 4.0):
        epsilon = mp.mpf(GaussianFamily().epsilon(each, 1e-5))
        beyond, before = mp.ncdf(each / 2 - epsilon / each), mp.ncdf(-each / 2 - epsilon / each)
        assert float(beyond - mp.exp(epsilon) * before) == pytest.approx(1e-5, rel=1e-9), each


def test_the_curve_that_is_claimed_is_refuted_by_scores_of_a_worse_one() -> None:
    scores, included = gaussian_scores(3, 3.0)
    good = audit_tradeoff(scores, included, GaussianFamily(), 1e-5, claimed=Gaussian(3.0))
    bad = audit_tradeoff(scores, included, GaussianFamily(), 1e-5, claimed=Gaussian(0.8))
    assert not good.rejected
    assert bad.rejected
    assert good.evidence is Evidence.CONDITIONAL
    assert good.epsilon == pytest.approx(float(gaussian.epsilon_of(1e-5, good.figures["strength"])))
    assert good.shows.endswith("if the trade-off curve is that of mu-GDP for some mu.")


@pytest.mark.long
def test_less_noise_than_charged_is_refuted() -> None:
    whole = Mechanism.constant(1.0, 4.0, 4)  # 0.5-GDP, and with a quarter of the noise 2-GDP
    scores, included = gaussian_scores(5, 2.0)
    found = audit_tradeoff(scores, included, NoiseFamily(whole), 1e-5)
    same = audit_tradeoff(scores, included, GaussianFamily(), 1e-5)
    assert found.evidence is Evidence.CONDITIONAL
    assert found.figures["strength"] * 0.5 == pytest.approx(same.figures["strength"], rel=0.01)
    assert found.epsilon == pytest.approx(same.epsilon, rel=0.01)
    assert 1.0 < found.figures["strength"] < 4.0
    assert found.shows.endswith("if all but the noise is as charged.")


def test_more_noise_than_a_release_may_have_leaves_a_lower_curve() -> None:
    for sigma, steps in itertools.product((2e6, 3e6, MAX_SIGMA), (1, 5)):
        family, error = (
            NoiseFamily(Mechanism.constant(0.1, sigma, steps)),
            np.linspace(0.0, 1.0, 11),
        )
        curves = [family.tradeoff(strength).beta(error) for strength in (0.0, 1e-6, 0.002, 1.0)]
        assert all(np.all(stronger <= weaker) for weaker, stronger in itertools.pairwise(curves)), (
            sigma
        )
        assert np.all(curves[0] <= 1 - error), "no curve lies above that of an attack that guesses"
    scores, included = gaussian_scores(4, 0.0, 20)
    found = audit_tradeoff(scores, included, NoiseFamily(Mechanism.constant(0.1, 2e6, 5)), 1e-5)
    assert (found.figures["strength"], found.epsilon) == (0.0, 0.0)


def test_equal_scores_refute_nothing_however_the_canaries_are_ordered() -> None:
    for first, scores in itertools.product(
        (True, False), (np.random.default_rng(0).integers(0, 2, 1000), np.arange(1000) == 700)
    ):
        included = (np.arange(1000) < 500) == first
        found = audit_tradeoff(scores, included, GaussianFamily(), 1e-5, claimed=Gaussian(0.1))
        assert not found.rejected, first
        assert found.figures["strength"] == 0, first


def test_bad_scores_give_a_sentence_and_bad_counts_an_error() -> None:
    bad = audit_tradeoff(np.full(10, np.inf), np.ones(10), GaussianFamily(), 1e-5)
    assert bad.shows == "Nothing can be shown: 10 of 10 scores are not finite numbers."
    assert audit_tradeoff([1.0, 2.0], [0, 1], GaussianFamily(), 1e-5).epsilon is None
    with pytest.raises(ValueError, match="correct=9"):
        tradeoff_p_value(10, 8, 9, Gaussian(1.0))
