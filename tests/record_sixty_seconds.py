"""The record of lesson 0: python -m tests.record_sixty_seconds trains what its fourth card tells,
and writes the share of the test set that each network reads right, on average over seeds.
"""

import json
from dataclasses import replace
from statistics import fmean

from dpcore.lessons import RECORD
from dpcore.runs.history import last_of
from dpcore.training.config import RunConfig
from dpcore.training.events import Finished
from dpcore.training.loop import train
from dpcore.training.plan import plan
from pages.parts.explain.lessons import LESSONS
from pages.parts.explain.scene import FEATURES, MODEL
from pages.parts.train.form import baseline_of

COMMAND = "python -m tests.record_sixty_seconds"
SEEDS = (1, 2, 3)


def config() -> RunConfig:
    """The run that the lab starts beside the fourth card."""
    scene = LESSONS["sixty_seconds"].scene(4)
    return scene.run(model=MODEL, features=FEATURES, lr=1.0)


def accuracy(asked: RunConfig) -> float:
    """The mean accuracy over the seeds."""
    found = []
    for seed in SEEDS:
        finished = last_of(list(train(replace(asked, seed=seed))), Finished)
        assert finished
        found.append(finished.accuracy)
    return fmean(found)


def record() -> None:
    """Train and write."""
    private = config()
    written = {
        "command": COMMAND,
        "seeds": SEEDS,
        "sigma": private.sigma,
        "steps": plan(private).steps,
        "private": accuracy(private),
        "without_privacy": accuracy(baseline_of(private)),
    }
    RECORD.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
