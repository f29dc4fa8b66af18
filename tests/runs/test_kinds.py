"""Jobs of other kinds than training share the store, the queue and the workers, and keep out of what shows runs."""

import itertools
import os
import signal
import subprocess
from collections.abc import Generator, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import pytest

from dpcore.runs.kinds import KINDS, Kind
from dpcore.runs.pool import recover_dead
from dpcore.runs.record import Status, worker_name
from dpcore.runs.resume import resume
from dpcore.runs.store import Store
from dpcore.runs.worker import Interrupts, perform
from dpcore.training.config import RunConfig
from dpcore.training.events import Finished
from tests.runs.train_doubles import quick


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
def counting(monkeypatch: pytest.MonkeyPatch) -> Kind:
    """A kind that is registered from here alone."""
    kind = Kind("counting", Counting, f"{__name__}:count", {"counted": Counted})
    monkeypatch.setitem(KINDS, kind.name, kind)
    return kind


@pytest.fixture
def interrupts() -> Iterator[Interrupts]:
    """Interrupts of this process, undone after the test."""
    before = signal.getsignal(signal.SIGTERM)
    yield Interrupts()
    signal.signal(signal.SIGTERM, before)


def done(store: Store, request: Any, interrupts: Interrupts) -> str:
    """The id of a job that this process has worked on."""
    job = store.submit(request, worker=worker_name(os.getpid()))
    perform(store, store.run(job), quick, interrupts)
    return job


def test_a_job_of_another_kind_is_done_by_its_own_function_beside_training_runs(
    store: Store, counting: Kind, interrupts: Interrupts
) -> None:
    job = store.run(done(store, Counting(3), interrupts))
    assert (job.kind, job.status, job.request) == ("counting", Status.FINISHED, Counting(3))
    secret = store.secret(job.id)
    assert secret is not None
    assert [event for _, event in store.tail(job.id)] == [Counted(((number, secret % 7),)) for number in range(3)]
    assert job.last == Counted(((2, secret % 7),))
    run = store.run(done(store, RunConfig(), interrupts))
    assert (run.kind, run.status, run.config) == ("training", Status.FINISHED, RunConfig())
    assert isinstance(run.last, Finished)


def test_jobs_of_all_kinds_wait_in_one_queue_and_only_training_runs_are_listed_unless_others_are_asked_for(
    store: Store, counting: Kind
) -> None:
    job, run, fixed = store.submit(Counting(3)), store.submit(RunConfig()), store.submit(Counting(3, seed=5))
    assert store.secret(fixed) is None
    assert [each.id for each in store.runs()] == [each.id for each in store.runs(Status.QUEUED)] == [run]
    assert [each.id for each in store.runs(kind="counting")] == [fixed, job]
    assert [each.id for each in store.runs(kind=None)] == [fixed, run, job]
    assert (store.run(job).position, store.run(run).position) == (1, 3)  # by their costs
    first = store.claim("here:1")
    assert first
    assert first.id == job
    assert store.claim("here:2") is None


def test_a_job_is_cancelled_like_a_run(
    store: Store, counting: Kind, interrupts: Interrupts, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = store.submit(Counting(30), worker=worker_name(os.getpid()))
    append = store.append

    def cancelled_at_the_fifth(run: str, event: Any, worker: str | None = None) -> bool:
        if store.run(run).sequence == 4:
            store.cancel(run)
        return append(run, event, worker)

    monkeypatch.setattr(store, "append", cancelled_at_the_fifth)
    perform(store, store.run(job), quick, interrupts)
    assert store.run(job).status is Status.CANCELLED
    assert 4 <= store.run(job).sequence <= 5


def test_what_goes_wrong_in_a_job_or_that_its_kind_is_not_known_is_kept_with_it(
    store: Store, counting: Kind, interrupts: Interrupts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS, "counting", Kind("counting", Counting, f"{__name__}:break_down", counting.events))
    job = store.run(done(store, Counting(8), interrupts))
    assert (job.status, job.sequence) == (Status.FAILED, 1)
    assert "8 is too far" in (job.error or "")
    other = store.submit(Counting(3), worker=worker_name(os.getpid()))
    monkeypatch.delitem(KINDS, "counting")
    perform(store, store.run(other), quick, interrupts)
    assert store.run(other).status is Status.FAILED
    assert "counting" in (store.run(other).error or "")
    found = store.runs(kind=None)[1]  # in nobody's way
    assert (found.id, found.kind, found.sequence, found.last) == (job.id, "counting", 1, None)
    with pytest.raises(ValueError, match=r"Expected kind='counting' to be one of training"):
        store.tail(job.id)


def test_a_job_that_does_not_train_is_not_resumed_and_what_is_of_no_kind_is_refused(
    store: Store, counting: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = store.submit(Counting(3))
    store.cancel(job)
    with pytest.raises(ValueError, match="to be a training run, but it is of the kind counting"):
        resume(store, job)
    monkeypatch.delitem(KINDS, "counting")
    with pytest.raises(TypeError, match="Counting"):
        store.submit(Counting(3))
    assert [each.id for each in store.runs(kind=None)] == [job]


def test_kinds_may_have_events_of_one_name(
    store: Store, interrupts: Interrupts, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = Kind("counting", Counting, f"{__name__}:count", {"finished": Counted})
    monkeypatch.setitem(KINDS, kind.name, kind)
    job, run = done(store, Counting(1, seed=0), interrupts), done(store, RunConfig(), interrupts)
    assert store.run(job).last == Counted(((0, 0),))
    assert isinstance(store.tail(run)[-1][1], Finished)


def begun_job(store: Store, said: int) -> str:
    """A queued job that another worker began, and the first so many of its events."""
    job = store.submit(Counting(5))
    before = store.claim("gone:1")
    assert before is not None
    for event in itertools.islice(count(Counting(5), secret=store.secret(job)), said):
        store.append(job, event)
    assert store.recover(store.run(job), "gone") is Status.QUEUED
    return job


def test_a_job_goes_on_behind_what_it_has_said(store: Store, counting: Kind, interrupts: Interrupts) -> None:
    job = begun_job(store, said=2)
    claimed = store.claim(worker_name(os.getpid()))
    assert claimed is not None
    perform(store, claimed, quick, interrupts)
    assert store.run(job).status is Status.FINISHED
    assert [event for _, event in store.tail(job)] == list(count(Counting(5), secret=store.secret(job)))


def test_a_job_that_finds_something_else_now_does_not_go_on(
    store: Store, counting: Kind, interrupts: Interrupts
) -> None:
    job = begun_job(store, said=2)
    other = ((store.secret(job) or 0) + 1) % 7  # what it counts by
    with store.writing() as db:
        db.execute("UPDATE runs SET secret = ?", (f"{other:x}",))
    claimed = store.claim(worker_name(os.getpid()))
    assert claimed is not None
    perform(store, claimed, quick, interrupts)
    assert store.run(job).status is Status.LOST
    assert "it cannot go on here" in (store.run(job).error or "")
    assert store.run(job).sequence == 2


def test_a_job_of_any_kind_is_lost_with_the_process_that_asked_for_it(store: Store, counting: Kind) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    job = store.submit(Counting(3), worker=worker_name(ended.pid))
    recover_dead(store)
    lost = store.run(job)
    assert (lost.status, lost.error) == (Status.LOST, f"Its worker {worker_name(ended.pid)} died.")
