"""Where a run's random numbers come from.

The weights start from the seed alone. All else follows from the seed and the settings together: two runs that differ in
any setting share no noise, so that the difference of what they release is as noisy as each of them. Two settings are
left out: a moving average changes nothing of the run beside it, and a run without privacy has the batches of the
private one whose other settings are the same.

**Guarantees:** whoever does not know the seed has to try seeds, of which there are 2^63; the streams behind them start
from 128 bits. The README beside this file says which generators are cryptographic ones.
"""

import hashlib
import json
from typing import NamedTuple

import numpy as np
from numpy.random import SeedSequence

from dpcore.training.config import RunConfig

LEFT_OUT = ("private", "ema")


class Streams(NamedTuple):
    """What each kind of random number starts from; no two of them share any."""

    weights: int  # of torch.manual_seed
    batches: SeedSequence
    noise: SeedSequence
    chances: SeedSequence  # of simulated annealing
    projection: SeedSequence  # noise of DP-PCA
    relevance: SeedSequence  # noise of ADPPL's relevances


def streams_of(config: RunConfig) -> Streams:
    """The streams of a run."""
    weights = int(SeedSequence(config.seed).generate_state(1, np.uint64)[0]) % 2**63
    settings = {name: value for name, value in config.to_json().items() if name not in LEFT_OUT}
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).digest()
    return Streams(weights, *SeedSequence(int.from_bytes(digest)).spawn(len(Streams._fields) - 1))
