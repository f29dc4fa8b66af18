"""The comparison that every pair of proven ends passes before it is handed out.

A lower end above its upper end proves that one of the two is wrong, and nobody knows which one. So
neither is given: the pair becomes 0 and infinity, which is true of any number of 0 or more, and its
note says why.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Of the upper end, 90 units: ends that cross by no more are rounded, by more they prove an error.
CROSSED = 1e-14
CROSSING = "The two bounds cross, so that one of them is wrong: neither is given."


def safe_ends(
    lower: ArrayLike, upper: ArrayLike, note: str
) -> tuple[NDArray[np.float64], NDArray[np.float64], str]:
    """The (n,) lower and upper ends, and their note.

    Where they cross, or one is NaN, these are 0, infinity and CROSSING. Of two ends that cross by
    rounding the upper one is returned as both.

    >>> low, high, note = safe_ends([1.0, 3.0], [2.0, 2.0], "")
    >>> low.tolist(), high.tolist(), note == CROSSING
    ([1.0, 0.0], [2.0, inf], True)
    """
    least = np.asarray(lower, dtype=np.float64)
    most = np.asarray(upper, dtype=np.float64)
    with np.errstate(over="ignore"):  # of the largest floats
        crossed = ~(least <= most * (1 + CROSSED))  # true for NaN, too
    if crossed.any():
        note = CROSSING
    safe_lower = np.where(crossed, 0.0, np.minimum(least, most))
    safe_upper = np.where(crossed, np.inf, most)
    return safe_lower, safe_upper, note


def safe_pair(lower: float, upper: float, note: str) -> tuple[float, float, str]:
    """One pair of ends, as of `safe_ends`.

    >>> safe_pair(1.0, 2.0, "wide"), safe_pair(2.0, 1.0, "wide")[:2]
    ((1.0, 2.0, 'wide'), (0.0, inf))
    """
    safe_lower, safe_upper, safe_note = safe_ends(lower, upper, note)
    return float(safe_lower), float(safe_upper), safe_note
