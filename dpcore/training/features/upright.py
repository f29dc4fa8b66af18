"""Grey images set upright, each by itself: what is sheared loses its slant.

Each row is shifted along itself, in proportion to its distance from the middle of the grey, until rows and columns of
the grey are uncorrelated: the shear is the least-squares slope of columns on rows. Nothing is learned, and no image has
a say in another's.

Source: the deslanted images of LeCun, Bottou, Bengio and Haffner 1998, "Gradient-based learning applied to document
recognition", section III: a shear by the image's own moments of inertia.
"""

import torch
from torch import Tensor

STEEPEST = 1.0  # columns that a row is shifted by for each row from the middle, at most
SPREAD = 1e-3  # the least variance of rows, in rows squared, that a slope is divided by: a thin line has no slant


def upright(images: Tensor) -> Tensor:
    """Images (B, 1, H, W) with their slant taken off; what comes in is 0, and a blank image stays as it is.

    A pixel between two others of its row is their weighted mean. Errors: ValueError for images in colour.
    """
    if images.dim() != 4 or images.shape[1] != 1:
        raise ValueError(f"Expected shape={tuple(images.shape)} of images to be (B, 1, H, W): grey ones.")
    rows = images[:, 0]
    slope, middle = slants(rows)
    height, width = rows.shape[1:]
    away = torch.arange(height, dtype=torch.float64) - middle[:, None]  # (B, H)
    shift = slope[:, None] * away
    whole = shift.floor()
    between = (shift - whole).float()[..., None]
    places = torch.arange(width) + whole.long()[..., None]  # (B, H, W): the pixel on the left
    return torch.lerp(taken(rows, places), taken(rows, places + 1), between)[:, None]


def slants(rows: Tensor) -> tuple[Tensor, Tensor]:
    """By how many columns the grey of images (B, H, W) moves for each row, and its middle row: (B,) in float64.

    >>> diagonal = torch.eye(5)[None]
    >>> [round(each.item(), 3) for each in slants(diagonal)]
    [1.0, 2.0]
    """
    grey = rows.double()
    down, right = (torch.arange(size, dtype=torch.float64) for size in rows.shape[1:])
    mass = grey.sum((1, 2)).clamp(min=1e-6)
    middle_row = (grey.sum(2) * down).sum(1) / mass
    middle_column = (grey.sum(1) * right).sum(1) / mass
    from_row, from_column = down - middle_row[:, None], right - middle_column[:, None]
    spread = (grey.sum(2) * from_row.square()).sum(1) / mass
    together = (grey * from_row[:, :, None] * from_column[:, None]).sum((1, 2)) / mass
    return (together / spread.clamp(min=SPREAD)).clamp(-STEEPEST, STEEPEST), middle_row


def taken(rows: Tensor, places: Tensor) -> Tensor:
    """The pixels of each row at places (B, H, W) along it, 0 outside."""
    width = rows.shape[2]
    inside = (places >= 0) & (places < width)
    return rows.gather(2, places.clamp(0, width - 1)) * inside
