"""Values as JSON can hold them."""

import math
from typing import Any


def finite(value: Any) -> Any:
    """The value with null for NaN and infinities, which JSON has not; older stores may hold them.

    >>> finite({"loss": float("nan"), "rates": (1.0, float("inf"))})
    {'loss': None, 'rates': [1.0, None]}
    """
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
