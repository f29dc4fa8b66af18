"""Commas in the fields of the pages: they part thousands, and no field takes one that stands before decimals."""

import pytest

from pages.parts.check.entered import value_in
from pages.parts.controls.fields import Quantity, read

SIGMA = Quantity("sigma", "Sigma", "1", 0, 1e9, lambda _: None)
COMMAS = "a comma parts groups of three digits, as in 60,000, and a point stands before decimals, as in 3.5."


def test_a_field_takes_commas_between_thousands_only() -> None:
    for text in ("3,0", "0,5", "0,500", "1,23,456", "1234,567", "1.000,5", "3,0/4"):
        for name in ("epsilon", "sigma", "batch"):
            with pytest.raises(ValueError, match=f"^Expected {name}='{text}' to be a number: {COMMAS}$"):
                value_in(name, text)
        with pytest.raises(ValueError, match=f"^Expected sigma=`{text}` to be a number: {COMMAS}$"):
            read(SIGMA, text)
    assert value_in("sigma", "1,234.5") == read(SIGMA, "1,234.5") == 1234.5
    assert value_in("examples", "60,000") == read(SIGMA, "60,000") == 60_000
    assert value_in("q", "256/60,000") == read(SIGMA, "256/60,000") == 256 / 60_000
