"""Argument checks: every message names the argument, its value and the condition."""

import math

import pytest

from dpcore import check


def test_what_is_not_positive_is_refused() -> None:
    for value in (0, -1, math.inf, math.nan, "1", None, True):
        with pytest.raises(ValueError, match=f"Expected sigma={value!r}"):
            check.positive(sigma=value)


def test_a_range_respects_its_ends() -> None:
    for ends, inside in {"[]": [0, 0.5, 1], "()": [0.5], "(]": [0.5, 1], "[)": [0, 0.5]}.items():
        for value in inside:
            check.in_range(0, 1, ends=ends, q=value)
        for value in {0, 0.5, 1} - set(inside):
            with pytest.raises(ValueError, match=f"Expected q={value}"):
                check.in_range(0, 1, ends=ends, q=value)


def test_what_is_no_whole_number_is_refused() -> None:
    for value in (0, 11, 2.0, "2", True, math.nan):
        with pytest.raises(
            ValueError, match=f"Expected steps={value!r} to be a whole number from 1 to 10"
        ):
            check.whole(1, 10, steps=value)


def test_a_choice_lists_what_there_is() -> None:
    with pytest.raises(ValueError, match="Expected model='vit' to be one of: mlp, cnn"):
        check.one_of(("mlp", "cnn"), model="vit")
