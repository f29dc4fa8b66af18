"""Numbers as text: a bound is rounded outwards, so that the text is as true as the number."""

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any

# ruff: noqa: F401 (WORDS and DIGITS are read from here)
from dpcore.privacy.mechanism import WORDS, Kind
from dpcore.privacy.safe_text import DIGITS, outward

LARGE = 1e6  # from here on `short` writes a power of ten
SMALLEST_P = 1e-300  # a smaller p-value of a finite sample is a rounding
# Before a number.
MARKS = {Kind.UPPER: "≤", Kind.CERTIFIED: "≤", Kind.APPROXIMATE: "≈", Kind.CLAIMED: "says"}
IN_A_WORD = {
    Kind.UPPER: "proven",
    Kind.APPROXIMATE: "approximation",
    Kind.CLAIMED: "without a proof that covers them",
}


def placed(value: float, towards: Callable[[Any], int], places: int) -> str:
    """Write a finite bound with `places` decimal places, rounded away from the exact value.

    >>> placed(0.29, math.floor, 4), placed(0.12341, math.ceil, 4)
    ('0.2900', '0.1235')
    """
    exact = Decimal(repr(float(value)))
    rounded = Decimal(towards(exact.scaleb(places))).scaleb(-places)
    return f"{rounded:.{places}f}"


def raised(value: float) -> float:
    """Round a delta up to six digits, so that a bound proven at the delta holds at the text.

    >>> raised(1e-5), raised(1.23456749e-5)
    (1e-05, 1.23457e-05)
    """
    six_digits = Context(prec=6, rounding=ROUND_CEILING)
    return float(six_digits.create_decimal(repr(float(value))))


def nearest(value: float, digits: int = 4) -> str:
    """Write a number that is no bound, in `digits` significant digits.

    >>> nearest(0.0042666), nearest(2.0)
    ('0.004267', '2')
    """
    return f"{value:.{digits}g}"


def percent(value: float, places: int = 1, gap: str = " ") -> str:
    """Write a share that is no bound, such as an accuracy, in percent.

    >>> percent(0.9012), percent(0.9012, 2, gap="")
    ('90.1 %', '90.12%')
    """
    return f"{100 * value:.{places}f}{gap}%"


def short(value: float) -> str:
    """Write a number in three significant digits, with trailing zeros.

    >>> short(2.7), short(1234.5), short(0.05), short(3.351e172)
    ('2.70', '1,234', '0.0500', '3.35e172')
    """
    if not math.isfinite(value):
        return "infinite"
    if abs(value) >= LARGE - 0.5:
        return f"{value:.2e}".replace("e+0", "e").replace("e+", "e")
    if abs(value) >= 99.95:
        return f"{value:,.0f}"
    return f"{value:#.3g}".rstrip(".")


def p_text(value: float) -> str:
    """Write a p-value, rounded up.

    >>> p_text(0.01234), p_text(0.0)
    ('0.0124', '< 1e-300')
    """
    if value > SMALLEST_P:
        return outward(value, math.ceil)
    return f"< {SMALLEST_P:g}"


def plain(value: float) -> str:
    """Write a number as a person would.

    >>> plain(1e-5), plain(0.25)
    ('1e-5', '0.25')
    """
    return _bare(f"{value:g}")


def value_text(value: Any) -> str:
    """Write the value of a setting for a reader, the same in every table, chart and sentence.

    >>> value_text(0.5), value_text(1e-5), value_text(60_000), value_text(True), value_text("sgd")
    ('0.5', '1e-5', '60,000', 'yes', 'sgd')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return _bare(f"{value:,g}")
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


def _bare(number: str) -> str:
    """Remove the plus sign and the zeros that Python writes into an exponent."""
    return number.replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def epochs_of(count: float, digits: int = 4) -> str:
    """Write a number of epochs with its noun.

    >>> epochs_of(1), epochs_of(2.5), epochs_of(1.00001)
    ('1 epoch', '2.5 epochs', '1 epoch')
    """
    shown = f"{count:,.{digits}g}"
    if shown == "1":
        return "1 epoch"
    return f"{shown} epochs"


def rounded(value: float, kind: Kind) -> str:
    """Write an epsilon in three significant digits; a bound is rounded up.

    >>> rounded(1.561, Kind.CERTIFIED), rounded(1.561, Kind.APPROXIMATE)
    ('1.57', '1.56')
    """
    return outward(value, math.ceil) if kind.is_bound else short(value)


def spoken(word: str, number: str, kind: Kind) -> str:
    """Write a number of `word`, with its kind, within a sentence.

    >>> [spoken("epsilon", "2.7", kind) for kind in (Kind.UPPER, Kind.APPROXIMATE, Kind.CLAIMED)]
    ['epsilon ≤ 2.7', 'epsilon ≈ 2.7', 'a claimed epsilon of 2.7']
    """
    if kind is Kind.CLAIMED:
        return f"a claimed {word} of {number}"
    return f"{word} {MARKS[kind]} {number}"


def marked(value: float, kind: Kind, lower: float | None = None) -> str:
    """Write an epsilon with the mark of its kind; without a finite one, its proven lower bound.

    >>> marked(1.561, Kind.CERTIFIED), marked(1.334, Kind.APPROXIMATE), marked(2, Kind.CLAIMED)
    ('≤ 1.57', '≈ 1.33', 'says 2.00')
    >>> marked(math.inf, Kind.CERTIFIED, 3472.9), marked(math.inf, Kind.UPPER)
    ('≥ 3470', 'n/a')
    """
    if math.isfinite(value):
        return f"{MARKS[kind]} {rounded(value, kind)}"
    if lower:
        return f"≥ {outward(lower, math.floor)}"
    return "n/a"


def finite(value: Any) -> Any:
    """Put null for NaN and infinity, which JSON lacks, anywhere in a value.

    >>> finite({"loss": float("nan"), "rates": (1.0, float("inf"))})
    {'loss': None, 'rates': [1.0, None]}
    """
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
