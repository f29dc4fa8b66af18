"""Table 1 of paper 003 as a calculator: noise and excess risk of eleven methods of private learning, and a sound one.

The methods' noises lie on different things, which the table does not say: each row here says on what. Where the
constant of a formula is known or can be derived, the noise with it stands beside.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dpcore.papers.input_perturbation.noise_formulas import (
    LIPSCHITZ,
    NORM,
    Learning,
    bassily_noise,
    bassily_risk,
    chaudhuri_risk,
    fukuchi_noise,
    fukuchi_risk,
    gradient_noise,
    gradient_risk,
    kifer_noise,
    local_noise,
    own_noise,
    own_risk,
    reduced_noise,
    slack,
    zhang_noise,
)
from dpcore.papers.paper import Calculator, Quantity
from dpcore.privacy.report.numbers import outward, short

UNKNOWN = "constant not given"
TOO_SMALL = "none, since epsilon is too small for n"
Formula = Callable[[Learning], float]
Condition = Callable[
    [Learning], str
]  # why a theorem does not cover what is given, as part of a sentence; "" if it does


@dataclass(frozen=True)
class Row:
    """One method: its formulas as the table prints them, and what is known of their constants."""

    method: str
    place: str  # where the noise goes
    unit: str  # what the noise lies on, and how it is measured
    noise_formula: str
    noise: Formula | None  # with constant 1; a standard deviation, or a rate, by `unit`
    constant: str  # which constant makes it private, and where that is proven
    private_noise: Formula | None  # with that constant
    risk_formula: str
    risk: Formula | None  # excess empirical risk, with constant 1
    uncovered: Condition = lambda given: ""  # of the theorem that the constant is from

    def cells(self, given: Learning) -> tuple[str, ...]:
        """The row as it is read, in the order of COLUMNS; noise that keeps a promise is rounded to the safe side."""
        towards = math.floor if self.unit.startswith("rate") else math.ceil
        return (
            self.method,
            f"{self.place}: {self.unit}",
            _filled_in(self.noise, given, short, " = ", self.noise_formula),
            self._private(given, towards),
            _filled_in(self.risk, given, short, " = ", self.risk_formula),
        )

    def _private(self, given: Learning, towards: Callable[[float], int]) -> str:
        """The noise that keeps epsilon, or why none does."""
        if why := self.uncovered(given):
            return f"none here, since {why}: {self.constant}"
        return _filled_in(self.private_noise, given, lambda value: outward(value, towards), "; ", self.constant)


def _filled_in(
    formula: Formula | None, given: Learning, said: Callable[[float], str], between: str, behind: str
) -> str:
    """The number with what stands behind it; that alone, if there is no formula."""
    if formula is None:
        return behind
    value = formula(given)
    return f"{said(value)}{between}{behind}" if value > 0 else f"{TOO_SMALL}: {behind}"


def _too_flat(given: Learning) -> str:
    """Kifer et al. ask the summed objective for convexity that pays for the change of its curvature."""
    convexity, least = given.n * given.convexity, 2 * given.loss_smoothness / given.epsilon
    return "" if convexity >= least else f"the sum's convexity is {short(convexity)}, below {short(least)}"


def _too_much(given: Learning) -> str:
    """Bassily et al. prove small epsilons alone."""
    most = 2 * math.sqrt(given.log)
    return "" if given.epsilon <= most else f"epsilon is above {short(most)}"


OUTPUT, OBJECTIVE, GRADIENT, INPUT, LOCAL = "output", "objective", "gradient", "input", "local"
VECTOR = "rate at which the density of the noise vector falls with its length"
ROWS = (
    Row(
        "Chaudhuri et al. 2011",
        OUTPUT,
        VECTOR,
        "n lambda epsilon",
        lambda given: given.n * given.convexity * given.epsilon,
        "constant 1/2 (their Algorithm 1; delta = 0, exact minimiser)",
        lambda given: given.n * given.convexity * given.epsilon / 2,
        "p^2 ln^2(p/delta) (L + lambda) / (lambda^2 n^2 epsilon^2)",
        lambda given: chaudhuri_risk(given) * given.smoothness / given.convexity,
    ),
    Row(
        "Chaudhuri et al. 2011",
        OBJECTIVE,
        VECTOR,
        "epsilon - ln(1 + 2 L/(n lambda) + L^2/(n lambda)^2)",
        slack,
        "constant 1/2 (their Algorithm 2, which has a stronger regulariser where epsilon is too small for n; "
        "delta = 0, exact minimiser)",
        lambda given: slack(given) / 2,
        "p^2 ln^2(p/delta) / (lambda n^2 epsilon^2)",
        chaudhuri_risk,
    ),
    Row(
        "Kifer et al. 2012",
        OBJECTIVE,
        "standard deviation on each coefficient of the linear term of the summed loss",
        "zeta sqrt(epsilon + ln(4/delta^2)) / epsilon",
        kifer_noise,
        "constant 2 (their Algorithm 1; one row added or removed, exact minimiser, convexity of the sum at least 2 "
        "L/epsilon)",
        lambda given: 2 * kifer_noise(given),
        "|b|^2 / (n^2 Delta) + Delta |theta|^2",
        lambda given: given.p * (kifer_noise(given) / given.n) ** 2 / given.convexity + given.convexity * NORM**2,
        uncovered=_too_flat,
    ),
    Row(
        "Bassily et al. 2014",
        GRADIENT,
        "standard deviation on each coordinate of n times a row's gradient; on a mean gradient it is 1/n of this",
        "G n sqrt(ln(n/delta) ln(1/delta)) / epsilon",
        bassily_noise,
        "constant sqrt(32) (their Algorithm 1, n^2 steps, epsilon of at most 2 sqrt(ln(1/delta)))",
        lambda given: math.sqrt(32) * bassily_noise(given),
        "G^2 p ln^2(n/delta) ln(1/delta) / (n Delta epsilon^2)",
        bassily_risk,
        uncovered=_too_much,
    ),
    Row(
        "Zhang et al. 2017",
        OUTPUT,
        "standard deviation on each parameter",
        "G (1 + L/Delta) sqrt(ln(2/delta)) / (n L epsilon)",
        zhang_noise,
        "2 G/(n Delta) times the exact Gaussian mechanism (derived: gradient descent contracts, if its step is at "
        "most 2/(L + Delta), fixed beforehand)",
        lambda given: 2 * LIPSCHITZ / (given.n * given.convexity) * given.unit_noise,
        "L G^2 p ln(1/delta) / (n^2 epsilon^2 Delta^2)",
        lambda given: (
            given.smoothness * LIPSCHITZ**2 * given.p * given.log / (given.n * given.epsilon * given.convexity) ** 2
        ),
    ),
    Row(
        "Wang et al. 2017, DP-SVRG",
        GRADIENT,
        "standard deviation on each coordinate of a gradient, in every inner step",
        "G sqrt(T m ln(1/delta)) / (n epsilon)",
        reduced_noise,
        UNKNOWN,
        None,
        "G^2 p ln(n) ln(1/delta) / (n^2 Delta epsilon^2)",
        lambda given: gradient_risk(given) / given.convexity,
    ),
    Row(
        "Wang et al. 2017, gradient descent",
        GRADIENT,
        "standard deviation on each coordinate of the mean gradient, in every step",
        "G sqrt(T ln(1/delta)) / (n epsilon)",
        gradient_noise,
        "2 G/n sqrt(T) times the exact Gaussian mechanism (exact: T full-batch Gaussians)",
        lambda given: 2 * LIPSCHITZ / given.n * math.sqrt(given.steps) * given.unit_noise,
        "G^2 p ln(n) ln(1/delta) / (n^2 epsilon^2)",
        gradient_risk,
    ),
    Row(
        "Duchi et al. 2013",
        LOCAL,
        "randomised response",
        "none is given",
        None,
        UNKNOWN,
        None,
        "G p / (epsilon sqrt(n))",
        lambda given: LIPSCHITZ * given.p / (given.epsilon * math.sqrt(given.n)),
    ),
    Row(
        "Wang et al. 2018",
        LOCAL,
        "standard deviation of Laplace noise; as printed it grows with epsilon, which cannot be meant",
        "sqrt(p n epsilon^2)",
        lambda given: math.sqrt(given.p * given.n) * given.epsilon,
        UNKNOWN,
        None,
        "sqrt(p) / (sqrt(n) epsilon)^(L/(L + 2 p)), L being another quantity there",
        None,
    ),
    Row(
        "Fukuchi et al. 2017",
        INPUT,
        "standard deviation of what each person adds",
        "G sqrt(ln(16/delta) + epsilon) / (sqrt(n) epsilon)",
        fukuchi_noise,
        UNKNOWN,
        None,
        "p G^2 (ln(16/delta^2) + epsilon) / (L n epsilon)",
        fukuchi_risk,
    ),
    Row(
        "The paper's method",
        INPUT,
        "standard deviation on each feature of each row",
        "G sqrt(T ln(1/delta) / (n (n - 1) sqrt(Delta))) / epsilon",
        own_noise,
        "none is known: c is open and its proof has gaps. A claim without a guarantee",
        None,
        "alpha (2 L D + G) G^3 d ln^2(n) ln(1/delta) / (n (n - 1) sqrt(Delta) epsilon^2)",
        own_risk,
    ),
    Row(
        "A sound reading of it (not in the paper)",
        INPUT,
        "standard deviation on each feature of each row, labels public or flipped apart from it",
        "2 / mu(epsilon, delta)",
        local_noise,
        "exact: the Gaussian mechanism for one row",
        local_noise,
        "none is given",
        None,
    ),
)
COLUMNS = (
    "Method",
    "Noise on",
    "Noise as printed, with constant 1",
    "Noise that keeps epsilon",
    "Excess risk as printed, with constant 1",
)


def _filled(values: Mapping[str, float]) -> tuple[tuple[str, ...], ...]:
    whole = {each.name for each in CALCULATOR.asks if each.whole}
    given: dict[str, Any] = {
        name: int(value) if name in whole and value == int(value) else value for name, value in values.items()
    }
    return tuple(row.cells(Learning(**given)) for row in ROWS)


CALCULATOR = Calculator(
    place="Table 1",
    title="Noise and excess empirical risk of private learning",
    asks=(
        Quantity("n", "rows n", 699, 2, 1e9, whole=True),
        Quantity("p", "parameters p", 9, 1, 1e9, whole=True),
        Quantity("d", "features d", 9, 1, 1e9, whole=True),
        Quantity("epsilon", "epsilon", 0.1, 1e-3, 10),
        Quantity("delta", "delta", 1e-5, 1e-12, 0.1),
        Quantity("steps", "steps T", 100, 1, 1e9, whole=True),
        Quantity("convexity", "strong convexity Delta", 0.01, 1e-6, 10),
        Quantity("inner", "inner steps m of DP-SVRG", 10, 1, 1e6, whole=True),
    ),
    columns=COLUMNS,
    rows=_filled,
    note="For regularised logistic regression on rows of norm at most 1: G = zeta = 1, L = 1/4 + Delta, "
    "lambda = Delta; alpha = D = 1. The first two rows take L of the loss alone, 1/4. The table prints variances of "
    "Gaussian and Laplace noise: here stand their roots. Noise keeps epsilon where one row is replaced, in Kifer's row "
    "where one is added or removed. The table gives orders of magnitude; with constant 1 they promise "
    "nothing.",
)
