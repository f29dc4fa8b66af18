"""Paper 004 against oracles that share no code with the package, and what its entries and notes
say.
"""

import math

import numpy as np
import pytest

from dpcore.papers.catalogue import PAPERS
from dpcore.papers.comparison import certified_lower
from dpcore.papers.entry import Computed
from dpcore.papers.gaussian_dp.rows import (
    BOTTOM,
    EXPERIMENTS,
    ORDERS,
    TABLE_1,
    TOP,
    Experiment,
    central_epsilon,
    central_mu,
    claim_of,
    less_noise,
    moments_epsilon,
)
from tests import golden, reference

PAPER = PAPERS["004"]
COMPUTED = {
    (each.place, each.quantity): each for each in PAPER.entries if isinstance(each, Computed)
}
DRAWINGS = {each.place: each for each in PAPER.drawings}


def entry_at(place: str, words: str) -> Computed:
    (found,) = [
        each for (where, what), each in COMPUTED.items() if where == place and words in what
    ]
    return found


def lines_of(place: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    return {line.name: (line.x, line.y) for line in DRAWINGS[place].lines()}


def test_the_tables_are_those_that_were_copied_from_the_paper_before():
    for each, row in zip(EXPERIMENTS, golden.EXPERIMENTS, strict=True):
        setting = each.setting
        assert setting.q == pytest.approx(row.batch / row.examples, rel=1e-12), each.place
        assert (setting.sigma, setting.epochs, setting.delta) == (
            row.sigma,
            row.epochs,
            row.delta,
        ), each.place
        printed = [*map(float, each.printed)]
        assert printed == [row.mu, row.epsilon_clt, row.epsilon_moments], each.place


def test_mu_and_epsilon_of_the_limit_follow_from_its_closed_forms():
    for each in EXPERIMENTS:
        mu = reference.mu_poisson(each.setting.q, each.setting.sigma, each.setting.steps)
        assert central_mu(each.setting) == pytest.approx(mu, rel=1e-12), each.place
        delta = reference.gaussian_delta(central_epsilon(each.setting), mu)
        assert delta == pytest.approx(each.setting.delta, rel=1e-9), each.place


@pytest.mark.parametrize(
    "rows", [EXPERIMENTS[:1], pytest.param(EXPERIMENTS[1:], marks=pytest.mark.long)], ids=len
)
def test_the_moments_column_is_the_best_tail_bound_of_moments_integrated_by_themselves(
    rows: list[Experiment],
):
    for setting in (each.setting for each in rows):
        moments = [
            reference.integrated_log_moment(setting.q, setting.sigma, order - 1) for order in ORDERS
        ]
        bounds = (setting.steps * np.array(moments) - math.log(setting.delta)) / (ORDERS - 1)
        assert moments_epsilon(setting) == pytest.approx(bounds.min(), rel=1e-8), setting


def test_the_bound_that_refutes_is_near_the_exact_epsilon_and_not_above():
    for row, anchor in zip(TABLE_1, golden.EXACT[2:8], strict=True):
        claim = claim_of(row)
        assert (claim.mechanism.steps, claim.delta) == (anchor.steps, anchor.delta)
        assert 0.995 * anchor.epsilon < certified_lower(claim) <= anchor.epsilon + anchor.tolerance


def test_at_the_smaller_sigma_both_counts_give_one_epsilon():
    for setting in (TOP, BOTTOM):
        mu = reference.mu_poisson(setting.q, less_noise(setting), setting.steps)
        assert reference.gaussian_delta(moments_epsilon(setting), mu) == pytest.approx(
            setting.delta, rel=1e-6
        )


def least(errors: tuple[np.ndarray, np.ndarray]) -> float:
    """The smallest sum of both errors."""
    return float(np.min(errors[0] + errors[1]))


def test_the_notes_on_what_an_attacker_gets_wrong_hold():
    row = TABLE_1[1]
    one, every = (
        lines_of("Figure 3, row 2 of Table 1")[f"Moments accountant, {name}"]
        for name in ("one pair", "all pairs")
    )
    limit = 200 * (1 - reference.gaussian_delta(0.0, central_mu(row))) / 2
    assert "gives 77.4" in entry_at("Section 4.1", "per cent, by the CLT").note
    assert round(limit, 1) == 77.4
    # The least lies between two points that are drawn.
    assert golden.ERROR_SUM_MOMENTS < least(one) < 0.1
    assert least(every) > 3 * least(one)
    # Where the two lines of its region meet.
    pair = 200 * (1 - 1e-5) / (1 + math.exp(moments_epsilon(row)))
    assert entry_at("Section 4.1", "per cent, by the moments").ours() == pytest.approx(
        pair, rel=1e-12
    )
