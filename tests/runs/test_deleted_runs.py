"""What a deleted run of a sweep had released is counted on: deleting makes no choice among runs cheaper."""

import random
from contextlib import suppress

import pytest

from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.runs.deleted import deleted_of
from dpcore.runs.editing import clear, delete
from dpcore.runs.record import Status, checkpoint_path
from dpcore.runs.resume import resume
from dpcore.runs.store import Store
from dpcore.runs.sweeps import Sweep, all_released, submit_sweep, sweep_in, sweep_of
from dpcore.training.checkpoint_header import Label, write_label
from dpcore.training.config import RunConfig
from dpcore.training.events import Checkpointed, Evaluated
from tests.pages.train_page import events_of

SMALL = RunConfig(model="mlp", batch=256, epochs=1.0)


def swept(store: Store, sigmas: list[float], config: RunConfig = SMALL) -> str:
    return submit_sweep(store, sweep_of(config, {"sigma": sigmas}, 1), ["sigma"])


def work_on(store: Store, run: str, done: int, saved: int = 0) -> str:
    """The run after it has released so many steps, and was lost; with a checkpoint where it saved one."""
    with store.writing() as db:  # out of its turn
        db.execute("UPDATE runs SET status = 'running', worker = 'here:1', started = 1.0 WHERE id = ?", (run,))
    config, before = store.run(run).config, getattr(store.run(run).last, "step", -1)
    for event in events_of(config, done):
        if getattr(event, "step", 0) > before:
            store.append(run, event)
            if isinstance(event, Evaluated) and event.step == saved:
                store.append(run, Checkpointed(saved))
    if saved:
        path = checkpoint_path(store.home, run)
        path.parent.mkdir(exist_ok=True)
        with open(path, "wb") as file:
            write_label(file, Label(saved, config.chosen(), {}, "", ""))
    store.end(run, Status.LOST)
    return run


def now(store: Store, name: str) -> Sweep:
    sweep = sweep_in(store, name)
    assert sweep is not None
    return sweep


def price(store: Store, name: str) -> dict[float, int] | None:
    """How many steps with each sigma choosing among the runs costs."""
    mechanism: Mechanism | None = all_released(now(store, name).begun)
    return mechanism and {release.sigma: release.count for release in mechanism.releases}


def test_of_four_runs_three_are_deleted_and_the_price_is_that_of_all_that_released_something(store: Store) -> None:
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
    assert [len(now(store, name).runs), len(now(store, name).begun)] == [1, 2]
    with store.reading() as db:  # nothing that was measured is kept
        row = db.execute("SELECT * FROM deleted").fetchone()
    assert set(row.keys()) == {"id", "sweep", "parent", "plan", "done", "begun"}
    gone = deleted_of(store, name)
    assert {(each.id, each.done) for each in gone} >= {(runs[0], 20), (runs[1], 20)}
    assert {each.plan.charged for each in gone} >= {(Release(SMALL.q, 1.0, gone[0].plan.steps),)}


def test_a_run_that_went_further_than_its_rest_is_deleted_and_counts_with_all_its_steps(store: Store) -> None:
    name = swept(store, [1.0, 2.0])
    first, _ = store.queue()
    rest = work_on(store, resume(store, work_on(store, first, 30, saved=10)), 20)
    before = price(store, name)
    assert before == {1.0: 30 + 20}
    delete(store, first)
    assert price(store, name) == before
    delete(store, rest)
    assert price(store, name) == before


@pytest.mark.parametrize("saved", [0, 10], ids=["begun anew", "gone on with"])
def test_a_rest_counts_for_the_run_before_that_another_version_deleted(store: Store, saved: int) -> None:
    name = swept(store, [1.0, 2.0])
    first, _ = store.queue()
    rest = resume(store, work_on(store, first, 30, saved=saved))
    with store.writing() as db:
        db.execute("DELETE FROM runs WHERE id = ?", (first,))
    assert price(store, name) == {1.0: 30}
    store.cancel(rest)
    delete(store, rest)
    assert price(store, name) == {1.0: 30}


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_trained_resumed_and_deleted_the_price_never_falls(store: Store, seed: int) -> None:
    choose, before = random.Random(seed), 0
    name = swept(store, [1.0, 2.0, 3.0, 4.0])
    kept = store.queue()[0]  # a sweep without a run is none
    for _ in range(30):
        run = choose.choice([run for run in now(store, name).runs if run.id != kept] or [store.run(kept)])
        if run.status is Status.QUEUED:
            work_on(store, run.id, choose.choice([20, 30]), saved=choose.choice([0, 10]))
        elif choose.random() < 0.5:
            with suppress(ValueError):  # another has gone on with it
                resume(store, run.id)
        elif run.id != kept:
            delete(store, run.id)
        assert sum((price(store, name) or {}).values()) >= before
        before = sum((price(store, name) or {}).values())


@pytest.mark.parametrize("change", ["plan = '{\"unheard\": 1}'", "plan = json_set(plan, '$.unaccounted', 'No.')"])
def test_a_deleted_run_that_cannot_be_read_or_has_no_epsilon_leaves_none_for_all(store: Store, change: str) -> None:
    name = swept(store, [1.0, 2.0])
    first, second = (work_on(store, run, 20) for run in store.queue())
    with store.writing() as db:
        db.execute(f"UPDATE runs SET {change} WHERE id = ?", (first,))
    delete(store, first)
    assert price(store, name) is None
    assert len(now(store, name).begun) == 2
    assert now(store, name).runs[0].id == second


def test_clearing_forgets_no_run_of_a_sweep_that_still_runs(store: Store) -> None:
    name, other = swept(store, [1.0, 2.0]), swept(store, [5.0, 6.0])
    first, second = (run.id for run in now(store, name).runs)
    work_on(store, first, 20)
    work_on(store, now(store, other).runs[0].id, 20)
    with store.writing() as db:
        db.execute("UPDATE runs SET status = 'running', worker = 'here:1', started = 1.0 WHERE id = ?", (second,))
    clear(store)
    assert price(store, name) == {1.0: 20}
    assert deleted_of(store, other) == ()
