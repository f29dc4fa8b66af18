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
) -> tuple[Line, ...]:
    """Return epsilon after each number of steps (n,), drawn at x (n,); both bounds of the certified
    accountant.
    """
    return _lines(accountant, x, ACCOUNTANTS[accountant].curve(mechanism, steps, delta), name)


def profile_lines(accountant: str, mechanism: Mechanism, deltas: FloatArray) -> tuple[Line, ...]:
    """Return epsilon after the whole mechanism at each delta; both bounds of the certified
    accountant.
    """
    return _lines(accountant, deltas, ACCOUNTANTS[accountant].profile(mechanism, deltas), "")


def _lines(accountant: str, x: FloatArray, curve: Curve, name: str) -> tuple[Line, ...]:
    own = Line(name or ACCOUNTANTS[accountant].title, x, curve.epsilon, accountant)
    return (
        (own,)
        if curve.lower is None
        else (own, Line(LOWER, x, curve.lower, accountant, lower=True))
    )


def tradeoff_line(name: str, f: Tradeoff, accountant: str = "") -> Line:
    """Return the least type II error at each type I error."""
    return Line(name, ALPHAS, f.beta(ALPHAS), accountant)


BLIND = Line("Blind guessing", ALPHAS, 1 - ALPHAS)
