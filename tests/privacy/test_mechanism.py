"""What is released: bounds of a release, merging, use counts."""

import math

import pytest

from dpcore.privacy.mechanism import Mechanism, Release


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((0.0, 1.0, 1), "q=0.0"),
        ((1.1, 1.0, 1), "q=1.1"),
        ((math.nan, 1.0, 1), "q=nan"),
        ((0.1, 0.0, 1), "sigma=0.0"),
        ((0.1, math.inf, 1), "sigma=inf"),
        ((0.1, 1e-9, 1), "sigma=1e-09"),
        ((0.1, "1", 1), "sigma='1'"),
        ((0.1, 1.0, 0), "count=0"),
        ((0.1, 1.0, 1.5), "count=1.5"),
    ],
)
def test_a_bad_release_is_named(arguments: tuple[float, float, int], named: str) -> None:
    with pytest.raises(ValueError, match=f"Expected {named}"):
        Release(*arguments)


def test_a_mechanism_releases_something() -> None:
    with pytest.raises(ValueError, match="at least one release"):
        Mechanism(())


def test_a_rate_whose_square_is_no_float_is_named() -> None:
    with pytest.raises(ValueError, match=r"q=1e-200"):
        Release(1e-200, 1.0)
