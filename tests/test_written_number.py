"""Numbers as people write them: the same in a field, an option and a text, or a sentence that says
how to write one.
"""

import argparse
import re

import pytest

from dpcore.check import verbatim
from dpcore.claims.printed import printed_epsilon
from dpcore.claims.reading import read as read_text
from dpcore.claims.values import read_value
from dpcore.commands import number, whole
from dpcore.training.settings import Slider
from dpcore.written_number import read_number
from pages.parts.controls.fields import Quantity, read

SIGMA = Quantity("sigma", "Sigma", "1", Slider(0, 1e9), lambda _: None)
WRITTEN = {
    "1e-5": 1e-5, "1E−05": 1e-5, "10^-5": 1e-5, "10^{-5}": 1e-5, "10⁻⁵": 1e-5, "10−5": 1e-5, "1 × 10^-5": 1e-5,
    "2.5·10⁻⁶": 2.5e-6, "1\\times10^{-5}": 1e-5, "60,000": 60_000.0, "60k": 60_000.0, "1.2M": 1.2e6, "1 %": 0.01,
    "256/60000": 256 / 60_000, "1/4": 0.25, ".5": 0.5, "4{,}000": 4000.0, "10": 10.0, "100": 100.0,
}  # fmt: skip
FROM_ELSEWHERE = {
    "1e\u22125": 1e-5, "1\u00a0×\u202f10⁻⁵": 1e-5, "１．５": 1.5, "٣": 3.0, "२.५": 2.5, "60_000": 60_000.0, "+2": 2.0,
    " 7 ": 7.0, "\u00a07": 7.0, "$1e-5$": 1e-5, "½": 0.5, "256⁄1024": 0.25, "1,234.5": 1234.5,
    "256/60,000": 256 / 60_000,
}  # fmt: skip
DECIMAL_COMMAS = (
    "3,0", "0,5", "0,500", ",5", "1,5e-5", "3,0/4", "1/3,0", "3,0k", "1,5 × 10^-5", "4{,}00", "12,34", "1,2345",
    "1234,567", "1,234,56", "1.234,5", "1,23,456",
)  # fmt: skip
IN_TEXTS = {
    "4{,}00": "4.00",
    "3,0k": "3000",
    "1.234,5": "1234.5",
    "60 000": "60000",
    "60\u00a0000": "60000",
    "٣٫٥": "3.5",
}
NO_NUMBERS = (
    "", " ", "x", "nan", "inf", "--3", "1/0", "1/2/3", "1.2.3", "0x1", "1e", "10^", "1.1x", "256/n", "1/N", "60 000",
    "60\u00a0000", "1.234.567", "10-5", "10 - 5", "²", "1²", "1__0", "٣٫٥", "k", "%",
)  # fmt: skip
COMMA = "write decimals with a point, as in 3.5, and thousands with a comma, as in 60,000"
FORMS = "write it like 0.5, 1e-5, 1/3 or 60,000"


def test_a_number_is_the_same_in_a_field_an_option_and_a_text() -> None:
    for text, value in (WRITTEN | FROM_ELSEWHERE).items():
        assert float(read_number(text)) == pytest.approx(value, rel=1e-14), text
        found = (
            read(SIGMA, text),
            number(text),
            read_value("sigma", text),
            printed_epsilon(text).value,
        )
        assert set(found) == {float(read_number(text))}, text
    for text, value in WRITTEN.items():
        claimed = read_text(f"It is epsilon = {text}.").claim.epsilon
        # Smaller ones are an optimizer's, and fractions a place in a training; 60,000 may be 60.
        if value >= 1e-3 and "/" not in text and "," not in text:
            assert claimed, text
            assert claimed.value == float(read_number(text)), text


def test_what_may_be_read_in_two_ways_or_is_no_number_is_refused_everywhere_and_the_sentence_says_how() -> (
    None
):
    for texts, hint in ((DECIMAL_COMMAS, COMMA), (NO_NUMBERS, FORMS)):
        for text in texts:
            said = f"Expected sigma={verbatim(text)} to be a number: {hint}."
            for reader in (lambda text: read(SIGMA, text), lambda text: read_value("sigma", text)):
                with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
                    reader(text)
            with pytest.raises(
                argparse.ArgumentTypeError,
                match=re.escape(f"{verbatim(text)} to be a number: {hint}"),
            ):
                number(text)
            claimed = read_text(
                f"It has epsilon = {text}"
            ).claim.epsilon  # without other readings, a comma is a point there
            assert not claimed or claimed.text == IN_TEXTS.get(text, text.replace(",", ".")), text


def test_what_no_float_is_near_is_refused_and_never_fills_the_memory() -> None:
    for text in ("1e400", "1e-999", "10^9999999999", "1e9999999999", "9" * 5000, "1e300/1e-300"):
        with pytest.raises(
            ValueError, match=r"to be a number: it must lie between 1e-308 and 1e308\.$"
        ):
            read_number(text, "sigma")
    assert read_number("0") == 0


def test_a_whole_number_keeps_all_of_its_digits() -> None:
    seed = 2**63 - 1
    assert whole(str(seed)) == whole(f"{seed:,}") == seed
    with pytest.raises(argparse.ArgumentTypeError, match="whole number"):
        whole("1/3")
