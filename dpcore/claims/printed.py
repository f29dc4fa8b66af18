"""Numbers as people print them, such as 2.92, 1e-5, 256/60000 or 60k, and the reach of their last
digit.
"""

from decimal import Decimal
from typing import NamedTuple

from dpcore import check
from dpcore.privacy.report.numbers import DIGITS, plain
from dpcore.written_number import read_number

MAX_BOUND_DIGITS = 6  # significant digits of a bound beside a printed number
FLOAT_DIGITS = 17  # significant digits of a float


class Printed(NamedTuple):
    """A printed number; it stands for all numbers that round to its digits.

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
        """The smallest number that rounds to it."""
        return float(Decimal(self.text) - self._half_unit)

    @property
    def high(self) -> float:
        """The smallest larger number that rounds to another."""
        return float(Decimal(self.text) + self._half_unit)

    @property
    def shown(self) -> str:
        """The number for a reader, without Python's powers of ten and with at most the digits of a
        float.

        >>> Printed("1E+1").shown, Printed("3.00").shown
        ('10', '3.00')
        >>> Printed("3." + 27 * "3").shown, Printed("1E+30").shown
        ('3.33333', '1e30')
        """
        exact = Decimal(self.text)
        digits = len(exact.as_tuple().digits)
        if digits <= FLOAT_DIGITS and -FLOAT_DIGITS < exact.adjusted() < FLOAT_DIGITS:
            return f"{exact:f}"
        return plain(float(exact))

    @property
    def unit(self) -> float:
        """One in its last digit."""
        return float(2 * self._half_unit)

    @property
    def digits(self) -> int:
        """Significant digits of a bound beside it: one more than its own, and at least three."""
        return min(MAX_BOUND_DIGITS, max(DIGITS, len(Decimal(self.text).as_tuple().digits) + 1))

    @property
    def _half_unit(self) -> Decimal:
        return Decimal(5).scaleb(int(Decimal(self.text).as_tuple().exponent) - 1)


def printed_epsilon(value: float | str) -> Printed:
    """Read a printed epsilon with all its digits. Errors: ValueError unless it is a number above 0.

    >>> printed_epsilon("3.00").high, printed_epsilon(3.0).high, printed_epsilon("1,200").text
    (3.005, 3.05, '1200')
    """
    text = value if isinstance(value, str) else repr(value)
    exact = read_number(text, "epsilon")
    check.positive(epsilon=float(exact))
    if 0 <= exact.adjusted() < FLOAT_DIGITS:
        return Printed(f"{exact:f}")
    return Printed(f"{exact}")
