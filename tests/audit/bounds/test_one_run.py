"""The p-value of the audit in one run: against the sum it is made of, and against mechanisms that it must hold for."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from dpcore.audit.bounds.finding import Evidence
from dpcore.audit.bounds.guesses import OPTIONS, Guesses, options, ranked
from dpcore.audit.bounds.one_run import audit_one_run, one_run_epsilon, one_run_p_value

DELTA = 1e-3


def brute(canaries: int, guesses: int, correct: int, epsilon: float, delta: float) -> float:
    law = stats.binom(guesses, math.exp(epsilon) / (1 + math.exp(epsilon)))
    tail = law.sf(correct - 1)
    gaps = [sum(law.pmf(w) for w in range(max(correct - i, 0), correct)) / i for i in range(1, canaries + 1)]
    return min(1.0, tail + 2 * canaries * delta * max(gaps))


@pytest.mark.parametrize(("canaries", "guesses", "correct"), [(40, 40, 30), (40, 10, 9), (40, 10, 10), (7, 7, 1)])
def test_it_is_the_sum_of_the_theorem(canaries: int, guesses: int, correct: int) -> None:
    for epsilon, delta in itertools.product((0.0, 0.4, 2.0), (0.0, 1e-4, 0.02)):
        expected = brute(canaries, guesses, correct, epsilon, delta)
        found = one_run_p_value(canaries, guesses, correct, epsilon, delta)
        assert found == pytest.approx(expected, rel=1e-9), (epsilon, delta)


def tails(canaries: int, epsilon: float, delta: float) -> dict[str, np.ndarray]:
    """P[at least v right] for v = 0 ... m, of mechanisms that are (epsilon, delta)-DP for each canary, exactly."""
    rate = math.exp(epsilon) / (1 + math.exp(epsilon))
    v = np.arange(canaries + 1)
    response = stats.binom.sf(v - 1, canaries, rate)
    each_told = stats.binom.sf(v - 1, canaries, delta + (1 - delta) * rate)
    all_told = delta + (1 - delta) * response
    # With probability k delta a random k of the canaries are told: each of them with probability delta.
    some = {}
    for told in (2, canaries // 2):
        share = min(1.0, delta * canaries / told)
        lucky = stats.binom.sf(v - told - 1, canaries - told, rate)
        some[f"{told} told"] = share * lucky + (1 - share) * response
    return {"randomized response": response, "each told": each_told, "all told": all_told, **some}


@pytest.mark.parametrize("canaries", [5, 30, 120])
def test_no_mechanism_of_this_epsilon_and_delta_is_right_more_often(canaries: int) -> None:
    for epsilon in (0.0, 0.5, 2.0):
        claimed = [one_run_p_value(canaries, canaries, v, epsilon, DELTA) for v in range(canaries + 1)]
        for name, tail in tails(canaries, epsilon, DELTA).items():
            assert np.all(tail <= np.array(claimed) * (1 + 1e-9)), (name, epsilon)


def test_without_delta_randomized_response_is_met_exactly_and_another_mechanism_is_right_more_often() -> None:
    """The test above would see that delta is not charged: without it all that is charged is randomized response."""
    claimed = np.array([one_run_p_value(30, 30, v, 0.5, 0.0) for v in range(31)])
    np.testing.assert_allclose(claimed, tails(30, 0.5, 0.0)["randomized response"], rtol=1e-9)
    assert np.any(tails(30, 0.5, DELTA)["all told"] > 2 * claimed)


def response(generator: np.random.Generator, epsilon: float, canaries: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Scores that randomized response of this epsilon gives, with a random number that ranks equal ones."""
    included = generator.random(canaries) < 0.5
    true = generator.random(canaries) < 1 / (1 + math.exp(-epsilon))
    return np.where(included == true, 1.0, 0.0) + 0.5 * generator.random(canaries), included


@pytest.mark.long
@pytest.mark.parametrize("choice", ["bonferroni", "split"])
def test_the_bound_fails_no_more_often_than_it_may(choice: str) -> None:
    fails, epsilon = 0, 1.0
    for seed in range(250):
        found = audit_one_run(*response(np.random.default_rng(seed), epsilon), 1e-5, choice=choice, claimed=epsilon)
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
    assert found.tried == len(options(400)) == len(OPTIONS)
    tried = [ranked(scores, included, *each) for each in options(400)]
    paid = [one_run_epsilon(400, each.made, each.correct, 1e-5, 0.05 / len(OPTIONS)) for each in tried]
    assert found.epsilon == pytest.approx(max(paid))
    assert found.p_value == min(1, 9 * min(one_run_p_value(400, each.made, each.correct, 1.0, 1e-5) for each in tried))
    assert found.shows.endswith(f"of 400 canaries: epsilon is at least {math.floor(100 * found.epsilon) / 100}.")


def test_numbers_of_guesses_that_were_chosen_before_pay_for_none() -> None:
    scores, included = response(np.random.default_rng(1), 2.0)
    chosen = audit_one_run(scores, included, 1e-5, guesses=(200, 200))
    assert chosen.tried == 1
    assert chosen.guesses == ranked(scores, included, 200, 200)
    correct = chosen.guesses.correct
    assert chosen.epsilon == pytest.approx(one_run_epsilon(400, 400, correct, 1e-5, 0.05))
    assert audit_one_run(scores, included, 1e-5, choice="split").canaries == 200


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


@pytest.mark.parametrize("choice", ["bonferroni", "split"])
def test_equal_scores_show_what_they_tell_and_no_more_however_the_canaries_are_ordered(choice: str) -> None:
    """Those that are in stand first, or last, as concatenated scores do; the scores have nothing to do with it."""
    tied = {"two values": np.random.default_rng(0).integers(0, 2, 1000), "all 0 but one": np.arange(1000) == 700}
    for (name, scores), first in itertools.product(tied.items(), (True, False)):
        included = (np.arange(1000) < 500) == first
        found = audit_one_run(scores, included, 1e-5, choice=choice, claimed=0.0)
        assert not found.rejected, (name, first)
        assert found.epsilon == 0, (name, first)
        whole = audit_one_run(scores, included, 1e-5, guesses=(500, 500), claimed=0.0)
        assert (whole.p_value or 0) > 0.01, (name, first)
    included = np.arange(1000) < 500
    assert audit_one_run(included * 1.0, included, 1e-5, choice=choice, claimed=3.0).rejected


def test_too_few_canaries_and_bad_scores_give_a_sentence() -> None:
    few = audit_one_run([1.0, 2.0], [True, False], 1e-5)
    assert few.shows == "Nothing can be shown: 2 canaries are too few for a confidence of 0.95; take 5."
    included = np.arange(20) % 2 == 0
    assert audit_one_run(np.ones(20), included, 1e-5).shows == "Nothing can be shown: all scores are equal."
    broken = audit_one_run(np.where(included, np.nan, 1.0), included, 1e-5, claimed=1.0)
    assert broken.shows == "Nothing can be shown: 10 of 20 scores are not finite numbers."
    assert broken.p_value is None
    assert not broken.rejected


def test_errors_of_whoever_calls_are_named() -> None:
    for call, message in [
        (lambda: audit_one_run(np.ones(3), np.ones(4, dtype=bool), 1e-5), r"included of shape \(4,\)"),
        (lambda: audit_one_run(np.ones((3, 2)), np.ones(3, dtype=bool), 1e-5), "1 dimensions"),
        (lambda: audit_one_run(np.arange(3), [0.5, 1, 0], 1e-5), "false or true"),
        (lambda: audit_one_run(np.arange(30), np.ones(30), 1e-5, choice="best"), "choice='best'"),
        (lambda: one_run_p_value(10, 11, 3, 1.0, 0.0), "guesses=11"),
        (lambda: one_run_p_value(10, 9, 10, 1.0, 0.0), "correct=10"),
        (lambda: one_run_p_value(10, 9, 3, -1.0, 0.0), "epsilon=-1"),
        (lambda: one_run_p_value(10, 9, 3, 1.0, 2.0), "delta=2"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
