"""Columns and their features, scaled by constants alone: no row affects the scale of another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.privacy.mechanism import FloatArray


@dataclass(frozen=True)
class Number:
    """A column of numbers: `low` becomes -1 and `high` 1, and numbers beyond are cut to these."""

    name: str
    low: float
    high: float
    log: bool = False  # of 1 + the number, for columns that span powers of ten

    @property
    def names(self) -> tuple[str, ...]:
        """Name of its feature."""
        return (self.name,)

    def features(self, values: Sequence[object] | NDArray) -> FloatArray:
        """Return features (n, 1) in [-1, 1]; NaN for anything but a finite number."""
        numbers = _numbers(values)
        low = self.low
        high = self.high
        if self.log:
            low = np.log1p(low)
            high = np.log1p(high)
            numbers = np.log1p(np.maximum(numbers, 0.0))
        numbers = np.where(np.isfinite(numbers), numbers, np.nan)
        return np.clip((2 * numbers - low - high) / (high - low), -1.0, 1.0)[:, None]


@dataclass(frozen=True)
class Category:
    """A column of words: a feature for each known word, 1 in rows with that word, 0 elsewhere."""

    name: str
    words: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its features.

        >>> Category("sex", ("Female", "Male")).names
        ('sex: Female', 'sex: Male')
        """
        return tuple(f"{self.name}: {word}" for word in self.words)

    def features(self, values: Sequence[object] | NDArray) -> FloatArray:
        """Return features (n, words) of 0 and 1."""
        given = np.array([str(value).strip() for value in values])
        return (given[:, None] == np.array(self.words)[None, :]).astype(np.float64)


@dataclass(frozen=True)
class Ranges:
    """A column of numbers: a feature for each range, 1 if the number lies in it; each start begins
    a range.
    """

    name: str
    starts: tuple[float, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its features.

        >>> Ranges("age", (26, 33)).names
        ('age below 26', 'age from 26', 'age from 33')
        """
        later = [f"{self.name} from {start:g}" for start in self.starts]
        return (f"{self.name} below {self.starts[0]:g}", *later)

    def features(self, values: Sequence[object] | NDArray) -> FloatArray:
        """Return features (n, ranges) of 0 and 1; all 0 for anything but a number.

        >>> Ranges("age", (26, 33)).features(["17", "26", "?"]).tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
        """
        numbers = _numbers(values)
        place = np.where(np.isnan(numbers), -1, np.searchsorted(self.starts, numbers, side="right"))
        return (place[:, None] == np.arange(len(self.starts) + 1)[None, :]).astype(np.float64)


Column = Number | Category | Ranges


def features_of(
    columns: Sequence[Column], values: Sequence[Sequence[object] | NDArray]
) -> FloatArray:
    """Return the features (n, d) of a table given column by column."""
    pairs = zip(columns, values, strict=True)
    return np.hstack([column.features(given) for column, given in pairs])


def names_of(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return a name for each feature of a table."""
    names = []
    for column in columns:
        names += column.names
    return tuple(names)


def unit_rows(features: FloatArray, bound: float) -> FloatArray:
    """Append a constant 1 for the intercept, divide by the bound, and cut longer rows to norm 1.

    **Guarantees:** every row of finite features has norm at most 1, whatever the others are.

    >>> unit_rows(np.array([[3.0], [0.0]]), 2.0).round(3).tolist()
    [[0.949, 0.316], [0.0, 0.5]]
    """
    rows = np.hstack([features, np.ones((len(features), 1))]) / bound
    with np.errstate(invalid="ignore"):  # `Problem` refuses numbers that are not finite
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        # So that rounding takes no row beyond 1.
        return rows / np.where(norms > 1, norms * (1 + 1e-15), 1.0)


def _numbers(values: Sequence[Any] | NDArray) -> FloatArray:
    return np.array([_number(value) for value in values])


def _number(value: Any) -> float:
    try:
        return float(value)
    except ValueError:
        return np.nan
