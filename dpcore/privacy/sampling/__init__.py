"""Ways of drawing batches and their true cost. A new sampler is one file and one line here."""

from dpcore.privacy.sampling.base import OtherCurve, Poisson, Sampler, steps_of_epoch
from dpcore.privacy.sampling.fixed_size import FixedSize
from dpcore.privacy.sampling.group import PoissonGroup
from dpcore.privacy.sampling.orders import FixedOrder, Shuffle, ShuffleOnce
from dpcore.privacy.sampling.random_allocation import RandomAllocation, RandomAllocationOnce
from dpcore.privacy.sampling.replace_one import PoissonReplaceOne
from dpcore.privacy.sampling.truncated import TruncatedPoisson

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

__all__ = ["SAMPLERS", "OtherCurve", "Sampler", "steps_of_epoch"]
