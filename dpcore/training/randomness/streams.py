"""The sources of a run's random numbers.

A run starts from a seed. By default that is a secret of 128 bits from the operating system, kept
beside the run and never shown. With a fixed seed a run can be repeated, but anyone who knows the
seed can draw the noise again and subtract it.

The weights start from the seed alone. All else follows from the seed and the settings together. So
two runs that differ in any setting share no noise, and the difference of their releases is as noisy
as each. Two settings are left out: a moving average changes nothing else, and a run without privacy
has the batches of the private run with the same other settings. A setting at its default is left
out, so that new settings change no earlier run.

**Guarantees:** a secret seed is one of 2^128, and every stream but two keeps as many: an attacker
who knows neither secret nor noise has to try them all. CUDA's own generator keeps 63 bits of its
seed; a run with the noise generator "secure" does not use it. The first weights, which are public,
have a seed of 63 bits that reveals nothing about the others. A fixed seed is one of 2^63 and no
secret. README.md says which generators are cryptographic.
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
    """The seeds of each kind of random number; no two of them share anything."""

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


def secret_or_new(secret: int | None) -> int:
    """The secret if there is one; otherwise a fresh one."""
    return new_secret() if secret is None else secret


def streams_of(config: RunConfig, secret: int | None = None) -> Streams:
    """The streams of a run; `secret` is the seed of a run without a fixed one.

    Errors: ValueError without any seed.
    """
    if config.seed is None and secret is None:
        raise ValueError(
            "Expected a secret for a run without a fixed seed; draw one with new_secret()."
        )
    start = config.seed if config.seed is not None else digest("weights", secret)
    weights = int(SeedSequence(start).generate_state(1, np.uint64)[0]) % 2**63
    settings = {name: value for name, value in config.chosen().items() if name not in LEFT_OUT}
    all_else = SeedSequence(digest(settings, secret if config.seed is None else None))
    return Streams(weights, *all_else.spawn(len(Streams._fields) - 1))


def fingerprint(secret: int | None) -> str:
    """A fingerprint that identifies a secret and reveals nothing of it; empty for a run with a
    fixed seed.
    """
    return "" if secret is None else f"{digest('fingerprint', secret):064x}"


def checkpoint_key(secret: int | None) -> bytes:
    """The key of the digests of a run's checkpoints; of a run with a fixed seed, one that is no
    secret.
    """
    return digest("checkpoint", secret).to_bytes(32)


def digest(what: object, secret: int | None) -> int:
    """256 bits that depend on both, and look random without the secret."""
    text = json.dumps([what, None if secret is None else f"{secret:032x}"], sort_keys=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest())
