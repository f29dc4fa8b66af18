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
from tests.runs.train_doubles import endless, quick


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


def count_on(request: Counting, *, secret: int | None) -> Generator[Counted, None, None]:
    """Say the same number until somebody ends it."""
    while True:
        yield from count(request, secret=secret)


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


def test_a_job_of_another_kind_is_done_by_its_own_function(
    store: Store, counting: Kind, interrupts: Interrupts
) -> None:
    job = store.run(done(store, Counting(3), interrupts))
    assert (job.kind, job.status, job.request) == ("counting", Status.FINISHED, Counting(3))
    secret = store.secret(job.id)
    assert secret is not None
    assert [event for _, event in store.tail(job.id)] == [Counted(((number, secret % 7),)) for number in range(3)]
    assert job.last == Counted(((2, secret % 7),))


def test_training_runs_are_what_they_were_beside_it(store: Store, counting: Kind, interrupts: Interrupts) -> None:
    done(store, Counting(3), interrupts)
    run = store.run(done(store, RunConfig(), interrupts))
    assert (run.kind, run.status, run.config) == ("training", Status.FINISHED, RunConfig())
    assert isinstance(run.last, Finished)


def test_only_training_runs_are_listed_unless_another_kind_is_asked_for(store: Store, counting: Kind) -> None:
    run, job = store.submit(RunConfig()), store.submit(Counting(3))
    assert [each.id for each in store.runs()] == [run]
    assert [each.id for each in store.runs(Status.QUEUED)] == [run]
    assert [each.id for each in store.runs(kind="counting")] == [job]
    assert [each.id for each in store.runs(kind=None)] == [job, run]


def test_jobs_of_all_kinds_wait_in_one_queue(store: Store, counting: Kind) -> None:
    job, run = store.submit(Counting(3)), store.submit(RunConfig())
    assert (store.run(job).position, store.run(run).position) == (1, 2)
    first = store.claim("here:1")
    assert first
    assert first.id == job
    assert store.claim("here:2") is None


def test_a_job_is_cancelled_like_a_run(
    store: Store, counting: Kind, interrupts: Interrupts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS, "counting", Kind("counting", Counting, f"{__name__}:count_on", counting.events))
    job = store.submit(Counting(3), worker=worker_name(os.getpid()))
    append = store.append

    def cancelled_at_the_fifth(run: str, event: Any, worker: str | None = None) -> bool:
        if store.run(run).sequence == 4:
            store.cancel(run)
        return append(run, event, worker)

    monkeypatch.setattr(store, "append", cancelled_at_the_fifth)
    perform(store, store.run(job), endless, interrupts)
    assert store.run(job).status is Status.CANCELLED
    assert 4 <= store.run(job).sequence <= 5


def test_what_goes_wrong_in_a_job_is_kept_with_it(
    store: Store, counting: Kind, interrupts: Interrupts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS, "counting", Kind("counting", Counting, f"{__name__}:break_down", counting.events))
    job = store.run(done(store, Counting(8), interrupts))
    assert (job.status, job.sequence) == (Status.FAILED, 1)
    assert "8 is too far" in (job.error or "")


def test_a_job_whose_kind_this_version_does_not_know_fails_with_its_name(
    store: Store, counting: Kind, interrupts: Interrupts, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = store.submit(Counting(3), worker=worker_name(os.getpid()))
    monkeypatch.delitem(KINDS, "counting")
    perform(store, store.run(job), quick, interrupts)
    failed = store.run(job)
    assert failed.status is Status.FAILED
    assert "counting" in (failed.error or "")


def test_a_request_with_a_fixed_seed_has_no_secret(store: Store, counting: Kind) -> None:
    assert store.secret(store.submit(Counting(3, seed=5))) is None


def test_a_job_that_does_not_train_is_not_resumed(store: Store, counting: Kind) -> None:
    job = store.submit(Counting(3))
    store.cancel(job)
    with pytest.raises(ValueError, match="to be a training run, but it is of the kind counting"):
        resume(store, job)
    assert [each.id for each in store.runs(kind=None)] == [job]


def test_what_is_of_no_kind_is_refused(store: Store) -> None:
    with pytest.raises(TypeError, match="Counting"):
        store.submit(Counting(3))
    assert store.runs(kind=None) == []


def test_kinds_may_have_events_of_one_name(
    store: Store, interrupts: Interrupts, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = Kind("counting", Counting, f"{__name__}:count", {"finished": Counted})
    monkeypatch.setitem(KINDS, kind.name, kind)
    job, run = done(store, Counting(1, seed=0), interrupts), done(store, RunConfig(), interrupts)
    assert store.run(job).last == Counted(((0, 0),))
    assert isinstance(store.tail(run)[-1][1], Finished)


def test_a_job_of_an_unknown_kind_is_in_nobody_s_way(
    store: Store, counting: Kind, interrupts: Interrupts, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = done(store, Counting(3), interrupts)
    monkeypatch.delitem(KINDS, "counting")
    (found,) = store.runs(kind=None)
    assert (found.id, found.kind, found.sequence, found.last) == (job, "counting", 3, None)
    with pytest.raises(ValueError, match=r"Expected kind='counting' to be one of training"):
        store.tail(job)


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
