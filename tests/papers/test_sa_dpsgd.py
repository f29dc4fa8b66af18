"""Paper 001's accounting: Theorem 1 with and without its logarithm, rejected proposals, the saving of Table 3."""

import itertools
import math
from typing import Any

import mpmath
import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.rdp import RdpAccountant

from dpcore.papers import PAPERS, comparisons
from dpcore.papers.comparison import Outcome
from dpcore.papers.records import OnTheWay, Recorded, Seeded
from dpcore.papers.sa_dpsgd import accuracy_figures
from dpcore.papers.sa_dpsgd.numbers import (
    DRAWINGS,
    NAMES,
    acceptance,
    affordable,
    affordable_as_printed,
    equation_4,
    proven_epsilon,
    saved_share,
    setting,
    theorem_1,
    whole_epochs,
)
from dpcore.papers.sa_dpsgd.runs import METHODS, TABLE_1, TABLE_3, run
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


def test_the_settings_are_those_of_the_source_in_whole_batches_and_spend_3_by_theorem_1_with_the_logarithm() -> None:
    for name, anchor in zip(NAMES, golden.TRAMER_BONEH, strict=True):
        assert (setting(name).q, setting(name).sigma, whole_epochs(name)) == (anchor.q, anchor.sigma, anchor.steps)
        found = theorem_1(anchor.q, anchor.sigma, anchor.steps)
        assert found == pytest.approx(anchor.epsilon, abs=anchor.tolerance), name


@pytest.mark.parametrize("name", NAMES)
def test_theorem_1_and_equation_4_are_the_minimum_over_orders_of_the_sum(name: str) -> None:
    q, sigma, tau = setting(name).q, setting(name).sigma, 500
    sums = {order: summed(q, sigma, order) for order in range(2, 65)}
    assert float(mpmath.log(sums[9])) == pytest.approx(log_moment(q, sigma, 9), rel=1e-6)
    meant = min((tau * mpmath.log(each) + math.log(1e5)) / (order - 1) for order, each in sums.items())
    printed = min((tau * each + math.log(1e5)) / (order - 1) for order, each in sums.items())
    assert theorem_1(q, sigma, tau) == pytest.approx(float(meant), rel=1e-9)
    assert equation_4(q, sigma, tau) == pytest.approx(float(printed), rel=1e-9)


def test_every_printed_epsilon_of_the_equation_differs_for_its_missing_logarithm() -> None:
    found = [each for each in comparisons(PAPER) if each.entry.place == "Equation (4)"]
    assert len(found) == 3
    for each in found:
        assert each.outcome is Outcome.DIFFERS
        assert each.ours is not None
        assert each.ours > 40
        assert "logarithm" in each.why


def test_the_affordable_steps_keep_epsilon_and_one_more_does_not() -> None:
    for name, epsilon in itertools.product(NAMES, (0.94, 3.0, 6.0)):
        q, sigma = setting(name).q, setting(name).sigma
        for steps, cost in ((affordable, theorem_1), (affordable_as_printed, equation_4)):
            count = steps(q, sigma, epsilon)
            assert cost(q, sigma, count) <= epsilon < cost(q, sigma, count + 1), (name, epsilon)


def test_the_accountant_of_the_comparators_agrees() -> None:
    anchor = golden.TRAMER_BONEH[0]
    step = dp_event.PoissonSampledDpEvent(anchor.q, dp_event.GaussianDpEvent(anchor.sigma))
    peer = (
        RdpAccountant(orders=list(range(2, 65))).compose(step, anchor.steps).get_epsilon(1e-5)
    )  # with the better conversion
    assert proven_epsilon("MNIST", anchor.steps) < peer < theorem_1(anchor.q, anchor.sigma, anchor.steps)


def test_rejected_proposals_cost_when_all_are_charged() -> None:
    charged = {each.entry.quantity: each for each in comparisons(PAPER)}
    for name in NAMES:
        accepted, twice = (proven_epsilon(name, times * whole_epochs(name)) for times in (1, 2))
        every = charged[f"epsilon of SA-DPSGD on {name}, every proposal charged"]
        assert every.ours is not None
        assert accepted < 3 < twice < every.ours, name
        assert every.outcome is Outcome.DIFFERS


def test_a_step_that_helps_is_always_accepted_and_a_worse_one_by_equation_3() -> None:
    assert acceptance(np.array([-1.0, 0.0]), 4680).tolist() == [1.0, 1.0]
    assert acceptance(np.array([0.01]), 5)[0] == pytest.approx(math.exp(-0.01 * 10 * 5))


def test_the_saved_share_is_that_of_the_steps_that_table_3_pays_for() -> None:
    for name, table in TABLE_3.items():
        q, sigma = setting(name).q, setting(name).sigma
        for accuracy, (_, _, other, own) in table.items():
            saved = saved_share(name, accuracy)
            assert 0 < saved < 0.3
            steps = affordable(q, sigma, other)
            assert theorem_1(q, sigma, (1 - saved) * steps) == pytest.approx(own, rel=2e-3), (name, accuracy)


def test_the_drawings_hold_the_curves_that_they_name() -> None:
    figure_3, equation_3, figure_4b = (each.lines() for each in DRAWINGS)
    counted, none, half, most = (line.y for line in figure_3)
    assert counted[-1] == pytest.approx(2.994, abs=5e-4)
    assert np.all(none < counted)
    assert np.all(none < half)
    assert np.all(half < most)
    assert half[-1] == pytest.approx(proven_epsilon("MNIST", 9360), rel=1e-2)
    assert equation_3[0].y[0] > equation_3[-1].y[0]
    epochs = dict(zip(figure_4b[0].x.tolist(), figure_4b[0].y.tolist(), strict=True))
    assert epochs[512] == pytest.approx(4698 * 512 / 60_000)
    assert epochs[64] > epochs[2048]


def test_the_findings_tell_computed_numbers() -> None:
    told = " ".join(each.holds() for each in PAPER.findings)
    parts = "charges epsilon 8.84, or 7.51 if counted exactly|14.0 is proven|0.0524|0.570|46,800|0.9 %|2 % to 26 %"
    for number in [*parts.split("|"), "27 steps"]:
        assert number in told, number
    most = "MNIST: 2.37 for 4,680 proposals, 9.31 for 4,680 accepted steps with up to 10 rejections before each"
    assert most in told
    assert "grows with accuracy on MNIST and Fashion-MNIST, and does not on CIFAR-10 0.12, 0.09, 0.23." in told


def test_every_cell_of_tables_1_and_3_is_an_entry_or_named_in_a_remark() -> None:
    places = {(each.place, each.printed, each.quantity.split(",")[0]) for each in PAPER.trained}
    remarks = " ".join(each.place + each.text for each in PAPER.remarks)
    for name, row in TABLE_1.items():
        assert {("Table 1", printed, name) for printed in row} <= places
    for name, table in TABLE_3.items():
        for accuracy, row in table.items():
            quantities = [each.quantity for each in PAPER.trained if each.printed == accuracy]
            for epsilon in row:
                named = any(
                    each.startswith(name) and f"epsilon {epsilon:g} by" in each for each in quantities if epsilon
                )
                assert named or (epsilon is None and f"Table 3, {name} at {accuracy} %" in remarks)
    for printed in ("98.89", "88.50", "64.17"):
        assert printed in remarks


def test_accuracy_is_drawn_against_what_all_proposals_cost_and_against_the_accepted_ones(monkeypatch) -> None:
    course = (OnTheWay(100, 0.5, 60), OnTheWay(200, 0.7, 110), OnTheWay(300, 0.8, 110))
    record = Recorded({}, (Seeded(1, 0.8, 110, course=course),), 1.0, "2026-11-25", "cpu", {}, 1.0)
    monkeypatch.setattr(accuracy_figures, "recorded", lambda paper, config: record)
    lines = {line.name: line for line in accuracy_figures.accuracy_lines("MNIST")}
    assert set(lines) == {*METHODS, "SA-DPSGD, accepted steps alone"}
    every, alone, tanh = (lines[name] for name in ("SA-DPSGD", "SA-DPSGD, accepted steps alone", "DP-SGD (tanh)"))
    assert every.y.tolist() == alone.y.tolist() == pytest.approx([50, 70, 80])
    assert np.all(alone.x < every.x)  # fewer steps are charged
    assert alone.x[1] == alone.x[2]  # none was accepted in between
    assert np.all(tanh.x < every.x)  # whose training set is smaller, so that q is larger
    config = run("MNIST", "SA-DPSGD")
    rdp = RdpAccountant()
    rdp.compose(dp_event.PoissonSampledDpEvent(config.q, dp_event.GaussianDpEvent(config.sigma)), 300)
    assert every.x[-1] <= rdp.get_epsilon(config.delta) < 1.5 * every.x[-1]
