"""Stop and resume: bit for bit the run that never stopped."""

import dataclasses
import errno
import json
import os
import re
import traceback
from typing import Any

import pytest
import torch

from dpcore.training import checkpoint, training_run
from dpcore.training.checkpoint_header import Label
from dpcore.training.events import Checkpointed, Finished, Started, Stepped, Unsaved
from dpcore.training.loop import train
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.randomness.streams import checkpoint_key
from dpcore.training.training_run import TrainingRun
from tests.training.small_runs import CNN, SMALL, of_both_suites, run_of, ticking

METHODS = {
    **{optimizer: {"optimizer": optimizer} for optimizer in OPTIMIZERS},
    "literal": {"optimizer": "pi_adam", "reading": "literal", "batch": 16},
    "sa": {"acceptance": "sa", "public": 500, "sa_q0": 1000.0},
    "averaged": {"ema": 0.9, "lr_schedule": "linear"},
    "scheduled": {"schedule": "exponential", "rate": 0.3, "level_steps": 2},
    "pca": {"model": "abadi", "pca": 20},
    "baseline": {"private": False},
}


def weights(run: TrainingRun, steps: range) -> torch.Tensor:
    for step in steps:
        with run.cores.working():
            run.step(step)
    return run.engine.parameters.clone()


@pytest.mark.parametrize("method", of_both_suites(METHODS, ("sgd", "pi_adam", "sa", "averaged")))
def test_a_resumed_run_is_bit_for_bit_the_one_that_never_stopped(method, tmp_path):
    config = dataclasses.replace(CNN if "pca" not in METHODS[method] else SMALL, **METHODS[method])
    whole = run_of(config)
    weights(whole, range(1, 4))
    checkpoint.save(whole, 3, tmp_path / "state.pt")
    expected = weights(whole, range(4, 7))
    resumed = run_of(config)
    assert checkpoint.resume(resumed, tmp_path / "state.pt") == 3
    assert torch.equal(weights(resumed, range(4, 7)), expected)
    ours, theirs = resumed.evaluated(6), whole.evaluated(6)
    assert (ours.accuracy, ours.loss, ours.averaged_accuracy) == (
        theirs.accuracy,
        theirs.loss,
        theirs.averaged_accuracy,
    )
    assert list(tmp_path.iterdir()) == [tmp_path / "state.pt"]


@pytest.mark.long
def test_a_run_on_a_full_disk_saves_again_is_resumed_and_ends_as_one_never_interrupted(
    tmp_path, monkeypatch
):
    config, file = dataclasses.replace(SMALL, epochs=0.5), tmp_path / "state.pt"  # 79 steps
    *_, whole = train(config, ticking(1.0), tmp_path / "other.pt")
    synced = iter([OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))])

    def fsync(_: int) -> None:
        if error := next(synced, None):
            raise error

    monkeypatch.setattr(os, "fsync", fsync)
    events, first = train(config, ticking(1.0), file), []
    while not any(isinstance(event, Unsaved) for event in first):
        first.append(next(events))
    assert first[-1] == Unsaved(first[-1].step, "No space left on device")
    assert list(tmp_path.glob("state*")) == []  # not half of it either
    while not isinstance(first[-1], Checkpointed):
        first.append(next(events))
    next(events)
    events.close()
    saved = first[-1].step
    rest = list(train(config, ticking(1.0), file))
    assert not any(isinstance(event, Started) for event in rest)
    assert next(event.step for event in rest if isinstance(event, Stepped)) == saved + 1
    assert isinstance(whole, Finished)
    assert isinstance(rest[-1], Finished)
    assert rest[-1].accuracy == whole.accuracy
    reported = [event.step for event in [*first, *rest] if isinstance(event, Stepped)]
    assert reported == sorted(set(reported))


def test_no_file_is_written_where_none_is_asked_for_or_the_run_is_short(tmp_path):
    assert not any(isinstance(event, Checkpointed) for event in train(SMALL, ticking(1.0)))
    list(train(SMALL, ticking(0.01), tmp_path / "state.pt"))
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_other_data_is_refused_by_name_and_nothing_of_it_is_taken_on(tmp_path):
    path = tmp_path / "state.pt"
    run = run_of(SMALL)
    weights(run, range(1, 3))
    checkpoint.save(run, 2, path)
    other = run_of(SMALL)
    other.fingerprint = "f" * 64
    before = checkpoint.snapshot(other)
    with pytest.raises(
        ValueError,
        match=rf"data=ffffffffffffffff\.\.\. to be {run.fingerprint[:16]}\.\.\., as where",
    ):
        checkpoint.resume(other, path)
    assert same(checkpoint.snapshot(other), before)


def changed(content: bytes, place: int) -> bytes:
    """One bit of a digit, which makes another digit of it."""
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def of_unknown_data(content: bytes) -> bytes:
    line, _, state = content.partition(b"\n")
    label = json.loads(line)
    del label["data"]
    return json.dumps(label).encode() + b"\n" + state


def with_digest(content: bytes, digest: object) -> bytes:
    line, _, state = content.partition(b"\n")
    return json.dumps(json.loads(line) | {"digest": digest}).encode() + b"\n" + state


def resealed(content: bytes, key: bytes) -> bytes:
    """The file with another weight, and with the digest that belongs to it by this key."""
    line, _, state = changed(content, len(content) // 2).partition(b"\n")
    label = Label(**json.loads(line)).sealed(state, key)
    return json.dumps(label._asdict()).encode() + b"\n" + state


DAMAGES = {
    "of unknown data": of_unknown_data,
    "without label": lambda content: content.partition(b"\n")[2],
    "cut short": lambda content: content[:-1000],
    "nonsense": lambda content: b"nonsense",
    "labelled nonsense": lambda content: content.partition(b"\n")[0] + b"\nnonsense",
    "another weight": lambda content: changed(content, len(content) // 2),
    "another step": lambda content: changed(content, content.index(b'"step": ') + len('"step": ')),
    "sealed without a key": lambda content: resealed(content, b""),
    "no text as digest": lambda content: with_digest(content, None),
}


def test_a_damaged_file_or_one_of_an_older_version_is_refused_in_our_own_words(tmp_path):
    path = tmp_path / "state.pt"
    checkpoint.save(run_of(SMALL), 0, path)
    whole = path.read_bytes()
    for name, damage in DAMAGES.items():
        path.write_bytes(damage(whole))
        with pytest.raises(
            ValueError, match=r"state\.pt to be a checkpoint, but it is damaged"
        ) as caught:
            next(train(SMALL, ticking(), path))
        told = "".join(traceback.format_exception(caught.value))
        assert "weights_only" not in str(caught.value), name
        assert "can do so" not in told, name  # torch advises to run the code of the file
        assert path.read_bytes() == damage(whole), name


def without_digest(content: bytes) -> bytes:
    line, _, state = content.partition(b"\n")
    label = json.loads(line)
    assert label.pop("digest")
    return json.dumps(label).encode() + b"\n" + state


def test_a_file_without_digest_as_of_an_older_version_is_refused_with_the_way_out(tmp_path):
    path = tmp_path / "state.pt"
    run = run_of(SMALL)
    weights(run, range(1, 3))
    checkpoint.save(run, 2, path)
    whole = path.read_bytes()
    for content in (without_digest(whole), with_digest(whole, "")):
        path.write_bytes(content)
        other = run_of(SMALL)
        before = checkpoint.snapshot(other)
        with pytest.raises(ValueError, match=r"to have a digest.*; start a new run instead"):
            checkpoint.resume(other, path)
        assert same(checkpoint.snapshot(other), before)


def test_a_changed_file_is_refused_whatever_key_sealed_it_but_the_runs_own(tmp_path):
    path, config = tmp_path / "state.pt", dataclasses.replace(SMALL, seed=None)
    run, same_run = (TrainingRun(config, ticking(), secret=7) for _ in range(2))
    checkpoint.save(run, 0, path)
    whole = path.read_bytes()
    assert checkpoint.resume(same_run, path) == 0
    for key in (b"", checkpoint_key(None), checkpoint_key(8), bytes(32)):
        path.write_bytes(resealed(whole, key))
        with pytest.raises(ValueError, match="to be a checkpoint, but it is damaged, changed or"):
            checkpoint.resume(same_run, path)
    path.write_bytes(resealed(whole, checkpoint_key(7)))
    assert checkpoint.resume(same_run, path) == 0


def test_the_state_is_on_the_disk_before_it_takes_the_place_of_the_last_one(tmp_path, monkeypatch):
    done, sync, replace = [], os.fsync, os.replace
    monkeypatch.setattr(
        os, "fsync", lambda file: done.append(("fsync", os.fstat(file).st_size)) or sync(file)
    )
    monkeypatch.setattr(
        os, "replace", lambda *paths: done.append(("replace", 0)) or replace(*paths)
    )
    checkpoint.save(run_of(SMALL), 0, tmp_path / "state.pt")
    assert done == [("fsync", (tmp_path / "state.pt").stat().st_size), ("replace", 0)]


def test_a_file_is_refused_where_weights_would_be_rounded_otherwise(tmp_path, monkeypatch):
    config = dataclasses.replace(SMALL, device="auto")
    run = run_of(config)
    checkpoint.save(run, 0, tmp_path / "state.pt")
    here = run.machine
    for name, way_out in {
        "threads": "OMP_NUM_THREADS=",
        "torch": "with torch ",
        "device": "",
    }.items():
        monkeypatch.setattr(training_run, "machine_of", lambda *_, name=name: here | {name: "7"})
        was = re.escape(here[name])
        with pytest.raises(
            ValueError, match=f"Expected {name}=7 to be {was}, as where .*{way_out}"
        ):
            next(train(config, ticking(), tmp_path / "state.pt"))


OTHERS = {  # of another form, and no stream
    "noise": lambda states: states[:-1],
    "optimizer": lambda states: states[:-1],
    "parameters": lambda vector: vector[:-1],
    "batches": lambda state: torch.full_like(state, 255),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_state_of_another_form_is_refused_and_nothing_of_it_is_taken_on(
    name, tmp_path, monkeypatch
):
    whole, path = run_of(SMALL), tmp_path / "state.pt"
    weights(whole, range(1, 3))
    values = checkpoint.snapshot(whole)
    values[name] = OTHERS[name](values[name])
    with monkeypatch.context() as patched:
        patched.setattr(checkpoint, "snapshot", lambda _: values)
        checkpoint.save(whole, 2, path)
    run = run_of(SMALL)
    before = checkpoint.snapshot(run)
    with pytest.raises(ValueError, match=r"state\.pt to be a checkpoint, but it is damaged"):
        checkpoint.resume(run, path)
    assert same(checkpoint.snapshot(run), before)


def same(one: Any, other: Any) -> bool:
    """True if two snapshots agree in every bit."""
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def test_a_sum_is_cut_as_it_was_where_memory_had_run_short(tmp_path):
    run = run_of(SMALL)
    run.engine.chunk = 8
    checkpoint.save(run, 0, tmp_path / "state.pt")
    resumed = run_of(SMALL)
    checkpoint.resume(resumed, tmp_path / "state.pt")
    assert resumed.engine.chunk == 8
