"""Kept features are those computed; two processes at once do no harm; damaged files are computed
again.
"""

import dataclasses
import errno
import os
import time

import numpy as np
import pytest
import torch

from dpcore.data.loading import Images, load
from dpcore.training.features import cache, compute, kinds
from dpcore.training.features.cache import HEADER, UNFINISHED_FOR, key_of, load_or_compute
from dpcore.training.features.compute import compute_features, run_to_end

SAMPLE = load("mnist", "sample").train
PART = Images(SAMPLE.images[:6], SAMPLE.labels[:6])


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """The parts whose features were computed, once for each time."""
    record = []

    def recording(*arguments):
        record.append(arguments)
        return compute_features(*arguments)

    monkeypatch.setattr(cache, "compute_features", recording)
    return record


def features(root, part=PART, views=1, **options):
    return run_to_end(load_or_compute(part, "scatter", views, root=root, **options))


def file_of(root):
    (file,) = (root / "features").iterdir()
    return file


def same(first, second):
    return torch.equal(first.values, second.values) and first.digest == second.digest


def test_they_are_computed_once_and_read_bit_for_bit(tmp_path, times):
    first = features(tmp_path, views=2)
    for again in (
        features(tmp_path, views=2),
        features(tmp_path, Images(PART.images.copy(), PART.labels.copy()), 2),
    ):
        assert same(again, first)
        assert again.values.dtype == torch.float16
        assert again.note == ""
    assert len(times) == 1
    assert first.values.shape == (6, 2, 81, 7, 7)
    assert file_of(tmp_path).stat().st_size == HEADER + first.values.numel() * 2


@pytest.mark.parametrize("cores", [1, 2, 3])
def test_kept_or_not_and_on_any_number_of_cores_the_bits_are_the_same(tmp_path, cores):
    part = Images(SAMPLE.images[:70], SAMPLE.labels[:70])
    expected = run_to_end(compute_features(part.images, kinds.KINDS["scatter"], 1, 1))
    first, again = features(tmp_path, part, cores=cores), features(tmp_path, part)
    assert torch.equal(first.values, expected)
    assert same(again, first)


def test_other_examples_views_versions_and_machines_have_files_of_their_own(
    tmp_path, times, monkeypatch
):
    changed = PART.images.copy()
    changed[3, 14, 14] ^= 1
    features(tmp_path)
    features(tmp_path, views=2)
    features(tmp_path, Images(changed, PART.labels))
    features(tmp_path, Images(PART.images[:5], PART.labels[:5]))
    with monkeypatch.context() as patch:
        patch.setattr(cache, "machine_of", lambda device, threads: {"torch": "another"})
        features(tmp_path)
    newer = dataclasses.replace(kinds.KINDS["scatter"], version=2)
    monkeypatch.setitem(kinds.KINDS, "scatter", newer)
    features(tmp_path)
    assert len(times) == len(list((tmp_path / "features").iterdir())) == 6


def truncate(file):
    os.truncate(file, file.stat().st_size - 1)


def flip(file, place=HEADER + 777):
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)


def relabel(file, name="version"):
    """A header that says another version, above numbers whose hash is right."""
    content, said = file.read_bytes(), f'"{name}": 1'.encode()
    assert content.count(said) == 1
    file.write_bytes(content.replace(said, f'"{name}": 0'.encode()))


DAMAGES = {
    "cut": truncate,
    "empty": lambda file: file.write_bytes(b""),
    "longer": lambda file: file.write_bytes(file.read_bytes() + b"\0"),
    "a bit of the numbers": flip,
    "a bit of the header": lambda file: flip(file, 30),
    "of another version": relabel,
    "in another format": lambda file: relabel(file, "format"),
    "foreign": lambda file: file.write_bytes(os.urandom(file.stat().st_size)),
}


def test_a_file_that_is_not_what_was_written_is_computed_again_and_replaced(tmp_path, times):
    first = features(tmp_path)
    file = file_of(tmp_path)
    whole = file.read_bytes()
    for count, (name, damage) in enumerate(DAMAGES.items(), 2):
        damage(file)
        assert file.read_bytes() != whole, name
        assert same(features(tmp_path), first), name
        assert len(times) == count, name
        assert file_of(tmp_path).read_bytes() == whole, name


def test_on_a_full_disk_they_are_used_and_half_a_file_is_not_left(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        found = features(tmp_path)
    assert found.note.endswith("[Errno 28] No space left on device.")
    assert list((tmp_path / "features").iterdir()) == []
    assert same(features(tmp_path), found)


def test_those_used_the_longest_ago_make_room(tmp_path, monkeypatch):
    parts = [Images(SAMPLE.images[i : i + 6], SAMPLE.labels[i : i + 6]) for i in range(4)]
    names = [key_of(part, "scatter", 1).name for part in parts]
    monkeypatch.setattr(cache, "MAX_BYTES", int(2.5 * (HEADER + key_of(PART, "scatter", 1).size)))
    for age, part in ((300, parts[0]), (200, parts[1])):
        features(tmp_path, part)
        os.utime(tmp_path / "features" / key_of(part, "scatter", 1).name, (time.time() - age,) * 2)
    features(tmp_path, parts[0])  # read: now the other one is older
    features(tmp_path, parts[2])
    assert {file.name for file in (tmp_path / "features").iterdir()} == {names[0], names[2]}


def test_what_was_never_finished_is_removed_when_it_is_old(tmp_path):
    folder = tmp_path / "features"
    folder.mkdir()
    for name, age in (("old", UNFINISHED_FOR + 60), ("new", 60)):
        file = folder / f".{name}.part"
        file.write_bytes(b"half")
        os.utime(file, (time.time() - age,) * 2)
    features(tmp_path)
    assert {file.name for file in folder.glob(".*")} == {".new.part"}


def test_images_of_another_size_or_number_of_channels_are_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(
        ValueError, match=r"Expected shape=\(4, 32, 32\) of an image to be 1 or 3 channels"
    ):
        features(tmp_path, Images(np.zeros((6, 4, 32, 32), np.uint8), PART.labels))
    with pytest.raises(
        ValueError, match=r"Expected shape=\(1, 28, 28\) of a grey image to be its height and width"
    ):
        # Whose scale would be that of colours.
        features(tmp_path, Images(PART.images[:, None], PART.labels))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ended", ["finished", "stopped", "failed"])
def test_of_two_at_once_each_computes_the_same_bits_and_one_file_stays(
    tmp_path, times, monkeypatch, ended
):
    monkeypatch.setattr(compute, "AT_ONCE", 1)
    many = Images(SAMPLE.images[:70], SAMPLE.labels[:70])  # three pieces
    first, second = (load_or_compute(many, "scatter", 1, cores=1, root=tmp_path) for _ in range(2))
    assert next(first) == next(second) == (32, 70)
    if ended == "stopped":
        first.close()
    elif ended == "failed":
        with pytest.raises(MemoryError):
            first.throw(MemoryError)
    else:
        assert run_to_end(first).note == ""
    found = run_to_end(second)
    assert found.note == ""
    assert len(times) == 2
    assert file_of(tmp_path).stat().st_size == HEADER + found.values.numel() * 2
    assert same(features(tmp_path, many), found)
    assert len(times) == 2


def test_a_file_that_another_process_removes_or_renames_meanwhile_does_no_harm(
    tmp_path, monkeypatch
):
    listed = cache.Path.glob

    def stale(folder, pattern):
        return [folder / pattern.replace("*", "gone"), *listed(folder, pattern)]

    monkeypatch.setattr(cache.Path, "glob", stale)
    assert features(tmp_path).note == ""
    assert file_of(tmp_path).suffix == ".features"
