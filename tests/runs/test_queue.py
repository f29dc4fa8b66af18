"""The queue is fair, agrees with a few lines of Python, and says when a queued run may be expected
to begin.
"""

import itertools
import math
import os
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from dpcore.audit import events as audited
from dpcore.audit.request import AuditRequest
from dpcore.runs import expected
from dpcore.runs.expected import (
    HELD,
    UNKNOWN,
    Pace,
    TimedRun,
    paces_of,
    seconds_for,
    seconds_left,
    start_of,
    starts,
)
from dpcore.runs.record import Run, Status, cost_of, worker_name
from dpcore.runs.store import Store
from dpcore.runs.within_limits import submit_rest
from dpcore.runs.worker_process import Slots
from dpcore.training.config import RunConfig
from dpcore.training.events import Checkpointed, Finished, Started, Stepped
from dpcore.training.perturbation import events as compared
from dpcore.training.perturbation.request import Request
from dpcore.training.plan import plan
from tests.runs.by_hand import save, worked_on
from tests.runs.test_worker import Counting, counting  # noqa: F401

SHORT, LONG = RunConfig(epochs=1.0), RunConfig(epochs=8.0)


def _long_one_cut_off(store: Store, saved: int) -> Run:
    """A long run that is running and has saved a checkpoint so late."""
    store.submit(LONG)
    run = store.claim("here:1")
    assert run is not None
    worked_on(store, run.id, None, saved)
    store.append(run.id, Checkpointed(saved))
    save(store, run.id, saved)
    return store.run(run.id)


@pytest.mark.parametrize("saved", [plan(LONG).steps - 1, 1], ids=["little is left", "much is left"])
def test_a_rest_or_a_run_that_waits_again_counts_with_what_is_left(
    store: Store, saved: int
) -> None:
    run = _long_one_cut_off(store, saved)
    store.end(run.id, Status.LOST)
    rest = submit_rest(store, run.id)
    short = store.submit(SHORT)
    assert store.queue() == ([rest, short] if saved > 1 else [short, rest])
    for each in (rest, short):
        store.cancel(each)
    run = _long_one_cut_off(store, saved)
    # These steps are taken again.
    store.append(run.id, Stepped(plan(LONG).steps - 1, 1.0, 1.0, 0.5, (0.1,) * 5, 9))
    store.recover(store.run(run.id), "gone")
    short = store.submit(SHORT)
    assert store.queue() == ([run.id, short] if saved > 1 else [short, run.id])


def test_nothing_is_claimed_while_the_queue_is_paused(store: Store) -> None:
    run = store.submit(SHORT)
    store.post("paused", "1")
    assert store.claim("here:1") is None
    assert store.run(run).position == 1
    store.post("paused", None)
    assert store.claim("here:1") is not None


@pytest.mark.usefixtures("counting")
def test_a_worker_claims_only_what_asks_for_its_devices_and_counts_only_that(store: Store) -> None:
    on_cpu, anywhere, third = (
        store.submit(RunConfig(device=device)) for device in ("cpu", "auto", "cuda")
    )
    job = store.submit(Counting(3))  # one that names no device needs no other than the processor
    for worker, limit, devices, run in (
        ("gpu:1", 1, ("auto", "cuda"), anywhere),
        ("gpu:2", 1, ("auto", "cuda"), None),
        ("cpu:1", 1, ("cpu",), job),
        ("gpu:2", 2, ("auto", "cuda"), third),
        ("gpu:3", 9, ("auto", "cuda"), None),
        ("cpu:2", 1, ("cpu",), None),
        ("cpu:2", 9, ("cpu",), on_cpu),
    ):
        claimed = store.claim(worker, limit, devices)
        assert (claimed and claimed.id) == run, (worker, limit)


def _expected(queued: list[dict], running: list[str], last: dict[str, float]) -> list[str]:
    """The order of the queue, worked out run by run."""
    keys = {}
    for owner, runs in itertools.groupby(
        sorted(queued, key=lambda run: run["owner"]), key=lambda run: run["owner"]
    ):
        for turn, run in enumerate(sorted(runs, key=lambda run: (run["cost"], run["number"]))):
            waiting_since = max(run["created"], last.get(owner, 0.0))
            keys[run["id"]] = (turn + running.count(owner), waiting_since, run["number"])
    return sorted(keys, key=keys.__getitem__)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_is_that_of_a_few_lines_of_python(store: Store, seed: int) -> None:
    choose, queued, running, last = random.Random(seed), [], [], {}
    for number in range(60):
        if choose.random() < 0.6 or not queued:
            owner, config = (
                choose.choice("abcde"),
                choose.choice([SHORT, LONG, RunConfig(epochs=3.0)]),
            )
            run = store.submit(config, owner=owner)
            cost = plan(config).steps * config.batch
            queued.append(
                {
                    "id": run,
                    "owner": owner,
                    "cost": cost,
                    "number": number,
                    "created": store.run(run).created,
                }
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


STEPS = plan(RunConfig()).steps
LIKE, MODEL = ("narrow",), ("wide",)


@pytest.fixture(autouse=True)
def _asked_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected, "ANSWER_SECONDS", -1.0)


def _jobs(*amounts: float, device: str = "cpu") -> list[TimedRun]:
    return [
        TimedRun(f"{device} {place}", device, (LIKE, MODEL), amount)
        for place, amount in enumerate(amounts)
    ]


def _simulated(queued: Sequence[float], running: Sequence[float], slots: int) -> list[float]:
    """When each begins, second by second."""
    left, found, now = list(running), [], 0
    for amount in queued:
        while len(left) >= slots:
            now += 1
            left = [each - 1 for each in left if each > 1]
        found.append(float(now))
        left.append(amount)
    return found


def test_starts_are_those_of_a_simulation_second_by_second() -> None:
    queued = [3.0, 1.0, 7.0, 2.0, 2.0, 5.0]
    for slots in (1, 2, 3):
        for running in ([], [4.0], [4.0, 9.0, 2.0]):
            now = [
                TimedRun(f"now {place}", "cpu", (LIKE,), left) for place, left in enumerate(running)
            ]
            found = starts(_jobs(*queued), now, {LIKE: 1.0}, (Slots(slots),))
            assert list(found.values()) == _simulated(queued, running, slots), (slots, running)


def test_runs_for_the_gpu_do_not_wait_for_those_on_the_processor() -> None:
    slots = Slots(1, ("auto", "cuda")), Slots(1, ("cpu", "mps"))
    queued = [*_jobs(10, 10), *_jobs(3, 3, device="auto")]
    found = starts(queued, _jobs(100, device="cuda"), {LIKE: 1.0}, slots)
    assert found == {"cpu 0": 0.0, "cpu 1": 10.0, "auto 0": 100.0, "auto 1": 103.0}


def test_behind_a_run_like_which_none_was_here_no_start_is_known_unless_another_slot_is() -> None:
    unknown, known = TimedRun("u", "cpu", ((1,), (2,)), 5.0), _jobs(4.0, 4.0)
    assert list(starts([unknown, *known], [], {LIKE: 1.0}, (Slots(1),)).values()) == [
        0.0,
        math.inf,
        math.inf,
    ]
    assert list(starts([unknown, *known], [], {LIKE: 1.0}, (Slots(2),)).values()) == [0.0, 0.0, 4.0]


def test_the_pace_is_that_of_the_latest_runs_alike_else_of_the_same_model() -> None:
    past = [TimedRun("", "", (LIKE, MODEL), 0.0, pace) for pace in (2.0, 4.0, 3.0, 3.0, 2.0, 900.0)]
    paces = paces_of([*past, TimedRun("", "", (("other",), MODEL), 0.0, 1.0)])
    assert paces == {LIKE: 3.0, MODEL: 3.0, ("other",): 1.0}
    assert seconds_left(TimedRun("", "", (("new",), MODEL), 6.0), paces) == 2.0
    assert seconds_left(TimedRun("", "", (LIKE,), 6.0, pace=6.0), paces) == 1.0  # its own says more
    assert seconds_left(TimedRun("", "", (("new",),), 6.0), paces) == math.inf


def test_the_pace_of_a_run_is_that_of_its_latest_reports_and_its_end_does_not_jump():
    now = [0.0]
    said = lambda *paces: Pace(4000).after(40, paces)  # noqa: E731
    assert said() == ", 0 steps/s"
    assert said(1000.0, *(10.0, 20.0, 30.0) * 2, 20.0, 20.0) == ", 20 steps/s, 3 min 18 s left"
    assert [said(1.0, 2.0), said(0.1)] == [
        ", 1.5 steps/s, 44 min left",
        ", 0.1 steps/s, 11 h 0 min left",
    ]
    pace = Pace(1000, lambda: now[0])
    assert pace.after(0, [10.0]) == ", 10 steps/s, 1 min 40 s left"
    now[0] = 20.0
    # Nothing new is said without a report.
    assert pace.after(0, []) == ", 10 steps/s, 1 min 40 s left"
    # Between 80 s and 133 s, closer to the former.
    assert pace.after(200, [2.0]) == ", 6 steps/s, 1 min 28 s left"
    pace.after(200, [], going=False)
    now[0] = 50.0
    assert pace.after(200, [6.0]) == ", 6 steps/s, 2 min 14 s left"  # it was held meanwhile
    now[0] = 2000.0
    # The end that was expected has passed.
    assert pace.after(200, [6.0]) == ", 6 steps/s, 2 min 14 s left"


def _recorded(store: Store, seconds: float, config: RunConfig = RunConfig()) -> None:  # noqa: B008
    run = store.submit(config, worker=worker_name(os.getpid()))
    store.append(run, Started(config.examples, plan(config).steps, config.q, "cpu", 1, ""))
    store.append(run, Finished(plan(config).steps, seconds, 0.5))
    store.end(run, Status.FINISHED)


def test_a_first_run_starts_in_a_moment_and_of_the_next_it_is_said_that_nothing_is_known(
    store: Store,
) -> None:
    first, second = store.submit(RunConfig()), store.submit(RunConfig())
    assert start_of(store, first) == "starts in a moment"
    assert start_of(store, second) == UNKNOWN
    assert start_of(store, "none") == ""


def test_a_start_follows_from_runs_that_have_finished_here_and_from_how_far_the_one_is_that_runs(
    store: Store,
) -> None:
    _recorded(store, 120.0)
    running, first, second = (store.submit(RunConfig()) for _ in range(3))
    assert start_of(store, second) == "starts in about 4 min"
    assert store.claim("here:1")
    assert start_of(store, running) == ""
    assert start_of(store, first) == "starts in about 2 min"
    store.append(running, Started(1, STEPS, 0.5, "cpu", 1, ""))
    store.append(
        running, Stepped(STEPS // 2, 1.0, 2.0, 0.5, (0.1, 0.2, 0.3, 0.4, 0.5), STEPS / 600)
    )
    assert start_of(store, first) == "starts in about 5 min"
    # By the mean pace of the run now and the one before.
    assert start_of(store, second) == "starts in about 8 min"


def test_a_run_should_take_as_long_as_those_like_it_took_and_nothing_is_known_before_one(
    store: Store,
) -> None:
    config = RunConfig(batch=250, epochs=1.0)
    assert seconds_for(store, config) is None
    _recorded(store, 10.0, config)
    assert seconds_for(store, replace(config, epochs=3.0)) == pytest.approx(30.0)
    for other in ({"model": "mlp"}, {"private": False}, {"device": "cpu"}, {"optimizer": "adam"}):
        assert seconds_for(store, RunConfig(**other)) is None
    other = replace(config, dataset="fashion_mnist")
    # As long as with other data, before one of these.
    assert seconds_for(store, other) == pytest.approx(10.0)
    _recorded(store, 70.0, other)
    assert seconds_for(store, other) == pytest.approx(70.0)
    assert seconds_for(store, config) == pytest.approx(10.0)


@pytest.mark.parametrize("recovered", [True, False], ids=["its worker died", "it was resumed"])
def test_a_run_that_continued_has_the_pace_of_the_steps_that_it_took_in_its_seconds(
    store: Store, recovered: bool
) -> None:
    steps = plan(LONG).steps
    run = _long_one_cut_off(store, steps * 9 // 10)
    if recovered:
        store.recover(run, "gone")
        continued = run.id
    else:
        store.end(run.id, Status.LOST)
        continued = submit_rest(store, run.id)
    assert store.claim("here:1")
    store.append(continued, Finished(steps, 10.0, 0.5))
    store.end(continued, Status.FINISHED)
    assert seconds_for(store, LONG) == pytest.approx(10.0 * steps / (steps - steps * 9 // 10))


def test_an_example_that_tests_a_step_counts_a_third_in_python_and_in_sql(store: Store) -> None:
    config = RunConfig(acceptance="sa", public=1001, batch=250, epochs=1.0)
    assert cost_of(config) == plan(config).steps * (250 + 333)
    run = store.submit(config)
    worked_on(store, run, None, 7)
    store.append(run, Checkpointed(7))
    store.recover(store.run(run), "gone")
    assert [row["cost"] for row in store.rows("SELECT cost FROM runs")] == [cost_of(config, done=7)]


def _done(store: Store, request: Any, *events: Any) -> None:
    run = store.submit(request, worker="here:1")
    for event in events:
        store.append(run, event)
    store.end(run, Status.FINISHED)


def test_a_comparison_should_take_as_long_as_its_steps_took_on_the_same_data(store: Store) -> None:
    few = Request(methods=("none", "output"), epsilons=(0.1, 1.0), seeds=2)
    assert cost_of(few) == (1 + 2) * few.seeds * few.steps
    _done(store, few, compared.Finished(6.0))
    assert seconds_for(
        store, replace(few, methods=("output",), steps=2 * few.steps)
    ) == pytest.approx(8.0)
    assert seconds_for(store, replace(few, dataset="iris")) is None


def test_an_audit_should_take_as_long_as_its_steps_took_in_one_that_was_not_stopped(
    store: Store,
) -> None:
    short = AuditRequest(RunConfig(model="mlp", epochs=1.0))
    _done(store, short, audited.Stopped(1, "Its loss is not finite."), audited.Finished(1, 0.1))
    assert seconds_for(store, short) is None
    _done(store, short, audited.Finished(short.config.steps_of_epochs, 5.0))
    long = AuditRequest(replace(short.config, epochs=3.0))
    assert seconds_for(store, long) == pytest.approx(5.0 * cost_of(long) / cost_of(short))


def test_a_paused_queue_says_so_whatever_older_versions_or_other_machines_did(
    store: Store,
) -> None:
    _recorded(store, 120.0)
    assert seconds_for(store, RunConfig()) == pytest.approx(120.0)
    with store.writing() as db:
        db.execute("UPDATE runs SET cost = 0")
    assert seconds_for(store, RunConfig()) is None
    _recorded(store, 120.0)
    with store.writing() as db:
        db.execute("UPDATE runs SET origin = ?", ('{"imported": "2026-11-22"}',))
    run = store.submit(RunConfig())
    assert start_of(store, store.submit(RunConfig())) == UNKNOWN
    assert seconds_for(store, RunConfig()) is None
    with store.writing() as db:
        db.execute("UPDATE runs SET plan = NULL, settings = '{}', status = 'finished'")
    run = store.submit(RunConfig())
    assert start_of(store, run) == "starts in a moment"
    store.post("paused", "1")
    assert start_of(store, run) == HELD
