"""A round of guessing for a class: was this digit in the training set? Two models answer, one private and one not.

Both were really trained, on the same 200 digits of the bundled sample: `python -m dpcore.audit.attack_game` trains them
and records what they answer for digits that were in their training set, and for digits that were not. The sample is
public, so that the file may say which were.
"""

import json
import time
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from dpcore.training.config import RunConfig

FILE = Path(__file__).with_suffix(".json")
MEMBERS = 200  # training examples; the others of the sample are held out
SHOWN = 60  # digits of each kind to choose from
BOTH = RunConfig(model="mlp", public=10_000 - MEMBERS, batch=40, delta=1e-3, seed=1)
PRIVATE = replace(BOTH, sigma=4.0, clip_norm=1.0, lr=0.02, epochs=20)
PLAIN = replace(BOTH, private=False, lr=0.05, epochs=60)


@dataclass(frozen=True)
class Digit:
    """A digit, and how sure each model is of what it shows."""

    index: int  # in the training part of the sample
    member: bool  # whether the models were trained on it
    private: float  # the probability that a model gives the right class
    plain: float


@cache
def recorded() -> tuple[Digit, ...]:
    """The digits, members first."""
    return tuple(Digit(**each) for each in json.loads(FILE.read_text(encoding="utf-8"))["digits"])


def record() -> None:
    """Train both models and write down what they answer."""
    private, plain = (_sureness(config) for config in (PRIVATE, PLAIN))
    places = [*range(SHOWN), *range(MEMBERS, MEMBERS + SHOWN)]
    digits = [
        {"index": place, "member": place < MEMBERS, "private": private[place], "plain": plain[place]}
        for place in places
    ]
    lines = ",\n".join(json.dumps(each) for each in digits)
    FILE.write_text(f'{{"digits": [\n{lines}\n]}}\n', encoding="utf-8")


def _sureness(config: RunConfig) -> list[float]:
    """For each training image of the sample the probability that the trained model gives its class."""
    import torch

    from dpcore.training.training_run import TrainingRun

    run = TrainingRun(config, time.perf_counter)
    for step in range(1, run.plan.steps + 1):
        with run.cores.working():
            run.step(step)
    found: list[Any] = []
    for x, y in (run.train, run.public):
        shares = torch.softmax(run.engine.logits(x[:]).double(), 1)
        found += shares[torch.arange(len(y)), y].tolist()
    return [round(each, 4) for each in found]


if __name__ == "__main__":
    record()
