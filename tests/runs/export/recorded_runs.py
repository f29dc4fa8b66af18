"""Tiny runs, really trained, in a store."""

import hashlib
import time
from typing import NamedTuple

from dpcore.runs.export import RunRecord, record_of
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.loop import events_of
from dpcore.training.training_run import TrainingRun

TINY = RunConfig(
    seed=5,
    model="mlp",
    width=30,
    batch=64,
    clip_norm=0.5,
    lr=0.2,
    momentum=0.5,
    sigma=1.0,
    epochs=0.2,
    device="cpu",
)


class Trained(NamedTuple):
    """A run in a store, and a hash of the parameters that it ended with."""

    record: RunRecord
    parameters: str


def trained(store: Store, config: RunConfig = TINY, name: str = "") -> Trained:
    """Train a run here and record it."""
    training = TrainingRun(config, time.perf_counter)
    run = store.submit(config, name, "elsewhere:1", secret=training.secret)
    for event in events_of(training, None):
        store.append(run, event)
    store.end(run, Status.FINISHED)
    return Trained(
        record_of(store, run),
        hashlib.sha256(training.engine.parameters.numpy().tobytes()).hexdigest(),
    )
