"""A guessing game for a class: was this digit in the training set of a private and of a non-private model?

`python -m dpcore.audit.attack_game` trains both on the same 200 digits of the bundled sample, and records their answers
for members and for other digits. The sample is public, so the file may name the members.
"""

import json
import time
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from dpcore.training.config import RunConfig

FILE = Path(__file__).with_suffix(".json")
MEMBERS = 200  # training examples; the rest of the sample is held out
SHOWN = 60  # recorded digits of each kind
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


def record() -> None:
    """Train both models and record their answers."""
    private, plain = (_sureness(config) for config in (PRIVATE, PLAIN))
    places = [*range(SHOWN), *range(MEMBERS, MEMBERS + SHOWN)]
    digits = [
        {"index": place, "member": place < MEMBERS, "private": private[place], "plain": plain[place]}
        for place in places
    ]
    lines = ",\n".join(json.dumps(each) for each in digits)
    FILE.write_text(f'{{"digits": [\n{lines}\n]}}\n', encoding="utf-8")


def _sureness(config: RunConfig) -> list[float]:
    """Train a model; return its probability of the right class for each training image of the sample."""
    import torch

    from dpcore.training.training_run import TrainingRun

    run = TrainingRun(config, time.perf_counter)
    for step in range(1, run.plan.steps + 1):
        with run.cores.working():
            run.step(step)
    found: list[float] = []
    for x, y in (run.train, run.public):
        shares = torch.softmax(run.engine.logits(x[:]).double(), 1)
        found += shares[torch.arange(len(y)), y].tolist()
    return [round(each, 4) for each in found]


if __name__ == "__main__":
    record()
