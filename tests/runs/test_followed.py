"""A followed training: its count is never too small, whatever happens to it or to the store."""

import logging
import math
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcore
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.runs.expected import seconds_for
from dpcore.runs.followed import run as run_module
from dpcore.runs.followed import writer as writer_module
from dpcore.runs.followed.budget import affordable_steps
from dpcore.runs.followed.count import MAX_PHASES, Phase, joined, merged, releases_of
from dpcore.runs.followed.events import Logged, Stepped
from dpcore.runs.record import Run, Status, StoreError, worker_name
from dpcore.runs.resume import ended_early
from dpcore.runs.run_table import Wanted, ended, priced
from dpcore.runs.store import Store
from dpcore.runs.supervision import recover_dead
from dpcore.runs.sweeps import all_released
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated

TOLD = {"delta": 1e-5, "examples": 60_000, "batch": 512, "sigma": 1.1}
Q = 512 / 60_000
ROOT = Path(__file__).parents[2]


@pytest.fixture
def follow(store: Store) -> Callable[..., Any]:
    """Begin to follow a run in the store; what is left open is finished."""

    def begin(name: str = "mine", **more: Any) -> Any:
        return dpcore.follow(name, home=store.home, **{**TOLD, **more})

    yield begin
    for each in list(run_module.open_runs):
        each.finish()


@pytest.fixture
def warned(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """The warnings so far."""
    caplog.set_level(logging.WARNING, "dpcore.follow")
    return lambda: [each.getMessage() for each in caplog.records]


def taken(run: Any, count: int, **told: Any) -> Any:
    for _ in range(count):
        run.step(**told)
    return run


def stored(store: Store, run: Any) -> Run:
    return store.run(run.id)


def until(holds: Callable[[], bool], within: float = 5.0) -> None:
    end = time.monotonic() + within
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


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


def test_what_is_logged_reaches_the_store(store, follow, warned):
    run = taken(follow(), 10)
    run.log({"train/loss": 0.5, "test/accuracy": 0.75, "test/loss": 0.6, "batch": 498})
    taken(run, 5).log({"train/accuracy": 0.9})
    run.finish()
    events = store.events(run.id)
    first, second = [each for each in events if isinstance(each, Logged)]
    assert first.values == {
        "train/loss": 0.5,
        "test/accuracy": 0.75,
        "test/loss": 0.6,
        "batch": 498.0,
    }
    assert (first.step, first.epoch, second.step) == (10, pytest.approx(10 * Q), 15)
    (test,) = [each for each in events if isinstance(each, Evaluated)]
    assert (test.step, test.accuracy, test.loss) == (10, 0.75, 0.6)
    assert warned() == []


class Tensor:
    """What the number of a tensor looks like."""

    def __init__(self, *values: float) -> None:
        self.values = values

    def item(self) -> float:
        if len(self.values) > 1:
            raise RuntimeError("a Tensor with 2 elements cannot be converted to Scalar")
        return self.values[0]


@pytest.mark.parametrize(
    ("logged", "kept", "said"),
    [
        ({"loss": math.nan, "other": 1.0}, {"other": 1.0}, "'loss' is nan after step 3"),
        ({"loss": Tensor(0.5)}, {"loss": 0.5}, "Log value.item()"),
        ({"loss": Tensor(0.5, 0.6)}, None, "'loss' is of type Tensor, not a number"),
        ({"loss": "low"}, None, "Log one number, such as value.mean().item()"),
        ({"privacy/epsilon": 0.1}, None, "since the run counts privacy/... itself"),
        ({"": 1.0}, None, "Name it in 1 to 80 letters"),
        ({7: 1.0}, None, "Name it in 1 to 80 letters"),
        ({"test/accuracy": 97.5}, {"test/accuracy": 97.5}, "Log a share from 0 to 1"),
        (0.7, None, "give numbers by name"),
    ],
)
def test_a_log_that_is_none_is_said_once_and_the_training_goes_on(
    store, follow, warned, logged, kept, said
):
    run = taken(follow(), 3)
    run.log(logged)
    run.log(logged)
    taken(run, 2).finish()
    (words,) = warned()
    assert words.startswith("dpcore.follow: run.log")
    assert said in words
    values = [each.values for each in store.events(run.id) if isinstance(each, Logged)]
    assert values == ([] if kept is None else [kept, kept])
    assert stored(store, run).done == 5


@pytest.mark.parametrize("q", [1.7, 0, -1, math.nan, "half"])
def test_an_impossible_rate_is_counted_as_everybody(store, follow, warned, q):
    run = taken(follow(), 4)
    taken(run, 2, q=q).finish()
    (words,) = warned()
    assert f"run.step(q={q!r})" in words
    assert "Give q = batch / examples." in words
    assert stored(store, run).plan.charged == (Release(Q, 1.1, 4), Release(1.0, 1.1, 2))


@pytest.mark.parametrize("sigma", [0, -1.0, math.nan, "loud", np.array([1.0, 2.0])])
def test_a_step_without_noise_leaves_no_epsilon(store, follow, warned, sigma):
    run = taken(follow(target_epsilon=3.0), 4)
    run.step(sigma=sigma)
    taken(run, 2, sigma=1.1).finish()
    (words,) = warned()
    assert f"run.step(sigma={sigma!r})" in words
    assert "Give the noise multiplier" in words
    assert run.would_exceed()
    assert run.steps_left() == 0
    assert math.isinf(run.epsilon().value)
    kept = stored(store, run)
    assert (kept.done, kept.plan.mechanism) == (7, None)
    assert kept.plan.unaccounted.startswith("Not private: step 5 was told without noise")
    assert all_released([kept]) is None


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"sigma": 0}, "Expected sigma=0 to be above 0."),
        ({"batch": None, "q": 1.7}, "Expected q=1.7 to be above 0 and at most 1."),
        ({"batch": 60_001}, "Expected batch=60001 to be at most examples=60000."),
        ({"q": 0.1}, "Give batch or q, not both"),
        ({"delta": 2}, "delta=2"),
        ({"delta": None}, "Give delta."),
        ({"examples": None}, "Give examples beside batch"),
        ({"sigma": None}, "Give sigma. A run needs delta, examples, batch (or q) and sigma"),
        ({"target_epsilon": -1}, "target_epsilon=-1"),
        ({"unit": " "}, "unit=' '"),
        ({"steps": 1.5}, "steps=1.5"),
        ({"id": "My run"}, "Expected id='My run' to be 1 to 32 small letters and digits."),
        ({"name": "x" * 200}, "name"),
    ],
)
def test_wrong_settings_are_refused_before_the_training(store, follow, told, said):
    with pytest.raises(ValueError, match=r"^dpcore\.follow: ") as refused:
        follow(**told)
    assert said in str(refused.value)
    assert store.runs(kind=None) == []


def test_a_run_goes_on_by_its_id_and_never_from_zero(store, follow, warned):
    run = taken(follow(id="mine1"), 40)
    assert "no run of" in warned()[-1]
    run.finish()
    again = taken(follow(id="mine1", sigma=0.8), 10)
    assert (again.steps, again.id) == (50, "mine1")
    assert stored(store, again).active
    again.finish()
    kept = stored(store, again)
    assert kept.plan.charged == (Release(Q, 1.1, 40), Release(Q, 0.8, 10))
    assert kept.status is Status.FINISHED
    assert len(warned()) == 1
    rest = dpcore.follow(id="mine1", home=store.home)  # the store has the settings
    assert (rest.steps, rest.request.delta, rest._sigma) == (50, 1e-5, 0.8)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"examples": 50_000}, "Expected examples=50000 to be 60000"),
        ({"delta": 1e-6}, "Expected delta=1e-06 to be 1e-05"),
        ({"unit": "person"}, "Expected unit='person' to be 'example'"),
    ],
)
def test_what_the_charge_means_does_not_change_in_the_middle(store, follow, changed, said):
    taken(follow(id="mine1"), 4).finish()
    with pytest.raises(ValueError, match="Leave out id= to begin a new run") as refused:
        follow(id="mine1", **changed)
    assert said in str(refused.value)
    assert stored(store, run=type("", (), {"id": "mine1"})).done == 4


def test_an_id_of_another_job_is_refused(store, follow):
    other = store.submit(RunConfig())
    with pytest.raises(ValueError, match=f"Run {other} is a job of kind training. Give another id"):
        follow(id=other)


def test_a_step_after_the_end_is_counted_and_the_run_goes_on(store, follow, warned):
    run = taken(follow(), 5)
    run.finish()
    run.finish()
    taken(run, 3)
    assert stored(store, run).active
    (words,) = warned()
    assert "run.step() after run.finish()" in words
    run.finish()
    assert (stored(store, run).done, stored(store, run).status) == (8, Status.FINISHED)


def test_the_context_says_how_it_ended(store, follow):
    with follow() as good:
        taken(good, 2)
    with pytest.raises(ZeroDivisionError), taken(follow(), 3) as bad:
        _ = 1 / 0
    with pytest.raises(KeyboardInterrupt), follow() as stopped:
        raise KeyboardInterrupt
    assert stored(store, good).status is Status.FINISHED
    assert (stored(store, bad).status, stored(store, bad).done) == (Status.FAILED, 3)
    assert stored(store, bad).error == "ZeroDivisionError: division by zero"
    assert stored(store, stopped).status is Status.CANCELLED


PROGRAM = """
import sys, time, dpcore
run = dpcore.follow("mine", delta=1e-5, examples=60_000, batch=512, sigma=1.1, id="mine1")
for _ in range(int(sys.argv[1])):
    run.step()
    time.sleep(0.001)
print(run.steps, flush=True)
{end}
"""


def program(store: Store, end: str, steps: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(end=end), str(steps)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "DPCORE_HOME": str(store.home), "PYTHONPATH": str(ROOT)},
    )


def test_a_killed_training_is_charged_for_all_that_it_may_have_taken(store, follow, warned):
    running = program(store, "while True: run.step(); time.sleep(0.001)", 300)
    assert running.stdout.readline() == "300\n"
    running.send_signal(signal.SIGKILL)
    running.communicate()
    recover_dead(store)
    kept = store.run("mine1")
    assert kept.status is Status.LOST
    assert kept.done >= 300
    again = follow(id="mine1")
    assert again.steps == kept.done
    (words,) = warned()
    assert "run mine1 had told" in words
    assert f"So {kept.done:,} are counted." in words
    taken(again, 5).finish()
    assert stored(store, again).done == kept.done + 5


def test_a_killed_training_goes_on_before_anybody_noticed(store, follow):
    running = program(store, "while True: time.sleep(1)", 100)
    assert running.stdout.readline() == "100\n"
    running.send_signal(signal.SIGKILL)
    running.communicate()
    assert store.run("mine1").active
    assert follow(id="mine1").steps >= 100


def test_two_processes_do_not_follow_one_run(store, follow):
    running = program(store, "time.sleep(60)", 20)
    try:
        assert running.stdout.readline() == "20\n"
        with pytest.raises(ValueError, match="Give each training an id of its own") as refused:
            follow(id="mine1")
        assert "let rank 0 alone have the run (rank=)" in str(refused.value)
    finally:
        running.kill()
        running.communicate()
    first = follow(id="mine2")
    with pytest.raises(ValueError, match="This process follows run mine2 already"):
        follow(id="mine2")
    assert first.steps == 0


@pytest.mark.parametrize(
    ("end", "status", "reason"),
    [
        ("", Status.LOST, "The program ended without run.finish()."),
        ("raise OSError('no more data')", Status.FAILED, "OSError: no more data"),
    ],
)
def test_a_program_that_ends_without_finish_is_charged_exactly(store, end, status, reason):
    program(store, end, 30).communicate()
    kept = store.run("mine1")
    assert (kept.status, kept.done, kept.error) == (status, 30, reason)


def test_other_ranks_count_alike_and_write_nothing(store, follow, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    other = taken(follow(target_epsilon=3.0), 10)
    assert store.runs(kind=None) == []
    assert (other.steps, other.id, other.would_exceed()) == (10, "", False)
    assert other.epsilon().value > 0
    other.log({"loss": 1.0})
    other.finish()
    monkeypatch.setenv("RANK", "0")
    first = follow(id="mine1")
    assert follow(id="mine1", rank=1).steps == first.steps == 0
    assert len(store.runs(kind=None)) == 1


def test_a_run_that_was_taken_for_dead_is_there_again(store, follow):
    run = taken(follow(), 10)
    store.recover(stored(store, run), "It was silent.")
    assert stored(store, run).status is Status.LOST
    taken(run, 100)
    until(lambda: stored(store, run).active)
    run.finish()
    assert (stored(store, run).done, stored(store, run).error) == (110, None)


def test_a_run_that_was_deleted_meanwhile_is_kept_again(store, follow):
    run = taken(follow(), 10)
    store.recover(stored(store, run), "It was silent.")
    with store.writing() as db:
        db.execute("DELETE FROM events WHERE run = ?", (run.id,))
        db.execute("DELETE FROM runs WHERE id = ?", (run.id,))
    taken(run, 100).finish()
    assert stored(store, run).done == 110


def test_a_store_that_fails_is_said_once_and_catches_up(store, follow, warned, monkeypatch):
    monkeypatch.setattr(writer_module, "RETRY_SECONDS", 0.05)
    run = taken(follow(), 5)
    write = run._kept.write

    def fail(written: Any) -> None:
        raise StoreError("Expected the run store to be on a disk with room left.")

    monkeypatch.setattr(run._kept, "write", fail)
    began = time.monotonic()
    for _ in range(500):
        run.step()
        run.log({"loss": 1.0})
    assert time.monotonic() - began < 2
    until(lambda: bool(warned()))
    (words,) = warned()
    assert "run.step: the run is counted in memory" in words
    assert "on a disk with room left" in words
    assert "resume with done= the steps" in words
    monkeypatch.setattr(run._kept, "write", write)
    until(lambda: stored(store, run).plan.steps > 505)
    run.finish()
    assert stored(store, run).done == 505
    assert sum(isinstance(each, Logged) for each in store.events(run.id)) == 500


def test_a_locked_store_stops_no_step(store, follow, warned):
    run = follow()
    holder = sqlite3.connect(store.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    taken(run, 1000)
    assert time.monotonic() - began < 4
    holder.rollback()
    holder.close()
    run.finish()
    assert stored(store, run).done == 1000
    assert len(warned()) == 1


def test_without_a_store_it_counts_in_memory(tmp_path, follow, warned):
    file = tmp_path / "file"
    file.write_text("no folder")
    run = taken(dpcore.follow("mine", home=file / "home", **TOLD, target_epsilon=3.0), 7)
    run.log({"loss": 1.0})
    assert (run.steps, run.would_exceed(), run.id) == (7, False, "")
    run.finish()
    (words,) = warned()
    assert "counted in memory" in words


def test_a_count_that_must_go_on_is_not_begun_without_its_store(tmp_path, warned):
    file = tmp_path / "file"
    file.write_text("no folder")
    with pytest.raises(StoreError, match="Or pass done= the steps that it took"):
        dpcore.follow("mine", home=file / "home", id="mine1", **TOLD)
    assert dpcore.follow("mine", home=file / "home", id="mine1", done=9, **TOLD).steps == 9


def test_a_store_of_a_newer_version_is_left_as_it_is(store, follow, warned):
    with store.writing() as db:
        db.execute("PRAGMA user_version = 999")
    run = taken(follow(), 3)
    assert run.steps == 3
    (words,) = warned()
    assert "it has 999" in words
    assert "name another place in DPCORE_HOME" in words
    with pytest.raises(StoreError, match="999"):
        follow(id="mine1")


def test_a_count_that_the_store_missed_can_be_told(store, follow):
    taken(follow(id="mine1"), 4).finish()
    run = follow(id="mine1", done=10)
    assert run.steps == 10
    run.finish()
    assert stored(store, run).plan.charged == (Release(Q, 1.1, 10),)
    assert follow(id="mine1", done=3).steps == 10


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


def test_choosing_among_followed_and_own_runs_costs_all_of_them(store, follow):
    one = taken(follow(), 30)
    one.finish()
    two = taken(follow(), 20, sigma=2.0)
    two.finish()
    cost = all_released([stored(store, one), stored(store, two)])
    assert set(cost.releases) == {Release(Q, 1.1, 30), Release(Q, 2.0, 20)}


def test_a_forked_process_leaves_the_run_to_its_parent(store, follow):
    run = taken(follow(), 3)
    child = os.fork()
    if not child:
        run.step()
        os._exit(0 if run.ended else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0
    taken(run, 2).finish()
    assert stored(store, run).done == 5


def test_nothing_heavy_is_loaded():
    code = """import sys, dpcore
dpcore.follow("mine", delta=1e-5, examples=100, batch=10, sigma=1.0, rank=1).step()
print([name for name in ("torch", "streamlit", "plotly", "opacus") if name in sys.modules])"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_the_worker_is_this_process(store, follow):
    assert stored(store, follow()).worker == worker_name(os.getpid())


def test_a_call_that_is_overtaken_lowers_no_charge(store, follow):
    first = taken(follow(id="x"), 100)
    first.finish()
    second = taken(follow(id="x"), 500)
    second.finish()
    assert stored(store, second).plan.steps == 600
    first.step()
    first.finish()
    assert stored(store, second).plan.steps == 600


def test_a_program_that_is_started_again_goes_on_with_the_dearer_settings(store, follow):
    run = taken(follow(id="x"), 10)
    run.step(sigma=0.6)
    run.finish()
    again = taken(follow(id="x"), 10)
    again.finish()
    drawn = stored(store, again).plan.drawn
    assert [(each.sigma, each.count) for each in drawn] == [(1.1, 10), (0.6, 11)]
    again = follow(id="x")
    again.step(sigma=1.1)  # told, so it is taken
    again.finish()
    assert [each.sigma for each in stored(store, again).plan.drawn] == [1.1, 0.6, 1.1]
