"""A run whose worker went is gone on with as if nothing had been, or not at all; what is released
twice is charged.
"""

import os
from collections.abc import Generator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from dpcore.runs.lifecycle import MAX_ATTEMPTS
from dpcore.runs.record import Run, Status, checkpoint_path, worker_name
from dpcore.runs.resume import job_events
from dpcore.runs.store import Store
from dpcore.runs.within_limits import submit_rest
from dpcore.runs.worker import perform
from dpcore.training import loop
from dpcore.training.config import RunConfig
from dpcore.training.events import Checkpointed, Evaluated, Event, Finished, Started, Stepped
from dpcore.training.plan import plan
from tests.runs.by_hand import worked_on
from tests.training.small_runs import SMALL, ticking

CONFIG = replace(SMALL, epochs=0.3, seed=None)  # 47 steps
LONG = partial(pytest.param, marks=pytest.mark.long)
HERE = worker_name(os.getpid())


def train(
    config: RunConfig, *, seconds: float = 0.2, **options: Any
) -> Generator[Event, None, None]:
    """Real training, on a clock that makes it report every other step, test now and then, and save
    at times.
    """
    return loop.train(config, **options | {"clock": ticking(seconds)})


def begun(store: Store, config: RunConfig, until: int, *, saves: bool) -> str:
    """A run whose worker was killed after `until` events; it waits to be gone on with."""
    run = store.submit(config)
    claimed = store.claim("gone:1")
    assert claimed is not None
    trained = partial(train, seconds=1.5 if saves else 0.2)
    events = job_events(store.home, claimed, store.secret(run), [], trained)
    for _ in range(until):
        store.append(run, next(events), "gone:1")
    events.close()
    assert checkpoint_path(store.home, run).exists() is saves
    assert store.recover(store.run(run), "gone") is Status.QUEUED
    return run


def gone_on(store: Store, run: str) -> Run:
    """The run after the next worker was done with it."""
    claimed = store.claim(HERE)
    assert claimed is not None
    assert claimed.id == run
    perform(store, claimed, train)
    return store.run(run)


def undisturbed(store: Store, run: str) -> Finished:
    *_, last = train(store.run(run).config, secret=store.secret(run))
    assert isinstance(last, Finished)
    return last


def steps_of(events: list[Any], kind: type) -> list[int]:
    return [event.step for event in events if isinstance(event, kind)]


@pytest.mark.parametrize(
    ("until", "saves"), [(12, True), *(LONG(each, False) for each in (1, 2, 5, 12))]
)
def test_it_ends_as_if_nothing_had_been_and_says_nothing_twice(
    store: Store, until: int, saves: bool
) -> None:
    run = begun(store, CONFIG, until, saves=saves)
    before = store.events(run)
    done = gone_on(store, run)
    assert done.status is Status.FINISHED
    said = store.events(run)
    assert said[: len(before)] == before
    assert [number for number, _ in store.bodies(run)] == list(range(1, len(said) + 1))
    assert len(steps_of(said, Finished)) == 1
    assert sum(isinstance(event, Started) for event in said) == 1
    for kind in (Stepped, Evaluated):
        assert steps_of(said, kind) == sorted(set(steps_of(said, kind)))
    assert steps_of(said, Stepped)[-1] == steps_of(said, Evaluated)[-1] == plan(CONFIG).steps
    assert done.last is not None
    assert isinstance(done.last, Finished)
    assert done.last.accuracy == undisturbed(store, run).accuracy
    assert not checkpoint_path(store.home, run).exists()


@pytest.mark.long
def test_each_decision_of_simulated_annealing_is_said_once(store: Store) -> None:
    config = replace(CONFIG, acceptance="sa", public=500, sa_q0=1000.0, sigma=4.0)
    run = begun(store, config, 9, saves=False)
    gone_on(store, run)
    decisions = "".join(
        event.decisions for event in store.events(run) if isinstance(event, Stepped)
    )
    whole = train(config, secret=store.secret(run))
    assert decisions == "".join(event.decisions for event in whole if isinstance(event, Stepped))
    assert len(decisions) == plan(config).steps


def test_where_its_noise_or_its_data_would_be_another_it_is_lost_and_says_why(store: Store) -> None:
    for saves, until, names in (
        (False, 4, ("threads", "device", "torch", "dpcore", "data")),
        (True, 12, ("data", "dpcore", "numpy")),
    ):
        for name in names:
            run = begun(store, CONFIG, until, saves=saves)
            with store.writing() as db:
                db.execute(
                    f"UPDATE runs SET origin = json_set(origin, '$.{name}', 'another') WHERE"
                    " id = ?",
                    (run,),
                )
            lost = gone_on(store, run)
            assert (lost.status, lost.sequence) == (Status.LOST, until), name
            assert f"Expected {name}=" in (lost.error or "")
            assert saves or "to be another, as where the run began" in (lost.error or "")


class TestWhatBecomesOfARunWhoseWorkerIsGone:
    """What `recover` does."""

    def claimed(self, store: Store) -> Run:
        store.submit(RunConfig())
        claimed = store.claim("gone:1")
        assert claimed is not None
        return claimed

    def test_one_that_gets_further_each_time_is_never_lost(self, store: Store) -> None:
        store.submit(RunConfig())
        for attempt in range(2 * MAX_ATTEMPTS):
            run = store.claim(f"gone:{attempt}")
            assert run is not None
            store.append(run.id, Checkpointed(attempt), run.worker)
            assert store.recover(store.run(run.id), "gone") is Status.QUEUED

    def test_nothing_becomes_of_one_that_has_shown_a_sign_of_life(self, store: Store) -> None:
        run = self.claimed(store)
        store.beat(run.id, "gone:1")
        assert store.recover(run, "gone") is None
        assert store.run(run.id).status is Status.RUNNING

    def test_its_old_worker_adds_nothing_and_ends_nothing(self, store: Store) -> None:
        run = self.claimed(store)
        store.recover(run, "gone")
        store.claim("next:1")
        assert store.append(run.id, Checkpointed(1), "gone:1")
        assert store.stopping(run.id, "gone:1")
        assert not store.stopping(run.id, "next:1")
        assert not store.end(run.id, Status.FAILED, worker="gone:1")
        beaten = store.run(run.id).heartbeat
        store.beat(run.id, "gone:1")
        now = store.run(run.id)
        assert (now.sequence, now.status, now.worker, now.heartbeat) == (
            0,
            Status.RUNNING,
            "next:1",
            beaten,
        )


@pytest.mark.long
def test_what_was_released_before_it_began_anew_stays_charged_whoever_trains_it(
    store: Store,
) -> None:
    new = submit_rest(store, worked_on(store, store.submit(CONFIG), done=20))
    claimed = store.claim("first:1")
    assert claimed is not None
    next(job_events(store.home, claimed, store.secret(new), [], train))
    assert store.give_back(claimed)
    assert gone_on(store, new).status is Status.FINISHED
    assert store.run(new).plan.repeated == 20
