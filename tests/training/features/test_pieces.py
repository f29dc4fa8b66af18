"""Equal bits for any number of cores, neighbours and place; and views, which follow from pinned
matrices.
"""

import dataclasses
import math

import numpy as np
import pytest
import torch
from scipy import ndimage

from dpcore.data.loading import load
from dpcore.training.features import compute
from dpcore.training.features.compute import (
    ANGLE,
    GRID,
    SCALE,
    SHIFT,
    SIZE,
    compute_features,
    matrix,
    run_to_end,
    scaled,
    views_of,
)
from dpcore.training.features.kinds import KINDS
from dpcore.training.features.scattering import scattering
from dpcore.training.settings import MAX_VIEWS

SCATTER = KINDS["scatter"]


def images(count, name="mnist"):
    return load(name, "sample").train.images[:count]


def colours(count):
    return np.random.default_rng(6).integers(0, 256, (count, 3, 32, 32)).astype(np.uint8)


def computed(x, kind, views):
    return run_to_end(compute_features(x, kind, views))


def test_an_example_s_features_are_those_that_it_has_alone():
    for x, views in [(images(SIZE + 3), 2), (colours(3), 1)]:
        found = computed(x, SCATTER, views)
        for i in (1, len(x) - 1):
            assert torch.equal(computed(x[i : i + 1], SCATTER, views)[0], found[i]), (x, views)


def leaves_the_others_alone(kind, x):
    """True if an example that leaves changes no other example's features."""
    found = computed(x, kind, 1)
    # The others move up, one into another piece.
    without = computed(np.delete(x, 4, axis=0), kind, 1)
    return torch.equal(without, torch.cat([found[:4], found[5:]]))


def test_a_neighbour_who_leaves_changes_nobody_s_features():
    for name in KINDS:
        assert leaves_the_others_alone(KINDS[name], images(SIZE + 8)), name
    assert leaves_the_others_alone(KINDS["patches"], colours(SIZE + 8))


def test_a_transform_that_looks_at_other_examples_would_be_noticed():
    learned = dataclasses.replace(SCATTER, transform=lambda x: scattering(x) - x.mean() * 1e-2)
    assert not leaves_the_others_alone(learned, images(SIZE + 8))


def test_they_are_the_transform_of_each_view_in_half_precision():
    x = images(3)
    found = computed(x, SCATTER, 3)
    assert (found.shape, found.dtype) == ((3, 3, 81, 7, 7), torch.float16)
    scaled = torch.tensor(x)[:, None].float() / 255
    for view in range(3):
        expected = SCATTER.transform(compute.views_of(scaled, 3)[:, view])
        assert torch.allclose(found[:, view].float(), expected, rtol=1e-3, atol=1e-3)
    assert not torch.equal(found[:, 1], found[:, 2])
    assert torch.equal(found[:, :1], computed(x, SCATTER, 1))


def test_progress_ends_with_all_images_and_stopped_work_gives_the_threads_back(monkeypatch):
    monkeypatch.setattr(compute, "AT_ONCE", 1)
    x = images(2 * SIZE + 1)
    assert list(compute_features(x, SCATTER, 1, 1)) == [
        (done, len(x)) for done in (SIZE, 2 * SIZE, len(x))
    ]
    before, steps = torch.get_num_threads(), compute_features(x, SCATTER, 1)
    next(steps)
    steps.close()
    assert torch.get_num_threads() == before


PINNED = {  # of each view, in parts of 2^20
    1: [[1069310, -112784, 226957], [112784, 1069310, -1446930]],
    2: [[1044956, 118146, -1142545], [-118146, 1044956, 1287937]],
    3: [[1002562, 56870, 977284], [-56870, 1002562, 759304]],
}


def grey(count=3):
    return scaled(torch.tensor(load("mnist", "sample").train.images[:count]))


def colour(count=2):
    return torch.rand(count, 3, 32, 32, generator=torch.Generator().manual_seed(4)) * 2 - 1


@pytest.mark.parametrize("view", PINNED)
def test_the_matrices_are_those_of_every_machine_and_version(view):
    assert (matrix(view) * GRID).tolist() == PINNED[view]


def test_a_view_turns_scales_and_shifts_within_its_bounds():
    for view in range(1, MAX_VIEWS):
        (a, b, down), (c, d, right) = matrix(view)
        assert (a, b) == (d, -c), view  # a turn and a scale, nothing else
        assert abs(math.hypot(a, c) - 1) <= SCALE + 1e-6, view
        assert abs(math.atan2(c, a)) <= ANGLE + 1e-6, view
        assert max(abs(down), abs(right)) <= SHIFT, view


@pytest.mark.parametrize("images", [grey(), colour()], ids=["grey", "colour"])
def test_the_first_view_is_the_image_and_more_views_leave_the_others_as_they_are(images):
    many = views_of(images, 5)
    assert many.shape == (len(images), 5, *images.shape[1:])
    for count in (1, 2, 4):
        assert torch.equal(views_of(images, count), many[:, :count])
    assert torch.equal(many[:, 0], images)
    assert len({tuple(view.flatten().tolist()) for view in many[0]}) == 5


@pytest.mark.parametrize(
    ("images", "mode"), [(grey(), "grid-constant"), (colour(), "mirror")], ids=["grey", "colour"]
)
@pytest.mark.parametrize("view", [1, 2, 3, 9])
def test_a_view_is_the_image_under_its_matrix(images, mode, view):
    turn, shift = matrix(view)[:, :2], matrix(view)[:, 2]
    middle = (images.shape[-1] - 1) / 2
    offset = middle + shift - turn @ [middle, middle]
    for image, copy in zip(images, views_of(images, view + 1)[:, view], strict=True):
        for channel, found in zip(image.numpy(), copy.numpy(), strict=True):
            expected = ndimage.affine_transform(
                channel.astype(float), turn, offset, order=1, mode=mode
            )
            assert np.abs(found - expected).max() < 1e-5
