"""A worker does jobs of every kind and records how they ended, whatever stands in the way."""

import itertools
import os
import time
from collections.abc import Generator
from dataclasses import asdict, dataclass
from typing import Any

import pytest
import train_doubles

from dpcore.runs.holding import can_be_held, hold, let_go
from dpcore.runs.kinds import KINDS, JobKind
from dpcore.runs.limits import Limits, write
from dpcore.runs.record import Run, Status, StoreError, checkpoint_path, worker_name
from dpcore.runs.resume import ended_early
from dpcore.runs.store import Store
from dpcore.runs.within_limits import submit_rest
from dpcore.runs.worker import PATIENCE, Pulse, perform, wait
from dpcore.training.config import RunConfig
from dpcore.training.events import Event, Finished, Started
from tests.runs.by_hand import Clock
from tests.runs.train_doubles import quick


@pytest.fixture
def claimed(store: Store) -> Run:
    """A run that this process has claimed."""
    return store.run(store.submit(RunConfig(), worker=worker_name(os.getpid())))


def stays(status: int) -> None:
    """The place of the exit of a worker: this process goes on."""


def test_the_pulse_beats_and_checks_with_each_beat_and_interrupts_once_where_the_run_must_stop(
    store: Store, claimed: Run
) -> None:
    clock, checked, interrupted = Clock(), [], []

    def interrupt() -> None:
        interrupted.append(clock.now)
        if len(interrupted) == 1:
            raise StoreError("the disk is full")

    pulse = Pulse(
        store, claimed.id, claimed.worker, interrupt, lambda: checked.append(clock.now), clock
    )
    for number in range(1, 20):
        before = store.run(claimed.id).heartbeat
        pulse.look()
        beaten = store.run(claimed.id).heartbeat
        assert beaten != before
        pulse.look()
        assert store.run(claimed.id).heartbeat == beaten  # within a second there is no other beat
        assert len(checked) == number
        clock.go_on(1.01)
    assert interrupted == []
    store.cancel(claimed.id)
    with pytest.raises(StoreError):
        pulse.look()
    for _ in range(3):
        pulse.look()
    assert len(interrupted) == 2  # again, since the store did not take the first


def test_a_held_run_says_nothing_more_until_it_is_let_go(store: Store, claimed: Run) -> None:
    said: list[int] = []

    def look(seconds: float) -> None:
        said.append(store.run(claimed.id).sequence)
        if len(said) == 3:
            let_go(store, claimed.id)

    hold(store, claimed.id)
    perform(store, claimed, quick, look)
    assert said == [0, 0, 0]
    assert store.run(claimed.id).status is Status.FINISHED


def test_a_held_run_can_be_cancelled(store: Store, claimed: Run) -> None:
    def look(seconds: float) -> None:
        store.cancel(claimed.id)
        time.sleep(seconds)

    left: list[int] = []
    hold(store, claimed.id)
    perform(store, claimed, quick, look, left.append)
    assert left == [0]
    assert (store.run(claimed.id).status, store.run(claimed.id).sequence) == (Status.CANCELLED, 0)
    assert not can_be_held(store, claimed.id)  # so it was held no longer


def test_a_run_that_takes_too_long_is_ended_in_its_step_by_the_name_of_the_limit_and_can_be_resumed(
    store: Store, claimed: Run
) -> None:
    def train(config: RunConfig, **_: Any) -> Generator[Event, None, None]:
        yield from itertools.islice(quick(config), 2)
        while not left:
            time.sleep(0.01)
        yield from quick(config)

    left: list[int] = []
    write(store.home, Limits(seconds=1))
    perform(store, claimed, train, leave=left.append)
    ended = store.run(claimed.id)
    assert (ended.status, ended.sequence) == (Status.FAILED, 2)
    assert (ended.error or "").startswith("It has trained for 1 s, the limit in limits.toml.")
    assert ended_early(ended)


def test_a_cancelled_generator_is_closed(store: Store, claimed: Run) -> None:
    closed = []

    def train(config: RunConfig, **_: Any) -> Generator[Event, None, None]:
        try:
            for event in train_doubles.endless(config):
                yield event
                store.cancel(claimed.id)
        finally:
            closed.append(True)

    perform(store, claimed, train, leave=stays)
    assert closed == [True]
    assert store.run(claimed.id).status is Status.CANCELLED
    assert 1 <= store.run(claimed.id).sequence <= 2


def test_a_disk_that_is_full_for_a_while_costs_the_run_nothing(store: Store, claimed: Run) -> None:
    def train(config: RunConfig, **_: Any) -> Generator[Event, None, None]:
        yield Started(config.examples, 1, 0.5, "cpu", 1, "test double")
        pages = store.db.execute("PRAGMA page_count").fetchone()[0]
        store.db.execute(f"PRAGMA max_page_count = {pages}")
        for _step in range(5):
            yield Started(config.examples, 1, 0.5, "cpu", 1, "x" * 10_000)

    def free_some_space(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 3:
            store.db.execute("PRAGMA max_page_count = 100000")

    waited: list[float] = []
    perform(store, claimed, train, free_some_space)
    assert waited == [1.0] * 3
    done = store.run(claimed.id)
    assert (done.status, done.error, done.sequence) == (Status.FINISHED, None, 6)


def test_a_worker_whose_run_was_taken_from_it_adds_nothing_and_leaves_the_other_alone(
    store: Store, claimed: Run
) -> None:
    def train(config: RunConfig, **_: Any) -> Generator[Event, None, None]:
        for event in train_doubles.endless(config):
            yield event
            with store.writing() as db:
                db.execute("UPDATE runs SET worker = 'other:1'")

    checkpoint = checkpoint_path(store.home, claimed.id)
    checkpoint.parent.mkdir(exist_ok=True)
    checkpoint.write_bytes(b"the other's")
    perform(store, claimed, train, leave=stays)
    now = store.run(claimed.id)
    assert (now.status, now.worker, now.sequence) == (Status.RUNNING, "other:1", 1)
    assert checkpoint.exists()


def test_a_store_that_takes_nothing_for_long_is_an_error(store: Store, claimed: Run) -> None:
    def train(config: RunConfig, **_: Any) -> Generator[Event, None, None]:
        store.path.rename(store.home / "away")
        yield from train_doubles.quick(config)

    waited: list[float] = []
    with pytest.raises(StoreError, match="to be a file in a writable directory"):
        perform(store, claimed, train, waited.append)
    assert waited == [1.0] * (PATIENCE - 1)


def test_a_worker_does_not_wait_without_its_parent(store: Store) -> None:
    run = store.submit(RunConfig())
    assert wait(store, os.getpid(), 1) is None  # nobody is their own parent
    assert store.run(run).status is Status.QUEUED
    taken = wait(store, os.getppid(), 1)
    assert taken is not None
    assert taken.id == run


@dataclass(frozen=True)
class Counting:
    """A request of the dummy kind: count to a number."""

    to: int
    seed: int | None = None

    def to_json(self) -> dict[str, Any]:
        """A flat JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Counting":
        """The request that `to_json` wrote."""
        return cls(**values)


@dataclass(frozen=True)
class Counted:
    """How far it has come."""

    so_far: tuple[tuple[int, int], ...]


def count(request: Counting, *, secret: int | None) -> Generator[Counted, None, None]:
    """Say every number; the secret seed stands before the first."""
    for number in range(request.to):
        yield Counted(((number, (secret or 0) % 7),))


def break_down(request: Counting, *, secret: int | None) -> Generator[Counted, None, None]:
    """Say one number, then fail."""
    yield Counted(((0, 0),))
    raise ArithmeticError(f"{request.to} is too far")


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> JobKind:
    """A kind that is registered from here alone."""
    kind = JobKind("counting", Counting, f"{__name__}:count", {"counted": Counted})
    monkeypatch.setitem(KINDS, kind.name, kind)
    return kind


def done(store: Store, request: Any) -> str:
    """The id of a job that this process has worked on."""
    job = store.submit(request, worker=worker_name(os.getpid()))
    perform(store, store.run(job), quick)
    return job


def test_a_job_of_another_kind_is_done_by_its_own_function_beside_training_runs(
    store: Store, counting: JobKind
) -> None:
    job = store.run(done(store, Counting(3)))
    assert (job.kind, job.status, job.request) == ("counting", Status.FINISHED, Counting(3))
    secret = store.secret(job.id)
    assert secret is not None
    assert store.events(job.id) == [Counted(((number, secret % 7),)) for number in range(3)]
    assert job.last == Counted(((2, secret % 7),))
    run = store.run(done(store, RunConfig()))
    assert (run.kind, run.status, run.config) == ("training", Status.FINISHED, RunConfig())
    assert isinstance(run.last, Finished)


def test_what_goes_wrong_in_a_job_or_that_its_kind_is_not_known_is_kept_with_it(
    store: Store, counting: JobKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(
        KINDS, "counting", JobKind("counting", Counting, f"{__name__}:break_down", counting.events)
    )
    job = store.run(done(store, Counting(8)))
    assert (job.status, job.sequence) == (Status.FAILED, 1)
    assert "8 is too far" in (job.error or "")
    other = store.submit(Counting(3), worker=worker_name(os.getpid()))
    monkeypatch.delitem(KINDS, "counting")
    perform(store, store.run(other), quick)
    assert store.run(other).status is Status.FAILED
    assert "counting" in (store.run(other).error or "")
    found = store.runs(kind=None)[1]  # in nobody's way
    assert (found.id, found.kind, found.sequence, found.last) == (job.id, "counting", 1, None)
    with pytest.raises(ValueError, match=r"no jobs of kind 'counting', only training"):
        store.events(job.id)


def test_a_job_that_does_not_train_is_not_resumed_and_what_is_of_no_kind_is_refused(
    store: Store, counting: JobKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = store.submit(Counting(3))
    store.cancel(job)
    with pytest.raises(ValueError, match="is a job of kind counting"):
        submit_rest(store, job)
    monkeypatch.delitem(KINDS, "counting")
    with pytest.raises(TypeError, match="Counting"):
        store.submit(Counting(3))
    assert [each.id for each in store.runs(kind=None)] == [job]


def begun_job(store: Store, said: int) -> str:
    """A queued job that another worker began, and the first so many of its events."""
    job = store.submit(Counting(5))
    before = store.claim("gone:1")
    assert before is not None
    for event in itertools.islice(count(Counting(5), secret=store.secret(job)), said):
        store.append(job, event)
    assert store.recover(store.run(job), "gone") is Status.QUEUED
    return job


def test_a_job_goes_on_behind_what_it_has_said(store: Store, counting: JobKind) -> None:
    job = begun_job(store, said=2)
    claimed = store.claim(worker_name(os.getpid()))
    assert claimed is not None
    perform(store, claimed, quick)
    assert store.run(job).status is Status.FINISHED
    assert store.events(job) == list(count(Counting(5), secret=store.secret(job)))


def test_a_job_that_finds_something_else_now_does_not_go_on(
    store: Store, counting: JobKind
) -> None:
    job = begun_job(store, said=2)
    other = ((store.secret(job) or 0) + 1) % 7  # what it counts by
    with store.writing() as db:
        db.execute("UPDATE runs SET secret = ?", (f"{other:x}",))
    claimed = store.claim(worker_name(os.getpid()))
    assert claimed is not None
    perform(store, claimed, quick)
    assert store.run(job).status is Status.LOST
    assert "it cannot continue here" in (store.run(job).error or "")
    assert store.run(job).sequence == 2
