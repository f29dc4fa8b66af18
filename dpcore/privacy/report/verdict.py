"""Verdicts: an accountant's epsilon, judged by the certified band at the same point."""

import math
import sys
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from dpcore.privacy.accountants.base import Curve
from dpcore.privacy.mechanism import Kind, Reading
from dpcore.privacy.report.numbers import DIGITS, LARGE, outward

MOST_DIGITS = 10
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
    """The verdict on a number, and its ratio to the certified upper bound.

    The ratio is inf if that bound is 0, and NaN if it is infinite.
    """

    worth: Worth
    text: str
    ratio: float


def verdict(curve: Curve, band: Curve) -> Verdict:
    """Judge the curve's last point.

    Errors: ValueError if steps or delta differ, or `band` has no lower bound.
    """
    same_steps = np.array_equal(curve.steps, band.steps)
    same_deltas = np.array_equal(curve.delta, band.delta)
    if not (same_steps and same_deltas):
        raise ValueError("Expected both curves to have the same steps and delta.")
    return judged(curve.last, band.last)


def judged(reading: Reading, band: Reading, word: str = "epsilon") -> Verdict:
    """Judge a number of `word` by the certified band of its mechanism.

    Errors: ValueError without a lower bound.
    """
    if band.lower is None:
        raise ValueError("Expected band=... to hold a proven lower bound.")
    if reading.kind is Kind.CERTIFIED:
        return _of_band(band.lower, band.value, reading.note, word)
    worth, text = _worth(reading, band.lower, band.value, word)
    return Verdict(worth, text, _ratio(reading.value, band.value))


def _worth(reading: Reading, lower: float, upper: float, word: str) -> tuple[Worth, str]:
    """The verdict on a number that is not certified, and its reason."""
    epsilon = reading.value
    kind = reading.kind
    note = reading.note
    if epsilon < lower:
        below = 100 * (1 - epsilon / lower)
        share = f"{below:.2g} %" if below < 99 else "at least 99 %"
        proven = f"the proven lower bound {_lower_than(lower, epsilon)}"
        text = f"Unsafe: {share} below {proven}. {note}"
        return Worth.CLAIMS_LESS, text.strip()
    if math.isinf(epsilon):
        return Worth.NOT_AVAILABLE, unavailable(note) or f"Gives no finite {word} here."
    if kind is Kind.CLAIMED and note:
        return Worth.OUTSIDE, note
    proven_bound = kind is Kind.UPPER
    if math.isinf(upper):
        sound = "Sound by its own proof, but" if proven_bound else "Unproven, and"
        return Worth.UNDECIDED, f"{sound} there is no certified value to compare with."
    if epsilon < upper and not proven_bound:
        text = "Inside the certified band: too close to the exact value to tell."
        return Worth.UNDECIDED, text
    unproven = "Here it is on the safe side, but that is not proven in general."
    if proven_bound:
        unproven = ""
    ratio = _ratio(epsilon, upper)
    if ratio > TIGHT:
        return Worth.LOOSE, f"Safe, but loose: {_excess(ratio)}. {unproven}".strip()
    if upper > TIGHT * lower:
        text = f"{unproven or 'Sound.'} The certified band is too wide to tell how tight it is."
        return Worth.UNDECIDED, text
    text = f"Safe and tight: within 5 % of the certified value. {unproven}"
    return Worth.SOUND_AND_TIGHT, text.strip()


def _lower_than(lower: float, claimed: float) -> str:
    """A lower bound above what is claimed, in as many digits as tell it from that, up to ten.

    >>> _lower_than(3.0712, 3.0), _lower_than(1.0016, 0.99999), _lower_than(1.002, 1.0019)
    ('3.07', '1.001', '1.00')
    """
    shown = float(outward(claimed, math.ceil))
    few = outward(lower, math.floor)
    if math.isinf(lower) or lower <= shown:
        return few
    for digits in range(DIGITS, MOST_DIGITS + 1):
        text = outward(lower, math.floor, digits)
        if float(text) > shown:
            return text
    return few


def _excess(ratio: float) -> str:
    """The excess of a loose number, in words.

    >>> _excess(1.0935), _excess(3.3457e172)
    ('9 % above the certified value', '3.34e172 times the certified value')
    """
    if math.isinf(ratio):
        return "the certified value is 0"
    if ratio >= LARGE:
        return f"{outward(ratio, math.floor)} times the certified value"
    if ratio >= 99.5:
        return f"{ratio:,.0f} times the certified value"
    if ratio >= 3:
        return f"{ratio:.2g} times the certified value"
    return f"{100 * (ratio - 1):.0f} % above the certified value"


def unavailable(note: str, lower: float = 0.0) -> str:
    """Turn the reason why there is no upper bound into a sentence; "" without a reason.

    >>> unavailable("The form does not exist.")
    'n/a, because the form does not exist.'
    >>> unavailable("Too little noise.", 3472.9)
    'At least 3470: no upper bound, because too little noise.'
    """
    if not note:
        return ""
    head = "n/a"
    if lower:
        head = f"At least {outward(lower, math.floor)}: no upper bound"
    return f"{head}, because {lowered(note)}"


def lowered(sentence: str) -> str:
    """Lower the first letter of a sentence, unless it begins with a name or symbol, such as RDP.

    >>> lowered("Needs more steps."), lowered("RDP is infinite.")
    ('needs more steps.', 'RDP is infinite.')
    """
    begins_with_a_word = sentence[1:2].islower()
    if not begins_with_a_word:
        return sentence
    return sentence[:1].lower() + sentence[1:]


def _of_band(lower: float, upper: float, note: str, word: str) -> Verdict:
    if math.isinf(upper):
        text = unavailable(note, lower) or "No certified upper bound here."
        return Verdict(Worth.NOT_AVAILABLE, text, math.nan)
    low = outward(lower, math.floor)
    high = outward(upper, math.ceil)
    text = f"Certified: the exact {word} lies between {low} and {high}. {note}".strip()
    tight = upper <= TIGHT * lower or upper == 0
    worth = Worth.SOUND_AND_TIGHT if tight else Worth.LOOSE
    return Verdict(worth, text, 1.0)


def _ratio(epsilon: float, upper: float) -> float:
    if math.isinf(upper):
        return math.nan
    if epsilon == upper:
        return 1.0
    if upper == 0 or math.isinf(epsilon):
        return math.inf
    return min(epsilon / upper, sys.float_info.max)  # inf would say that the certified value is 0
