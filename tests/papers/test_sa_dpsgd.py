"""Paper 001's accounting: Theorem 1, what it affords, and the exact cost of rejected proposals."""

import itertools
import math
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.rdp import RdpAccountant

from dpcore.papers.catalogue import PAPERS, comparisons
from dpcore.papers.comparison import Outcome
from dpcore.papers.records import OnTheWay, Recorded, Seeded
from dpcore.papers.sa_dpsgd import figures
from dpcore.papers.sa_dpsgd.free_rejections import Selection
from dpcore.papers.sa_dpsgd.rows import (
    DATA,
    METHODS,
    acceptance,
    affordable,
    proven_epsilon,
    run,
    setting,
    theorem_1,
    whole_epochs,
)
from tests import golden
from tests.reference import log_moment

PAPER = PAPERS["001"]


def summed(q: float, sigma: float, order: int) -> Any:
    """Equation (8), term by term, in numbers that do not overflow."""
    with mpmath.workdps(30):
        q, rest = mpmath.mpf(q), 1 - mpmath.mpf(q)
        exponents = [(k * k - k) / (2 * mpmath.mpf(sigma) ** 2) for k in range(order + 1)]
        return mpmath.fsum(
            mpmath.binomial(order, k) * rest ** (order - k) * q**k * mpmath.exp(each)
            for k, each in enumerate(exponents)
        )


def test_the_settings_are_those_of_the_source_and_spend_3_by_theorem_1() -> None:
    for name, anchor in zip(DATA, golden.TRAMER_BONEH, strict=True):
        assert (setting(name).q, setting(name).sigma, whole_epochs(name)) == (
            anchor.q,
            anchor.sigma,
            anchor.steps,
        )
        found = theorem_1(anchor.q, anchor.sigma, anchor.steps)
        assert found == pytest.approx(anchor.epsilon, abs=anchor.tolerance), name


@pytest.mark.parametrize("name", DATA)
def test_theorem_1_and_equation_4_are_the_minimum_over_orders_of_the_sum(name: str) -> None:
    q, sigma, tau = setting(name).q, setting(name).sigma, 500
    sums = {order: summed(q, sigma, order) for order in range(2, 65)}
    assert float(mpmath.log(sums[9])) == pytest.approx(log_moment(q, sigma, 9), rel=1e-6)
    meant = min(
        (tau * mpmath.log(each) + math.log(1e5)) / (order - 1) for order, each in sums.items()
    )
    printed = min((tau * each + math.log(1e5)) / (order - 1) for order, each in sums.items())
    assert theorem_1(q, sigma, tau) == pytest.approx(float(meant), rel=1e-9)
    assert theorem_1(q, sigma, tau, printed=True) == pytest.approx(float(printed), rel=1e-9)


def test_the_affordable_steps_keep_epsilon_and_one_more_does_not() -> None:
    for name, epsilon in itertools.product(DATA, (0.94, 3.0, 6.0)):
        q, sigma = setting(name).q, setting(name).sigma
        for printed in (False, True):
            count = affordable(q, sigma, epsilon, printed)
            within, beyond = (theorem_1(q, sigma, count + more, printed) for more in (0, 1))
            assert within <= epsilon < beyond, (name, epsilon)


def test_the_accountant_of_the_comparators_agrees() -> None:
    anchor = golden.TRAMER_BONEH[0]
    step = dp_event.PoissonSampledDpEvent(anchor.q, dp_event.GaussianDpEvent(anchor.sigma))
    peer = (
        RdpAccountant(orders=list(range(2, 65))).compose(step, anchor.steps).get_epsilon(1e-5)
    )  # with the better conversion
    assert (
        proven_epsilon("MNIST", anchor.steps)
        < peer
        < theorem_1(anchor.q, anchor.sigma, anchor.steps)
    )


def test_rejected_proposals_cost_when_all_are_charged() -> None:
    charged = {each.entry.quantity: each for each in comparisons(PAPER)}
    for name in DATA:
        accepted, twice = (proven_epsilon(name, times * whole_epochs(name)) for times in (1, 2))
        every = charged[f"epsilon of SA-DPSGD on {name}, every proposal charged"]
        assert every.ours is not None
        assert accepted < 3 < twice < every.ours, name
        assert every.outcome is Outcome.DIFFERS


def test_a_step_that_helps_is_always_accepted_and_a_worse_one_by_equation_3() -> None:
    assert acceptance(np.array([-1.0, 0.0]), 4680).tolist() == [1.0, 1.0]
    assert acceptance(np.array([0.01]), 5)[0] == pytest.approx(math.exp(-0.01 * 10 * 5))


def test_accuracy_is_drawn_against_what_all_proposals_cost_and_against_the_accepted_ones(
    monkeypatch,
) -> None:
    course = (OnTheWay(100, 0.5, 60), OnTheWay(200, 0.7, 110), OnTheWay(300, 0.8, 110))
    record = Recorded({}, (Seeded(1, 0.8, 110, course=course),), 1.0, "2026-11-25", "cpu", {}, 1.0)
    monkeypatch.setattr(figures, "recorded", lambda paper, config: record)
    lines = {line.name: line for line in figures.accuracy_lines("MNIST")}
    assert set(lines) == {*METHODS, "SA-DPSGD, accepted steps alone"}
    every, alone, tanh = (
        lines[name] for name in ("SA-DPSGD", "SA-DPSGD, accepted steps alone", "DP-SGD (tanh)")
    )
    assert every.y.tolist() == alone.y.tolist() == pytest.approx([50, 70, 80])
    assert np.all(alone.x < every.x)  # fewer steps are charged
    assert alone.x[1] == alone.x[2]  # none was accepted in between
    assert np.all(tanh.x < every.x)  # whose training set is smaller, so that q is larger
    config = run("MNIST", "SA-DPSGD")
    rdp = RdpAccountant()
    rdp.compose(
        dp_event.PoissonSampledDpEvent(config.q, dp_event.GaussianDpEvent(config.sigma)), 300
    )
    assert every.x[-1] <= rdp.get_epsilon(config.delta) < 1.5 * every.x[-1]


CASES = [
    Selection(2.0, 6.0),
    Selection(2.0, 3.0, 10),
    Selection(20.0, 30.0, 10),
    Selection(1.23, 0.5, 1),
]
DRAWS = 400_000


def exact_delta(case: Selection, epsilon: float) -> float:
    """Delta by integrating the density of what is released, written down trial by trial, at 40
    digits.
    """
    with mpmath.workdps(40):
        sigma, distance = mpmath.mpf(case.sigma), mpmath.mpf(case.distance)
        half, one = mpmath.mpf(1) / 2, mpmath.mpf(1)
        far, near = half + distance, half - distance
        good = mpmath.ncdf(near, 0, sigma) + 1 - mpmath.ncdf(far, 0, sigma)
        limit = 20_000 if case.limit is None else case.limit
        chance = mpmath.fsum(
            (one - good) ** tries for tries in range(limit)
        )  # that so many were bad, and then a good one

        def density(w: Any, x: int) -> Any:
            kept = chance if abs(w - half) >= distance else mpmath.mpf(0)
            return mpmath.npdf(w, x, sigma) * (kept + (one - good) ** limit)

        def excess(w: Any) -> Any:
            return max(density(w, 1) - mpmath.exp(epsilon) * density(w, 0), mpmath.mpf(0))

        threshold = half + sigma**2 * mpmath.mpf(epsilon)
        edges = sorted(
            {near, half, far, threshold, threshold + sigma, far + sigma, threshold + 6 * sigma}
        )
        points = [half - distance - 12 * sigma, *edges, max(far, threshold) + 25 * sigma]
        whole: Any = mpmath.quad(excess, sorted(points))
        return float(whole)


def released(case: Selection, x: int, generator: np.random.Generator) -> np.ndarray:
    """Simulated releases: propose, keep what is good, take anything after `limit` rejections."""
    pending, found, tries = np.arange(DRAWS), np.zeros(DRAWS), 0
    while pending.size:
        proposals = generator.normal(x, case.sigma, pending.size)
        kept = np.abs(proposals - 0.5) >= case.distance
        if case.limit is not None and tries == case.limit:
            kept[:] = True
        found[pending[kept]] = proposals[kept]
        pending, tries = pending[~kept], tries + 1
    return found


@pytest.mark.parametrize("case", CASES, ids=str)
def test_delta_is_the_integral_of_the_density_and_never_above_it(case: Selection) -> None:
    for epsilon in (0.0, 0.1, 0.7, 1.5):
        exact = exact_delta(case, epsilon)
        assert case.delta(epsilon) == pytest.approx(exact, rel=1e-7, abs=1e-14), epsilon
        assert case.delta(epsilon) <= exact * (1 + 1e-14), epsilon


@pytest.mark.parametrize("epsilon", [3.0, 4.0])
def test_delta_stays_below_the_exact_one_where_good_proposals_are_rare(epsilon: float) -> None:
    case = Selection(2.0, 14.0, 10)
    assert case.good < 1e-10
    with mpmath.workdps(50):
        s, d, e = mpmath.mpf(case.sigma), mpmath.mpf(case.distance), mpmath.mpf(epsilon)
        half = mpmath.mpf(1) / 2
        good = mpmath.ncdf((-half - d) / s) + mpmath.ncdf((half - d) / s)
        t = half + s**2 * e

        def gap(u: mpmath.mpf) -> mpmath.mpf:
            return mpmath.ncdf((1 - u) / s) - mpmath.exp(e) * mpmath.ncdf(-u / s)

        forced = (1 - good) ** 10
        exact = (1 - forced) / good * gap(max(t, half + d)) + forced * gap(t)
        assert exact * (1 - mpmath.mpf("1e-8")) < case.delta(epsilon) <= exact


def test_a_bound_of_many_steps_needs_no_exponential_beyond_the_largest_float() -> None:
    case = Selection(2.0, 6.0)
    assert case.accepted_only(1e-5, 1000) < case.epsilon_after(1000, 1e-5) < math.inf


@pytest.mark.parametrize(
    "case", [Selection(2.0, 3.0), Selection(2.0, 3.0, 10), Selection(2.0, 3.0, 1)], ids=str
)
def test_simulation_agrees_with_it_and_rejects_the_count_of_accepted_steps(case: Selection) -> None:
    epsilon, generator = 0.5, np.random.default_rng(7)
    threshold = 0.5 + case.sigma**2 * epsilon
    with_it, without = (float(np.mean(released(case, x, generator) > threshold)) for x in (1, 0))
    found = with_it - math.exp(epsilon) * without
    # At least one standard deviation.
    error = math.sqrt((with_it + math.exp(2 * epsilon) * without) / DRAWS)
    assert abs(found - case.delta(epsilon)) < 5 * error
    assert found - Selection(case.sigma, 0.0).delta(epsilon) > 5 * error


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=str)
def test_epsilon_is_above_the_count_of_accepted_steps_and_below_that_of_all(
    case: Selection,
) -> None:
    assert (
        exact_delta(case, case.accepted_only(1e-5) * 1.01)
        > 1e-5
        > exact_delta(case, case.every_proposal(1e-5))
    )


def test_without_selection_it_is_the_gaussian_mechanism() -> None:
    for limit in (None, 0, 10):
        plain = Selection(2.0, 0.0, limit)
        assert plain.delta(plain.accepted_only(1e-5)) == pytest.approx(1e-5, rel=1e-5)
    forced = Selection(2.0, 6.0, 0)  # nothing may be rejected
    assert forced.delta(forced.accepted_only(1e-5)) == pytest.approx(1e-5, rel=1e-5)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.long
def test_the_share_on_the_right_side_agrees_with_simulation(case: Selection) -> None:
    drawn = released(case, 1, np.random.default_rng(3))
    assert float(np.mean(drawn > 0.5)) == pytest.approx(
        case.right_side, abs=5 * 0.5 / math.sqrt(DRAWS)
    )


@pytest.mark.parametrize(
    ("case", "steps"), [(Selection(2.0, 3.0, 10), 100), (Selection(20.0, 30.0, 10), 1000)]
)
def test_many_steps_have_at_least_the_delta_of_their_sides(case: Selection, steps: int) -> None:
    epsilon = case.epsilon_after(steps, 1e-5)
    assert 1.5 * case.accepted_only(1e-5, steps) < epsilon < case.every_proposal(1e-5, steps)
    with mpmath.workdps(60):
        p = mpmath.mpf(case.right_side)

        def delta(at: float) -> Any:
            terms = []
            for right in range(steps + 1):
                wrong = steps - right
                gap = p**right * (1 - p) ** wrong - mpmath.exp(at) * (1 - p) ** right * p**wrong
                terms.append(mpmath.binomial(steps, right) * max(gap, 0))
            return mpmath.fsum(terms)

        assert delta(epsilon) > 1e-5
        assert delta(epsilon * (1 + 1e-6)) < 1e-5


def test_further_distances_tell_more_without_end() -> None:
    found = [
        Selection(2.0, distance).epsilon_after(1, 1e-5)
        for distance in (0.0, 3.0, 6.0, 12.0, 24.0, 48.0)
    ]
    assert all(after > before + 0.1 for before, after in pairwise(found))
    assert found[-1] > 5 * found[0]


def test_bad_values_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="sigma=0"):
        Selection(0, 1.0)
    with pytest.raises(ValueError, match="distance=61"):
        Selection(2.0, 61)
    with pytest.raises(ValueError, match="limit=-1"):
        Selection(2.0, 1.0, -1)
    with pytest.raises(ValueError, match="steps=0"):
        Selection(2.0, 1.0).epsilon_after(0, 1e-5)
