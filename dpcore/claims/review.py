"""Sentences of a verdict on a claim, and a sentence for a review. Bounds are rounded to the safe side."""

import math
from collections.abc import Sequence
from pathlib import Path

from dpcore.claims.accountant_variants import Recount
from dpcore.claims.printed import Printed
from dpcore.claims.setup import Bounds
from dpcore.privacy import words_in
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.report.numbers import DIGITS, outward, short

SENTENCES = words_in(Path(__file__).with_name("review.toml"))
NOTES = SENTENCES["notes"]


def holds(printed: Printed, bounds: Bounds) -> str:
    """Say that the claim holds, and by how much."""
    share = 100 * (1 - bounds.upper / printed.value)
    room = f"{share:.0f} % below" if share >= 0.5 else "just within"
    return _sentence("verdicts", "holds", bounds, printed, room=room)


def refuted(printed: Printed, bounds: Bounds) -> str:
    """Say that the claim is false, even if the printed number was rounded down."""
    return _sentence("verdicts", "refuted", bounds, printed)


def unproven(printed: Printed, bounds: Bounds) -> str:
    """Say that the claim lies below the certified upper bound and is not refuted."""
    if math.isinf(bounds.upper):
        return _sentence("verdicts", "without_upper", bounds, printed, proven=proven(bounds, printed))
    return _sentence("verdicts", "rounded_down" if bounds.lower > printed.value else "unproven", bounds, printed)


def given(condition: str, sentence: str) -> str:
    """Put the condition, if there is one, before the sentence.

    >>> given("Under zero-out adjacency", "Epsilon is certified to be at most 3.")
    'Under zero-out adjacency epsilon is certified to be at most 3.'
    """
    comma = "," if condition.startswith("If ") else ""
    return f"{condition}{comma} {sentence[:1].lower()}{sentence[1:]}" if condition else sentence


def insufficient(lacking: Sequence[str]) -> str:
    """Say that the claim lacks these numbers.

    >>> insufficient(("delta", "epsilon"))
    'The claim does not state delta; epsilon.'
    """
    return f"The claim does not state {'; '.join(lacking)}."


def proven(bounds: Bounds, printed: Printed | None = None) -> str:
    """Say the proven bounds of epsilon."""
    name = "between" if math.isfinite(bounds.upper) else "at_least" if bounds.lower > 0 else "nothing"
    return _sentence("proven", name, bounds, printed)


def other_number(own: Sequence[Recount], printed: Printed) -> str:
    """Say that the claim's accountant gives another number."""
    title = ACCOUNTANTS[own[0].accountant].title
    finite = [value for each in own for value in (each.least, each.most) if math.isfinite(value)]
    if not finite:
        return f"{title} has no number here. {own[0].note}".strip()
    least, most = short(min(finite)), short(max(finite))
    gives = least if least == most else f"{least} to {most}, depending on how it is run"
    return SENTENCES["accountants"]["other"].format(title=title, gives=gives, claimed=printed.shown)


def looser(own: Sequence[Recount], printed: Printed) -> str:
    """Say that the claim's accountant gives less than is claimed."""
    title, most = ACCOUNTANTS[own[0].accountant].title, max(each.most for each in own)
    return SENTENCES["accountants"]["looser"].format(title=title, gives=short(most), claimed=printed.shown)


def sentence_for(
    standing: str, printed: Printed, setting: str, sentence: str, bounds: Bounds, condition: str = ""
) -> str:
    """Write the sentence for a review of a claim about a mechanism."""
    known = proven(bounds, printed).rstrip(".")
    way_out = "certified" if math.isfinite(bounds.upper) else "proof"
    return _sentence(
        "reviews",
        standing,
        bounds,
        printed,
        setting=setting,
        condition=f" {condition[:1].lower()}{condition[1:]}" if condition else "",
        sentence=sentence,
        known=f"{known[:1].lower()}{known[1:]}",
        way_out=_sentence("ways_out", way_out, bounds, printed),
    )


def of_insufficient(sentence: str) -> str:
    """Write the sentence for a review of a claim without a mechanism or an epsilon."""
    return f"The claim cannot be checked. {sentence} Please complete or correct it."


def _sentence(part: str, name: str, bounds: Bounds, printed: Printed | None, **words: str) -> str:
    digits = printed.digits if printed else DIGITS
    numbers = {
        "lower": outward(bounds.lower, math.floor, digits),
        "upper": outward(bounds.upper, math.ceil, digits),
        "claimed": printed.shown if printed else "",
    }
    return SENTENCES[part][name].format(**words, **numbers)
