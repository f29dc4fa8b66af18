"""python -m dpcore runs resume: the rest of a run that ended early, under a new id."""

import dataclasses
import os
from pathlib import Path

import pytest

from dpcore.__main__ import main
from dpcore.commands.train import closing
from dpcore.runs.record import Status, checkpoint_path, worker_name
from dpcore.runs.resume import rest_of
from dpcore.runs.store import Store
from dpcore.training import checkpoint, progress, training_run
from dpcore.training.config import RunConfig
from dpcore.training.events import Checkpointed, Event, Finished, Started
from dpcore.training.loop import train

CONFIG = RunConfig(
    seed=0, model="mlp", batch=64, clip_norm=0.5, lr=0.2, epochs=0.08, ema=0.5, device="cpu"
)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A store of its own, and a checkpoint with every evaluation, of which there is one after every
    step.
    """
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(progress, "SAVE_SECONDS", 0.0)
    monkeypatch.setattr(progress, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(progress, "EVALUATE_SECONDS", 0.0)
    monkeypatch.setattr(progress, "EVALUATION_SHARE", 1.0)


def cut_off(store: Store, status: Status, saved: bool = True) -> tuple[str, list[Event]]:
    """A run that ended two events after a checkpoint; all its events."""
    run = store.submit(CONFIG, "a name", worker_name(os.getpid()))
    told: list[Event] = []
    events = train(CONFIG, file=checkpoint_path(store.home, run) if saved else None)
    while len(told) < 12 or (
        saved and not any(isinstance(event, Checkpointed) for event in told[-3:-2])
    ):
        told.append(next(events))
        store.append(run, told[-1])
    store.end(run, status)
    return run, told


def test_the_new_run_has_the_events_until_the_checkpoint_and_ends_as_the_whole_run_would(capsys):
    *_, uninterrupted = train(CONFIG)
    assert isinstance(uninterrupted, Finished)
    with Store() as store:
        run, before = cut_off(store, Status.FAILED)
        assert main(["runs", "resume", run]) == 0
        newest, oldest = store.runs()
        events = store.events(newest.id)
    assert (oldest.id, oldest.status) == (run, Status.FAILED)
    assert (newest.status, newest.config, newest.name) == (Status.FINISHED, CONFIG, "a name")
    assert not checkpoint_path(store.home, newest.id).exists()

    saved = [place for place, event in enumerate(before) if isinstance(event, Checkpointed)]
    kept = saved[-1] + 1
    assert events[:kept] == before[:kept]
    assert sum(isinstance(event, Started) for event in events) == 1
    last = events[-1]
    assert isinstance(last, Finished)
    assert dataclasses.replace(last, seconds=uninterrupted.seconds) == uninterrupted

    printed = capsys.readouterr()
    assert printed.out.splitlines()[-3:] == closing([CONFIG], [uninterrupted])
    assert "The seed is fixed (0)" in printed.out.splitlines()[-2]
    assert f"Recorded as run {newest.id}." in printed.err


def test_where_nothing_was_saved_it_begins_anew_and_one_that_finished_or_goes_on_is_refused(capsys):
    with Store() as store:
        run, _ = cut_off(store, Status.LOST, saved=False)
        with rest_of(store, run) as rest, store.writing() as db:
            rest.add_run(db, worker_name(os.getpid()))
        new = rest.id
        assert store.events(new) == []
        for status in (Status.RUNNING, Status.FINISHED):
            if status is Status.FINISHED:
                store.end(new, status)
            assert main(["runs", "resume", new]) == 2
            assert (
                f"Run {new} is {status}; only a run that ended early can be resumed"
                in capsys.readouterr().err
            )
            assert len(store.runs()) == 2


def files(store: Store) -> list[Path]:
    return sorted((store.home / "checkpoints").iterdir())


@pytest.mark.parametrize("damage", ["nonsense", "cut short", "elsewhere"])
def test_a_checkpoint_that_cannot_be_used_is_one_line_and_leaves_nothing_behind(
    damage, capsys, monkeypatch
):
    with Store() as store:
        run, _ = cut_off(store, Status.LOST)
        path = checkpoint_path(store.home, run)
        if damage == "elsewhere":
            elsewhere = {"device": "cpu (X)", "threads": "1", "torch": "1"}
            monkeypatch.setattr(training_run, "machine_of", lambda device, threads: elsewhere)
        else:
            path.write_bytes(b"nonsense" if damage == "nonsense" else path.read_bytes()[:-1000])
        left = path.read_bytes()
        assert main(["runs", "resume", run]) == 2
        out, err = capsys.readouterr()
        assert len(store.runs()) == 1
        assert files(store) == [path]
    assert path.read_bytes() == left
    assert out == ""
    assert len(err.splitlines()) == 1
    assert str(path) in err
    assert "weights_only" not in err


def test_an_error_before_the_first_step_fails_the_rest_which_keeps_its_checkpoint(
    capsys, monkeypatch
):
    with Store() as store:
        run, _ = cut_off(store, Status.LOST)
        monkeypatch.setattr(checkpoint, "resume", lambda *_: 1 / 0)
        assert main(["runs", "resume", run]) == 1
        assert (
            capsys.readouterr().err.splitlines()[-1]
            == "dpcore: ZeroDivisionError: division by zero"
        )
        failed = store.runs()[0]
        assert failed.status is Status.FAILED
        assert files(store) == sorted(
            checkpoint_path(store.home, each) for each in (run, failed.id)
        )
