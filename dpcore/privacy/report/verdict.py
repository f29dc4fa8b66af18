"""Verdicts: an accountant's epsilon, judged by the certified band at the same point."""

import math
import sys
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from dpcore.privacy.accountants.base import Curve
from dpcore.privacy.mechanism import Kind, Reading
from dpcore.privacy.report.numbers import LARGE, outward

TIGHT = 1.05  # "tight" is within 5 % of the certified upper bound


class Worth(StrEnum):
    """A verdict in one word."""

    SOUND_AND_TIGHT = "sound_and_tight"  # at most 5 % above the certified value
    LOOSE = "loose"  # above it by more
    CLAIMS_LESS = "claims_less"  # below the proven lower bound
    OUTSIDE = "outside"  # a claim whose own conditions fail
    # An unproven number inside the band, or no band, or one that is too wide.
    UNDECIDED = "undecided"
    NOT_AVAILABLE = "not_available"  # the accountant gives no finite number


@dataclass(frozen=True)
class Verdict:
    """The verdict on a number, and its ratio to the certified upper bound: inf if that is 0, NaN if
    it is infinite.
    """

    worth: Worth
    text: str
    ratio: float


def verdict(curve: Curve, band: Curve) -> Verdict:
    """Judge the curve's last point.

    Errors: ValueError if steps or delta differ, or `band` has no lower bound.
    """
    if not (np.array_equal(curve.steps, band.steps) and np.array_equal(curve.delta, band.delta)):
        raise ValueError("Expected both curves to have the same steps and delta.")
    return judged(curve.last, band.last)


def judged(reading: Reading, band: Reading, word: str = "epsilon") -> Verdict:
    """Judge a number of `word` by the certified band of its mechanism.

    Errors: ValueError without a lower bound.
    """
    if band.lower is None:
        raise ValueError("Expected band=... to hold a proven lower bound.")
    epsilon, kind, note = reading.value, reading.kind, reading.note
    lower, upper = band.lower, band.value
    ratio = _ratio(epsilon, upper)
    if kind is Kind.CERTIFIED:
        return _of_band(lower, upper, note, word)
    if epsilon < lower:
        below = 100 * (1 - epsilon / lower)
        share = f"{below:.2g} %" if below < 99 else "at least 99 %"
        proven = f"the proven lower bound {outward(lower, math.floor)}"
        text = f"Claims more privacy than there is: {share} below {proven}."
        return Verdict(Worth.CLAIMS_LESS, f"{text} {note}".strip(), ratio)
    if math.isinf(epsilon):
        return Verdict(
            Worth.NOT_AVAILABLE, unavailable(note) or f"Gives no finite {word} here.", ratio
        )
    if kind is Kind.CLAIMED and note:
        return Verdict(Worth.OUTSIDE, note, ratio)
    if math.isinf(upper):
        sound = "Sound by its own proof, but" if kind is Kind.UPPER else "Unproven, and"
        return Verdict(
            Worth.UNDECIDED, f"{sound} there is no certified value to compare with.", ratio
        )
    if epsilon < upper and kind is not Kind.UPPER:
        return Verdict(
            Worth.UNDECIDED,
            "Inside the certified band: too close to the exact value to tell.",
            ratio,
        )
    unproven = (
        ""
        if kind is Kind.UPPER
        else "Here it is on the safe side, but that is not proven in general."
    )
    if ratio <= TIGHT and upper > TIGHT * lower:
        text = f"{unproven or 'Sound.'} The certified band is too wide to tell how tight it is."
        return Verdict(Worth.UNDECIDED, text, ratio)
    if ratio <= TIGHT:
        text = f"Sound and tight: within 5 % of the certified value. {unproven}"
        return Verdict(Worth.SOUND_AND_TIGHT, text.strip(), ratio)
    return Verdict(Worth.LOOSE, f"Sound, but loose: {_excess(ratio)}. {unproven}".strip(), ratio)


def _excess(ratio: float) -> str:
    """The excess of a loose number, in words.

    >>> _excess(1.0935), _excess(3.3457e172), _excess(math.inf)
    ('9 % above the certified value', '3.34e172 times the certified value', 'the certified value is 0')
    """
    if math.isinf(ratio):
        return "the certified value is 0"
    if ratio >= LARGE:
        return f"{outward(ratio, math.floor)} times the certified value"
    if ratio >= 3:
        return (
            f"{ratio:.2g} times the certified value"
            if ratio < 99.5
            else f"{ratio:,.0f} times the certified value"
        )
    return f"{100 * (ratio - 1):.0f} % above the certified value"


def unavailable(note: str, lower: float = 0.0) -> str:
    """Turn the reason why there is no upper bound, from a curve's note, into a sentence; "" without
    a reason.

    >>> unavailable("The form does not exist.")
    'n/a, because the form does not exist.'
    >>> unavailable("Too little noise.", 3472.9)
    'At least 3470: no upper bound, because too little noise.'
    """
    head = f"At least {outward(lower, math.floor)}: no upper bound" if lower else "n/a"
    return f"{head}, because {lowered(note)}" if note else ""


def lowered(sentence: str) -> str:
    """Lower the first letter of a sentence, unless the sentence begins with a name or a symbol,
    such as q or RDP.

    >>> lowered("Needs more steps."), lowered("RDP is infinite.")
    ('needs more steps.', 'RDP is infinite.')
    """
    return sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() else sentence


def _of_band(lower: float, upper: float, note: str, word: str) -> Verdict:
    if math.isinf(upper):
        text = unavailable(note, lower) or "No certified upper bound here."
        return Verdict(Worth.NOT_AVAILABLE, text, math.nan)
    text = (
        f"Certified: the exact {word} lies between {outward(lower, math.floor)} and"
        f" {outward(upper, math.ceil)}."
    )
    text = f"{text} {note}".strip()
    return Verdict(
        Worth.SOUND_AND_TIGHT if upper <= TIGHT * lower or upper == 0 else Worth.LOOSE, text, 1.0
    )


def _ratio(epsilon: float, upper: float) -> float:
    if math.isinf(upper):
        return math.nan
    if epsilon == upper:
        return 1.0
    if upper == 0 or math.isinf(epsilon):
        return math.inf
    return min(epsilon / upper, sys.float_info.max)  # inf would say that the certified value is 0
