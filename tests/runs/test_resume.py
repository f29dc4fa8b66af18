"""The rest of an ended run, and what deleting a run leaves to be charged.

A run has one rest: a second one would not be charged for what the first one released. What a
deleted run of a sweep had released is counted on: deleting makes no choice among runs cheaper.
"""

import json
import os
import random
import shutil
import stat
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest

from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.runs.editing import clear, delete, deleted_of
from dpcore.runs.record import Status, UnknownRun, checkpoint_path, worker_name
from dpcore.runs.resume import rest_of
from dpcore.runs.store import Store
from dpcore.runs.sweeps import Sweep, all_released, sweep_in, sweep_of
from dpcore.runs.within_limits import submit_rest
from dpcore.training.config import RunConfig
from dpcore.training.events import Checkpointed, Evaluated, Event, Started, Stepped
from dpcore.training.plan import first_steps, plan
from tests.pages.train_page import events_of
from tests.runs.by_hand import save, submit_sweep, worked_on

CONFIG = RunConfig()
DONE = 40
STARTED = Started(10_000, 98, 0.05, "cpu", 26_010, "book-keeping")


def stepped(step: int) -> Stepped:
    return Stepped(step, step / 20, 1.0, 0.5, (0.1,) * 5, 20.0)


def evaluated(step: int) -> Evaluated:
    return Evaluated(step, step / 20, 0.5, 1.0, (0.5,) * 10)


def ended(store: Store, events: list[Event], saved: int | None) -> str:
    """A lost run with these events, and a checkpoint after so many steps."""
    run = store.submit(CONFIG, worker="here:1")
    for event in events:
        store.append(run, event)
    store.end(run, Status.LOST)
    if saved is not None:
        save(store, run, saved)
    return run


def rest(store: Store, run: str) -> tuple[list[Event], Path]:
    """The events that the rest of a run begins with, and where its checkpoint would be."""
    new = submit_rest(store, run)
    return store.events(new), checkpoint_path(store.home, new)


def test_it_begins_with_the_events_up_to_the_checkpoint(store: Store) -> None:
    told: list[Event] = [STARTED, stepped(1), stepped(9), evaluated(9), Checkpointed(9)]
    said, file = rest(store, ended(store, [*told, stepped(12), evaluated(12)], saved=9))
    assert said == told
    assert file.read_bytes().endswith(b"the state")


def test_a_checkpoint_that_was_not_recorded_is_made_up_for_where_all_its_steps_were(
    store: Store,
) -> None:
    for earlier in ([], [Checkpointed(1)]):
        told = [STARTED, stepped(1), *earlier, evaluated(9), stepped(9)]
        said, file = rest(store, ended(store, told, saved=9))
        assert said == [*told, Checkpointed(9)]
        assert file.exists()


def test_where_events_up_to_the_checkpoint_are_missing_it_begins_anew_without_the_file(
    store: Store,
) -> None:
    not_the_last = [STARTED, stepped(1), Checkpointed(1), evaluated(9)]
    for told in ([], [STARTED], not_the_last, [stepped(9)], [STARTED, stepped(12)]):
        run = ended(store, told, saved=9)
        said, file = rest(store, run)
        assert said == [], told
        assert not file.exists(), told
        assert checkpoint_path(store.home, run).exists(), told


def test_a_rest_has_the_plan_that_the_run_was_trained_by(store: Store) -> None:
    run = ended(store, [STARTED], saved=None)
    usual = store.run(run).plan
    shorter = replace(
        usual, steps=9, drawn=first_steps(usual.drawn, 9), charged=first_steps(usual.charged, 9)
    )
    with store.writing() as db:
        db.execute("UPDATE runs SET plan = ?", (json.dumps(shorter.to_json()),))
    assert store.run(submit_rest(store, run)).plan == shorter


def test_the_copy_of_a_checkpoint_is_private_from_its_first_byte(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ended(store, [STARTED, stepped(9), Checkpointed(9)], saved=9)
    (store.home / "checkpoints").chmod(0o755)  # as an older version left it
    copied, modes = shutil.copyfileobj, []

    def looked_at(source: IO[bytes], target: IO[bytes], *length: int) -> None:
        modes.append(stat.S_IMODE(os.fstat(target.fileno()).st_mode))
        copied(source, target, *length)

    monkeypatch.setattr(shutil, "copyfileobj", looked_at)
    _, file = rest(store, run)
    assert modes == [0o600]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_bytes() == checkpoint_path(store.home, run).read_bytes()


def test_a_rest_that_cannot_be_recorded_leaves_no_file(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ended(store, [STARTED, stepped(9), Checkpointed(9)], saved=9)

    def full() -> None:
        raise OSError("no room")

    monkeypatch.setattr(store, "writing", full)
    with pytest.raises(OSError, match="no room"):
        submit_rest(store, run)
    assert list((store.home / "checkpoints").iterdir()) == [checkpoint_path(store.home, run)]


@pytest.fixture
def lost(store: Store) -> str:
    """A run that has released some steps, was lost, and left no checkpoint."""
    return worked_on(store, store.submit(CONFIG))


ONE = Release(CONFIG.q, CONFIG.sigma, DONE)


def test_what_was_released_before_is_charged_once_more(store: Store, lost: str) -> None:
    new = store.run(submit_rest(store, lost))
    assert (new.parent, new.plan.spent) == (lost, (ONE,))
    assert new.plan.mechanism is not None
    assert new.plan.mechanism.steps == plan(CONFIG).steps + DONE
    assert new.plan.compositions_at(1) == DONE + 1


def test_so_is_what_runs_had_released_that_it_went_on_with_from_a_checkpoint(store: Store) -> None:
    first = worked_on(store, store.submit(CONFIG), None, 8)
    store.append(first, Checkpointed(8))
    save(store, first, 8)
    second = submit_rest(store, worked_on(store, first))
    assert store.run(second).sequence == 3
    assert (store.run(second).plan.spent, store.run(second).plan.already_released) == ((), DONE)
    worked_on(store, second, done=9)  # it has released less than the first
    checkpoint_path(store.home, second).unlink()
    assert store.run(submit_rest(store, second)).plan.spent == (ONE,)


def test_a_budget_that_it_would_break_is_kept(store: Store) -> None:
    lost = worked_on(store, store.submit(replace(CONFIG, stop_epsilon=8.0)))
    with pytest.raises(ValueError, match="Expected stop_epsilon=8 to be kept"):
        submit_rest(store, lost)
    assert [run.id for run in store.runs()] == [lost]


def test_while_a_rest_goes_on_or_once_it_has_finished_there_is_no_second_one(store: Store) -> None:
    for status in (Status.QUEUED, Status.RUNNING, Status.FINISHED):
        run = worked_on(store, store.submit(CONFIG))
        other = submit_rest(store, run)
        if status is not Status.QUEUED:
            worked_on(store, other, None if status is Status.RUNNING else status)
        with pytest.raises(
            ValueError, match=f"Run {run} can be resumed once, but run {other} continue(s|d) it"
        ):
            submit_rest(store, run)
        store.cancel(other)
        store.end(other, Status.FINISHED)


def test_where_a_rest_ended_early_too_that_one_is_resumed_and_charged_for_both(
    store: Store,
) -> None:
    for status in (Status.LOST, Status.CANCELLED, Status.FAILED):
        run = worked_on(store, store.submit(CONFIG))
        other = worked_on(store, submit_rest(store, run), status, 5)
        with pytest.raises(
            ValueError, match=f"run {other} continued it and is {status}. Resume that run"
        ):
            submit_rest(store, run)
        third = submit_rest(store, other)
        assert store.run(third).plan.spent == (ONE, Release(CONFIG.q, CONFIG.sigma, 5))
        store.cancel(third)


def test_of_two_that_ask_at_once_one_is_refused(store: Store, lost: str) -> None:
    with rest_of(store, lost) as one, rest_of(store, lost) as two:
        with store.writing() as db:
            one.add_run(db)
        with (
            pytest.raises(ValueError, match=f"run {one.id} continues it already"),
            store.writing() as db,
        ):
            two.add_run(db)
    assert {run.id for run in store.runs()} == {lost, one.id}


def test_a_run_is_not_begun_anew_for_less_once_its_rest_is_deleted(store: Store, lost: str) -> None:
    other = worked_on(store, submit_rest(store, lost))
    delete(store, other)
    with pytest.raises(
        ValueError, match=f"run {other} continued it and was deleted. Start a new run"
    ):
        submit_rest(store, lost)


def test_nor_once_the_rest_of_a_rest_that_never_began_is(store: Store, lost: str) -> None:
    second = submit_rest(store, lost)
    store.cancel(second)
    third = worked_on(store, submit_rest(store, second))
    for run in (third, second):
        delete(store, run)
    with pytest.raises(ValueError, match=f"run {second} continued it and was deleted"):
        submit_rest(store, lost)


def test_a_rest_that_never_began_and_is_deleted_leaves_the_run_to_be_resumed(
    store: Store, lost: str
) -> None:
    second = submit_rest(store, lost)
    store.cancel(second)
    delete(store, second)
    with rest_of(store, lost) as left, store.writing() as db:
        left.add_run(db, worker_name(os.getpid()))  # which counts as begun
    handed = left.id
    assert store.run(handed).plan.repeated == DONE
    store.end(handed, Status.FAILED)
    delete(store, handed)
    with pytest.raises(ValueError, match=f"run {handed} continued it and was deleted"):
        submit_rest(store, lost)


def test_a_rest_of_a_run_that_is_deleted_meanwhile_is_not_stored(store: Store, lost: str) -> None:
    with rest_of(store, lost) as left:
        delete(store, lost)
        with (
            pytest.raises(UnknownRun, match=f"Run {lost} was deleted"),
            store.writing() as db,
        ):
            left.add_run(db)
    assert store.runs() == []


def kept(store: Store) -> list[str]:
    with store.reading() as db:
        return [row["id"] for row in db.execute("SELECT id FROM deleted")]


@pytest.mark.parametrize(
    "last", [lambda store, run: delete(store, run), lambda store, _: clear(store)]
)
def test_with_the_last_run_that_it_counts_for_a_deleted_one_is_forgotten(
    store: Store, lost: str, last
) -> None:
    other = worked_on(store, submit_rest(store, lost))
    delete(store, other)
    assert kept(store) == [other]
    last(store, lost)
    assert kept(store) == []


SMALL = RunConfig(model="mlp", batch=256, epochs=1.0)


def swept(store: Store, sigmas: list[float], config: RunConfig = SMALL) -> str:
    return submit_sweep(store, sweep_of(config, {"sigma": sigmas}, 1), ["sigma"])


def work_on(store: Store, run: str, done: int, saved: int = 0) -> str:
    """The run after it has released so many steps, and was lost; with a checkpoint where it saved
    one.
    """
    with store.writing() as db:  # out of its turn
        db.execute(
            "UPDATE runs SET status = 'running', worker = 'here:1', started = 1.0 WHERE id = ?",
            (run,),
        )
    before = getattr(store.run(run).last, "step", -1)
    for event in events_of(store.run(run).config, done):
        if getattr(event, "step", 0) > before:
            store.append(run, event)
            if isinstance(event, Evaluated) and event.step == saved:
                store.append(run, Checkpointed(saved))
    if saved:
        save(store, run, saved)
    store.end(run, Status.LOST)
    return run


def now(store: Store, name: str) -> Sweep:
    sweep = sweep_in(store, name)
    assert sweep is not None
    return sweep


def price(store: Store, name: str) -> dict[float, int] | None:
    """How many steps with each sigma choosing among the runs costs."""
    mechanism: Mechanism | None = all_released(now(store, name).charged_runs)
    return mechanism and {release.sigma: release.count for release in mechanism.releases}


def test_of_four_runs_three_are_deleted_and_the_price_is_that_of_all_that_released_something(
    store: Store,
) -> None:
    name = swept(store, [1.0, 2.0, 3.0, 4.0])
    runs = store.queue()
    for run in runs[:2]:
        work_on(store, run, 20)
    before = price(store, name)
    assert before == {1.0: 20, 2.0: 20}
    store.cancel(runs[2])
    for run in runs[:3]:
        delete(store, run)
        assert price(store, name) == before
    assert [len(now(store, name).runs), len(now(store, name).charged_runs)] == [1, 2]
    with store.reading() as db:  # nothing that was measured is kept
        row = db.execute("SELECT * FROM deleted").fetchone()
    assert set(row.keys()) == {"id", "sweep", "parent", "plan", "done", "begun"}
    gone = deleted_of(store, name)
    assert {(each.id, each.done) for each in gone} >= {(runs[0], 20), (runs[1], 20)}
    assert {each.plan.charged for each in gone} >= {(Release(SMALL.q, 1.0, gone[0].plan.steps),)}


def test_a_run_that_went_further_than_its_rest_is_deleted_and_counts_with_all_its_steps(
    store: Store,
) -> None:
    name = swept(store, [1.0, 2.0])
    first, _ = store.queue()
    rest = work_on(store, submit_rest(store, work_on(store, first, 30, saved=10)), 20)
    before = price(store, name)
    assert before == {1.0: 30 + 20}
    delete(store, first)
    assert price(store, name) == before
    delete(store, rest)
    assert price(store, name) == before


@pytest.mark.parametrize("saved", [0, 10], ids=["begun anew", "gone on with"])
def test_a_rest_counts_for_the_run_before_that_another_version_deleted(
    store: Store, saved: int
) -> None:
    name = swept(store, [1.0, 2.0])
    first, _ = store.queue()
    rest = submit_rest(store, work_on(store, first, 30, saved=saved))
    with store.writing() as db:
        db.execute("DELETE FROM runs WHERE id = ?", (first,))
    assert price(store, name) == {1.0: 30}
    store.cancel(rest)
    delete(store, rest)
    assert price(store, name) == {1.0: 30}


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_trained_resumed_and_deleted_the_price_never_falls(
    store: Store, seed: int
) -> None:
    choose, before = random.Random(seed), 0
    name = swept(store, [1.0, 2.0, 3.0, 4.0])
    kept = store.queue()[0]  # a sweep without a run is none
    for _ in range(30):
        run = choose.choice(
            [run for run in now(store, name).runs if run.id != kept] or [store.run(kept)]
        )
        if run.status is Status.QUEUED:
            work_on(store, run.id, choose.choice([20, 30]), saved=choose.choice([0, 10]))
        elif choose.random() < 0.5:
            with suppress(ValueError):  # another has gone on with it
                submit_rest(store, run.id)
        elif run.id != kept:
            delete(store, run.id)
        assert sum((price(store, name) or {}).values()) >= before
        before = sum((price(store, name) or {}).values())


@pytest.mark.parametrize(
    "change", ["plan = '{\"unheard\": 1}'", "plan = json_set(plan, '$.unaccounted', 'No.')"]
)
def test_a_deleted_run_that_cannot_be_read_or_has_no_epsilon_leaves_none_for_all(
    store: Store, change: str
) -> None:
    name = swept(store, [1.0, 2.0])
    first, second = (work_on(store, run, 20) for run in store.queue())
    with store.writing() as db:
        db.execute(f"UPDATE runs SET {change} WHERE id = ?", (first,))
    delete(store, first)
    assert price(store, name) is None
    assert len(now(store, name).charged_runs) == 2
    assert now(store, name).runs[0].id == second


def test_clearing_forgets_no_run_of_a_sweep_that_still_runs(store: Store) -> None:
    name, other = swept(store, [1.0, 2.0]), swept(store, [5.0, 6.0])
    first, second = (run.id for run in now(store, name).runs)
    work_on(store, first, 20)
    work_on(store, now(store, other).runs[0].id, 20)
    with store.writing() as db:
        db.execute(
            "UPDATE runs SET status = 'running', worker = 'here:1', started = 1.0 WHERE id = ?",
            (second,),
        )
    clear(store)
    assert price(store, name) == {1.0: 20}
    assert deleted_of(store, other) == ()
