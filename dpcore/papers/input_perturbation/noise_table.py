"""Table 1 of paper 003 as a calculator: noise and excess risk of eleven methods of private
learning, and a sound one.

The methods add noise to different quantities, which the table does not name: each row here does. If
the constant of a formula is known or can be derived, the row has the noise with it too.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dpcore.papers.input_perturbation import noise_formulas as formulas
from dpcore.papers.input_perturbation.noise_formulas import LIPSCHITZ, NORM, Learning
from dpcore.papers.paper import TextRows
from dpcore.papers.words import calculator, words_of
from dpcore.privacy.report.numbers import outward, short

WORDS = words_of("input_perturbation")
TOO_SMALL = "none, since epsilon is too small for n"
Formula = Callable[[Learning], float]


@dataclass(frozen=True)
class Row:
    """One method: its formulas as the table prints them, and their known constants."""

    method: str
    place: str  # of the noise
    unit: str  # of the noise, and the quantity that gets it
    noise_formula: str
    constant: str  # that makes it private, and the source of its proof
    risk_formula: str
    noise: Formula | None = None  # with constant 1; a standard deviation, or a rate, by `unit`
    private_noise: Formula | None = None  # with the constant that makes it private
    risk: Formula | None = None  # excess empirical risk, with constant 1
    # Says why the constant's theorem does not cover the values.
    uncovered: Callable[[Learning], str] = lambda _: ""

    def cells(self, given: Learning) -> tuple[str, ...]:
        """Return the row's texts, a column each; noise that keeps a promise is rounded to the safe
        side.
        """
        towards = math.floor if self.unit.startswith("rate") else math.ceil
        return (
            self.method,
            f"{self.place}: {self.unit}",
            _filled_in(self.noise, given, short, " = ", self.noise_formula),
            self._private(given, towards),
            _filled_in(self.risk, given, short, " = ", self.risk_formula),
        )

    def _private(self, given: Learning, towards: Callable[[float], int]) -> str:
        """Return the noise that keeps epsilon, or why none does."""
        if why := self.uncovered(given):
            return f"none here, since {why}: {self.constant}"
        return _filled_in(
            self.private_noise, given, lambda value: outward(value, towards), "; ", self.constant
        )


def _filled_in(
    formula: Formula | None,
    given: Learning,
    said: Callable[[float], str],
    between: str,
    behind: str,
) -> str:
    """Return the number with its formula or constant; only that, if there is no number."""
    if formula is None:
        return behind
    value = formula(given)
    return f"{said(value)}{between}{behind}" if value > 0 else f"{TOO_SMALL}: {behind}"


def _too_flat(given: Learning) -> str:
    """Check that the summed objective is convex enough for the theorem of Kifer et al."""
    convexity, least = given.n * given.convexity, 2 * given.loss_smoothness / given.epsilon
    return (
        ""
        if convexity >= least
        else f"the sum's convexity is {short(convexity)}, below {short(least)}"
    )


def _too_much(given: Learning) -> str:
    """Check that epsilon is small enough for the theorem of Bassily et al."""
    most = 2 * math.sqrt(given.log)
    return "" if given.epsilon <= most else f"epsilon is above {short(most)}"


FORMULAS: dict[str, dict[str, Any]] = {  # by the row
    "chaudhuri_output": {
        "noise": lambda given: given.n * given.convexity * given.epsilon,
        "private_noise": lambda given: given.n * given.convexity * given.epsilon / 2,
        "risk": lambda given: formulas.chaudhuri_risk(given) * given.smoothness / given.convexity,
    },
    "chaudhuri_objective": {
        "noise": formulas.slack,
        "private_noise": lambda given: formulas.slack(given) / 2,
        "risk": formulas.chaudhuri_risk,
    },
    "kifer": {
        "noise": formulas.kifer_noise,
        "private_noise": lambda given: 2 * formulas.kifer_noise(given),
        "risk": lambda given: (
            given.p * (formulas.kifer_noise(given) / given.n) ** 2 / given.convexity
            + given.convexity * NORM**2
        ),
        "uncovered": _too_flat,
    },
    "bassily": {
        "noise": formulas.bassily_noise,
        "private_noise": lambda given: math.sqrt(32) * formulas.bassily_noise(given),
        "risk": formulas.bassily_risk,
        "uncovered": _too_much,
    },
    "zhang": {
        "noise": formulas.zhang_noise,
        "private_noise": lambda given: (
            2 * LIPSCHITZ / (given.n * given.convexity) * given.unit_noise
        ),
        "risk": lambda given: (
            given.smoothness
            * LIPSCHITZ**2
            * given.p
            * given.log
            / (given.n * given.epsilon * given.convexity) ** 2
        ),
    },
    "wang_svrg": {
        "noise": formulas.reduced_noise,
        "risk": lambda given: formulas.gradient_risk(given) / given.convexity,
    },
    "wang_descent": {
        "noise": formulas.gradient_noise,
        "private_noise": lambda given: (
            2 * LIPSCHITZ / given.n * math.sqrt(given.steps) * given.unit_noise
        ),
        "risk": formulas.gradient_risk,
    },
    "duchi": {"risk": lambda given: LIPSCHITZ * given.p / (given.epsilon * math.sqrt(given.n))},
    "wang_local": {"noise": lambda given: math.sqrt(given.p * given.n) * given.epsilon},
    "fukuchi": {"noise": formulas.fukuchi_noise, "risk": formulas.fukuchi_risk},
    "own": {"noise": formulas.own_noise, "risk": formulas.own_risk},
    "sound": {"noise": formulas.local_noise, "private_noise": formulas.local_noise},
}
ROWS = tuple(Row(**WORDS["rows"][name], **own) for name, own in FORMULAS.items())


def _filled(values: Mapping[str, float]) -> TextRows:
    whole = {each.name for each in CALCULATOR.asks if each.whole}
    given: dict[str, Any] = {
        name: int(value) if name in whole and value == int(value) else value
        for name, value in values.items()
    }
    return tuple(row.cells(Learning(**given)) for row in ROWS)


CALCULATOR = calculator(WORDS["calculator"], _filled)
