"""Argument checks: every message names the argument, its value and the condition."""

import math

import pytest

from dpcore import check


@pytest.mark.parametrize("value", [0, -1, math.inf, math.nan, "1", None, True])
def test_positive_refuses(value: object) -> None:
    with pytest.raises(ValueError, match=f"Expected sigma={value!r}"):
        check.positive(sigma=value)


@pytest.mark.parametrize(("ends", "inside"), [("[]", [0, 0.5, 1]), ("()", [0.5]), ("(]", [0.5, 1]), ("[)", [0, 0.5])])
def test_in_range_respects_its_ends(ends: str, inside: list[float]) -> None:
    for value in (0, 0.5, 1):
        if value in inside:
            check.in_range(0, 1, ends=ends, q=value)
        else:
            with pytest.raises(ValueError, match=f"Expected q={value}"):
                check.in_range(0, 1, ends=ends, q=value)


@pytest.mark.parametrize("value", [0, 11, 2.0, "2", True, math.nan])
def test_whole_refuses(value: object) -> None:
    with pytest.raises(ValueError, match=f"Expected steps={value!r} to be a whole number of at least 1 and at most 10"):
        check.whole(1, 10, steps=value)


def test_one_of_lists_what_there_is() -> None:
    with pytest.raises(ValueError, match="Expected model='vit' to be one of: mlp, cnn"):
        check.one_of(("mlp", "cnn"), model="vit")
