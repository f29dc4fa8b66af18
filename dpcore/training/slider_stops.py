"""The round numbers of a slider and their texts, for pages and notebooks."""

import math
import re
from functools import lru_cache

SERIES = [k / 10 for k in (*range(10, 20), *range(20, 50, 2), *range(50, 100, 5))]
COARSE = [1.0, 2.0, 5.0]


@lru_cache(maxsize=64)
def grid(low: float, high: float, whole: bool = False, coarse: bool = False) -> tuple[float, ...]:
    """Round numbers from low to high, evenly spaced over the decades.

    >>> grid(1e-3, 0.1, coarse=True)
    (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
    """
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    series = COARSE if coarse else SERIES
    values = [float(f"{m:.4g}e{d}") for d in decades for m in series]
    return tuple(v for v in values if low <= v <= high and (not whole or v.is_integer()))


def show(value: float) -> str:
    """Write a number as a reader would type it, with full precision and no trailing zeros.

    >>> show(60000.0), show(1e-5), show(0.0512)
    ('60000', '1e-5', '0.0512')
    """
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{value:.0f}"
    return re.sub(r"e([+-])0", r"e\1", f"{value:.12g}").replace("e+", "e")
