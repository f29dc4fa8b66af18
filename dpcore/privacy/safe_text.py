"""A bound as text, rounded to the side on which it stays true."""

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

DIGITS = 3  # significant digits of every number that a reader sees; tables of data keep all
LAST_PLACE = 300  # decimal places; a smaller number is written as one unit of the last


def outward(value: float, towards: Callable[[Any], int], digits: int = DIGITS) -> str:
    """Write a bound of 0 or more in three significant digits, rounded away from the exact value.

    **Guarantees:** the text is not above the value (math.floor) or not below it (math.ceil).
    **Edge cases:** below 1e-300 it is "0" or "1e-300"; from 1e6 up and below 1e-6 a power of ten;
    inf is "infinite".

    >>> outward(1.94651, math.floor), outward(1.94961, math.ceil), outward(0.0, math.floor)
    ('1.94', '1.95', '0')
    >>> outward(3.3456e172, math.ceil), outward(1e-310, math.ceil), outward(1e-310, math.floor)
    ('3.35e172', '1e-300', '0')
    """
    if value == 0:
        return "0"
    if math.isinf(value):
        return "infinite"
    exact = Decimal(repr(float(value)))  # the shortest decimal of this float, so that 0.3 stays 0.3
    place = exact.adjusted()
    last = digits - 1 - place if place >= -LAST_PLACE else LAST_PLACE
    rounded = Decimal(towards(exact.scaleb(last))).scaleb(-last)
    if rounded == 0:
        return "0"
    place = rounded.adjusted()
    if -6 <= place < 6:
        return f"{rounded:f}"
    return f"{rounded.scaleb(-place).normalize():f}e{place}"
