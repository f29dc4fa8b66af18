"""A guessing game for a class: was this digit in the training set of a private and of a non-private
model?

`python -m tests.audit.record_attack_game` trains both on the same 200 digits of the bundled sample,
and records their answers for members and for other digits. The sample is public, so the file may
name the members.
"""

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from dpcore.training.config import RunConfig

FILE = Path(__file__).with_suffix(".json")
MEMBERS = 200  # training examples; the rest of the sample is held out
BOTH = RunConfig(model="mlp", public=10_000 - MEMBERS, batch=40, delta=1e-3, seed=1)
PRIVATE = replace(BOTH, sigma=4.0, clip_norm=1.0, lr=0.02, epochs=20)
PLAIN = replace(BOTH, private=False, lr=0.05, epochs=60)


@dataclass(frozen=True)
class Digit:
    """A digit, and the probability that each model gives its class."""

    index: int  # in the training part of the sample
    member: bool  # in the models' training set
    private: float
    plain: float


@cache
def recorded() -> tuple[Digit, ...]:
    """Return the digits, members first."""
    return tuple(Digit(**each) for each in json.loads(FILE.read_text(encoding="utf-8"))["digits"])
