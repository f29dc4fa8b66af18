"""The trade-off function that given tests achieve: a curve that is never below the true one."""

from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcore import check
from dpcore.privacy.tradeoff.base import Tradeoff
from dpcore.privacy.types import FloatArray

ULP = 2.0**-52  # of 1
ENDLESS = 1e4  # epsilon: e^-1e4 is below any float but 0


@final
class Points(Tradeoff):
    """What tests with these type I errors and powers achieve, mixed at random: the concave hull of their powers.

    **Guarantees:** where an attacker has these tests, beta is not below the true one, power and delta are not above.
    Source: the Neyman-Pearson lemma as in arXiv 1905.02383, section 2. Blind guessing is always among them.

    >>> Points([0.1], [0.6]).beta([0.0, 0.1, 0.4]).round(4).tolist()
    [1.0, 0.4, 0.1]
    """

    def __init__(self, alpha: ArrayLike, power: ArrayLike) -> None:
        alpha, power = (np.atleast_1d(np.asarray(each, dtype=np.float64)) for each in (alpha, power))
        for end in (np.min, np.max):
            check.in_range(0, 1, alpha=float(end(alpha, initial=0.0)), power=float(end(power, initial=0.0)))
        # Symmetry: a test of errors (alpha, beta) is one of errors (beta, alpha) once the neighbours change names.
        # Rounded to 0, an error would be that of a test that never errs.
        beta, mirrored = np.minimum(1 - power + ULP, 1.0), np.maximum(1 - alpha - ULP, 0.0)
        x, y = np.concatenate([[0.0], alpha, beta, [1.0]]), np.concatenate([[0.0], power, mirrored, [1.0]])
        self._alpha, self._power = _hull(x, y)  # (K,) rising

    def beta(self, alpha: ArrayLike) -> FloatArray:
        return np.interp(np.asarray(alpha, dtype=np.float64), self._alpha, 1 - self._power)

    def power(self, alpha: ArrayLike) -> FloatArray:
        return np.interp(np.asarray(alpha, dtype=np.float64), self._alpha, self._power)

    def delta(self, epsilon: ArrayLike) -> FloatArray:
        epsilon = np.minimum(np.asarray(epsilon, dtype=np.float64), ENDLESS)[..., None]
        with np.errstate(divide="ignore", over="ignore"):  # in logarithms: e^epsilon may be past any float
            accused = np.exp(epsilon + np.log(self._alpha))
        return np.maximum(self._power - accused, 0.0).max(axis=-1)

    def corners(self, least: float) -> tuple[FloatArray, FloatArray]:
        after = int(
            np.argmax(self._power >= 1 - self._alpha)
        )  # the first corner past alpha = beta; (0, 0) is before it
        rise = self._power[after] - self._power[after - 1]
        run = self._alpha[after] - self._alpha[after - 1]
        above = 1 - self._power[after - 1] - self._alpha[after - 1]
        middle = float(self._alpha[after - 1] + above * run / (rise + run))
        inside = (self._alpha > least) & (self._alpha < middle)
        ends = np.array([min(least, middle), middle]) if least > 0 else np.array([middle])
        return np.append(self._alpha[inside], ends), np.append(self._power[inside], self.power(ends))


def _hull(alpha: FloatArray, power: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The corners of the upper concave hull of points, by rising alpha.

    A point that is not above the line between its neighbours is no corner, whichever others are left out with it.
    """
    order = np.lexsort((-power, alpha))
    x, y = alpha[order], power[order]
    first = np.insert(np.diff(x) > 0, 0, True)  # of equal alphas the one with the largest power
    x, y = x[first], y[first]
    while not (corner := _above_neighbours(x, y)).all():
        x, y = x[corner], y[corner]
    return x, np.maximum.accumulate(y)


def _above_neighbours(x: FloatArray, y: FloatArray) -> NDArray[np.bool_]:
    """Whether each point lies above the line between its neighbours; the ends do."""
    inside = np.diff(y)[:-1] * (x[2:] - x[:-2]) > (y[2:] - y[:-2]) * np.diff(x)[:-1]
    return np.concatenate([[True], inside, [True]])
