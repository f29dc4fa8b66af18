"""Real training whose workers are killed again and again is bit for bit the training of a run that nobody disturbed."""

import os
import random
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Finished
from tests.runs.faults.afterwards import counted, note_endings, sound
from tests.runs.faults.killing import serving

Eventually = Callable[..., None]
CONFIG = RunConfig(model="mlp", batch=64, epochs=1.0, sigma=1.0, device="cpu")  # 157 steps
KILLS = 3


@pytest.mark.long
def test_a_run_whose_workers_are_killed_ends_bit_for_bit_as_an_undisturbed_one_of_the_same_secret_seed(
    store: Store, home: Path, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    note_endings(store)
    random_ = random.Random(3)
    disturbed = store.submit(CONFIG)
    with serving(home, "tests.runs.faults.slowed_training:train"):
        for _ in range(KILLS):
            said = store.run(disturbed).sequence + random_.randrange(3, 9)
            eventually(lambda said=said: store.run(disturbed).sequence >= said, within=90)
            worker = store.run(disturbed).worker or ""
            os.kill(int(worker.rpartition(":")[2]), signal.SIGKILL)
            eventually(lambda worker=worker: store.run(disturbed).worker not in (worker, None), within=90)
        eventually(lambda: not store.run(disturbed).active, within=90)
        undisturbed = store.new_id()
        store.submit_as(undisturbed, CONFIG, secret=store.secret(disturbed))
        eventually(lambda: not store.run(undisturbed).active, within=90)
    for run in (disturbed, undisturbed):
        assert (store.run(run).status, store.run(run).error) == (Status.FINISHED, None)
        said = [event for _, event in store.tail(run)]
        assert sound(said)
        assert [number for number, _ in store.tail(run)] == counted(said)
    assert figures(store, disturbed) == figures(store, undisturbed)
    both = measured(store, disturbed), measured(store, undisturbed)
    common = both[0].keys() & both[1].keys()
    assert len(common) > 2
    assert {step: both[0][step] for step in common} == {step: both[1][step] for step in common}


def figures(store: Store, run: str) -> tuple[float, Evaluated]:
    """The final accuracy, and all that the last test says."""
    said = [event for _, event in store.tail(run)]
    assert isinstance(said[-1], Finished)
    return said[-1].accuracy, [event for event in said if isinstance(event, Evaluated)][-1]


def measured(store: Store, run: str) -> dict[int, Evaluated]:
    """What each test says, by its step: which steps are tested follows a clock."""
    return {event.step: event for _, event in store.tail(run) if isinstance(event, Evaluated)}
