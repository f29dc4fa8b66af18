"""Sentences of a verdict on a claim, and a sentence for a review.

Bounds are rounded to the safe side.
"""

import math
from collections.abc import Sequence
from pathlib import Path

from dpcore.claims.accountant_variants import Recount
from dpcore.claims.printed import Printed
from dpcore.claims.setup import Bounds
from dpcore.privacy import words_in
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.report.numbers import DIGITS, outward, short
from dpcore.privacy.report.verdict import lowered

SENTENCES = words_in(Path(__file__).with_name("review.toml"))
NOTES = SENTENCES["notes"]


def compared(printed: Printed, bounds: Bounds) -> tuple[str, str]:
    """Compare a printed epsilon, which may be rounded, with its bounds: the standing, and a
    sentence.
    """
    share = 100 * (1 - bounds.upper / printed.value)
    room = f"{share:.0f} % below" if share >= 0.5 else "just within"
    words = {"room": room, "proven": proven(bounds, printed)}
    if bounds.lower > printed.high:
        standing = name = "refuted"
    elif bounds.upper <= printed.value:
        standing = name = "holds"
    else:
        standing = name = "unproven"
        if math.isinf(bounds.upper):
            name = "without_upper"
        elif bounds.lower > printed.value:
            name = "rounded_down"
    return standing, _sentence("verdicts", name, bounds, printed, **words)


def given(condition: str, sentence: str) -> str:
    """Put the condition, if there is one, before the sentence.

    >>> given("Under zero-out adjacency", "Epsilon is certified to be at most 3.")
    'Under zero-out adjacency epsilon is certified to be at most 3.'
    """
    if not condition:
        return sentence
    comma = "," if condition.startswith("If ") else ""
    return f"{condition}{comma} {lowered(sentence)}"


def insufficient(lacking: Sequence[str]) -> str:
    """Say that the claim lacks these numbers.

    >>> insufficient(("delta", "epsilon"))
    'The claim does not state delta; epsilon.'
    """
    return f"The claim does not state {'; '.join(lacking)}."


def proven(bounds: Bounds, printed: Printed | None = None) -> str:
    """Say the proven bounds of epsilon."""
    if math.isfinite(bounds.upper):
        name = "between"
    elif bounds.lower > 0:
        name = "at_least"
    else:
        name = "nothing"
    return _sentence("proven", name, bounds, printed)


def of_accountant(name: str, own: Sequence[Recount], printed: Printed) -> str:
    """Say that the claim's accountant gives another number ("other"), or less than is claimed
    ("looser").
    """
    title = ACCOUNTANTS[own[0].accountant].title
    finite: list[float] = []
    for each in own:
        finite += filter(math.isfinite, (each.least, each.most))
    if not finite:
        return f"{title} has no number here. {own[0].note}".strip()
    least, most = short(min(finite)), short(max(finite))
    gives = most
    if least != most and name != "looser":
        gives = f"{least} to {most}, depending on how it is run"
    return SENTENCES["accountants"][name].format(title=title, gives=gives, claimed=printed.shown)


def sentence_for(
    standing: str,
    printed: Printed,
    setting: str,
    sentence: str,
    bounds: Bounds,
    condition: str = "",
) -> str:
    """Write the sentence for a review of a claim about a mechanism."""
    words = {
        "setting": setting,
        "sentence": sentence,
        "known": lowered(proven(bounds, printed).rstrip(".")),
    }
    words["condition"] = ""
    if condition:
        words["condition"] = f" {lowered(condition)}"
    way_out = "certified" if math.isfinite(bounds.upper) else "proof"
    words["way_out"] = _sentence("ways_out", way_out, bounds, printed)
    return _sentence("reviews", standing, bounds, printed, **words)


def of_insufficient(sentence: str) -> str:
    """Write the sentence for a review of a claim without a mechanism or an epsilon."""
    return f"The claim cannot be checked. {sentence} Please complete or correct it."


def _sentence(part: str, name: str, bounds: Bounds, printed: Printed | None, **words: str) -> str:
    digits, claimed = DIGITS, ""
    if printed is not None:
        digits, claimed = printed.digits, printed.shown
    numbers = {
        "lower": outward(bounds.lower, math.floor, digits),
        "upper": outward(bounds.upper, math.ceil, digits),
        "claimed": claimed,
    }
    return SENTENCES[part][name].format(**words, **numbers)
