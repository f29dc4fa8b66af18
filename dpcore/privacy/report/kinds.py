"""What each kind of number is called, and the mark that stands before it."""

import math

from dpcore.privacy.report.numbers import outward, short
from dpcore.privacy.types import Kind

WORDS = {
    Kind.UPPER: "proven upper bound",
    Kind.CERTIFIED: "proven from both sides",
    Kind.APPROXIMATE: "approximation, no bound",
    Kind.CLAIMED: "claimed: the proof does not cover this case",
}
MARKS = {Kind.UPPER: "≤", Kind.CERTIFIED: "≤", Kind.APPROXIMATE: "≈", Kind.CLAIMED: "claims"}  # before a number
IN_A_WORD = {Kind.UPPER: "proven", Kind.APPROXIMATE: "approximation", Kind.CLAIMED: "without a proof that covers them"}


def rounded(value: float, kind: Kind) -> str:
    """An epsilon in three significant digits; a bound is rounded up, so that the text is as true as it.

    >>> rounded(1.561, Kind.CERTIFIED), rounded(1.561, Kind.APPROXIMATE)
    ('1.57', '1.56')
    """
    return outward(value, math.ceil) if kind.is_bound else short(value)


def spoken(word: str, number: str, kind: Kind) -> str:
    """A number of what `word` names, within a sentence, as what kind of number it is.

    >>> [spoken("epsilon", "2.7", kind) for kind in (Kind.UPPER, Kind.APPROXIMATE, Kind.CLAIMED)]
    ['epsilon ≤ 2.7', 'epsilon ≈ 2.7', 'a claimed epsilon of 2.7']
    """
    return f"a claimed {word} of {number}" if kind is Kind.CLAIMED else f"{word} {MARKS[kind]} {number}"


def marked(value: float, kind: Kind) -> str:
    """An epsilon that says what kind of number it is.

    >>> marked(2.7, Kind.UPPER), marked(1.561, Kind.CERTIFIED), marked(1.334, Kind.APPROXIMATE), marked(2, Kind.CLAIMED)
    ('≤ 2.70', '≤ 1.57', '≈ 1.33', 'claims 2.00')
    """
    return f"{MARKS[kind]} {rounded(value, kind)}" if math.isfinite(value) else "n/a"
