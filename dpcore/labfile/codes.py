"""Numbers in three significant digits as 16 bits: no digit is rounded twice.

A code is `(place + 20) * 900 + mantissa - 99`, with 900 mantissas from 100 to 999 in each of 72
decades. So codes are ordered as their numbers.
"""

import math
from decimal import Decimal

from dpcore.privacy.report.numbers import outward, short

MANTISSAS = 900
MANTISSAS_FROM = 100
LEAST_PLACE = -20  # a number of this place has the smallest codes
INFINITE = 65_535


def nearest_code(text: str) -> int:
    """The code of a number that `outward` or `short` wrote; the nearest one if it has more digits.

    >>> [nearest_code(text) for text in ("0", "1.57", "157", "1e-20", "infinite", "4,692")]
    [0, 18058, 19858, 1, 65535, 21070]
    """
    if text == "infinite":
        return INFINITE
    digits = f"{Decimal(text.replace(',', '')):.2e}"
    mantissa, _, place = digits.partition("e")
    if float(mantissa) == 0:
        return 0
    hundreds = int(mantissa.replace(".", ""))
    code = (int(place) - LEAST_PLACE) * MANTISSAS + hundreds - MANTISSAS_FROM + 1
    return min(max(code, 1), INFINITE - 1)


def value_of(code: int) -> float:
    """The number of a code.

    >>> value_of(18058), value_of(0), value_of(65535)
    (1.57, 0.0, inf)
    """
    if code == 0:
        return 0.0
    if code == INFINITE:
        return math.inf
    place, above = divmod(code - 1, MANTISSAS)
    return float(f"{above + MANTISSAS_FROM}e{place + LEAST_PLACE - 2}")


def text_of(code: int, bound: bool) -> str:
    """The text of a code: a bound as `outward` writes it, another number as `short` does.

    >>> text_of(18058, True), text_of(0, False)
    ('1.57', '0.00')
    """
    value = value_of(code)
    return outward(value, math.ceil) if bound else short(value)
