"""Pairs to test: by default as few as show each one of either side, the others with --slow and under CI."""

from collections.abc import Sequence

import pytest


def pairs(first: Sequence[object], second: Sequence[object]) -> list:
    """Every pair of one of each, slow but for the shortest walk through both."""
    walk = {(step % len(first), step % len(second)) for step in range(max(len(first), len(second)))}
    return [
        pytest.param(one, other, marks=[] if (row, column) in walk else pytest.mark.slow)
        for row, one in enumerate(first)
        for column, other in enumerate(second)
    ]
