"""Table 1 of paper 003 as a calculator: noise and excess risk of methods of private learning.

It has the paper's eleven methods and a sound one. They add noise to different quantities, which the
table does not name: each row here does. If the constant of a formula is known or can be derived,
the row has the noise with it too.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dpcore.papers.input_perturbation import noise_formulas as formulas
from dpcore.papers.input_perturbation.noise_formulas import Learning
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
    # Says why the constant's theorem does not cover the values; "" if it does.
    uncovered: Callable[[Learning], str] | None = None

    def cells(self, given: Learning) -> tuple[str, ...]:
        """Return the row's texts, a column each."""
        return (
            self.method,
            f"{self.place}: {self.unit}",
            _with_value(self.noise, given, self.noise_formula),
            self._private_cell(given),
            _with_value(self.risk, given, self.risk_formula),
        )

    def _private_cell(self, given: Learning) -> str:
        """Return the noise that keeps epsilon, rounded to the safe side, or why none does."""
        if self.uncovered is not None:
            why = self.uncovered(given)
            if why:
                return f"none here, since {why}: {self.constant}"
        if self.private_noise is None:
            return self.constant
        value = self.private_noise(given)
        if value > 0:
            is_rate = self.unit.startswith("rate")  # more noise is a smaller rate
            safe = outward(value, math.floor if is_rate else math.ceil)
            return f"{safe}; {self.constant}"
        return f"{TOO_SMALL}: {self.constant}"


def _with_value(formula: Formula | None, given: Learning, written: str) -> str:
    """Return a formula as written, with its value if it has one."""
    if formula is None:
        return written
    value = formula(given)
    return f"{short(value)} = {written}" if value > 0 else f"{TOO_SMALL}: {written}"


def _too_flat(given: Learning) -> str:
    """Check that the summed objective is convex enough for the theorem of Kifer et al."""
    convexity = given.n * given.convexity
    least = 2 * given.loss_smoothness / given.epsilon
    if convexity >= least:
        return ""
    return f"the sum's convexity is {short(convexity)}, below {short(least)}"


def _too_much(given: Learning) -> str:
    """Check that epsilon is small enough for the theorem of Bassily et al."""
    most = 2 * math.sqrt(given.log)
    return "" if given.epsilon <= most else f"epsilon is above {short(most)}"


TEXTS = WORDS["rows"]
ROWS = (
    Row(
        **TEXTS["chaudhuri_output"],
        noise=formulas.chaudhuri_output_noise,
        private_noise=formulas.private_chaudhuri_output_noise,
        risk=formulas.chaudhuri_output_risk,
    ),
    Row(
        **TEXTS["chaudhuri_objective"],
        noise=formulas.slack,
        private_noise=formulas.private_slack,
        risk=formulas.chaudhuri_risk,
    ),
    Row(
        **TEXTS["kifer"],
        noise=formulas.kifer_noise,
        private_noise=formulas.private_kifer_noise,
        risk=formulas.kifer_risk,
        uncovered=_too_flat,
    ),
    Row(
        **TEXTS["bassily"],
        noise=formulas.bassily_noise,
        private_noise=formulas.private_bassily_noise,
        risk=formulas.bassily_risk,
        uncovered=_too_much,
    ),
    Row(
        **TEXTS["zhang"],
        noise=formulas.zhang_noise,
        private_noise=formulas.private_zhang_noise,
        risk=formulas.zhang_risk,
    ),
    Row(**TEXTS["wang_svrg"], noise=formulas.reduced_noise, risk=formulas.reduced_risk),
    Row(
        **TEXTS["wang_descent"],
        noise=formulas.gradient_noise,
        private_noise=formulas.private_gradient_noise,
        risk=formulas.gradient_risk,
    ),
    Row(**TEXTS["duchi"], risk=formulas.duchi_risk),
    Row(**TEXTS["wang_local"], noise=formulas.wang_local_noise),
    Row(**TEXTS["fukuchi"], noise=formulas.fukuchi_noise, risk=formulas.fukuchi_risk),
    Row(**TEXTS["own"], noise=formulas.own_noise, risk=formulas.own_risk),
    Row(**TEXTS["sound"], noise=formulas.local_noise, private_noise=formulas.local_noise),
)


def _table(values: Mapping[str, float]) -> TextRows:
    """Fill in the table for values by name."""
    given: dict[str, Any] = dict(values)
    for asked in CALCULATOR.asks:
        value = given[asked.name]
        if asked.whole and value == int(value):
            given[asked.name] = int(value)
    learning = Learning(**given)
    return tuple(row.cells(learning) for row in ROWS)


CALCULATOR = calculator(WORDS["calculator"], _table)
