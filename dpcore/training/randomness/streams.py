"""Where a run's random numbers come from.

A run starts from a seed. By default that is a secret of 128 bits from the operating system, kept beside the run and
never shown. A run may choose a fixed seed instead: then it can be repeated, and whoever knows the seed can draw the
noise again and subtract it.

The weights start from the seed alone. All else follows from the seed and the settings together: two runs that differ in
any setting share no noise, so that the difference of what they release is as noisy as each of them. Two settings are
left out: a moving average changes nothing of the run beside it, and a run without privacy has the batches of the
private one whose other settings are the same. A setting at its default does not enter, so that a new one changes no
earlier run.

**Guarantees:** a secret seed is one of 2^128, and every stream keeps as many, but for two: whoever knows neither secret
nor noise has to try them all. CUDA's own generator keeps 63 bits of what it is given; a run whose noise generator is
"secure" does not draw from it. The first weights, which are public, have a seed of 63 bits that says nothing of the
others. A fixed seed is one of 2^63, which is no secret however large it is. The README beside this file says which
generators are cryptographic ones.
"""

import hashlib
import json
import secrets
from typing import NamedTuple

import numpy as np
from numpy.random import SeedSequence

from dpcore.training.config import RunConfig

LEFT_OUT = ("private", "ema")
SECRET_BITS = 128


class Streams(NamedTuple):
    """What each kind of random number starts from; no two of them share any."""

    weights: int  # of torch.manual_seed
    batches: SeedSequence
    noise: SeedSequence
    chances: SeedSequence  # of simulated annealing
    projection: SeedSequence  # noise of DP-PCA
    relevance: SeedSequence  # noise of ADPPL's relevances
    mean: SeedSequence  # noise of the private mean


def new_secret() -> int:
    """A fresh secret seed from the operating system."""
    return secrets.randbits(SECRET_BITS)


def streams_of(config: RunConfig, secret: int | None = None) -> Streams:
    """The streams of a run; `secret` is the seed of one that has no fixed seed.

    Errors: ValueError for a run without any seed.
    """
    if config.seed is None and secret is None:
        raise ValueError("Expected a secret for a run without a fixed seed.")
    start = config.seed if config.seed is not None else _digest("weights", secret)
    weights = int(SeedSequence(start).generate_state(1, np.uint64)[0]) % 2**63
    settings = {name: value for name, value in config.chosen().items() if name not in LEFT_OUT}
    all_else = SeedSequence(_digest(settings, secret if config.seed is None else None))
    return Streams(weights, *all_else.spawn(len(Streams._fields) - 1))


def fingerprint(secret: int | None) -> str:
    """What tells one secret from others and gives nothing of it away; empty for a run with a fixed seed."""
    return "" if secret is None else f"{_digest('fingerprint', secret):064x}"


def _digest(what: object, secret: int | None) -> int:
    """256 bits that depend on both; nobody who lacks the secret can tell them from chance."""
    text = json.dumps([what, None if secret is None else f"{secret:032x}"], sort_keys=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest())
