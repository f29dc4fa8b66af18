"""Numbers as people write them: 2.92, 1e-5, 10⁻⁵, 256/60000, 60k; and how far the last digit reaches."""

from decimal import Decimal
from typing import NamedTuple

from dpcore import check
from dpcore.privacy.report.numbers import DIGITS, plain
from dpcore.written_number import read_number

MAX_BOUND_DIGITS = 6  # significant ones of a bound beside a number that is printed with more
FLOAT_DIGITS = 17  # significant digits of a float
PLAIN = r"(?:[1-9]\d{0,2}(?:(?:,|\{,\})\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
TIMES = r"\s{0,3}(?:x|×|\*|·|\\times|\\cdot)\s{0,3}"
TEN = r"10(?:\s?\^\s?\{?\s?[-−–]?\s?\d+\s?\}?|⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+|−\d+)"  # the last: a power that lost its place
NUMBER = (
    rf"[-−+]?(?:(?:{PLAIN}{TIMES})?{TEN}|{PLAIN}[eE][-−+]?\d+|{PLAIN}\s?/\s?{PLAIN}|{PLAIN}(?:\s?%|[kKM])?)"
    r"(?![\w/^{]|[.,٫،]\d|\s\d{3}\b|\s?[-−–]\s?\d|\s(?:to|or)\s[\d.])"  # the whole number, no range, or nothing of it
)


class Printed(NamedTuple):
    """A number as it is printed: it may stand for any that rounds to its digits.

    >>> three = Printed("3.0")
    >>> three.value, three.low, three.high
    (3.0, 2.95, 3.05)
    """

    text: str

    @property
    def value(self) -> float:
        """The number itself."""
        return float(self.text)

    @property
    def low(self) -> float:
        """The least number that rounds to it."""
        return float(Decimal(self.text) - self._half_unit)

    @property
    def high(self) -> float:
        """The end of the numbers that round to it: this one and larger ones round to another."""
        return float(Decimal(self.text) + self._half_unit)

    @property
    def shown(self) -> str:
        """The number as a reader sees it: without Python's powers of ten, and not in more digits than a float has.

        >>> Printed("1E+1").shown, Printed("3.00").shown, Printed("3." + 27 * "3").shown, Printed("1E+30").shown
        ('10', '3.00', '3.33333', '1e30')
        """
        exact = Decimal(self.text)
        if len(exact.as_tuple().digits) > FLOAT_DIGITS:
            return plain(float(exact))
        return f"{exact:f}" if -FLOAT_DIGITS < exact.adjusted() < FLOAT_DIGITS else plain(float(exact))

    @property
    def unit(self) -> float:
        """One in its last digit."""
        return float(2 * self._half_unit)

    @property
    def digits(self) -> int:
        """Significant digits in which a bound is shown beside it: one more, and three at least."""
        return min(MAX_BOUND_DIGITS, max(DIGITS, len(Decimal(self.text).as_tuple().digits) + 1))

    @property
    def _half_unit(self) -> Decimal:
        return Decimal(5).scaleb(int(Decimal(self.text).as_tuple().exponent) - 1)


def printed_epsilon(value: float | str) -> Printed:
    """An epsilon as it is printed: a text keeps its digits, zeros at the end included.

    Errors: ValueError for what is no number, or not above 0.

    >>> printed_epsilon("3.00").high, printed_epsilon(3.0).high, printed_epsilon("1,200").text
    (3.005, 3.05, '1200')
    """
    exact = read_number(value if isinstance(value, str) else repr(value), "epsilon")
    check.positive(epsilon=float(exact))
    return Printed(f"{exact:f}" if 0 <= exact.adjusted() < FLOAT_DIGITS else f"{exact}")
