"""A followed training that was interrupted, or that several processes have, counts on."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import dpcore
from dpcore.privacy.mechanism import Release
from dpcore.runs.record import Status, worker_name
from dpcore.runs.store import Store
from dpcore.runs.supervision import recover_dead
from dpcore.training.config import RunConfig
from tests.runs.followed.telling import ROOT, Q, stored, taken


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


def test_other_ranks_count_alike_and_write_nothing(store, follow, warned, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    other = taken(follow(target_epsilon=3.0), 10)
    (words,) = warned()
    assert "not the first of its training (RANK=1)" in words
    assert "counted in memory, and nothing of it is stored" in words
    assert "pass rank=0" in words
    assert store.runs(kind=None) == []
    assert (other.steps, other.id, other.would_exceed()) == (10, "", False)
    assert other.epsilon().value > 0
    other.log({"loss": 1.0})
    other.finish()
    monkeypatch.setenv("RANK", "0")
    first = follow(id="mine1")
    assert follow(id="mine1", rank=1).steps == first.steps == 0
    assert len(store.runs(kind=None)) == 1


def test_a_count_that_the_store_missed_can_be_told(store, follow):
    taken(follow(id="mine1"), 4).finish()
    run = follow(id="mine1", done=10)
    assert run.steps == 10
    run.finish()
    assert stored(store, run).plan.charged == (Release(Q, 1.1, 10),)
    assert follow(id="mine1", done=3).steps == 10


def test_a_forked_process_leaves_the_run_to_its_parent_and_says_so(store, follow, warned):
    run = taken(follow(), 3)
    child = os.fork()
    if not child:
        run.log({"loss": 1.0})
        taken(run, 3)
        said = [each for each in warned() if "forked from the one that follows" in each]
        told = len(said) == 1 and "dpcore.follow in this process" in said[0]
        os._exit(0 if run.ended and run.steps == 6 and told else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert warned() == []
    taken(run, 2).finish()
    assert stored(store, run).done == 5


def test_numbers_of_numpy_are_stored(store, follow, warned):
    told = {"examples": np.int64(60_000), "sigma": np.float32(1.5), "batch": np.int32(600)}
    taken(run := follow(**told), 3).finish()
    assert stored(store, run).plan.charged == (Release(0.01, 1.5, 3),)
    assert warned() == []


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
