"""Paper 003's table: each formula as it is printed, and the noise that keeps the promise."""

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest

from dpcore.papers.input_perturbation.rows import local_epsilon
from dpcore.papers.input_perturbation.table_1 import (
    CALCULATOR,
    WORDS,
    Learning,
    cells,
    noise,
    private_noise,
    risk,
)
from dpcore.training.perturbation.methods import METHODS
from dpcore.training.perturbation.task import Task
from tests.reference import gaussian_delta


def test_the_local_epsilon_of_a_noise_has_delta_by_the_closed_form() -> None:
    for sigma in (0.5, 1.54, 60.0):
        epsilon = local_epsilon(sigma, 1e-5)
        assert gaussian_delta(epsilon, 2 / sigma) == pytest.approx(1e-5, rel=1e-6)


GIVEN = Learning(n=300, p=7, d=5, epsilon=0.3, delta=1e-6, steps=40, convexity=0.02, inner=3)
N, P, D, EPS, DELTA, T, CONVEXITY, M = 300, 7, 5, 0.3, 1e-6, 40, 0.02, 3
L, LOG = 0.25 + CONVEXITY, math.log(1e6)
# Method -> the noise and the risk of the table, its O(...) read as 1; variances, not
# their roots.
PRINTED = {
    "chaudhuri_output": (
        N * CONVEXITY * EPS,
        P**2 * math.log(P / DELTA) ** 2 * (0.25 + CONVEXITY) / (CONVEXITY**2 * N**2 * EPS**2),
    ),
    "chaudhuri_objective": (
        # L of the loss alone.
        EPS - math.log(1 + 2 * 0.25 / (N * CONVEXITY) + 0.25**2 / (N**2 * CONVEXITY**2)),
        P**2 * math.log(P / DELTA) ** 2 / (CONVEXITY * N**2 * EPS**2),
    ),
    "kifer": ((EPS + math.log(4 / DELTA**2)) / EPS**2, None),
    "bassily": (
        N**2 * math.log(N / DELTA) * LOG / EPS**2,
        P * math.log(N / DELTA) ** 2 * LOG / (N * CONVEXITY * EPS**2),
    ),
    "zhang": (
        (1 + L / CONVEXITY) ** 2 * math.log(2 / DELTA) / (N**2 * L**2 * EPS**2),
        L * P * LOG / (N**2 * EPS**2 * CONVEXITY**2),
    ),
    "wang_svrg": (
        T * M * LOG / (N**2 * EPS**2),
        P * math.log(N) * LOG / (N**2 * CONVEXITY * EPS**2),
    ),
    "wang_descent": (
        T * LOG / (N**2 * EPS**2),
        P * math.log(N) * LOG / (N**2 * EPS**2),
    ),
    "duchi": (None, P / (EPS * math.sqrt(N))),
    "wang_local": (P * N * EPS**2, None),
    "fukuchi": (
        (math.log(16 / DELTA) + EPS) / (N * EPS**2),
        P * (math.log(16 / DELTA**2) + EPS) / (L * N * EPS),
    ),
    "own": (
        T * LOG / (N * (N - 1) * math.sqrt(CONVEXITY) * EPS**2),
        (2 * L + 1) * D * math.log(N) ** 2 * LOG / (N * (N - 1) * math.sqrt(CONVEXITY) * EPS**2),
    ),
}
TEXTS = WORDS["rows"]
NOISE = noise(GIVEN)
PRIVATE = private_noise(GIVEN)
RISK = risk(GIVEN)


def test_every_row_of_the_table_is_there_and_a_sound_one_beside_it() -> None:
    assert set(TEXTS) - set(PRINTED) == {"sound"}
    assert set(PRINTED) <= set(TEXTS)


def test_each_formula_is_the_printed_one() -> None:
    for name, (printed_noise, printed_risk) in PRINTED.items():
        if printed_noise is None:
            assert name not in NOISE
        else:
            square = NOISE[name] if "rate" in TEXTS[name]["unit"] else NOISE[name] ** 2
            assert square == pytest.approx(printed_noise, rel=1e-12), name
        if printed_risk is not None:
            assert RISK[name] == pytest.approx(printed_risk, rel=1e-12), name


def test_the_bound_of_kifer_holds_the_mean_square_of_its_noise() -> None:
    drawn = np.random.default_rng(0).normal(0, NOISE["kifer"], (200_000, P))
    mean = float(np.mean(np.sum(drawn**2, axis=1)))
    assert RISK["kifer"] == pytest.approx(mean / (N**2 * CONVEXITY) + CONVEXITY, rel=0.01)


def test_the_exact_gaussian_mechanism_has_the_known_noise() -> None:
    for epsilon, sigma in [(0.01, 243.8), (0.05, 57.8), (0.1, 30.8), (0.25, 13.3)]:
        given = replace(GIVEN, epsilon=epsilon, delta=1e-5)
        assert given.unit_noise == pytest.approx(sigma, abs=0.051)
        assert noise(given)["sound"] == 2 * given.unit_noise
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
    many = replace(task, steps=100_000)  # from so many steps on the sensitivity is 2 G / (n Delta)
    run = [
        (METHODS["gradient"].noise(task, EPS), PRIVATE["wang_descent"]),
        (METHODS["output"].noise(many, EPS), PRIVATE["zhang"]),
        (METHODS["bassily"].noise(task, EPS), PRIVATE["bassily"]),
    ]
    for found, derived in run:
        assert found == pytest.approx(derived, rel=1e-6)
    assert METHODS["paper_input"].noise(task, EPS) == pytest.approx(NOISE["own"], rel=1e-9)


def test_the_rates_of_chaudhuri_pay_for_a_row_that_is_replaced() -> None:
    output = PRIVATE["chaudhuri_output"]
    objective = PRIVATE["chaudhuri_objective"]
    # Times how far the minimiser moves.
    assert output * 2 / (N * CONVEXITY) == pytest.approx(EPS)
    # Times how far the gradient moves.
    assert objective * 2 == pytest.approx(NOISE["chaudhuri_objective"])


def test_the_constant_of_kifer_pays_half_of_epsilon_only_for_a_row_that_is_added() -> None:
    private = PRIVATE["kifer"]
    added = gaussian_delta(EPS / 2, 1 / private)
    replaced = gaussian_delta(EPS / 2, 2 / private)
    assert added <= DELTA < replaced
    assert gaussian_delta(EPS / 2, 1 / (0.6 * private)) > DELTA
    assert "one row added or removed" in TEXTS["kifer"]["constant"]


def test_noise_that_keeps_a_promise_is_rounded_to_the_safe_side() -> None:
    column = CALCULATOR.columns.index("Noise that keeps epsilon")
    exact = private_noise(Learning(699, 9, 9, 0.1, 1e-5, 100, 0.01, 10))
    rows = CALCULATOR.rows(CALCULATOR.usual)
    for (name, texts), row in zip(TEXTS.items(), rows, strict=True):
        if name not in exact:
            assert row[column] == texts["constant"]
            continue
        shown = float(row[column].split(";")[0])
        is_rate = "rate" in texts["unit"]
        assert (shown <= exact[name]) if is_rate else (shown >= exact[name])
        assert shown == pytest.approx(exact[name], rel=0.02)


@pytest.mark.parametrize(
    ("name", "inside", "outside", "why"),
    [
        (
            "kifer",
            {"n": 500, "convexity": 0.0101, "epsilon": 0.1},
            {"n": 500, "convexity": 0.0099, "epsilon": 0.1},
            "the sum's convexity is 4.95, below 5.00",
        ),
        (
            "bassily",
            {"delta": 0.1, "epsilon": 3.03},
            {"delta": 0.1, "epsilon": 3.04},
            "epsilon is above 3.03",
        ),
    ],
)
def test_no_noise_keeps_epsilon_where_the_theorem_does_not_cover_it(
    name: str, inside: dict[str, float], outside: dict[str, float], why: str
) -> None:
    column = CALCULATOR.columns.index("Noise that keeps epsilon")
    covered = cells(name, replace(GIVEN, **inside))[column]
    uncovered = cells(name, replace(GIVEN, **outside))[column]
    assert float(covered.split(";")[0]) > 0
    assert uncovered.startswith(f"none here, since {why}: constant ")


def test_where_epsilon_is_too_small_for_objective_perturbation_the_table_says_so() -> None:
    few = replace(GIVEN, n=20)
    assert noise(few)["chaudhuri_objective"] < 0
    printed, private = cells("chaudhuri_objective", few)[2:4]
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
