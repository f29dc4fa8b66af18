"""Ways of drawing batches and their true cost. A new sampler is one file and one line here."""

from functools import lru_cache

from dpcore import check
from dpcore.privacy.sampling.base import OtherCurve, Poisson, Sampler, steps_of_epoch
from dpcore.privacy.sampling.fixed_size import FixedSize
from dpcore.privacy.sampling.group import PoissonGroup
from dpcore.privacy.sampling.orders import FixedOrder, Shuffle, ShuffleOnce
from dpcore.privacy.sampling.random_allocation import RandomAllocation, RandomAllocationOnce
from dpcore.privacy.sampling.replace_one import PoissonReplaceOne
from dpcore.privacy.sampling.truncated import TruncatedPoisson
from dpcore.written_number import read_whole

SAMPLERS: dict[str, Sampler] = {
    each.name: each
    for each in (
        Poisson(),
        FixedOrder(),
        Shuffle(),
        ShuffleOnce(),
        RandomAllocation(),
        RandomAllocationOnce(),
        FixedSize(),
        PoissonReplaceOne(),
        PoissonGroup(),
        TruncatedPoisson(),
    )
}

FORMS = "; ".join(each.form or name for name, each in SAMPLERS.items())
NOT_PROVEN = (
    "Nothing is proven here for b-min-sep sampling (Dong, Ganesh 2026, arXiv:2602.09338), nor for"
    " matrix mechanisms with random allocation (Choquette-Choo et al. 2024, arXiv:2410.06266)."
)


@lru_cache(maxsize=256)
def sampler_of(text: str) -> Sampler:
    """The sampler of an id, which some follow by numbers. Errors: ValueError says how to write it.

    >>> sampler_of("poisson_group:4").adjacency, sampler_of("shuffle").title
    ('add/remove of 4 records', 'Shuffled every epoch')
    """
    name, *parts = text.split(":")
    check.one_of(SAMPLERS, sampler=name)
    sampler = SAMPLERS[name]
    if len(parts) != len(sampler.parameters):
        form = sampler.form or name
        raise ValueError(f"Expected sampler={check.verbatim(text)} to be {form}.")
    if not parts:
        return sampler
    numbers = [read_whole(each, "sampler") for each in parts]
    return type(sampler)(*numbers)


__all__ = [
    "FORMS",
    "NOT_PROVEN",
    "SAMPLERS",
    "OtherCurve",
    "Sampler",
    "sampler_of",
    "steps_of_epoch",
]
