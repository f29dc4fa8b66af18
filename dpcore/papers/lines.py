"""Lines that several papers draw: epsilon by an accountant, and trade-off functions."""

import numpy as np

from dpcore.papers.paper import Line
from dpcore.privacy.accountants import ACCOUNTANTS, Curve
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism
from dpcore.privacy.tradeoff import Tradeoff

LOWER = "Proven lower bound"
# Type I errors at which a trade-off function is drawn.
ALPHAS: FloatArray = np.linspace(0.0, 1.0, 201)
ALPHAS.setflags(write=False)


def epsilon_lines(
    accountant: str,
    mechanism: Mechanism,
    x: FloatArray,
    steps: IntArray,
    delta: float,
    name: str = "",
) -> list[Line]:
    """Return epsilon after each number of steps (n,), drawn at x (n,).

    The certified accountant has a second line, its lower bound.
    """
    curve = ACCOUNTANTS[accountant].curve(mechanism, steps, delta)
    return _lines(accountant, x, curve, name)


def profile_lines(accountant: str, mechanism: Mechanism, deltas: FloatArray) -> list[Line]:
    """Return epsilon after the whole mechanism at each delta.

    The certified accountant has a second line, its lower bound.
    """
    curve = ACCOUNTANTS[accountant].profile(mechanism, deltas)
    return _lines(accountant, deltas, curve, "")


def _lines(accountant: str, x: FloatArray, curve: Curve, name: str) -> list[Line]:
    title = name or ACCOUNTANTS[accountant].title
    lines = [Line(title, x, curve.epsilon, accountant)]
    if curve.lower is not None:
        lines.append(Line(LOWER, x, curve.lower, accountant, lower=True))
    return lines


def tradeoff_line(name: str, f: Tradeoff, accountant: str = "") -> Line:
    """Return the least type II error at each type I error."""
    return Line(name, ALPHAS, f.beta(ALPHAS), accountant)


BLIND = Line("Blind guessing", ALPHAS, 1 - ALPHAS)
