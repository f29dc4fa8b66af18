"""Images set upright: no slant is left, a sheared image loses its shear, and each image has a say in itself alone."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from dpcore.data.loading import load
from dpcore.training.features.kinds import kind_of, scatter
from dpcore.training.features.pixels import scaled
from dpcore.training.features.upright import slants, upright

SEEN = scaled(torch.tensor(load("mnist", "sample").train.images[:200]))


def slant_of(image: NDArray[np.float64]) -> float:
    """The least-squares slope of columns on rows, each pixel weighted by its grey, by a solver of linear equations."""
    rows, columns = np.mgrid[: image.shape[0], : image.shape[1]].astype(float)
    weights = np.sqrt(image.ravel())
    equations = np.stack([rows.ravel(), np.ones(image.size)], 1) * weights[:, None]
    return float(np.linalg.lstsq(equations, columns.ravel() * weights, rcond=None)[0][0])


def sheared(image: NDArray[np.float64], slope: float, middle: float) -> NDArray[np.float64]:
    """Every row shifted along itself, pixel by pixel, as one would by hand."""
    height, width = image.shape
    new = np.zeros_like(image)
    for row in range(height):
        for column in range(width):
            place = column + slope * (row - middle)
            below = int(np.floor(place))
            for beside, weight in ((below, below + 1 - place), (below + 1, place - below)):
                if 0 <= beside < width:
                    new[row, column] += weight * image[row, beside]
    return new


def test_the_slant_is_the_slope_of_columns_on_rows() -> None:
    found = slants(SEEN[:, 0])[0]
    expected = [slant_of(image) for image in SEEN[:, 0].double().numpy()]
    np.testing.assert_allclose(found.numpy(), np.clip(expected, -1, 1), atol=1e-6)
    assert np.std(expected) > 0.1, "digits are written at a slant"


def test_rows_are_shifted_as_by_hand() -> None:
    slopes, middles = slants(SEEN[:10, 0])
    for image, new, slope, middle in zip(SEEN[:10, 0], upright(SEEN[:10])[:, 0], slopes, middles, strict=True):
        by_hand = sheared(image.double().numpy(), slope.item(), middle.item())
        np.testing.assert_allclose(new.numpy(), by_hand, atol=1e-5)


def test_a_blank_image_stays_blank() -> None:
    assert torch.equal(upright(torch.zeros(2, 1, 28, 28)), torch.zeros(2, 1, 28, 28))


def test_the_kind_is_the_scattering_of_the_upright_image_and_takes_no_colour() -> None:
    kind = kind_of("scatter_upright")
    assert torch.equal(kind.transform(SEEN[:3]), scatter(upright(SEEN[:3])))
    with pytest.raises(ValueError, match="one channel"):
        kind.shape_of((3, 32, 32))
    with pytest.raises(ValueError, match="grey ones"):
        upright(torch.zeros(1, 3, 32, 32))
