"""What is true where batches are not drawn by Poisson's coins, in sentences; and where counting them goes wrong."""

import math

from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import outward, percent
from dpcore.privacy.sampling import Sampler, steps_of_epoch
from dpcore.privacy.sampling.poisson import Poisson
from dpcore.privacy.types import Reading

WIDE = 1.05  # from this ratio of its ends on a band says little more than an interval
ADD_REMOVE = Poisson.adjacency
SAME = {ADD_REMOVE, "zero-out"}  # with Poisson batches these two are one: an absent record adds nothing either way


def proven(sampler: Sampler, found: Reading) -> str:
    """Between what epsilon is proven to lie, with the adjacency that it is for, in Markdown.

    >>> from dpcore.privacy.sampling import SAMPLERS
    >>> shuffle = SAMPLERS["shuffle"]
    >>> proven(shuffle, shuffle.curve(512 / 60_000, 1.068, 4680, 1e-5).last)
    '**Shuffled every epoch**, zero-out: epsilon is proven to lie between **13.5** and **42.1**.'
    """
    named = f"**{sampler.title}**, {sampler.adjacency}: "
    low = outward(found.lower or 0.0, math.floor)
    if math.isinf(found.value):
        return f"{named}no upper end of epsilon is proven; it is at least **{low}**."
    word = "proven" if sampler.interval or found.value > WIDE * (found.lower or 0.0) else "certified"
    return f"{named}epsilon is {word} to lie between **{low}** and **{outward(found.value, math.ceil)}**."


def counted_as_poisson(sampler: Sampler, found: Reading, poisson: Reading) -> str:
    """What the epsilon of Poisson batches is worth where batches are drawn otherwise, in a sentence.

    >>> from dpcore.privacy.sampling import SAMPLERS
    >>> ends = [SAMPLERS[name].curve(512 / 60_000, 1.068, 4680, 1e-5).last for name in ("shuffle", "poisson")]
    >>> counted_as_poisson(SAMPLERS["shuffle"], *ends)
    'Shuffled every epoch, and accounted as Poisson: claims 3.01 where at least 13.5 is proven.'
    """
    if sampler.name == Poisson.name or math.isinf(poisson.value):
        return ""
    if sampler.adjacency not in SAME:
        return (
            f"The number for Poisson batches is one for {ADD_REMOVE}, this one for {sampler.adjacency}: "
            "the two cannot be compared."
        )
    claim = f"{sampler.title}, and accounted as Poisson: claims {outward(poisson.value, math.ceil)}"
    if poisson.value < (found.lower or 0.0):
        return f"{claim} where at least {outward(found.lower or 0.0, math.floor)} is proven."
    if poisson.value < found.value:
        return f"{claim}, which is neither proven nor refuted."
    return f"{claim}, which is proven to be enough here."


def unproven(sampler: Sampler, mechanism: Mechanism) -> str:
    """Why there are no numbers for this sampler, in a sentence; "" where there are.

    >>> from dpcore.privacy.sampling import SAMPLERS
    >>> unproven(SAMPLERS["shuffle"], Mechanism.constant(0.1, 1.0, 30))
    ''
    """
    if sampler.name == Poisson.name:
        return ""
    if len(mechanism.releases) != 1:
        return (
            f"{sampler.title}: only constant noise at one sampling rate is proven, so there is no number for it. "
            "What is shown is for Poisson batches."
        )
    if mechanism.releases[0].q < sampler.least_q:
        return (
            f"{sampler.title}: counting takes minutes where q is below {sampler.least_q:g}, so there is no number "
            "for it. What is shown is for Poisson batches."
        )
    return ""


def counting_notes(q: float) -> tuple[str, ...]:
    """Where people go wrong when they count batches of a share q of all records, in sentences.

    >>> counting_notes(0.01)[3][:62]
    'With Poisson batches an epoch of 100 steps touches 63.4 % of t'
    """
    steps = steps_of_epoch(q)
    touched = percent(1 - (1 - q) ** steps)
    return (
        "A batch that is accumulated over k micro-batches is one batch: q is the share of the whole (logical) batch, "
        "not of a micro-batch.",
        "Where some examples are drawn more often than others, by a weighted sampler, q is the rate of the one that is "
        "drawn most often.",
        "Without drop_last an epoch ends with a smaller batch: it is a step more, and its sum must be divided by the "
        "expected batch like every other. With drop_last an epoch leaves some examples out.",
        f"With Poisson batches an epoch of {steps:,} steps touches {touched} of the examples, about 1 - 1/e where q is "
        "small; a shuffle touches all of them.",
    )
