"""Lines that more than one paper draws: epsilon by an accountant, and the trade-off function that one leaves."""

import numpy as np

from dpcore.papers.paper import Line
from dpcore.privacy.accountants import ACCOUNTANTS, Curve
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.tradeoff import Tradeoff
from dpcore.privacy.types import FloatArray, IntArray

LOWER = "Proven lower bound"
ALPHAS: FloatArray = np.linspace(0.0, 1.0, 201)  # type I errors at which a trade-off function is drawn
ALPHAS.setflags(write=False)


def epsilon_lines(
    accountant: str, mechanism: Mechanism, x: FloatArray, steps: IntArray, delta: float, name: str = ""
) -> tuple[Line, ...]:
    """Epsilon after each number of steps (n,), drawn at x (n,); both bounds of the certified accountant."""
    return _lines(accountant, ACCOUNTANTS[accountant].curve(mechanism, steps, delta), x, None, name)


def delta_lines(accountant: str, mechanism: Mechanism, deltas: FloatArray) -> tuple[Line, ...]:
    """Delta against epsilon after the whole mechanism; both bounds of the certified accountant."""
    return _lines(accountant, ACCOUNTANTS[accountant].profile(mechanism, deltas), None, deltas, "")


def _lines(accountant: str, curve: Curve, x: FloatArray | None, y: FloatArray | None, name: str) -> tuple[Line, ...]:
    """One line for a curve, two for a band; epsilon stands on the axis that is None."""
    found = {name or ACCOUNTANTS[accountant].title: curve.epsilon}
    found |= {} if curve.lower is None else {LOWER: curve.lower}
    return tuple(
        Line(title, epsilon if x is None else x, epsilon if y is None else y, accountant)
        for title, epsilon in found.items()
    )


def tradeoff_line(name: str, f: Tradeoff, accountant: str = "") -> Line:
    """Least type II error at each type I error."""
    return Line(name, ALPHAS, f.beta(ALPHAS), accountant)


BLIND = Line("Blind guessing", ALPHAS, 1 - ALPHAS)
