"""Table 1 of paper 003 as a calculator: noise and excess risk of methods of private learning.

It has the paper's eleven methods and a sound one, by their names in paper.toml. They add noise to
different quantities, which the table does not name: each row here does. The table prints only
orders of magnitude; here each has constant 1. If the constant of a formula is known or can be
derived, the row has the noise with it too.

Letters: n rows of d features, p parameters, T steps, L the smoothness of the loss, Delta its strong
convexity (lambda in the first two rows), m the inner steps of DP-SVRG. For logistic regression on
rows of norm at most 1 the Lipschitz constant G is 1 and L = 1/4 + Delta; the largest norm D of the
parameters and the learning rate alpha are taken as 1.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpcore import check
from dpcore.papers.paper import TextRows
from dpcore.papers.words import Texts, calculator, words_of
from dpcore.privacy import gaussian
from dpcore.privacy.report.numbers import outward, short

WORDS = words_of("input_perturbation")
TOO_SMALL = "none, since epsilon is too small for n"
Amounts = dict[str, float]  # by method


@dataclass(frozen=True)
class Learning:
    """Values for the formulas."""

    n: int
    p: int
    d: int
    epsilon: float
    delta: float
    steps: int
    convexity: float
    inner: int = 1

    def __post_init__(self) -> None:
        check.whole(2, n=self.n)
        check.whole(1, p=self.p, d=self.d, steps=self.steps, inner=self.inner)
        check.positive(epsilon=self.epsilon, convexity=self.convexity)
        check.delta(delta=self.delta)

    @property
    def smoothness(self) -> float:
        """L of regularised logistic regression."""
        return 0.25 + self.convexity

    @property
    def loss_smoothness(self) -> float:
        """L of the loss without its regulariser, as some of the theorems need it."""
        return self.smoothness - self.convexity

    @property
    def log(self) -> float:
        """ln(1/delta)."""
        return -math.log(self.delta)

    @property
    def unit_noise(self) -> float:
        """Standard deviation of the exact Gaussian mechanism at sensitivity 1, rounded up.

        >>> round(Learning(100, 1, 1, 0.1, 1e-5, 1, 1.0).unit_noise, 1)
        30.7
        """
        return float(1 / gaussian.mu_of(self.epsilon, self.delta))


def noise(given: Learning) -> Amounts:
    """Return the noise of each method with constant 1.

    It is a standard deviation, for Chaudhuri et al. a rate. That of the paper, equation (9) with c
    = 1, guarantees nothing; the sound one makes each row of norm at most 1 private by itself.

    >>> breast_cancer = noise(Learning(699, 9, 9, 0.1, 1e-5, 100, 0.01))
    >>> round(breast_cancer["own"], 2), round(breast_cancer["sound"], 1)
    (1.54, 61.5)
    """
    n = given.n
    epsilon = given.epsilon
    delta = given.delta
    convexity = given.convexity

    def rooted(variance: float) -> float:
        return math.sqrt(variance) / epsilon

    # Of the privacy that objective perturbation leaves for its noise.
    spent = 2 * math.log1p(given.loss_smoothness / (n * convexity))
    inverse = (1 + given.smoothness / convexity) / (n * given.smoothness)
    descent = rooted(given.steps * given.log / n**2)
    return {
        "chaudhuri_output": n * convexity * epsilon,
        "chaudhuri_objective": epsilon - spent,
        "kifer": rooted(epsilon + math.log(4 / delta**2)),
        "bassily": rooted(n**2 * math.log(n / delta) * given.log),
        "zhang": rooted(inverse**2 * math.log(2 / delta)),
        "wang_svrg": math.sqrt(given.inner) * descent,
        "wang_descent": descent,
        "wang_local": math.sqrt(given.p * n) * epsilon,
        "fukuchi": rooted((math.log(16 / delta) + epsilon) / n),
        "own": rooted(given.steps * given.log / (n * (n - 1) * math.sqrt(convexity))),
        "sound": 2 * given.unit_noise,
    }


def private_noise(given: Learning) -> Amounts:
    """Return the noise that keeps epsilon, of the methods for which it is known."""
    printed = noise(given)
    unit = given.unit_noise
    return {
        "chaudhuri_output": printed["chaudhuri_output"] / 2,
        "chaudhuri_objective": printed["chaudhuri_objective"] / 2,
        "kifer": 2 * printed["kifer"],
        "bassily": math.sqrt(32) * printed["bassily"],
        "zhang": 2 / (given.n * given.convexity) * unit,  # the sensitivity of the minimiser
        "wang_descent": 2 / given.n * math.sqrt(given.steps) * unit,
        "sound": printed["sound"],
    }


def risk(given: Learning) -> Amounts:
    """Return the excess empirical risk of each method with constant 1; of ours, equation (10)."""
    n = given.n
    p = given.p
    epsilon = given.epsilon
    delta = given.delta
    convexity = given.convexity
    log = given.log
    log_n = math.log(n)
    objective = (p * math.log(p / delta) / (n * epsilon)) ** 2 / convexity
    kifer = p * (noise(given)["kifer"] / n) ** 2 / convexity
    bassily = p * (math.log(n / delta) ** 2 * log)
    descent = p * log_n * log / (n * epsilon) ** 2
    fukuchi = p * (math.log(16 / delta**2) + epsilon)
    own = (2 * given.smoothness + 1) * given.d * log_n**2 * log
    return {
        "chaudhuri_output": objective * given.smoothness / convexity,
        "chaudhuri_objective": objective,
        "kifer": kifer + convexity,
        "bassily": bassily / (n * convexity * epsilon**2),
        "zhang": given.smoothness * p * log / (n * epsilon * convexity) ** 2,
        "wang_svrg": descent / convexity,
        "wang_descent": descent,
        "duchi": p / (epsilon * math.sqrt(n)),
        "fukuchi": fukuchi / (given.smoothness * n * epsilon),
        "own": own / (n * (n - 1) * math.sqrt(convexity) * epsilon**2),
    }


def uncovered(given: Learning) -> dict[str, str]:
    """Say, by method, why the theorem of its private noise does not cover the values."""
    found = {}
    convexity = given.n * given.convexity
    least = 2 * given.loss_smoothness / given.epsilon
    if convexity < least:
        found["kifer"] = f"the sum's convexity is {short(convexity)}, below {short(least)}"
    most = 2 * math.sqrt(given.log)
    if given.epsilon > most:
        found["bassily"] = f"epsilon is above {short(most)}"
    return found


def cells(name: str, given: Learning) -> tuple[str, ...]:
    """Return the texts of a method's row, a column each."""
    texts = WORDS["rows"][name]
    return (
        texts["method"],
        f"{texts['place']}: {texts['unit']}",
        _with_value(noise(given).get(name), texts["noise"]),
        _private_cell(private_noise(given).get(name), uncovered(given).get(name), texts),
        _with_value(risk(given).get(name), texts["risk"]),
    )


def _with_value(value: float | None, written: str) -> str:
    """Return a formula as written, with its value if it has one."""
    if value is None:
        return written
    return f"{short(value)} = {written}" if value > 0 else f"{TOO_SMALL}: {written}"


def _private_cell(value: float | None, why_none: str | None, texts: Texts) -> str:
    """Return the noise that keeps epsilon, rounded to the safe side, or why none does."""
    constant = texts["constant"]
    if why_none:
        return f"none here, since {why_none}: {constant}"
    if value is None:
        return constant
    if value <= 0:
        return f"{TOO_SMALL}: {constant}"
    is_rate = texts["unit"].startswith("rate")  # more noise is a smaller rate
    return f"{outward(value, math.floor if is_rate else math.ceil)}; {constant}"


def _table(values: Mapping[str, float]) -> TextRows:
    """Fill in the table for values by name."""
    given: dict[str, Any] = dict(values)
    for asked in CALCULATOR.asks:
        value = given[asked.name]
        if asked.whole and value == int(value):
            given[asked.name] = int(value)
    learning = Learning(**given)
    return tuple(cells(name, learning) for name in WORDS["rows"])


CALCULATOR = calculator(WORDS["calculator"], _table)
