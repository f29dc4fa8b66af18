"""A followed training is charged exactly what it took, and stops where a proven bound says."""

import subprocess
import sys
from typing import Any

import pytest

import dpcore
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.runs.expected import seconds_for
from dpcore.runs.followed.budget import affordable_steps
from dpcore.runs.followed.count import MAX_PHASES, Phase, joined, merged, releases_of
from dpcore.runs.followed.events import Stepped
from dpcore.runs.record import Status
from dpcore.runs.resume import ended_early
from dpcore.runs.run_table import Wanted, ended, priced
from dpcore.runs.sweeps import all_released
from dpcore.training.config import RunConfig
from tests.runs.followed.telling import ROOT, Q, stored, taken, until


def test_a_finished_run_is_charged_exactly_what_it_took(store, follow):
    run = taken(follow(unit="image"), 120)
    taken(run, 30, sigma=0.9)
    taken(run, 50, q=0.01)
    run.finish()
    kept = stored(store, run)
    own = (Release(Q, 1.1, 120), Release(Q, 0.9, 30), Release(0.01, 0.9, 50))
    assert (kept.status, kept.done, kept.kind) == (Status.FINISHED, 200, "followed")
    assert kept.plan.released(kept.done) == Mechanism(own)
    assert run.epsilon() == dpcore.epsilon(Mechanism(own), 1e-5)
    (facts,) = priced(store, Wanted())
    assert (facts.done, facts.over, bool(facts.plan)) == (200, True, True)
    assert isinstance(kept.last, Stepped)
    assert kept.last.epoch == pytest.approx(150 * Q + 0.5)


def test_the_store_always_holds_more_steps_than_were_taken(store, follow):
    run = follow()
    for _ in range(3000):
        run.step()
        if run.steps % 37 == 0:
            assert stored(store, run).plan.steps > run.steps
    until(lambda: run.steps < stored(store, run).plan.steps <= run.steps + 40)  # it rests


@pytest.mark.parametrize("told", [{"sigma": 0.3}, {"q": 0.5}, {"sigma": 0}])
def test_a_costlier_step_is_stored_before_the_next(store, follow, told):
    run = taken(follow(), 300)
    run.step(**told)
    kept = stored(store, run).plan
    assert kept.unaccounted or (kept.drawn[-1].q, kept.drawn[-1].sigma) == (run._q, run._sigma)


class Overtaken(list):
    """Phases that are read just before the training takes a costlier step."""

    def __init__(self, run: Any) -> None:
        super().__init__(run._phases)
        self.run = run

    def __iter__(self) -> Any:
        before = iter(self[:])
        self.run._phases = self[:]
        self.run.step(sigma=0.3)
        return before


def test_a_costlier_step_is_stored_though_a_writing_had_just_begun(store, follow):
    run = taken(follow(), 300)
    run._phases = Overtaken(run)
    written = run._told()
    assert (written.steps, len(written.phases)) == (300, 1)  # of one moment
    assert stored(store, run).plan.drawn[-1].sigma == 0.3


def test_keys_are_those_that_others_have(follow):
    run = taken(follow(), 10)
    found = run.privacy()
    assert list(found) == [
        "privacy/epsilon",
        "privacy/epsilon_lower",
        "privacy/delta",
        "privacy/steps",
    ]
    assert 0 < found["privacy/epsilon_lower"] < found["privacy/epsilon"]
    assert (found["privacy/delta"], found["privacy/steps"]) == (1e-5, 10)


@pytest.mark.parametrize(
    "phases",
    [
        [(400, 1.1)],
        [(100, 1.1), (100, 0.9), (200, 1.0)],
        [(20, 0.8 + place / 50) for place in range(20)],
    ],
)
def test_a_training_stops_at_the_last_step_that_a_proven_bound_allows(follow, phases):
    target = 1.0
    run = follow(target_epsilon=target)
    for count, sigma in phases:
        for _ in range(count):
            if run.would_exceed():
                break
            run.step(sigma=sigma)
    while not run.would_exceed():
        run.step()
    assert run.epsilon().value <= target
    if len(phases) < 4:
        one_more = merged([*releases_of(run._phases, run.steps), Release(Q, run._sigma)])
        assert ACCOUNTANTS["pld"].spent(one_more, 1e-5).value > target
        assert run.steps_left() == 0
    else:
        assert run.epsilon().value > 0.75 * target  # Rényi DP decides


def test_steps_left_are_counted_from_here(follow):
    run = taken(follow(target_epsilon=3.0), 148)
    assert run.steps_left() == affordable_steps((), Q, 1.1, 3.0, 1e-5) - 148 == 5000
    assert follow().steps_left() is None


def test_joined_phases_never_cost_less():
    phases = [Phase(20 * place, Q, 0.8 + 0.3 * (place % 3)) for place in range(9)]
    before = merged(releases_of(phases, 180))
    after = merged(releases_of(joined(phases), 180))
    assert before.steps == after.steps
    for accountant in (ACCOUNTANTS["pld"], ACCOUNTANTS["rdp"]):
        assert accountant.spent(after, 1e-5).value >= accountant.spent(before, 1e-5).value


def test_a_schedule_that_changes_every_step_is_kept_small(store, follow, warned):
    run = follow()
    for step in range(MAX_PHASES + 50):
        run.step(sigma=1.1 + step / 1000)
    run.finish()
    assert stored(store, run).done == MAX_PHASES + 50
    assert len(stored(store, run).plan.charged) < MAX_PHASES
    (words,) = warned()
    assert "run.step: sigma or q changed 1,000 times" in words


def test_choosing_among_followed_and_own_runs_costs_all_of_them(store, follow):
    one = taken(follow(), 30)
    one.finish()
    two = taken(follow(), 20, sigma=2.0)
    two.finish()
    cost = all_released([stored(store, one), stored(store, two)])
    assert set(cost.releases) == {Release(Q, 1.1, 30), Release(Q, 2.0, 20)}


def test_nobody_but_its_program_ends_it_and_it_takes_nobodys_place(store, follow):
    run = taken(follow(), 4)
    assert store.cancel(run.id) is Status.RUNNING
    assert not stored(store, run).cancelling
    queued = store.submit(RunConfig())
    assert store.claim("here:1", limit=1).id == queued
    run.finish()
    assert not ended_early(stored(store, run))
    store.end(queued, Status.FINISHED, worker="here:1")
    assert ended(store, Wanted(), 10) == []  # no best list
    assert seconds_for(store, RunConfig(epochs=3)) is None  # no estimate


def test_nothing_heavy_is_loaded():
    code = """import sys, dpcore
dpcore.follow("mine", delta=1e-5, examples=100, batch=10, sigma=1.0, rank=1).step()
print([name for name in ("torch", "streamlit", "plotly", "opacus") if name in sys.modules])"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
