"""The only checks of arguments: each message names the argument, its value and the condition."""

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

# At a smaller delta not every accountant is sound. At its smallest sigma, 0.05, and one step of q =
# 1, the certified one has masses of about e^-epsilon delta. A float must hold them with digits to
# spare (1e-289 here; wrong from 1e-68).
SMALLEST_DELTA = 1e-60


def _number(name: str, value: object) -> float:
    number = math.nan
    if isinstance(value, Real) and not isinstance(value, bool):
        number = as_float(value)
    if math.isnan(number):
        raise ValueError(f"Expected {name}={value!r} to be a number.")
    return number


def as_float(value: Any) -> float:
    """The number as float; infinite where no float holds it.

    >>> as_float(10**400), as_float(1)
    (inf, 1.0)
    """
    try:
        return float(value)
    except OverflowError:  # of a whole number that no float holds
        return math.inf if value > 0 else -math.inf


def positive(**values: object) -> None:
    """Raise ValueError unless every value is a finite number above 0.

    >>> positive(sigma=1.5)
    >>> positive(sigma=0)
    Traceback (most recent call last):
    ...
    ValueError: Expected sigma=0 to be above 0.
    """
    for name, value in values.items():
        number = _number(name, value)
        if math.isinf(number):
            raise ValueError(f"Expected {name}={value!r} to be finite.")
        if number <= 0:
            raise ValueError(f"Expected {name}={value!r} to be above 0.")


def in_range(low: float, high: float, *, ends: str = "[]", **values: object) -> None:
    """Raise ValueError unless every value lies between low and high; "(]" for `ends` excludes low
    alone.

    >>> in_range(0, 1, ends="(]", q=1.7)
    Traceback (most recent call last):
    ...
    ValueError: Expected q=1.7 to be above 0 and at most 1.
    """
    for name, value in values.items():
        number = _number(name, value)
        above = number > low or (ends[0] == "[" and number == low)
        below = number < high or (ends[1] == "]" and number == high)
        if not (above and below):
            least, most = (
                "at least" if ends[0] == "[" else "above",
                "at most" if ends[1] == "]" else "below",
            )
            limit = "finite" if math.isinf(high) else f"{most} {high:,.10g}"
            raise ValueError(f"Expected {name}={value!r} to be {least} {low:g} and {limit}.")


def delta(**values: float) -> None:
    """Raise ValueError unless every value is a delta for which every accountant has a sound answer.

    >>> delta(delta=1e-320)
    Traceback (most recent call last):
    ...
    ValueError: Expected delta=1e-320 to be at least 1e-60: floats hold nothing smaller safely.
    """
    in_range(0, 1, ends="()", **values)
    for name, value in values.items():
        if value < SMALLEST_DELTA:
            least = f"at least {SMALLEST_DELTA:g}: floats hold nothing smaller safely"
            raise ValueError(f"Expected {name}={value!r} to be {least}.")


def whole(low: int, high: int | None = None, **values: object) -> None:
    """Raise ValueError unless every value is a whole number of at least low (and at most high).

    >>> whole(1, steps=2.5)
    Traceback (most recent call last):
    ...
    ValueError: Expected steps=2.5 to be a whole number of at least 1.
    """
    for name, value in values.items():
        number = (
            int(value) if isinstance(value, Integral) and not isinstance(value, bool) else low - 1
        )
        if number < low or (high is not None and number > high):
            span = f"of at least {low}" if high is None else f"from {low} to {high:,}"
            raise ValueError(f"Expected {name}={value!r} to be a whole number {span}.")


def one_of(choices: Iterable[object], **values: object) -> None:
    """Raise ValueError unless every value is one of the choices.

    >>> one_of(["sgd", "adam"], optimizer="lion")
    Traceback (most recent call last):
    ...
    ValueError: Expected optimizer='lion' to be one of: sgd, adam.
    """
    known = list(choices)
    for name, value in values.items():
        if value not in known:
            raise ValueError(
                f"Expected {name}={value!r} to be one of: {', '.join(map(str, known))}."
            )


def verbatim(text: str, longest: int = 40) -> str:
    """Show a text from outside as code, cut to a length, so that Markdown in it has no effect.

    >>> verbatim("run=[a](//b)`c`")
    "`run=[a](//b)'c'`"
    """
    plain = " ".join(text.replace("`", "'").split())
    return f"`{plain if len(plain) <= longest else plain[:longest] + '…'}`"
