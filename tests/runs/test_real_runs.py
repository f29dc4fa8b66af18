"""A pool, a store and the real training engine, on the bundled sample."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dpcore.runs.pool import Pool
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Finished, Started, Stepped
from dpcore.training.plan import plan

Eventually = Callable[..., None]
SHORT = RunConfig(model="mlp", batch=256, epochs=0.2, lr=0.25, momentum=0.0, clip_norm=1.0, sigma=0.6)


@pytest.fixture
def pool(store: Store, monkeypatch: pytest.MonkeyPatch, eventually: Eventually) -> object:
    """A pool of real workers, all ended after the test."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    with Pool(store) as pool:
        yield pool
    for worker in pool.workers:
        worker.process.wait(timeout=10)


@pytest.mark.long
def test_a_real_run_streams_and_finishes_and_a_second_is_cancelled_within_a_step(
    store: Store, pool: Pool, eventually: Eventually
) -> None:
    run = store.submit(SHORT)
    eventually(lambda: not store.run(run).active, within=60)
    done = store.run(run)
    assert done.status is Status.FINISHED, done.error
    events = [event for _, event in store.tail(run)]
    assert isinstance(events[0], Started)
    assert events[0].steps == plan(SHORT).steps == 8
    assert {type(event) for event in events} == {Started, Stepped, Evaluated, Finished}
    assert isinstance(events[-1], Finished)
    assert 0.2 < events[-1].accuracy <= 1  # ten classes: chance is 0.1

    long = store.submit(RunConfig(batch=256, epochs=1000))
    eventually(lambda: any(isinstance(event, Stepped) for _, event in store.tail(long)), within=60)
    store.cancel(long)
    eventually(lambda: not store.run(long).active, within=5)
    assert store.run(long).status is Status.CANCELLED
    assert store.run(long).sequence >= 2


@pytest.mark.long
def test_data_that_is_not_here_fails_the_run_with_a_sentence(store: Store, pool: Pool, eventually: Eventually) -> None:
    run = store.submit(RunConfig(source="full", device="mps"))
    eventually(lambda: not store.run(run).active, within=60)
    assert store.run(run).status is Status.FAILED
    assert "ValueError: Expected" in (store.run(run).error or "")


@pytest.mark.long
def test_a_run_of_the_command_line_can_be_cancelled_from_elsewhere(store: Store, eventually: Eventually) -> None:
    words = ["train", "--source", "sample", "--batch", "256", "--epochs", "1000"]
    environment = {**os.environ, "DPCORE_HOME": str(store.home), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "dpcore", *words],
        cwd=Path(__file__).parents[2],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            eventually(lambda: store.runs(Status.RUNNING) and store.runs()[0].sequence > 1, within=60)
            store.cancel(store.runs()[0].id)
            assert process.wait(timeout=20) == 130
        finally:
            process.kill()
    assert store.runs()[0].status is Status.CANCELLED
