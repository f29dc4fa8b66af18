"""Pairs to test: in the short suite as few as show each one of either side, all in the long one."""

from collections.abc import Sequence

import pytest


def pairs(first: Sequence[object], second: Sequence[object]) -> list:
    """Every pair of one of each, long but for the shortest walk through both."""
    walk = {(step % len(first), step % len(second)) for step in range(max(len(first), len(second)))}
    return [
        pytest.param(one, other, marks=[] if (row, column) in walk else pytest.mark.long)
        for row, one in enumerate(first)
        for column, other in enumerate(second)
    ]
