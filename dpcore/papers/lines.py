"""Lines that several papers draw: epsilon by an accountant, and trade-off functions."""

from collections.abc import Sequence

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
    accountants: Sequence[str],
    mechanism: Mechanism,
    x: FloatArray,
    steps: IntArray,
    delta: float,
    name: str = "",
) -> list[Line]:
    """Return epsilon after each number of steps (n,), drawn at x (n,), by each accountant.

    The certified accountant has a second line, its lower bound.
    """
    lines = []
    for accountant in accountants:
        curve = ACCOUNTANTS[accountant].curve(mechanism, steps, delta)
        lines += curve_lines(accountant, x, curve, name)
    return lines


def curve_lines(accountant: str, x: FloatArray, curve: Curve, name: str = "") -> list[Line]:
    """Return an accountant's curve, drawn at x (n,), and its lower bound if it has one."""
    title = name or ACCOUNTANTS[accountant].title
    lines = [Line(title, x, curve.epsilon, accountant)]
    if curve.lower is not None:
        lines.append(Line(LOWER, x, curve.lower, accountant, lower=True))
    return lines


def tradeoff_line(name: str, f: Tradeoff, accountant: str = "") -> Line:
    """Return the least type II error at each type I error."""
    return Line(name, ALPHAS, f.beta(ALPHAS), accountant)


BLIND = Line("Blind guessing", ALPHAS, 1 - ALPHAS)
