"""Paper 003's table: each formula as it is printed, and the noise that keeps the promise."""

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest

from dpcore.papers.input_perturbation.noise_formulas import Learning, local_noise, slack
from dpcore.papers.input_perturbation.noise_table import CALCULATOR, ROWS
from dpcore.papers.input_perturbation.numbers import local_epsilon
from dpcore.training.perturbation.methods import METHODS
from dpcore.training.perturbation.task import Task
from tests.reference import gaussian_delta


def test_the_local_epsilon_of_a_noise_has_delta_by_the_closed_form() -> None:
    for noise in (0.5, 1.54, 60.0):
        epsilon = local_epsilon(noise, 1e-5)
        assert gaussian_delta(epsilon, 2 / noise) == pytest.approx(1e-5, rel=1e-6)


GIVEN = Learning(n=300, p=7, d=5, epsilon=0.3, delta=1e-6, steps=40, convexity=0.02, inner=3)
N, P, D, EPS, DELTA, T, CONVEXITY, M = 300, 7, 5, 0.3, 1e-6, 40, 0.02, 3
L, LOG = 0.25 + CONVEXITY, math.log(1e6)
# Method and place -> the noise and the risk of the table, its O(...) read as 1; variances, not
# their roots.
PRINTED = {
    ("Chaudhuri et al. 2011", "output"): (
        N * CONVEXITY * EPS,
        P**2 * math.log(P / DELTA) ** 2 * (0.25 + CONVEXITY) / (CONVEXITY**2 * N**2 * EPS**2),
    ),
    ("Chaudhuri et al. 2011", "objective"): (
        # L of the loss alone.
        EPS - math.log(1 + 2 * 0.25 / (N * CONVEXITY) + 0.25**2 / (N**2 * CONVEXITY**2)),
        P**2 * math.log(P / DELTA) ** 2 / (CONVEXITY * N**2 * EPS**2),
    ),
    ("Kifer et al. 2012", "objective"): ((EPS + math.log(4 / DELTA**2)) / EPS**2, None),
    ("Bassily et al. 2014", "gradient"): (
        N**2 * math.log(N / DELTA) * LOG / EPS**2,
        P * math.log(N / DELTA) ** 2 * LOG / (N * CONVEXITY * EPS**2),
    ),
    ("Zhang et al. 2017", "output"): (
        (1 + L / CONVEXITY) ** 2 * math.log(2 / DELTA) / (N**2 * L**2 * EPS**2),
        L * P * LOG / (N**2 * EPS**2 * CONVEXITY**2),
    ),
    ("Wang et al. 2017, DP-SVRG", "gradient"): (
        T * M * LOG / (N**2 * EPS**2),
        P * math.log(N) * LOG / (N**2 * CONVEXITY * EPS**2),
    ),
    ("Wang et al. 2017, gradient descent", "gradient"): (
        T * LOG / (N**2 * EPS**2),
        P * math.log(N) * LOG / (N**2 * EPS**2),
    ),
    ("Duchi et al. 2013", "local"): (None, P / (EPS * math.sqrt(N))),
    ("Wang et al. 2018", "local"): (P * N * EPS**2, None),
    ("Fukuchi et al. 2017", "input"): (
        (math.log(16 / DELTA) + EPS) / (N * EPS**2),
        P * (math.log(16 / DELTA**2) + EPS) / (L * N * EPS),
    ),
    ("The paper's method", "input"): (
        T * LOG / (N * (N - 1) * math.sqrt(CONVEXITY) * EPS**2),
        (2 * L + 1) * D * math.log(N) ** 2 * LOG / (N * (N - 1) * math.sqrt(CONVEXITY) * EPS**2),
    ),
}
ROW = {(row.method, row.place): row for row in ROWS}


def test_every_row_of_the_table_is_there_and_a_sound_one_beside_it() -> None:
    assert set(ROW) - set(PRINTED) == {("A sound reading of it (not in the paper)", "input")}
    assert set(PRINTED) <= set(ROW)


def test_each_formula_is_the_printed_one() -> None:
    for key, (noise, risk) in PRINTED.items():
        row = ROW[key]
        if noise is None:
            assert row.noise is None, key
        else:
            assert row.noise is not None, key
            square = row.noise(GIVEN) if "rate" in row.unit else row.noise(GIVEN) ** 2
            assert square == pytest.approx(noise, rel=1e-12), key
        if risk is not None:
            assert row.risk is not None, key
            assert row.risk(GIVEN) == pytest.approx(risk, rel=1e-12), key


def test_the_bound_of_kifer_holds_the_mean_square_of_its_noise() -> None:
    row = ROW["Kifer et al. 2012", "objective"]
    assert row.risk is not None
    assert row.noise is not None
    drawn = np.random.default_rng(0).normal(0, row.noise(GIVEN), (200_000, P))
    mean = float(np.mean(np.sum(drawn**2, axis=1)))
    assert row.risk(GIVEN) == pytest.approx(mean / (N**2 * CONVEXITY) + CONVEXITY, rel=0.01)


def test_the_exact_gaussian_mechanism_has_the_known_noise() -> None:
    for epsilon, sigma in [(0.01, 243.8), (0.05, 57.8), (0.1, 30.8), (0.25, 13.3)]:
        given = replace(GIVEN, epsilon=epsilon, delta=1e-5)
        assert given.unit_noise == pytest.approx(sigma, abs=0.051)
        assert local_noise(given) == 2 * given.unit_noise
        with mpmath.workdps(40):
            deltas = []
            for share in (1, 1 - mpmath.mpf("1e-6")):
                s, e = share * mpmath.mpf(given.unit_noise), mpmath.mpf(epsilon)
                deltas.append(
                    mpmath.ncdf(1 / (2 * s) - e * s)
                    - mpmath.exp(e) * mpmath.ncdf(-1 / (2 * s) - e * s)
                )
        assert deltas[0] <= 1e-5 < deltas[1], epsilon


def test_the_derived_constants_are_those_of_the_methods_that_are_run() -> None:
    task = Task("logistic", GIVEN.n, GIVEN.d, GIVEN.delta, GIVEN.steps, None, GIVEN.convexity, 1.0)
    gradient = ROW["Wang et al. 2017, gradient descent", "gradient"].private_noise
    output = ROW["Zhang et al. 2017", "output"].private_noise
    paper = ROW["The paper's method", "input"].noise
    assert gradient is not None
    assert output is not None
    assert paper is not None
    assert METHODS["gradient"].noise(task, EPS) == pytest.approx(gradient(GIVEN), rel=1e-6)
    many = replace(task, steps=100_000)  # from so many steps on the sensitivity is 2 G / (n Delta)
    assert METHODS["output"].noise(many, EPS) == pytest.approx(output(GIVEN), rel=1e-6)
    assert METHODS["paper_input"].noise(task, EPS) == pytest.approx(paper(GIVEN), rel=1e-9)
    bassily = ROW["Bassily et al. 2014", "gradient"].private_noise
    assert bassily is not None
    assert METHODS["bassily"].noise(task, EPS) == pytest.approx(bassily(GIVEN), rel=1e-6)


def test_the_rates_of_chaudhuri_pay_for_a_row_that_is_replaced() -> None:
    output = ROW["Chaudhuri et al. 2011", "output"].private_noise
    objective = ROW["Chaudhuri et al. 2011", "objective"].private_noise
    assert output is not None
    assert objective is not None
    # Times how far the minimiser moves.
    assert output(GIVEN) * 2 / (N * CONVEXITY) == pytest.approx(EPS)
    assert objective(GIVEN) * 2 == pytest.approx(slack(GIVEN))  # times how far the gradient moves


def test_the_constant_of_kifer_pays_half_of_epsilon_only_for_a_row_that_is_added() -> None:
    private = ROW["Kifer et al. 2012", "objective"].private_noise
    assert private is not None
    added = gaussian_delta(EPS / 2, 1 / private(GIVEN))
    replaced = gaussian_delta(EPS / 2, 2 / private(GIVEN))
    assert added <= DELTA < replaced
    assert gaussian_delta(EPS / 2, 1 / (0.6 * private(GIVEN))) > DELTA
    assert "one row added or removed" in ROW["Kifer et al. 2012", "objective"].constant


def test_noise_that_keeps_a_promise_is_rounded_to_the_safe_side() -> None:
    column = CALCULATOR.columns.index("Noise that keeps epsilon")
    for row, cells in zip(ROWS, CALCULATOR.rows(CALCULATOR.usual), strict=True):
        if row.private_noise is None:
            assert cells[column] == row.constant
            continue
        exact = row.private_noise(Learning(699, 9, 9, 0.1, 1e-5, 100, 0.01, 10))
        shown = float(cells[column].split(";")[0])
        assert (shown <= exact) if "rate" in row.unit else (shown >= exact)
        assert shown == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize(
    ("key", "inside", "outside", "why"),
    [
        (
            ("Kifer et al. 2012", "objective"),
            {"n": 500, "convexity": 0.0101, "epsilon": 0.1},
            {"n": 500, "convexity": 0.0099, "epsilon": 0.1},
            "the sum's convexity is 4.95, below 5.00",
        ),
        (
            ("Bassily et al. 2014", "gradient"),
            {"delta": 0.1, "epsilon": 3.03},
            {"delta": 0.1, "epsilon": 3.04},
            "epsilon is above 3.03",
        ),
    ],
)
def test_no_noise_keeps_epsilon_where_the_theorem_does_not_cover_it(
    key: tuple[str, str], inside: dict[str, float], outside: dict[str, float], why: str
) -> None:
    column = CALCULATOR.columns.index("Noise that keeps epsilon")
    covered = ROW[key].cells(replace(GIVEN, **inside))[column]
    uncovered = ROW[key].cells(replace(GIVEN, **outside))[column]
    assert float(covered.split(";")[0]) > 0
    assert uncovered.startswith(f"none here, since {why}: constant ")


def test_where_epsilon_is_too_small_for_objective_perturbation_the_table_says_so() -> None:
    few = replace(GIVEN, n=20)
    assert slack(few) < 0
    printed, private = ROW["Chaudhuri et al. 2011", "objective"].cells(few)[2:4]
    assert printed.startswith("none, since epsilon is too small for n: epsilon - ln(")
    assert private.startswith(
        "none, since epsilon is too small for n: constant 1/2 (their Algorithm 2, which has a str"
    )


def test_bad_values_are_refused_by_name() -> None:
    bad = [
        ("n", 1),
        ("n", 2.5),
        ("p", 0),
        ("steps", 0),
        ("epsilon", 0.0),
        ("delta", 1.0),
        ("convexity", -1.0),
    ]
    for name, value in bad:
        with pytest.raises(ValueError, match=f"{name}="):
            CALCULATOR.rows(CALCULATOR.usual | {name: value})
