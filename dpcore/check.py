"""The only argument checks: each names the argument, its value and the condition."""

import math
from collections.abc import Iterable
from numbers import Integral, Real

# Below, not every accountant is sound: at its smallest sigma, 0.05, and one step of q = 1, the certified one works with
# masses of about e^-epsilon delta, and those must be a float with digits to spare (1e-289 here; wrong from 1e-68 on).
SMALLEST_DELTA = 1e-60


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or math.isnan(value):
        raise ValueError(f"Expected {name}={value!r} to be a number.")
    return float(value)


def positive(**values: object) -> None:
    """Raise ValueError unless every value is a finite number above 0.

    >>> positive(sigma=1.5)
    >>> positive(sigma=0)
    Traceback (most recent call last):
    ...
    ValueError: Expected sigma=0 to be finite and above 0.
    """
    for name, value in values.items():
        if not 0 < _number(name, value) < math.inf:
            raise ValueError(f"Expected {name}={value!r} to be finite and above 0.")


def finite(**values: object) -> None:
    """Raise ValueError unless every value is a finite number.

    >>> finite(sigma=-1.5)
    >>> finite(sigma=math.inf)
    Traceback (most recent call last):
    ...
    ValueError: Expected sigma=inf to be finite.
    """
    for name, value in values.items():
        if math.isinf(_number(name, value)):
            raise ValueError(f"Expected {name}={value!r} to be finite.")


def in_range(low: float, high: float, *, ends: str = "[]", **values: object) -> None:
    """Raise ValueError unless every value lies between low and high; `ends` says which ends belong, as in "(]".

    >>> in_range(0, 1, ends="(]", q=1.7)
    Traceback (most recent call last):
    ...
    ValueError: Expected q=1.7 in (0, 1].
    """
    for name, value in values.items():
        number = _number(name, value)
        above = number > low or (ends[0] == "[" and number == low)
        below = number < high or (ends[1] == "]" and number == high)
        if not (above and below):
            raise ValueError(f"Expected {name}={value!r} in {ends[0]}{low:g}, {high:g}{ends[1]}.")


def delta(**values: float) -> None:
    """Raise ValueError unless every value is a delta for which every accountant has a sound answer.

    >>> delta(delta=1e-320)
    Traceback (most recent call last):
    ...
    ValueError: Expected delta=1e-320 to be at least 1e-60: what is less likely leaves the floating-point numbers.
    """
    in_range(0, 1, ends="()", **values)
    for name, value in values.items():
        if value < SMALLEST_DELTA:
            raise ValueError(
                f"Expected {name}={value!r} to be at least {SMALLEST_DELTA:g}: "
                "what is less likely leaves the floating-point numbers."
            )


def whole(low: int, high: int | None = None, **values: object) -> None:
    """Raise ValueError unless every value is a whole number of at least low (and at most high).

    >>> whole(1, steps=2.5)
    Traceback (most recent call last):
    ...
    ValueError: Expected steps=2.5 to be a whole number of at least 1.
    """
    for name, value in values.items():
        number = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else low - 1
        if number < low or (high is not None and number > high):
            upper = "" if high is None else f" and at most {high}"
            raise ValueError(f"Expected {name}={value!r} to be a whole number of at least {low}{upper}.")


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
            raise ValueError(f"Expected {name}={value!r} to be one of: {', '.join(map(str, known))}.")


def verbatim(text: str, longest: int = 40) -> str:
    """A text from outside, cut and as it is: nothing in it is taken for Markdown.

    >>> verbatim("run=[a](//b)`c`")
    "`run=[a](//b)'c'`"
    """
    plain = " ".join(text.replace("`", "'").split())
    return f"`{plain if len(plain) <= longest else plain[:longest] + '…'}`"
