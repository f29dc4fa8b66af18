"""Views are the same everywhere: their matrices are pinned, and what they do to an image follows from the matrix."""

import math

import numpy as np
import pytest
import torch
from scipy import ndimage

from dpcore.data.loading import load
from dpcore.training.features import views as module
from dpcore.training.features.pixels import scaled
from dpcore.training.features.views import ANGLE, GRID, SCALE, SHIFT, matrix, views_of

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
    for view in range(1, module.MOST):
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


@pytest.mark.parametrize(("images", "mode"), [(grey(), "grid-constant"), (colour(), "mirror")], ids=["grey", "colour"])
@pytest.mark.parametrize("view", [1, 2, 3, 9])
def test_a_view_is_the_image_under_its_matrix(images, mode, view):
    turn, shift = matrix(view)[:, :2], matrix(view)[:, 2]
    middle = (images.shape[-1] - 1) / 2
    offset = middle + shift - turn @ [middle, middle]
    for image, copy in zip(images, views_of(images, view + 1)[:, view], strict=True):
        for channel, found in zip(image.numpy(), copy.numpy(), strict=True):
            expected = ndimage.affine_transform(channel.astype(float), turn, offset, order=1, mode=mode)
            assert np.abs(found - expected).max() < 1e-5


def test_a_number_of_views_that_there_are_not_is_refused():
    for count in [0, -1, 17, 1.5, True]:
        with pytest.raises(
            ValueError, match=f"Expected count={count} to be a whole number of at least 1 and at most 16"
        ):
            views_of(grey(1), count)
