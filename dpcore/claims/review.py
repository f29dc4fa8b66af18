"""The sentences of a verdict on a claim, and the one for a review. Bounds are rounded to the safe side."""

import math
from collections.abc import Sequence

from dpcore.claims.accountant_variants import Recount
from dpcore.claims.printed import Printed
from dpcore.claims.setup import Bounds
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.report.numbers import DIGITS, outward, short

ASSUMED = "The claim does not say how batches are drawn: judged as Poisson."
COUNT_POISSON = "The accountants count Poisson batches, which these are not."
OPEN_EPOCH = "An epoch may be {} steps, as what fills no batch is dropped or kept: the bounds hold for both."
OPEN_RATE = "Its rate may be {} to {}: the bounds hold for both."
OPEN_STEPS = "Its epochs may be {} to {} steps: the bounds hold for all of these."
TOLD = {  # what a review says of a claim that is about a mechanism, by its standing
    "holds": "The claimed epsilon of {epsilon} holds{condition}: for {setting}, epsilon is certified to be at "
    "most {upper}.",
    "unproven": "The claimed epsilon of {epsilon} is not proven{condition}: for {setting}, {known}. {way_out}",
    "refuted": "The claimed epsilon of {epsilon} does not hold{condition}: for {setting}, epsilon is proven to be at "
    "least {lower}. Please correct it, or say what is done differently.",
    "contradictory": "{sentence} This is for {setting}. Please say which of the numbers are meant.",
}


def holds(printed: Printed, bounds: Bounds) -> str:
    """That the claim holds, and with how much room."""
    share = 100 * (1 - bounds.upper / printed.value)
    room = f"which leaves room of {share:.0f} %" if share >= 0.5 else "with hardly any room"
    return f"Epsilon is certified to be at most {_up(bounds, printed)}, and {printed.shown} is claimed, {room}."


def refuted(printed: Printed, bounds: Bounds) -> str:
    """That the claim is false, even if the printed number was rounded down."""
    lower = _down(bounds, printed)
    return (
        f"Epsilon is proven to be at least {lower}, and {printed.shown} is claimed: "
        f"no number that rounds to {printed.shown} reaches that."
    )


def unproven(printed: Printed, bounds: Bounds) -> str:
    """That what is claimed lies below the certified upper bound, and not where it is refuted."""
    if math.isinf(bounds.upper):
        return f"{proven(bounds, printed)} That does not settle the claimed {printed.shown}."
    lower, upper = _down(bounds, printed), _up(bounds, printed)
    if bounds.lower > printed.value:
        return (
            f"Epsilon is proven to be at least {lower}, and {printed.shown} is claimed: it may have been rounded down "
            f"from there. An epsilon is to be rounded up: {upper} is certified."
        )
    return (
        f"Epsilon is proven to lie between {lower} and {upper}, and {printed.shown} is claimed: it may be true, "
        f"and is not proven. {upper} is certified."
    )


def given(condition: str, sentence: str) -> str:
    """The sentence, true under a condition that the claim does not name; as it is where there is none.

    >>> given("Under zero-out adjacency", "Epsilon is certified to be at most 3.")
    'Under zero-out adjacency epsilon is certified to be at most 3.'
    """
    comma = "," if condition.startswith("If ") else ""
    return f"{condition}{comma} {sentence[:1].lower()}{sentence[1:]}" if condition else sentence


def insufficient(lacking: Sequence[str]) -> str:
    """Which numbers the claim does not say.

    >>> insufficient(("delta", "epsilon"))
    'The claim does not say delta; epsilon.'
    """
    return f"The claim does not say {'; '.join(lacking)}."


def proven(bounds: Bounds, printed: Printed | None = None) -> str:
    """What is proven of epsilon, whatever is claimed."""
    if math.isfinite(bounds.upper):
        return f"Epsilon is proven to lie between {_down(bounds, printed)} and {_up(bounds, printed)}."
    if bounds.lower > 0:
        return f"Epsilon is proven to be at least {_down(bounds, printed)}; no upper bound is known here."
    return "Nothing is proven of epsilon here."


def other_number(own: Sequence[Recount], printed: Printed) -> str:
    """That the accountant which the claim names gives another number than the claimed one."""
    title = ACCOUNTANTS[own[0].accountant].title
    finite = [value for each in own for value in (each.least, each.most) if math.isfinite(value)]
    if not finite:
        return f"{title} has no number here. {own[0].note}".strip()
    least, most = short(min(finite)), short(max(finite))
    gives = least if least == most else f"{least} to {most}, depending on how it is run"
    return f"{title} gives {gives}, and {printed.shown} is claimed to come from it."


def looser(own: Sequence[Recount], printed: Printed) -> str:
    """That the accountant which the claim names gives less than is claimed."""
    title, most = ACCOUNTANTS[own[0].accountant].title, max(each.most for each in own)
    return f"{title} gives {short(most)}: {printed.shown} is more, as a budget may be, and contradicts nothing."


def sentence_for(
    standing: str, printed: Printed, setting: str, sentence: str, bounds: Bounds, condition: str = ""
) -> str:
    """The sentence for a review of a claim that is about a mechanism."""
    known = proven(bounds, printed).rstrip(".")
    upper = _up(bounds, printed)
    finite = math.isfinite(bounds.upper)
    return TOLD[standing].format(
        epsilon=printed.shown,
        setting=setting,
        condition=f" {condition[:1].lower()}{condition[1:]}" if condition else "",
        sentence=sentence,
        lower=_down(bounds, printed),
        upper=upper,
        known=f"{known[:1].lower()}{known[1:]}",
        way_out=f"Please claim {upper}, which is certified." if finite else "Please say what proves it.",
    )


def of_insufficient(sentence: str) -> str:
    """The sentence for a review of a claim that is about no mechanism, or names no epsilon."""
    return f"The claim cannot be checked. {sentence} Please add or correct that."


def _down(bounds: Bounds, printed: Printed | None) -> str:
    return outward(bounds.lower, math.floor, printed.digits if printed else DIGITS)


def _up(bounds: Bounds, printed: Printed | None) -> str:
    return outward(bounds.upper, math.ceil, printed.digits if printed else DIGITS)
