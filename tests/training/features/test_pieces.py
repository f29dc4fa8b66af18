"""The same bits for any number of cores, any neighbours and any place: what a run that is taken up again relies on."""

import dataclasses

import numpy as np
import pytest
import torch

from dpcore.data.loading import load
from dpcore.training.features import pieces
from dpcore.training.features.kinds import KINDS, kind_of
from dpcore.training.features.pieces import SIZE, computed
from dpcore.training.features.scattering import scattering

SCATTER = kind_of("scatter")


def images(count, name="mnist"):
    return load(name, "sample").train.images[:count]


def colours(count):
    return np.random.default_rng(6).integers(0, 256, (count, 3, 32, 32)).astype(np.uint8)


def silent(done, total):
    pass


def test_an_example_s_features_are_those_that_it_has_alone():
    for x, views in [(images(SIZE + 3), 2), (colours(3), 1)]:
        found = computed(x, SCATTER, views, silent)
        for i in (1, len(x) - 1):
            assert torch.equal(computed(x[i : i + 1], SCATTER, views, silent)[0], found[i]), (x, views)


def leaves_the_others_alone(kind):
    """Whether an example that leaves changes nobody's features."""
    x = images(SIZE + 8)
    found = computed(x, kind, 1, silent)
    without = computed(np.delete(x, 4, axis=0), kind, 1, silent)  # the others move up, one into another piece
    return torch.equal(without, torch.cat([found[:4], found[5:]]))


def test_a_neighbour_who_leaves_changes_nobody_s_features():
    for name in KINDS:
        assert leaves_the_others_alone(KINDS[name]), name


def by_batch(x):
    """What batch normalisation does: its statistics are of all images that come at once."""
    return torch.nn.functional.batch_norm(scattering(x), None, None, training=True)


def centred(x):
    return scattering(x) - x.mean() * 1e-2


def test_a_transform_that_looks_at_other_examples_would_be_noticed():
    for learned in [by_batch, centred]:
        assert not leaves_the_others_alone(dataclasses.replace(SCATTER, transform=learned)), learned


def test_they_are_the_transform_of_each_view_in_half_precision():
    x = images(3)
    found = computed(x, SCATTER, 3, silent)
    assert (found.shape, found.dtype) == ((3, 3, 81, 7, 7), torch.float16)
    scaled = torch.tensor(x)[:, None].float() / 255
    for view in range(3):
        expected = SCATTER.transform(pieces.views_of(scaled, 3)[:, view])
        assert torch.allclose(found[:, view].float(), expected, rtol=1e-3, atol=1e-3)
    assert not torch.equal(found[:, 1], found[:, 2])
    assert torch.equal(found[:, :1], computed(x, SCATTER, 1, silent))


def test_progress_ends_with_all_images_and_what_it_raises_ends_the_work(monkeypatch):
    monkeypatch.setattr(pieces, "AT_ONCE", 1)
    said, x = [], images(2 * SIZE + 1)
    computed(x, SCATTER, 1, lambda *each: said.append(each), cores=1)
    assert said == [(SIZE, len(x)), (2 * SIZE, len(x)), (len(x), len(x))]

    def stop(done, total):
        raise InterruptedError("enough")

    before = torch.get_num_threads()
    with pytest.raises(InterruptedError, match="enough"):
        computed(x, SCATTER, 1, stop)
    assert torch.get_num_threads() == before
