"""A table: its classes, scale and origin, and the problem of telling two of its classes apart."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpcore import check
from dpcore.data.tabular.columns import unit_rows
from dpcore.privacy.mechanism import FloatArray, IntArray

MIN_ROWS = 2  # to learn from: a formula of input perturbation divides by n - 1


@dataclass(frozen=True, eq=False)
class Problem:
    """Training rows and test rows.

    Neighbours differ in one training row; the number of rows is public.
    """

    rows: FloatArray  # (n, d)
    labels: FloatArray  # (n,) of -1 and +1
    test_rows: FloatArray
    test_labels: FloatArray

    def __post_init__(self) -> None:
        if len(self.labels) < MIN_ROWS or not len(self.test_labels):
            raise ValueError(
                f"Expected at least {MIN_ROWS} rows to learn from and one to test on; "
                f"there are {len(self.labels)} and {len(self.test_labels)}."
            )
        for rows in (self.rows, self.test_rows):
            bad = ~np.isfinite(rows).all(axis=1)
            if bad.any():
                raise ValueError(
                    f"Expected finite features; {bad.sum()} of {len(rows)} rows have a missing or"
                    " infinite one."
                )
            if (np.linalg.norm(rows, axis=1) > 1).any():
                raise ValueError(
                    "Expected rows of norm at most 1; a longer one would be worth more than is"
                    " charged."
                )
        if not np.isin(np.concatenate([self.labels, self.test_labels]), (-1, 1)).all():
            raise ValueError("Expected labels of -1 and +1.")
        if len(np.unique(self.labels)) < 2:
            raise ValueError(
                "Expected two classes among the rows to learn from; there is one only."
            )

    @property
    def examples(self) -> int:
        """Number of training rows n."""
        return len(self.labels)

    @property
    def features(self) -> int:
        """Number of features d, the intercept's included."""
        return self.rows.shape[1]

    @property
    def constant_columns(self) -> int:
        """Number of features with one value in all training rows, which are useless."""
        return int((np.ptp(self.rows, axis=0) == 0).sum())


REST = "rest"  # a second class of all others
TEST_SHARE = 5  # one row of so many is a test row, if the table has no test part of its own


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a table: features in [-1, 1], and the number of each row's class."""

    features: FloatArray  # (n, d)
    labels: IntArray  # (n,)
    tests: IntArray | None = None  # positions of the test part, if the table has its own


@dataclass(frozen=True)
class Table:
    """A table of the catalogue.

    Ranges of columns and the bound of norms are constants, never computed from the rows. We had
    seen some tables when we chose them, and no budget covers that.
    """

    name: str  # the id in requests and on the command line
    title: str
    classes: tuple[str, ...]
    features: int  # without the intercept
    bound: float  # divides each row of features; longer rows are cut to norm 1
    origin: str
    read: Callable[[], Rows]  # ValueError, as a sentence, if it is missing
    names: tuple[str, ...] = ()  # of the features, if they have any
    absent: Callable[[], str] = lambda: ""  # a sentence on why it cannot be read; nothing if it can

    def pair(self, classes: tuple[str, ...]) -> tuple[str, str]:
        """Return the two classes, by default the first two; ValueError unless they are two of the
        table's.
        """
        chosen = classes or self.classes[:2]
        if len(chosen) != 2 or chosen[0] == chosen[1]:
            raise ValueError(f"Expected classes={','.join(chosen)!r} to be two different ones.")
        check.one_of(self.classes, **{f"{self.name}'s class": chosen[0]})
        check.one_of((*self.classes, REST), **{f"{self.name}'s class": chosen[1]})
        return chosen[0], chosen[1]

    def signs(self, labels: NDArray[np.generic], classes: tuple[str, ...] = ()) -> FloatArray:
        """Return 1 where a row is of the first of two classes, -1 where it is of the second, and 0
        elsewhere.
        """
        first, second = self.pair(classes)
        own = labels == self.classes.index(first)
        other = ~own if second == REST else labels == self.classes.index(second)
        return np.where(own, 1.0, np.where(other, -1.0, 0.0))

    def problem(self, classes: tuple[str, ...] = ()) -> Problem:
        """Return the rows of two classes, labelled +1 and -1, as training and test rows.

        Errors: ValueError, as a sentence, if the table is missing or makes no problem.
        """
        self.pair(classes)  # what is wrong with these is said before anything is read
        rows = self.read()
        units = unit_rows(rows.features, self.bound)
        labels = self.signs(rows.labels, classes)
        learnt, tested = parts_of(len(labels), rows.tests)
        learnt = learnt[labels[learnt] != 0]
        tested = tested[labels[tested] != 0]
        return Problem(units[learnt], labels[learnt], units[tested], labels[tested])


def parts_of(count: int, tests: IntArray | None = None) -> tuple[IntArray, IntArray]:
    """Return the positions of training and of test rows, which depend on the number of rows alone.

    >>> [part.tolist() for part in parts_of(6)]
    [[2, 1, 3, 0, 4], [5]]
    """
    if tests is not None:
        return np.setdiff1d(np.arange(count), tests), tests
    order = shuffled(count)
    held = count // TEST_SHARE
    return order[held:], order[:held]


def shuffled(count: int) -> IntArray:
    """Return so many positions in an order that is always the same."""
    # NumPy never changes what this generator returns.
    return np.random.RandomState(0).permutation(count)
