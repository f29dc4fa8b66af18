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
from dpcore.papers.paper import TextRows
from dpcore.papers.words import calculator, words_of
from dpcore.privacy.report.numbers import outward, short

WORDS = words_of("input_perturbation")
TOO_SMALL = "none, since epsilon is too small for n"
Formula = Callable[[Learning], float]


@dataclass(frozen=True)
class Row:
    """One method: its formulas as the table prints them, and what is known of their constants."""

    method: str
    place: str  # where the noise goes
    unit: str  # what the noise lies on, and how it is measured
    noise_formula: str
    constant: str  # which constant makes it private, and where that is proven
    risk_formula: str
    noise: Formula | None = None  # with constant 1; a standard deviation, or a rate, by `unit`
    private_noise: Formula | None = None  # with the constant that makes it private
    risk: Formula | None = None  # excess empirical risk, with constant 1
    uncovered: Callable[[Learning], str] = lambda given: (
        ""
    )  # why the theorem of the constant does not cover it; "" if it does

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


FORMULAS: dict[str, dict[str, Any]] = {  # by the row
    "chaudhuri_output": {
        "noise": lambda given: given.n * given.convexity * given.epsilon,
        "private_noise": lambda given: given.n * given.convexity * given.epsilon / 2,
        "risk": lambda given: chaudhuri_risk(given) * given.smoothness / given.convexity,
    },
    "chaudhuri_objective": {
        "noise": slack,
        "private_noise": lambda given: slack(given) / 2,
        "risk": chaudhuri_risk,
    },
    "kifer": {
        "noise": kifer_noise,
        "private_noise": lambda given: 2 * kifer_noise(given),
        "risk": lambda given: (
            given.p * (kifer_noise(given) / given.n) ** 2 / given.convexity + given.convexity * NORM**2
        ),
        "uncovered": _too_flat,
    },
    "bassily": {
        "noise": bassily_noise,
        "private_noise": lambda given: math.sqrt(32) * bassily_noise(given),
        "risk": bassily_risk,
        "uncovered": _too_much,
    },
    "zhang": {
        "noise": zhang_noise,
        "private_noise": lambda given: 2 * LIPSCHITZ / (given.n * given.convexity) * given.unit_noise,
        "risk": lambda given: (
            given.smoothness * LIPSCHITZ**2 * given.p * given.log / (given.n * given.epsilon * given.convexity) ** 2
        ),
    },
    "wang_svrg": {"noise": reduced_noise, "risk": lambda given: gradient_risk(given) / given.convexity},
    "wang_descent": {
        "noise": gradient_noise,
        "private_noise": lambda given: 2 * LIPSCHITZ / given.n * math.sqrt(given.steps) * given.unit_noise,
        "risk": gradient_risk,
    },
    "duchi": {"risk": lambda given: LIPSCHITZ * given.p / (given.epsilon * math.sqrt(given.n))},
    "wang_local": {"noise": lambda given: math.sqrt(given.p * given.n) * given.epsilon},
    "fukuchi": {"noise": fukuchi_noise, "risk": fukuchi_risk},
    "own": {"noise": own_noise, "risk": own_risk},
    "sound": {"noise": local_noise, "private_noise": local_noise},
}
ROWS = tuple(Row(**WORDS["rows"][name], **formulas) for name, formulas in FORMULAS.items())


def _filled(values: Mapping[str, float]) -> TextRows:
    whole = {each.name for each in CALCULATOR.asks if each.whole}
    given: dict[str, Any] = {
        name: int(value) if name in whole and value == int(value) else value for name, value in values.items()
    }
    return tuple(row.cells(Learning(**given)) for row in ROWS)


CALCULATOR = calculator(WORDS["calculator"], _filled)
COLUMNS = CALCULATOR.columns
