"""Two that want the same features at once: one computes, the other waits, and nobody waits for nothing."""

import errno
import fcntl
import os
import subprocess
import sys

import pytest
import torch

from dpcore.data.loading import Images, load
from dpcore.training.features import pieces, turn
from dpcore.training.features.cache import finding
from dpcore.training.features.pieces import drained

SAMPLE = load("mnist", "sample").train
PART = Images(SAMPLE.images[:70], SAMPLE.labels[:70])  # three pieces
FIRST = (32, 70)  # what is said of the first piece
OTHER = """
import sys
from pathlib import Path
from dpcore.data.loading import Images, load
from dpcore.training.features import pieces
from dpcore.training.features.cache import finding

pieces.AT_ONCE = 1
sample = load("mnist", "sample").train
steps = finding(Images(sample.images[:70], sample.labels[:70]), "scatter", 1, cores=1, root=Path(sys.argv[1]))
print(next(steps), flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """A word after each piece, and many looks at whether the turn has come."""
    monkeypatch.setattr(pieces, "AT_ONCE", 1)
    monkeypatch.setattr(turn, "LOOK", 0.01)


def begun(root):
    """The features, some at a time."""
    return finding(PART, "scatter", 1, cores=1, root=root)


def features(root):
    return drained(begun(root), lambda done, total: None)


def names(root):
    return [file.name.rpartition(".")[2] for file in (root / "features").iterdir()]


def same(first, second):
    return torch.equal(first.values, second.values) and first.digest == second.digest


def test_of_two_one_computes_and_the_other_says_how_far_it_is(tmp_path, times):
    steps, waiting = begun(tmp_path), begun(tmp_path)
    assert next(steps) == next(waiting) == FIRST
    first = drained(steps, lambda done, total: None)
    assert same(drained(waiting, lambda done, total: None), first)
    assert len(times) == 1
    assert names(tmp_path) == ["features"]


def test_a_process_is_waited_for_and_when_it_is_killed_no_more(tmp_path, times):
    waiting = begun(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", OTHER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == f"{FIRST}\n"
        assert next(waiting) == FIRST
        assert times == []
        other.kill()
    assert drained(waiting, lambda done, total: None).note == ""
    assert len(times) == 1
    assert names(tmp_path) == ["features"]


@pytest.mark.parametrize("ended", ["stopped", "failed"])
def test_whoever_ends_before_the_features_are_there_leaves_the_turn_to_the_next(tmp_path, times, ended):
    steps, waiting = begun(tmp_path), begun(tmp_path)
    assert next(steps) == next(waiting) == FIRST
    if ended == "stopped":
        steps.close()
    else:
        with pytest.raises(MemoryError):
            steps.throw(MemoryError)
    assert next(waiting) == FIRST
    assert len(times) == 2
    assert drained(waiting, lambda done, total: None).note == ""
    assert names(tmp_path) == ["features"]


def test_where_there_is_no_lock_to_be_had_they_are_computed_all_the_same(tmp_path, times, monkeypatch):
    def fail(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    expected = features(tmp_path / "elsewhere")
    for place, name in ((turn, "open"), (fcntl, "flock"), (turn.Path, "unlink")):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, fail, raising=False)
            assert same(features(tmp_path / name), expected), name
        assert same(features(tmp_path / name), expected), name  # kept as ever
    assert len(times) == 4
