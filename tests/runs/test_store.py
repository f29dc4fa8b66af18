"""The run store keeps what it is told, for any number of processes and threads."""

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from dpcore.runs.record import Status, UnknownRun, is_dead, worker_name
from dpcore.runs.store import Store
from dpcore.runs.within_limits import submit_rest
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Event, Finished, Preparing, Started, Stepped

EVENTS: list[Event] = [
    Started(10_000, 98, 0.0512, "cpu", 26_010, "book-keeping"),
    Stepped(10, 0.5, 2.25, 0.75, (0.1, 0.2, 0.3, 0.4, 0.5), 31.5),
    Evaluated(10, 0.5, 0.625, 1.5, (0.5,) * 10),
    Finished(98, 12.5, 0.875),
]


def claimed(store: Store) -> str:
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
    assert (run.started, run.ended, run.worker, run.error, run.last) == (
        None,
        None,
        None,
        None,
        None,
    )
    assert run.active


def test_the_time_of_a_run_counts_from_where_its_data_and_features_are_ready(store: Store) -> None:
    run = claimed(store)
    store.append(run, Preparing(512, 10_000))
    ready = time.time()
    store.append(run, EVENTS[0])
    started = store.run(run).started
    assert started
    assert started >= ready
    store.append(run, EVENTS[1])
    assert store.run(run).started == started


def test_claims_go_by_order_and_respect_the_limit_and_the_queue_counts_only_those_that_wait(
    store: Store,
) -> None:
    ids = [store.submit(RunConfig(seed=seed)) for seed in range(5)]
    assert [store.run(run).position for run in ids] == [1, 2, 3, 4, 5]
    assert store.cancel(ids[1]) is Status.CANCELLED
    assert store.run(ids[1]).ended is not None
    claims = [store.claim(f"here:{number}", limit=2) for number in range(3)]
    assert [run.id if run else None for run in claims] == [ids[0], ids[2], None]
    assert [store.run(run).position for run in ids] == [None, None, None, 1, 2]
    store.end(ids[0], Status.FINISHED)
    assert store.claim("here:3", limit=2) == store.run(ids[3])
    assert [run.id for run in store.runs(Status.RUNNING, Status.QUEUED)] == [ids[4], ids[3], ids[2]]
    assert store.runs(Status.LOST) == []


def test_events_come_back_equal_and_numbered_from_one_also_to_another_store_object(
    store: Store, home: Path
) -> None:
    run = claimed(store)
    for event in EVENTS:
        assert store.append(run, event) is False
    assert store.events(run) == EVENTS
    assert [number for number, _ in store.bodies(run)] == [1, 2, 3, 4]
    assert store.events(run, after=2) == EVENTS[2:]
    assert store.events(run, after=4) == []
    assert (store.run(run).last, store.run(run).sequence) == (EVENTS[-1], 4)
    store.end(run, Status.FAILED, "Traceback: it broke")
    with Store(home) as other:
        assert other.runs() == store.runs()
        assert other.bodies(run) == store.bodies(run)


PROCESS = """
import sys
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
print("ready", flush=True)
sys.stdin.readline()
with Store(sys.argv[1]) as store:
    print(store.submit(RunConfig()), flush=True)
    sys.stdin.readline()
    while run := store.claim(sys.argv[2], limit=1000):
        print(run.id)
"""


def test_many_processes_create_one_store_and_claim_each_run_exactly_once(home: Path) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    commands = [[sys.executable, "-c", PROCESS, str(home), f"here:{number}"] for number in range(3)]
    processes = [subprocess.Popen(command, **pipes) for command in commands]

    def all_told() -> list[str]:
        return [process.stdout.readline().strip() for process in processes]

    def go_on() -> None:
        for process in processes:
            process.stdin.write("\n")
            process.stdin.flush()

    assert all_told() == ["ready"] * 3
    go_on()
    submitted = all_told()
    with Store(home) as store:
        submitted += [store.submit(RunConfig(seed=seed)) for seed in range(100)]
        go_on()
        claims = [process.communicate()[0].split() for process in processes]
        assert Counter(run for each in claims for run in each) == Counter(submitted)
        assert [{store.run(run).worker for run in each} for each in claims if each] == [
            {f"here:{number}"} for number, each in enumerate(claims) if each
        ]


def test_a_run_may_go_to_the_process_that_submits_it_and_fills_a_place(store: Store) -> None:
    queued = store.submit(RunConfig())
    run = store.run(store.submit(RunConfig(), worker="here:7"))
    assert (run.status, run.worker, run.position) == (Status.RUNNING, "here:7", None)
    assert run.created == run.started == run.heartbeat
    assert store.append(run.id, EVENTS[0]) is False
    assert store.claim("here:8", limit=1) is None
    store.end(run.id, Status.FINISHED)
    assert store.claim("here:8", limit=1) == store.run(queued)


def test_a_run_is_given_back_as_it_was_claimed_unless_it_said_something_or_is_to_stop(
    store: Store,
) -> None:
    first, second = store.submit(RunConfig()), store.submit(RunConfig())
    run = store.claim("here:1")
    assert run is not None
    assert store.give_back(run)
    again = store.run(first)
    assert (again.status, again.position, again.worker, again.started) == (
        Status.QUEUED,
        1,
        None,
        None,
    )
    assert not store.give_back(run)  # it is nobody's now
    run = store.claim("here:2")
    assert run is not None
    store.append(first, EVENTS[0])
    assert not store.give_back(run)
    store.end(first, Status.FINISHED)
    run = store.claim("here:3")
    assert run is not None
    store.cancel(second)
    assert not store.give_back(run)


def test_an_unknown_run_is_named_and_one_with_a_setting_from_elsewhere_still_listed(
    store: Store,
) -> None:
    for ask in (store.run, store.cancel):
        with pytest.raises(
            UnknownRun, match=r"Expected run='nope' to be the id of a run in .*runs\.sqlite3\."
        ):
            ask("nope")
    assert store.events("nope") == []
    assert store.append("nope", EVENTS[0]) is True
    run = store.submit(RunConfig())
    with store.writing() as db:
        db.execute("""UPDATE runs SET settings = '{"flavour": "lemon"}'""")
    assert store.run(run).settings == {"flavour": "lemon"}
    with pytest.raises(ValueError, match="flavour"):
        _ = store.run(run).config


def test_only_a_process_of_this_machine_can_be_known_dead() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert not is_dead(worker_name(process.pid))
    assert is_dead(worker_name(process.pid))
    assert not is_dead(f"elsewhere:{process.pid}")


def test_each_run_has_a_secret_of_its_own_unless_its_seed_is_fixed_and_its_rest_has_the_same(
    store: Store,
) -> None:
    first, second, fixed = (
        store.submit(config) for config in (RunConfig(), RunConfig(), RunConfig(seed=5))
    )
    secrets = store.secret(first), store.secret(second)
    assert None not in secrets
    assert secrets[0] != secrets[1]
    assert max(secret or 0 for secret in secrets).bit_length() > 64
    assert store.secret(fixed) is None
    run = store.submit(RunConfig(), worker="here:1")
    store.end(run, Status.LOST)
    assert store.secret(submit_rest(store, run)) == store.secret(run)


def test_no_run_that_is_read_has_its_secret_and_only_its_owner_may_read_the_store(
    store: Store,
) -> None:
    run = store.submit(RunConfig())
    secret = store.secret(run)
    assert secret is not None
    for read in (store.run(run), store.runs()[0], store.claim("here:1")):
        assert f"{secret:x}" not in repr(vars(read))
        assert str(secret) not in repr(vars(read))
    assert store.home.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in store.home.glob("runs.sqlite3*")} == {0o600}
