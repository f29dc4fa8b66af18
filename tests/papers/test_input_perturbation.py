"""Paper 003's comparisons: powers of n and Delta, and what its formula's noise promises for one row."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpcore.papers import PAPERS, comparisons
from dpcore.papers.comparison import Outcome
from dpcore.papers.input_perturbation.noise_formulas import own_noise
from dpcore.papers.input_perturbation.numbers import BREAST_CANCER, DRAWINGS, local_epsilon
from tests.reference import gaussian_delta

PAPER = PAPERS["003"]


def test_the_gain_over_bassily_is_n_to_the_fourth_only_across_units() -> None:
    as_printed, same_scale, fukuchi, convexity = comparisons(PAPER)[:4]
    assert "is 0.87 times theirs" in fukuchi.why
    assert (as_printed.ours, as_printed.outcome) == (pytest.approx(4, abs=1e-6), Outcome.REPRODUCED)
    assert (same_scale.ours, same_scale.outcome) == (pytest.approx(2, abs=1e-6), Outcome.DIFFERS)
    assert (fukuchi.ours, fukuchi.outcome) == (pytest.approx(1, abs=1e-6), Outcome.REPRODUCED)
    assert (convexity.ours, convexity.outcome) == (pytest.approx(0.5, abs=1e-9), Outcome.REPRODUCED)


def test_the_gains_in_excess_risk_are_the_powers_that_the_text_names() -> None:
    inner, *risks = comparisons(PAPER)[4:]
    assert (inner.ours, inner.outcome) == (pytest.approx(1, abs=1e-9), Outcome.REPRODUCED)
    assert [round(each.ours or 0.0, 6) for each in risks] == [1, 0, 1]
    assert {each.outcome for each in risks} == {Outcome.REPRODUCED}


@pytest.mark.parametrize("noise", [0.5, 1.54, 60.0])
def test_the_local_epsilon_of_a_noise_has_delta_by_the_closed_form(noise: float) -> None:
    epsilon = local_epsilon(noise, 1e-5)
    assert gaussian_delta(epsilon, 2 / noise) == pytest.approx(1e-5, rel=1e-6)


def test_the_drawing_holds_the_four_noises() -> None:
    local, own, gradient, output = DRAWINGS[0].lines()
    for line in (local, own, gradient, output):
        assert np.all(np.diff(line.y) < 0)
    at = BREAST_CANCER.epsilon
    assert np.interp(at, own.x, own.y) == pytest.approx(own_noise(BREAST_CANCER), rel=5e-3)
    assert np.interp(at, local.x, local.y) == pytest.approx(2 * 30.75, rel=5e-3)
    assert np.interp(at, gradient.x, gradient.y) == pytest.approx(2 / 699 * 10 * 30.75, rel=5e-3)
    assert np.interp(at, output.x, output.y) == pytest.approx(2 / (699 * 0.01) * 30.75, rel=5e-3)


def test_with_every_quantity_doubled_the_formula_scales_as_printed() -> None:
    first = own_noise(BREAST_CANCER)
    assert own_noise(replace(BREAST_CANCER, epsilon=0.2)) == pytest.approx(first / 2)
    assert own_noise(replace(BREAST_CANCER, steps=400)) == pytest.approx(2 * first)
    assert own_noise(replace(BREAST_CANCER, convexity=0.16)) == pytest.approx(first / 2)
    assert own_noise(replace(BREAST_CANCER, n=1398)) == pytest.approx(first * math.sqrt(699 * 698 / (1398 * 1397)))


def test_the_findings_tell_computed_numbers() -> None:
    told = " ".join(each.holds() for each in PAPER.findings)
    for number in (
        "noise of 1.54",
        "to epsilon 5.96",
        "0.1 takes noise of 61.5",
        "488 at epsilon 0.01",
        "116 at",
        "26.6 at",
        "3.16",
    ):
        assert number in told, number


def test_each_gap_is_named_at_an_equation_or_a_place_of_the_paper() -> None:
    assert len(PAPER.remarks) >= 20
    for each in PAPER.remarks:
        assert each.place.split()[0] in ("Equation", "Equations", "Theorem", "Algorithm", "Section", "Table")
        assert each.text.endswith(".")


def test_every_experiment_is_a_comparison_of_the_papers_data_in_its_range_of_epsilon():
    tables = [(each.request.dataset, each.request.model) for each in PAPER.experiments]
    assert len({*tables}) == len(tables) == 9
    assert {table for table, model in tables if model == "mlp"} == {"kddcup99", "adult", "bank"}
    for each in PAPER.experiments:
        assert (each.request.epsilons[0], each.request.epsilons[-1]) == (0.01, 0.25)
