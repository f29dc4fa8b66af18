"""The table of a run's life is all that can happen to it: each status meets each event."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import dpcore.runs
from dpcore.privacy.mechanism import Mechanism
from dpcore.runs.editing import clear, delete
from dpcore.runs.lifecycle import (
    ACTIVE,
    ASK_TO_STOP,
    CANCEL,
    CHANGES,
    CLAIM,
    ENDED,
    ENDED_EARLY,
    ENDINGS,
    FAIL,
    FINISH,
    GIVE_BACK,
    LOSE,
    MAX_ATTEMPTS,
    QUEUE_AGAIN,
    STOP,
    Change,
    Status,
)
from dpcore.runs.record import Run
from dpcore.runs.resume import ended_early
from dpcore.runs.run_table import Wanted, priced
from dpcore.runs.store import Store, changed
from dpcore.runs.within_limits import submit_rest
from dpcore.training.config import RunConfig
from dpcore.training.plan import plan
from tests.runs.by_hand import worked_on

CONFIG = RunConfig()
STEPS = plan(CONFIG).steps
DONE = 40


def run_in(store: Store, status: Status) -> str:
    """A run of this status that, unless it waits for its first worker, has released some steps."""
    run = store.submit(CONFIG)
    if status is Status.QUEUED:
        return run
    return worked_on(store, run, None if status is Status.RUNNING else status, DONE)


def charged(store: Store, run: str) -> Mechanism | None:
    """The releases that a run is charged for, which Python and SQL count alike."""
    found = store.run(run)
    (facts,) = priced(store, Wanted())
    assert (facts.done, facts.over) == (found.done, not found.active)
    return found.plan.released(found.done)


def claimed(store: Store, run: Run) -> object:
    return store.claim("here:2")


def given_back(store: Store, run: Run) -> object:
    return store.give_back(run)


def cancelled(store: Store, run: Run) -> object:
    return store.cancel(run.id)


def lost_its_worker(store: Store, run: Run) -> object:
    return store.recover(run, "It died.")


def ended_as(status: Status) -> Callable[[Store, Run], object]:
    return lambda store, run: store.end(run.id, status, "why", run.worker)


# Each event, and the changes that it makes; in other statuses it leaves the run alone.
EVENTS: dict[str, tuple[Callable[[Store, Run], object], tuple[Change, ...]]] = {
    "claimed": (claimed, (CLAIM,)),
    "given back": (given_back, (GIVE_BACK,)),
    "cancelled": (cancelled, (CANCEL, ASK_TO_STOP)),
    "lost its worker": (lost_its_worker, (QUEUE_AGAIN,)),
    "stopped": (ended_as(Status.CANCELLED), (STOP,)),
    "finished": (ended_as(Status.FINISHED), (FINISH,)),
    "failed": (ended_as(Status.FAILED), (FAIL,)),
    "lost": (ended_as(Status.LOST), (LOSE,)),
    "paused": (lambda store, run: store.post("paused", "1"), ()),
}


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("status", Status)
def test_each_status_and_each_event_give_what_the_table_says_and_the_charge_stays(
    store: Store, status: Status, event: str
) -> None:
    happen, changes = EVENTS[event]
    before = store.run(run_in(store, status))
    charge = charged(store, before.id)
    happen(store, before)
    after = store.run(before.id)
    (becomes,) = [each.after for each in changes if each.before is status] or [status]
    assert after.status is becomes
    assert charged(store, before.id) == charge
    assert (after.ended is not None) == (becomes in ENDED)
    if status in ENDED:
        assert after == before


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("status", Status)
def test_the_statement_of_a_change_leaves_runs_of_another_status_alone(
    store: Store, status: Status, change: Change
) -> None:
    run = run_in(store, status)
    before = store.run(run)
    with store.writing() as db:
        made = changed(db, change, "true OR false", worker="here:3", error=None)
    assert made == ([run] if status is change.before else [])
    if status is not change.before:
        assert store.run(run) == before


@pytest.mark.parametrize("status", Status)
def test_each_status_is_resumed_or_deleted_or_a_sentence_says_why_not(
    store: Store, status: Status
) -> None:
    run = run_in(store, status)
    assert ended_early(store.run(run)) == (status in ENDED_EARLY)
    if status in ENDED_EARLY:
        rest = store.run(submit_rest(store, run))
        assert (rest.status, rest.plan.repeated) == (Status.QUEUED, DONE)  # both are charged
        store.cancel(rest.id)
        delete(store, rest.id)
    else:
        with pytest.raises(
            ValueError, match=f"^Run {run} is {status}; only a run that ended early can be resumed"
        ):
            submit_rest(store, run)
    if status in ENDED:
        delete(store, run)
        assert store.runs() == []
    else:
        with pytest.raises(ValueError, match=f"^Run {run} is {status}. Cancel it before you"):
            delete(store, run)


def test_what_an_ended_run_is_charged_for_are_its_steps_so_far_and_all_if_it_finished(
    store: Store,
) -> None:
    for status in ENDED:
        run = run_in(store, status)
        done = STEPS if status is Status.FINISHED else DONE
        assert charged(store, run) == plan(CONFIG).released(done)
        delete(store, run)
    assert charged(store, run_in(store, Status.QUEUED)) is None


def test_a_run_that_was_given_back_or_waits_again_is_charged_as_before(store: Store) -> None:
    run = store.submit(CONFIG)
    taken = store.claim("here:1")
    assert taken
    assert store.give_back(taken)
    assert charged(store, run) is None
    worked_on(store, run, None, DONE)
    assert not store.give_back(taken)  # it has said something
    store.recover(store.run(run), "It died.")
    assert store.run(run).status is Status.QUEUED
    assert charged(store, run) == plan(CONFIG).released(DONE)


@pytest.mark.parametrize(
    ("handed", "attempts", "becomes"),
    [
        (False, MAX_ATTEMPTS - 1, Status.QUEUED),
        (False, MAX_ATTEMPTS, Status.LOST),
        (True, 0, Status.LOST),
    ],
)
@pytest.mark.parametrize("cancelling", [False, True])
def test_without_its_worker_a_run_waits_again_or_ends_and_ends_where_it_was_to_stop(
    store: Store, handed: bool, attempts: int, becomes: Status, cancelling: bool
) -> None:
    run = run_in(store, Status.RUNNING)
    with store.writing() as db:
        db.execute("UPDATE runs SET handed = ?, attempts = ?", (handed, attempts))
    if cancelling:
        store.cancel(run)
        becomes = Status.CANCELLED
    found = store.run(run)
    assert store.recover(found, "It died.") is becomes
    assert store.run(run).status is becomes
    assert store.recover(found, "It died.") is None  # it is nobody's any more
    assert (store.run(run).error or "").startswith("It died.") == (becomes is Status.LOST)


def test_a_run_ends_in_no_status_that_is_no_end(store: Store) -> None:
    run = run_in(store, Status.RUNNING)
    for status in ACTIVE:
        with pytest.raises(ValueError, match=f"Expected status=.*{status}"):
            store.end(run, status)
    assert store.run(run).status is Status.RUNNING


def test_the_store_is_cleared_of_all_that_has_ended_or_waits(store: Store) -> None:
    runs = {status: run_in(store, status) for status in reversed(Status)}
    deleted, left = clear(store)
    assert deleted == len(Status) - 1
    assert [run.id for run in left] == [runs[Status.RUNNING]]


def test_the_groups_of_statuses_follow_from_the_table() -> None:
    assert {change.before for change in CHANGES} == set(ACTIVE)  # nothing leaves an end
    assert set(ACTIVE) | set(ENDED) == set(Status)
    assert set(ENDINGS) == set(ENDED)
    assert set(ENDED) - set(ENDED_EARLY) == {Status.FINISHED}


def test_no_sql_but_that_of_the_table_gives_a_run_a_status_or_names_one() -> None:
    room = Path(dpcore.runs.__file__).parent
    literal = re.compile("|".join(f"'{status}'" for status in Status))
    new_run = "status TEXT NOT NULL DEFAULT 'queued',"  # of the tables
    for path in [*room.rglob("*.sql"), *room.rglob("*.py")]:
        text = path.read_text(encoding="utf-8").replace(new_run, "")
        if path.suffix == ".py":
            text = "\n".join(line for line in text.splitlines() if ">>>" not in line)
        if path.name == "lifecycle.py":
            continue
        assert not literal.search(text), path
        assert not re.search(r"UPDATE runs\s+SET((?!WHERE).)*\bstatus\b", text, re.DOTALL), path


def test_a_new_run_waits_or_is_its_workers(store: Store) -> None:
    assert store.run(store.submit(CONFIG)).status is Status.QUEUED
    assert store.run(store.submit(CONFIG, worker="here:1")).status is Status.RUNNING
    with store.writing() as db:  # as an older version adds one
        db.execute(
            "INSERT INTO runs (id, name, settings, created) VALUES ('old', '', ?, 1.0)",
            (json.dumps(CONFIG.to_json()),),
        )
    assert store.run("old").status is Status.QUEUED
