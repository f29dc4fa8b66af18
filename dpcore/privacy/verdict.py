"""What a number is worth: an accountant's epsilon judged by the certified band at the same point."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from dpcore.privacy.accountants.base import Curve, Kind

TIGHT = 1.05  # "tight" is within 5 % of the certified upper bound


class Status(StrEnum):
    """The verdict in one word."""

    SOUND_AND_TIGHT = "sound_and_tight"  # at most 5 % above the certified value
    LOOSE = "loose"  # above it by more
    CLAIMS_LESS = "claims_less"  # below the proven lower bound
    OUTSIDE = "outside"  # a claim whose own conditions fail
    UNDECIDED = "undecided"  # inside the band without a proof, or nothing certified to compare with
    NOT_AVAILABLE = "not_available"  # the accountant gives no finite number


@dataclass(frozen=True)
class Verdict:
    """A status, a sentence that says it, and the number over the certified upper bound (inf if that is 0)."""

    status: Status
    text: str
    ratio: float


def verdict(curve: Curve, certified: Curve) -> Verdict:
    """The judgement of the curve's last point; both curves have the same steps and delta."""
    return verdicts(curve, certified)[-1]


def verdicts(curve: Curve, certified: Curve) -> tuple[Verdict, ...]:
    """The judgement of each point, (n,).

    A curve's note speaks of its last point, so conditions that fail are named only there.

    Errors: ValueError where the curves differ in steps or delta, or `certified` holds no lower bound.
    """
    if certified.lower is None:
        raise ValueError("Expected certified=... to hold proven lower bounds.")
    if not (np.array_equal(curve.steps, certified.steps) and np.array_equal(curve.delta, certified.delta)):
        raise ValueError("Expected both curves to have the same steps and delta.")
    notes = [""] * (curve.epsilon.size - 1) + [curve.note]
    points = zip(curve.epsilon.tolist(), certified.lower.tolist(), certified.epsilon.tolist(), notes, strict=True)
    return tuple(_judged(curve.kind, *point) for point in points)


def _judged(kind: Kind, epsilon: float, lower: float, upper: float, note: str) -> Verdict:
    ratio = _ratio(epsilon, upper)
    if kind is Kind.CERTIFIED:
        return _of_band(lower, upper)
    if epsilon < lower:
        below = 100 * (1 - epsilon / lower)
        proven = f"the proven lower bound {outward(lower, math.floor)}"
        text = f"Claims more privacy than there is: {below:.2g} % below {proven}."
        return Verdict(Status.CLAIMS_LESS, f"{text} {note}".strip(), ratio)
    if math.isinf(epsilon):
        return Verdict(Status.NOT_AVAILABLE, note or "Gives no finite epsilon here.", ratio)
    if kind is Kind.CLAIMED and note:
        return Verdict(Status.OUTSIDE, note, ratio)
    if math.isinf(upper):
        sound = "Sound by its own proof, but" if kind is Kind.UPPER else "Unproven, and"
        return Verdict(Status.UNDECIDED, f"{sound} there is no certified value to compare with.", ratio)
    if epsilon < upper and kind is not Kind.UPPER:
        return Verdict(Status.UNDECIDED, "Inside the certified band: too close to the exact value to tell.", ratio)
    return _above(kind, ratio)


def _above(kind: Kind, ratio: float) -> Verdict:
    proof = "" if kind is Kind.UPPER else " Here it is on the safe side, but that is not proven in general."
    if ratio <= TIGHT:
        return Verdict(Status.SOUND_AND_TIGHT, "Sound and tight: within 5 % of the certified value." + proof, ratio)
    return Verdict(Status.LOOSE, f"Sound, but loose: {_excess(ratio)}.{proof}", ratio)


def _excess(ratio: float) -> str:
    """By how much a loose number is too large, in words.

    >>> _excess(1.0935), _excess(18.2), _excess(math.inf)
    ('9 % above the certified value', '18 times the certified value', 'the certified value is 0')
    """
    if math.isinf(ratio):
        return "the certified value is 0"
    if ratio >= 3:
        return f"{ratio:.2g} times the certified value" if ratio < 100 else f"{ratio:,.0f} times the certified value"
    return f"{100 * (ratio - 1):.0f} % above the certified value"


def outward(value: float, towards: Callable[[float], int]) -> str:
    """A bound in four significant digits, rounded away from the exact value so that the text is as true as the number.

    >>> outward(1.94651, math.floor), outward(1.94961, math.ceil), outward(0.0, math.floor)
    ('1.946', '1.950', '0')
    """
    if value == 0:
        return "0"
    unit = 3 - math.floor(math.log10(abs(value)))
    return f"{towards(value * 10.0**unit) / 10.0**unit:.{max(unit, 0)}f}"


def _of_band(lower: float, upper: float) -> Verdict:
    if math.isinf(upper):
        return Verdict(Status.NOT_AVAILABLE, "No certified upper bound here.", 1.0)
    text = f"Certified: the exact epsilon lies between {outward(lower, math.floor)} and {outward(upper, math.ceil)}."
    return Verdict(Status.SOUND_AND_TIGHT if upper <= TIGHT * lower or upper == 0 else Status.LOOSE, text, 1.0)


def _ratio(epsilon: float, upper: float) -> float:
    if epsilon == upper:
        return 1.0
    return math.inf if upper == 0 else (0.0 if math.isinf(upper) else epsilon / upper)
