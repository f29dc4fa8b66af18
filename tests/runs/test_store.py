"""The run store keeps what it is told, for any number of processes and threads."""

import multiprocessing
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest

from dpcore.runs.record import Status, UnknownRun, is_dead, state_directory, worker_name
from dpcore.runs.resume import resume
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Event, Finished, Started, Stepped

EVENTS: list[Event] = [
    Started(10_000, 98, 0.0512, "cpu", 26_010, "book-keeping"),
    Stepped(10, 0.5, 2.25, 0.75, (0.1, 0.2, 0.3, 0.4, 0.5), 31.5),
    Evaluated(10, 0.5, 0.625, 1.5, (0.5,) * 10),
    Finished(98, 12.5, 0.875),
]


def _claimed(store: Store) -> str:
    """A new run that a worker has claimed."""
    run = store.submit(RunConfig())
    assert store.claim("here:1", limit=1000) is not None
    return run


def test_a_submitted_run_waits_with_its_configuration(store: Store) -> None:
    config = RunConfig(dataset="fashion_mnist", sigma=0.7, private=False, seed=9)
    before = time.time()
    run = store.run(store.submit(config, name="try"))
    assert (run.status, run.config, run.name, run.position) == (Status.QUEUED, config, "try", 1)
    assert before <= run.created <= time.time()
    assert (run.started, run.ended, run.worker, run.error, run.last) == (None, None, None, None, None)
    assert run.active


def test_ids_are_short_distinct_and_safe_in_urls_and_command_lines(store: Store) -> None:
    ids = {store.submit(RunConfig()) for _ in range(200)}
    assert len(ids) == 200
    assert all(len(run) <= 12 and quote(run, safe="") == run and run.isalnum() for run in ids)


def test_the_queue_counts_only_those_that_wait(store: Store) -> None:
    first, second, third = (store.submit(RunConfig(seed=seed)) for seed in range(3))
    assert [store.run(run).position for run in (first, second, third)] == [1, 2, 3]
    store.cancel(second)
    claimed = store.claim("here:1")
    assert claimed is not None
    assert claimed.id == first
    assert [store.run(run).position for run in (first, second, third)] == [None, None, 1]


def test_events_come_back_equal_and_numbered_from_one(store: Store) -> None:
    run = _claimed(store)
    for event in EVENTS:
        assert store.append(run, event) is False
    assert store.tail(run) == list(enumerate(EVENTS, start=1))
    assert store.tail(run, after=2) == [(3, EVENTS[2]), (4, EVENTS[3])]
    assert store.tail(run, after=4) == []
    assert (store.run(run).last, store.run(run).sequence) == (EVENTS[-1], 4)


def test_another_store_object_sees_everything(store: Store, home: Path) -> None:
    run = _claimed(store)
    store.append(run, EVENTS[0])
    store.end(run, Status.FAILED, "Traceback: it broke")
    waiting = store.submit(RunConfig(seed=1))
    with Store(home) as other:
        assert other.runs() == store.runs()
        assert [item.id for item in other.runs()] == [waiting, run]
        assert other.tail(run) == [(1, EVENTS[0])]


def test_runs_can_be_listed_by_status(store: Store) -> None:
    running = _claimed(store)
    queued = store.submit(RunConfig())
    assert [run.id for run in store.runs(Status.RUNNING)] == [running]
    assert [run.id for run in store.runs(Status.RUNNING, Status.QUEUED)] == [queued, running]
    assert store.runs(Status.LOST) == []


def test_claims_go_by_order_and_respect_the_limit(store: Store) -> None:
    ids = [store.submit(RunConfig()) for _ in range(3)]
    claims = [store.claim(f"here:{number}", limit=2) for number in range(3)]
    assert [run.id if run else None for run in claims] == [ids[0], ids[1], None]
    store.end(ids[0], Status.FINISHED)
    assert store.claim("here:3", limit=2) == store.run(ids[2])
    assert store.claim("here:4", limit=9) is None


def _claim_all(home: str, number: int) -> list[str]:
    """Claim until nothing is left; in a process of its own."""
    claimed = []
    with Store(home) as store:
        while run := store.claim(f"here:{number}", limit=1000):
            claimed.append(run.id)
    return claimed


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    """Four processes that have nothing from this one."""
    with ProcessPoolExecutor(4, multiprocessing.get_context("spawn")) as processes:
        yield processes


def test_many_processes_claim_each_run_exactly_once(store: Store, home: Path, processes: ProcessPoolExecutor) -> None:
    submitted = [store.submit(RunConfig(seed=seed)) for seed in range(200)]
    claims = list(processes.map(_claim_all, [str(home)] * 4, range(4)))
    assert Counter(run for claimed in claims for run in claimed) == Counter(submitted)
    assert Counter(run.worker for run in store.runs()) == {
        f"here:{number}": len(claimed) for number, claimed in enumerate(claims) if claimed
    }


def _submit(home: str) -> str:
    with Store(home) as store:
        return store.submit(RunConfig())


def test_many_processes_may_create_the_store_at_once(home: Path, processes: ProcessPoolExecutor) -> None:
    ids = list(processes.map(_submit, [str(home)] * 8))
    with Store(home) as store:
        assert {run.id for run in store.runs()} == set(ids)


def test_threads_share_one_store_object(store: Store) -> None:
    run = _claimed(store)
    counts = []

    def work() -> None:
        for _ in range(50):
            store.append(run, EVENTS[1])
            counts.append(len(store.tail(run, after=0)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [sequence for sequence, _ in store.tail(run)] == list(range(1, 201))
    assert len(counts) == 200


def test_a_run_may_go_to_the_process_that_submits_it_and_fills_a_place(store: Store) -> None:
    queued = store.submit(RunConfig())
    run = store.run(store.submit(RunConfig(), worker="here:7"))
    assert (run.status, run.worker, run.position) == (Status.RUNNING, "here:7", None)
    assert run.created == run.started == run.heartbeat
    assert store.append(run.id, EVENTS[0]) is False
    assert store.claim("here:8", limit=1) is None
    store.end(run.id, Status.FINISHED)
    assert store.claim("here:8", limit=1) == store.run(queued)


def test_cancelling_reaches_the_worker_with_its_next_event(store: Store) -> None:
    run = _claimed(store)
    assert store.append(run, EVENTS[0]) is False
    assert store.stopping(run) is False
    assert store.cancel(run) is Status.RUNNING
    assert store.run(run).cancelling
    assert store.stopping(run) is True
    assert store.append(run, EVENTS[1]) is True
    assert store.lose(run, "told to") is True
    assert (store.run(run).status, store.run(run).error) == (Status.CANCELLED, None)
    assert [event for _, event in store.tail(run)] == EVENTS[:2]


def test_a_queued_run_is_cancelled_at_once(store: Store) -> None:
    run = store.submit(RunConfig())
    assert store.cancel(run) is Status.CANCELLED
    assert store.run(run).ended is not None
    assert store.claim("here:1") is None


@pytest.mark.parametrize("status", [Status.FINISHED, Status.FAILED, Status.CANCELLED, Status.LOST])
def test_a_run_that_has_ended_stays_as_it_is(store: Store, status: Status) -> None:
    run = _claimed(store)
    store.append(run, EVENTS[0])
    assert store.end(run, status, "why") is True
    ended = store.run(run)
    assert store.append(run, EVENTS[1]) is True
    store.beat(run)
    assert store.cancel(run) is status
    assert store.end(run, Status.FINISHED) is False
    assert store.lose(run, "other") is False
    assert store.run(run) == ended
    assert not ended.active
    assert ended.error == "why"
    assert store.stopping(run) is True


def test_every_event_and_beat_is_a_sign_of_life(store: Store) -> None:
    run = _claimed(store)
    beats = [store.run(run).heartbeat]
    store.append(run, EVENTS[0])
    beats.append(store.run(run).heartbeat)
    store.beat(run)
    beats.append(store.run(run).heartbeat)
    assert beats[0] < beats[1] < beats[2]  # type: ignore[operator]


def test_an_unknown_run_is_named(store: Store) -> None:
    for ask in (store.run, store.cancel):
        with pytest.raises(UnknownRun, match=r"Expected run='nope' to be the id of a run in .*runs\.sqlite3\."):
            ask("nope")
    assert store.tail("nope") == []
    assert store.append("nope", EVENTS[0]) is True
    assert store.runs() == []


def test_a_run_with_a_setting_from_elsewhere_can_still_be_listed(store: Store) -> None:
    run = store.submit(RunConfig())
    with store.writing() as db:
        db.execute("""UPDATE runs SET settings = '{"flavour": "lemon"}'""")
    assert store.run(run).settings == {"flavour": "lemon"}
    with pytest.raises(ValueError, match="flavour"):
        _ = store.run(run).config


def test_tailing_is_cheap(store: Store) -> None:
    run = _claimed(store)
    for _ in range(2000):
        store.append(run, EVENTS[1])
    times = []
    for _ in range(50):
        start = time.perf_counter()
        assert len(store.tail(run, after=1990)) == 10
        times.append(time.perf_counter() - start)
    assert sorted(times)[25] < 0.002


def test_the_home_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "a"))
    assert state_directory() == tmp_path / "a"
    monkeypatch.delenv("DPCORE_HOME")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "b"))
    assert state_directory() == tmp_path / "b" / "dpcore"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_directory() == tmp_path / ".local" / "state" / "dpcore"


@pytest.mark.long
def test_only_a_process_of_this_machine_can_be_known_dead() -> None:
    process = multiprocessing.get_context("spawn").Process(target=time.time)
    process.start()
    pid = process.pid
    assert pid is not None
    assert not is_dead(worker_name(pid))
    process.join()
    assert is_dead(worker_name(pid))
    assert not is_dead(f"elsewhere:{pid}")


def test_each_run_has_a_secret_of_its_own_unless_its_seed_is_fixed(store: Store) -> None:
    first, second, fixed = (store.submit(config) for config in (RunConfig(), RunConfig(), RunConfig(seed=5)))
    secrets = store.secret(first), store.secret(second)
    assert None not in secrets
    assert secrets[0] != secrets[1]
    assert max(secret or 0 for secret in secrets).bit_length() > 64
    assert store.secret(fixed) is None


def test_no_run_that_is_read_has_its_secret(store: Store) -> None:
    run = store.submit(RunConfig())
    secret = store.secret(run)
    assert secret is not None
    for read in (store.run(run), store.runs()[0], store.claim("here:1")):
        assert f"{secret:x}" not in repr(vars(read))
        assert str(secret) not in repr(vars(read))


def test_only_its_owner_may_read_the_store(store: Store) -> None:
    store.submit(RunConfig())
    assert store.home.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in store.home.glob("runs.sqlite3*")} == {0o600}


def test_the_rest_of_a_run_has_its_secret(store: Store) -> None:
    run = store.submit(RunConfig(), worker="here:1")
    store.end(run, Status.LOST)
    assert store.secret(resume(store, run)) == store.secret(run)
