"""The record of the guessing game: python -m tests.audit.record_attack_game trains its two models
and writes it.
"""

import json
import time

import torch

from dpcore.audit.attack_game import FILE, MEMBERS, PLAIN, PRIVATE
from dpcore.training.config import RunConfig
from dpcore.training.training_run import TrainingRun

SHOWN = MEMBERS  # recorded digits of each kind


def record() -> None:
    """Train both models and record their doubts."""
    private, plain = (doubts(config) for config in (PRIVATE, PLAIN))
    places = [*range(SHOWN), *range(MEMBERS, MEMBERS + SHOWN)]
    digits = [
        {
            "index": place,
            "member": place < MEMBERS,
            "private": private[place],
            "plain": plain[place],
        }
        for place in places
    ]
    lines = ",\n".join(json.dumps(each) for each in digits)
    FILE.write_text(f'{{"digits": [\n{lines}\n]}}\n', encoding="utf-8")


def doubts(config: RunConfig) -> list[float]:
    """Train a model; return what it gives to wrong classes, for each training image of the sample.

    It is a sum, because 1 less a probability of almost 1 has lost its digits.
    """
    run = TrainingRun(config, time.perf_counter)
    for step in range(1, run.plan.steps + 1):
        with run.cores.working():
            run.step(step)
    found: list[float] = []
    for x, y in (run.train, run.public):
        shares = torch.softmax(run.engine.logits(x[:]).double(), 1)
        shares[torch.arange(len(y)), y] = 0.0
        found += shares.sum(1).tolist()
    return [float(f"{each:.4g}") for each in found]


if __name__ == "__main__":
    record()
