"""A worker records how its run ended, whatever stands in the way."""

import os
import signal
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import train_doubles

from dpcore.runs.record import Run, Status, StoreError, checkpoint_path, device_here, worker_name
from dpcore.runs.store import Store
from dpcore.runs.worker import PATIENCE, Interrupted, Interrupts, Pulse, load, perform, wait, warm_up
from dpcore.training.config import RunConfig
from dpcore.training.events import Event, Started, Stepped
from dpcore.training.plan import plan
from tests.runs.by_hand import Clock


@pytest.fixture
def interrupts() -> Iterator[Interrupts]:
    """Interrupts of this process, undone after the test."""
    before = signal.getsignal(signal.SIGTERM)
    yield Interrupts()
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def claimed(store: Store) -> Run:
    """A run that this process has claimed."""
    return store.run(store.submit(RunConfig(), worker=worker_name(os.getpid())))


def test_sigterm_interrupts_where_it_is_allowed_also_one_from_before(interrupts: Interrupts) -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    assert interrupts.asked
    with pytest.raises(Interrupted), interrupts.allowed():
        pytest.fail("a SIGTERM from before must not be forgotten")
    interrupts.asked = False
    with pytest.raises(Interrupted), interrupts.allowed():
        signal.raise_signal(signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGTERM)  # outside again: only noted


def test_the_pulse_beats_and_interrupts_once_where_the_run_must_stop(store: Store, claimed: Run) -> None:
    clock, interrupted = Clock(), []
    pulse = Pulse(store, claimed.id, claimed.worker, lambda: interrupted.append(clock.now), lambda: 20.0, clock)
    for _ in range(20):
        before = store.run(claimed.id).heartbeat
        pulse.look()
        assert store.run(claimed.id).heartbeat != before
        pulse.look()  # within a second there is no other beat
        clock.go_on(1.01)
    assert (interrupted, pulse.overdue) == ([], None)
    pulse.look()
    pulse.look()
    assert (len(interrupted), pulse.overdue) == (1, 20.0)
    other = Pulse(store, claimed.id, claimed.worker, lambda: interrupted.append(0.0), clock=clock)
    other.look()
    assert len(interrupted) == 1
    store.cancel(claimed.id)
    other.look()
    other.look()
    assert (interrupted[1:], other.overdue) == ([0.0], None)


def test_a_cancelled_generator_is_closed(store: Store, claimed: Run, interrupts: Interrupts) -> None:
    closed = []

    def train(config: RunConfig, **_: Any) -> Generator[Event, None, None]:
        try:
            for event in train_doubles.endless(config):
                yield event
                store.cancel(claimed.id)
        finally:
            closed.append(True)

    perform(store, claimed, train, interrupts)
    assert closed == [True]
    assert store.run(claimed.id).status is Status.CANCELLED
    assert 1 <= store.run(claimed.id).sequence <= 2


def test_settings_of_another_version_fail_the_run_with_their_name(
    store: Store, claimed: Run, interrupts: Interrupts
) -> None:
    strange = Run(**{**vars(claimed), "settings": {"flavour": "lemon"}})
    perform(store, strange, train_doubles.quick, interrupts)
    failed = store.run(claimed.id)
    assert failed.status is Status.FAILED
    assert "flavour" in (failed.error or "")


def test_a_disk_that_is_full_for_a_while_costs_the_run_nothing(
    store: Store, claimed: Run, interrupts: Interrupts
) -> None:
    def train(config: RunConfig, **_: Any) -> Generator[Event, None, None]:
        yield Started(config.examples, 1, 0.5, "cpu", 1, "test double")
        pages = store._file.db.execute("PRAGMA page_count").fetchone()[0]
        store._file.db.execute(f"PRAGMA max_page_count = {pages}")
        for _step in range(5):
            yield Started(config.examples, 1, 0.5, "cpu", 1, "x" * 10_000)

    def free_some_space(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 3:
            store._file.db.execute("PRAGMA max_page_count = 100000")

    waited: list[float] = []
    perform(store, claimed, train, interrupts, free_some_space)
    assert waited == [1.0] * 3
    done = store.run(claimed.id)
    assert (done.status, done.error, done.sequence) == (Status.FINISHED, None, 6)


def test_a_worker_whose_run_was_taken_from_it_adds_nothing_and_leaves_the_other_alone(
    store: Store, claimed: Run, interrupts: Interrupts
) -> None:
    def train(config: RunConfig, **_: Any) -> Generator[Event, None, None]:
        for event in train_doubles.endless(config):
            yield event
            with store.writing() as db:
                db.execute("UPDATE runs SET worker = 'other:1'")

    checkpoint = checkpoint_path(store.home, claimed.id)
    checkpoint.parent.mkdir(exist_ok=True)
    checkpoint.write_bytes(b"the other's")
    perform(store, claimed, train, interrupts)
    now = store.run(claimed.id)
    assert (now.status, now.worker, now.sequence) == (Status.RUNNING, "other:1", 1)
    assert checkpoint.exists()


def test_a_store_that_takes_nothing_for_long_is_an_error(store: Store, claimed: Run, interrupts: Interrupts) -> None:
    def train(config: RunConfig, **_: Any) -> Generator[Event, None, None]:
        store.path.rename(store.home / "away")
        yield from train_doubles.quick(config)

    waited: list[float] = []
    with pytest.raises(StoreError, match="to be a file in a writable directory"):
        perform(store, claimed, train, interrupts, waited.append)
    assert waited == [1.0] * (PATIENCE - 1)


def test_a_worker_does_not_wait_without_its_parent(store: Store, interrupts: Interrupts) -> None:
    run = store.submit(RunConfig())
    assert wait(store, os.getpid(), 1, interrupts) is None  # nobody is their own parent
    assert store.run(run).status is Status.QUEUED
    taken = wait(store, os.getppid(), 1, interrupts)
    assert taken is not None
    assert taken.id == run


def test_a_worker_that_is_told_to_end_claims_nothing(store: Store, interrupts: Interrupts) -> None:
    store.submit(RunConfig())
    os.kill(os.getpid(), signal.SIGTERM)
    assert wait(store, os.getppid(), 1, interrupts) is None


def test_warming_up_trains_one_step_and_notes_the_device(tmp_path: Path) -> None:
    asked = []

    def train(config: RunConfig, **_: Any) -> Generator[Event, None, None]:
        asked.append(config)
        return train_doubles.quick(config)

    assert device_here(tmp_path) == ""
    warm_up(train, tmp_path)
    assert device_here(tmp_path) == "cpu"
    assert [plan(config).steps for config in asked] == [1]


def test_the_training_function_is_named_by_module_and_name() -> None:
    assert load("train_doubles:quick") is train_doubles.quick
    with pytest.raises(AttributeError, match="nothing_like_it"):
        load("train_doubles:nothing_like_it")


def test_a_worker_that_has_warmed_up_reads_and_imports_nothing_for_a_run_on_the_sample(monkeypatch, tmp_path):
    train = load("dpcore.training.loop:train")
    warm_up(train, tmp_path)
    before = set(sys.modules)
    monkeypatch.setattr(np, "load", lambda path: pytest.fail(f"{path} is read again"))
    events = train(RunConfig(seed=3))
    assert isinstance(next(events), Started)
    assert isinstance(next(events), Stepped)
    assert set(sys.modules) == before
