"""Two classes to be told apart: rows of norm at most 1 with labels -1 and +1."""

from dataclasses import dataclass

import numpy as np

from dpcore.privacy.types import FloatArray

LEAST_ROWS = 2  # to learn from: a formula of input perturbation divides by n - 1


@dataclass(frozen=True, eq=False)
class Problem:
    """What is learnt from and what is tested on. Neighbours differ in one row to learn from; their number is public."""

    rows: FloatArray  # (n, d)
    labels: FloatArray  # (n,) of -1 and +1
    test_rows: FloatArray
    test_labels: FloatArray

    def __post_init__(self) -> None:
        if len(self.labels) < LEAST_ROWS or not len(self.test_labels):
            raise ValueError(
                f"Expected at least {LEAST_ROWS} rows to learn from and one to test on; "
                f"there are {len(self.labels)} and {len(self.test_labels)}."
            )
        for rows in (self.rows, self.test_rows):
            bad = ~np.isfinite(rows).all(axis=1)
            if bad.any():
                raise ValueError(
                    f"Expected finite features; {bad.sum()} of {len(rows)} rows have a missing or infinite one."
                )
            if (np.linalg.norm(rows, axis=1) > 1).any():
                raise ValueError("Expected rows of norm at most 1; a longer one would be worth more than is charged.")
        if not (np.isin(self.labels, (-1, 1)).all() and np.isin(self.test_labels, (-1, 1)).all()):
            raise ValueError("Expected labels of -1 and +1.")
        if len(np.unique(self.labels)) < 2:
            raise ValueError("Expected two classes among the rows to learn from; there is one only.")

    @property
    def examples(self) -> int:
        """Rows to learn from, n."""
        return len(self.labels)

    @property
    def features(self) -> int:
        """Features d, the intercept's among them."""
        return self.rows.shape[1]

    @property
    def constant_columns(self) -> int:
        """Features that have one value in all rows to learn from: they tell nothing."""
        return int((np.ptp(self.rows, axis=0) == 0).sum())
