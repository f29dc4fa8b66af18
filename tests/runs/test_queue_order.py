"""The queue is fair: it agrees with a few lines of Python, and nobody waits for ever."""

import itertools
import random
from collections.abc import Callable

import pytest

from dpcore.runs import queue_order
from dpcore.runs.record import Run, Status, checkpoint_path
from dpcore.runs.resume import resume
from dpcore.runs.rows import Database, insert, row_of
from dpcore.runs.store import Store
from dpcore.training.checkpoint_header import Label, write_label
from dpcore.training.config import RunConfig
from dpcore.training.events import Checkpointed, Started, Stepped
from dpcore.training.perturbation.request import Request
from dpcore.training.plan import plan
from tests.runs.test_kinds import Counting, counting  # noqa: F401

SHORT, LONG = RunConfig(epochs=1.0), RunConfig(epochs=8.0)


def _served(store: Store, count: int) -> list[str]:
    """The owners of the next runs, each of which ends before the next begins."""
    owners = []
    for _ in range(count):
        run = store.claim("here:1")
        assert run is not None
        owners.append(run.owner)
        store.end(run.id, Status.FINISHED)
    return owners


def test_owners_take_turns_however_much_one_of_them_asked_for(store: Store) -> None:
    for _ in range(4):
        store.submit(SHORT, owner="greedy")
    store.submit(SHORT, owner="modest")
    store.submit(SHORT, owner="late")
    assert _served(store, 6) == ["greedy", "modest", "late", "greedy", "greedy", "greedy"]


def test_neither_newcomers_nor_who_asks_again_at_once_keeps_others_waiting_for_ever(store: Store) -> None:
    for owner in ("quick", "waits", "waits"):
        store.submit(SHORT, owner=owner)
    served = []
    for number in range(6):
        store.submit(SHORT, owner=f"new {number}")
        served += _served(store, 1)
        if served[-1] == "quick":
            store.submit(SHORT, owner="quick")
    assert served[:2] == ["quick", "waits"]
    assert served.count("waits") == 2


def test_runs_that_train_now_count_as_their_owners_turn(store: Store) -> None:
    first, second = store.submit(SHORT, owner="a"), store.submit(SHORT, owner="a")
    assert store.claim("here:1", 9)
    other = store.submit(SHORT, owner="b")
    assert store.queue() == [other, second]
    assert store.run(other).position == 1
    assert store.run(first).position is None


def test_an_owners_short_runs_go_before_his_long_ones(store: Store) -> None:
    long, short, again = store.submit(LONG), store.submit(SHORT), store.submit(SHORT)
    assert store.queue() == [short, again, long]
    assert [run.position for run in store.runs()] == [2, 1, 3]


def _long_one_cut_off(store: Store, saved: int) -> Run:
    """A long run that is running and has saved a checkpoint so late."""
    store.submit(LONG)
    run = store.claim("here:1")
    assert run is not None
    for event in (
        Started(10_000, plan(LONG).steps, LONG.q, "cpu", 9, ""),
        Stepped(saved, 1.0, 1.0, 0.5, (0.1,) * 5, 9),
    ):
        store.append(run.id, event)
    store.append(run.id, Checkpointed(saved))
    path = checkpoint_path(store.home, run.id)
    path.parent.mkdir(exist_ok=True)
    with open(path, "wb") as file:
        write_label(file, Label(saved, LONG.chosen(), {}, "", ""))
    return store.run(run.id)


@pytest.mark.parametrize("saved", [plan(LONG).steps - 1, 1], ids=["little is left", "much is left"])
def test_a_rest_or_a_run_that_waits_again_counts_with_what_is_left(store: Store, saved: int) -> None:
    run = _long_one_cut_off(store, saved)
    store.end(run.id, Status.LOST)
    rest = resume(store, run.id)
    short = store.submit(SHORT)
    assert store.queue() == ([rest, short] if saved > 1 else [short, rest])
    for each in (rest, short):
        store.cancel(each)
    run = _long_one_cut_off(store, saved)
    store.append(run.id, Stepped(plan(LONG).steps - 1, 1.0, 1.0, 0.5, (0.1,) * 5, 9))  # these steps are taken again
    store.recover(store.run(run.id), "gone")
    short = store.submit(SHORT)
    assert store.queue() == ([run.id, short] if saved > 1 else [short, run.id])


def test_a_comparison_of_many_fits_goes_behind_short_runs_and_one_of_few_before(store: Store) -> None:
    many = store.submit(Request(seeds=100, steps=10_000))
    short = store.submit(SHORT)
    few = store.submit(Request(methods=("output",), epsilons=(1.0,), seeds=1))
    assert store.queue() == [few, short, many]


def test_nothing_is_claimed_while_the_queue_is_paused(store: Store) -> None:
    run = store.submit(SHORT)
    store.post("paused", "1")
    assert store.claim("here:1") is None
    assert store.run(run).position == 1
    store.post("paused", None)
    assert store.claim("here:1") is not None


@pytest.mark.usefixtures("counting")
def test_a_worker_claims_only_what_asks_for_its_devices_and_counts_only_that(store: Store) -> None:
    on_cpu, anywhere, third = (store.submit(RunConfig(device=device)) for device in ("cpu", "auto", "cuda"))
    job = store.submit(Counting(3))  # one that names no device needs no other than the processor
    for worker, limit, devices, expected in (
        ("gpu:1", 1, ("auto", "cuda"), anywhere),
        ("gpu:2", 1, ("auto", "cuda"), None),
        ("cpu:1", 1, ("cpu",), job),
        ("gpu:2", 2, ("auto", "cuda"), third),
        ("gpu:3", 9, ("auto", "cuda"), None),
        ("cpu:2", 1, ("cpu",), None),
        ("cpu:2", 9, ("cpu",), on_cpu),
    ):
        claimed = store.claim(worker, limit, devices)
        assert (claimed and claimed.id) == expected, (worker, limit)


def test_what_sqlite_does_for_a_waiting_run_does_not_grow_with_the_queue(store: Store) -> None:
    rows = [row_of("", config, "", None, None, None) for config in (SHORT, LONG)]
    with store.writing() as db:
        for number in range(20_000):  # half of them have ended
            ended = {"status": Status.FINISHED, "started": float(number)} if number % 2 else {}
            insert(db, rows[number % 3 % 2] | {"id": str(number), "owner": f"owner {number % 101}", **ended})
    for look in (queue_order.in_order, queue_order.first, lambda db: queue_order.first(db, ("auto", "cuda"))):
        assert _instructions(store, look) < 10_000 * 100  # asked run by run, an owner costs hundreds


def _instructions(store: Store, look: Callable[[Database], object]) -> int:
    """How many instructions SQLite's virtual machine runs to answer, to the next thousand."""
    thousands = []
    with store.reading() as db:
        db.set_progress_handler(lambda: thousands.append(1), 1000)
        assert look(db)
        db.set_progress_handler(None, 0)
    return 1000 * len(thousands)


def _expected(queued: list[dict], running: list[str], last: dict[str, float]) -> list[str]:
    """The order of the queue, worked out run by run."""
    keys = {}
    for owner, runs in itertools.groupby(sorted(queued, key=lambda run: run["owner"]), key=lambda run: run["owner"]):
        for turn, run in enumerate(sorted(runs, key=lambda run: (run["cost"], run["number"]))):
            waiting_since = max(run["created"], last.get(owner, 0.0))
            keys[run["id"]] = (turn + running.count(owner), waiting_since, run["number"])
    return sorted(keys, key=keys.__getitem__)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_is_that_of_a_few_lines_of_python(store: Store, seed: int) -> None:
    choose, queued, running, last = random.Random(seed), [], [], {}
    for number in range(60):
        if choose.random() < 0.6 or not queued:
            owner, config = choose.choice("abcde"), choose.choice([SHORT, LONG, RunConfig(epochs=3.0)])
            run = store.submit(config, owner=owner)
            cost = plan(config).steps * config.batch
            queued.append(
                {"id": run, "owner": owner, "cost": cost, "number": number, "created": store.run(run).created}
            )
        elif choose.random() < 0.5 or not running:
            claimed = store.claim("here:1", 99)
            assert claimed
            assert claimed.id == _expected(queued, [run.owner for run in running], last)[0]
            queued = [run for run in queued if run["id"] != claimed.id]
            running.append(claimed)
            last[claimed.owner] = claimed.started or 0.0
        else:
            store.end(running.pop(choose.randrange(len(running))).id, Status.FINISHED)
        expected = _expected(queued, [run.owner for run in running], last)
        assert store.queue() == expected
        assert {run.id: run.position for run in store.runs(Status.QUEUED)} == {
            run: position for position, run in enumerate(expected, 1)
        }
