"""What a claim of privacy has to state so that somebody else can check it."""

from collections.abc import Callable, Collection
from typing import NamedTuple

from dpcore.claims.cases import rates_of
from dpcore.claims.claim import Claim


class Fact(NamedTuple):
    """A fact, in words as within a sentence, and whether the numbers of a claim state it."""

    name: str
    words: str
    stated: Callable[[Claim], bool]


def _never(claim: Claim) -> bool:
    """No number states it; the words of a text may."""
    return False


FACTS = (
    Fact("definition", "the definition of privacy", lambda claim: claim.delta is not None),
    Fact("epsilon", "epsilon", lambda claim: claim.epsilon is not None),
    Fact("delta", "delta", lambda claim: claim.delta is not None),
    Fact("unit", "the unit of privacy", _never),
    Fact("adjacency", "which data sets are neighbours", lambda claim: claim.adjacency is not None),
    Fact("sigma", "the noise multiplier", lambda claim: bool(claim.sigma or claim.mechanism)),
    Fact("rate", "the sampling rate", lambda claim: bool(rates_of(claim))),
    Fact(
        "steps",
        "the number of steps",
        lambda claim: bool(claim.steps or claim.epochs or claim.mechanism),
    ),
    Fact("sampler", "how batches are drawn", lambda claim: claim.sampler is not None),
    Fact("clipping", "the clipping norm", _never),
    Fact("normalisation", "how the batch is normalised", _never),
    Fact("accountant", "the accountant", lambda claim: claim.accountant is not None),
    Fact(
        "selection",
        "whether the best of several runs was chosen",
        lambda claim: claim.runs is not None,
    ),
)
NAMES = tuple(each.name for each in FACTS)


def completeness(claim: Claim, told: Collection[str] = ()) -> str:
    """Say how many facts a claim states, and which are missing; `told` names those that words tell.

    >>> known = Claim(delta=1e-5, sigma=1.0, q=0.01, steps=100, sampler="poisson")
    >>> completeness(known, told=("unit", "adjacency", "clipping", "normalisation", "accountant"))
    '11 of 13 facts are stated; missing: epsilon; whether the best of several runs was chosen.'
    """
    missing = []
    for fact in FACTS:
        if fact.name not in told and not fact.stated(claim):
            missing.append(fact.words)
    if not missing:
        return f"All {len(FACTS)} facts are stated."
    stated = len(FACTS) - len(missing)
    return f"{stated} of {len(FACTS)} facts are stated; missing: {'; '.join(missing)}."
