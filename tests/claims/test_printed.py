"""Numbers as people write them, and how far the last digit reaches."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.claims.printed import NUMBER, Printed, printed_epsilon, value_of

WRITTEN = {
    "1e-5": 1e-5, "1E−05": 1e-5, "10^-5": 1e-5, "10^{-5}": 1e-5, "10⁻⁵": 1e-5, "10−5": 1e-5, "1 × 10^-5": 1e-5,
    "2.5·10⁻⁶": 2.5e-6, "1\\times10^{-5}": 1e-5, "60,000": 60_000.0, "60k": 60_000.0, "1.2M": 1.2e6, "1 %": 0.01,
    "256/60000": 256 / 60_000, "1/4": 0.25, ".5": 0.5, "4{,}000": 4000.0, "-3": -3.0, "10": 10.0, "100": 100.0,
}  # fmt: skip


@pytest.mark.parametrize("text", WRITTEN)
def test_a_number_is_read_as_it_is_meant_and_found_whole_in_a_sentence(text: str) -> None:
    assert value_of(text, "q")[0] == pytest.approx(WRITTEN[text], rel=1e-14)
    found = re.search(NUMBER, f"it is {text} here")
    assert found
    assert found.group().strip() == text


@pytest.mark.parametrize(
    "text", ["", "x", "nan", "inf", "1e999", "1e-999", "--3", "1/0", "10^9999999999", "1.2.3", "0x1"]
)
def test_what_is_no_number_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=r"Expected sigma=.* to be a number\."):
        value_of(text, "sigma")


COMMAS = ": a comma parts groups of three digits, as in 60,000, and a point stands before decimals, as in 3.5."


def test_a_comma_that_parts_no_thousands_is_refused_and_the_sentence_says_how_to_write_the_number() -> None:
    decimals = ("3,0", "0,5", "0,500", ",5", "1,5e-5", "3,0/4", "1/3,0", "3,0k", "1,5 × 10^-5", "4{,}00")
    for text in (*decimals, "12,34", "1,2345", "1234,567", "1,234,56", "1.234,5"):
        with pytest.raises(ValueError, match=re.escape(f"Expected epsilon={text!r} to be a number{COMMAS}")):
            printed_epsilon(text)
        assert re.match(NUMBER, text) is None, f"of {text} a part is read where it stands in a text"
    assert [printed_epsilon(text).value for text in ("1,234,567", "12,345.5", "999,000")] == [1234567, 12345.5, 999000]


@pytest.mark.parametrize("text", ["1.1x", "256/n", "10^", "3.4.5", "1e-5e", "4 000", "4{,}00"])
def test_half_of_a_word_is_no_number(text: str) -> None:
    assert re.fullmatch(NUMBER, text) is None
    assert re.match(NUMBER, text) is None


@given(st.integers(1, 10**6), st.integers(0, 5))
def test_whatever_rounds_to_it_lies_between_its_ends(scaled: int, places: int) -> None:
    text = f"{Decimal(scaled).scaleb(-places):.{places}f}"
    printed = Printed(text)
    assert printed.low < printed.value < printed.high
    assert printed.high - printed.low == pytest.approx(printed.unit)
    for share in (-0.49, 0.0, 0.49):
        assert f"{Decimal(text) + Decimal(share) * Decimal(10) ** -places:.{places}f}" == text


@pytest.mark.parametrize(("text", "high"), [("3", 3.5), ("3.0", 3.05), ("3.00", 3.005), ("31.12", 31.125)])
def test_zeros_at_the_end_are_digits(text: str, high: float) -> None:
    assert Printed(text).high == high


def test_an_epsilon_is_above_0_and_finite() -> None:
    assert printed_epsilon(3.0).text == "3.0"
    for wrong in ("0", "-1", 0.0, -2.0):
        with pytest.raises(ValueError, match=r"Expected epsilon=.* above 0"):
            printed_epsilon(wrong)
    with pytest.raises(ValueError, match="Expected epsilon='nan' to be a number"):
        printed_epsilon(float("nan"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [("1e1", "10"), ("10^1", "10"), ("10/3", "3.33333"), ("1e30", "1e30"), ("3.00", "3.00"), ("7.32911117143",) * 2],
)
def test_a_number_is_shown_as_people_write_it(text: str, shown: str) -> None:
    assert printed_epsilon(text).shown == shown
    assert printed_epsilon(text).value == pytest.approx(float(value_of(text, "epsilon")[0]))
