"""The kinds of arrays that functions here take and return, and the kinds of numbers that they promise."""

from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def read_only(array: np.ndarray) -> np.ndarray:
    """A copy that cannot be changed; the given array stays its owner's.

    >>> given = np.zeros(2)
    >>> read_only(given).flags.writeable, given.flags.writeable
    (False, True)
    """
    copy = array.copy()
    copy.setflags(write=False)
    return copy


class Kind(StrEnum):
    """How far an epsilon can be trusted."""

    UPPER = "upper"  # a proven upper bound
    CERTIFIED = "certified"  # proven lower and upper bounds around the exact value
    APPROXIMATE = "approximate"  # no bound: may err on either side
    CLAIMED = "claimed"  # a formula whose proof does not cover this case

    @property
    def is_bound(self) -> bool:
        """Whether the number is proven never to be too small."""
        return self in (Kind.UPPER, Kind.CERTIFIED)


class Reading(NamedTuple):
    """One number with what kind of number it is, and its proven lower bound if it is certified."""

    value: float  # never too small where the kind is a bound; infinite where there is no number
    lower: float | None
    kind: Kind
    note: str = ""  # why it cannot be trusted or is infinite
