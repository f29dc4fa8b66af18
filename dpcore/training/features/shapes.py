"""Shapes of examples and of their features; free of torch."""

Shape = tuple[int, ...]  # of one example: (channels, height, width) of an image, or (dimensions,)
SIDES = range(8, 65)  # pixels of an image along each axis
# Of a colour channel's scattering transform: without a wavelet, with one, with two.
MAPS = 1 + 2 * 8 + 8 * 8
MIXTURES = 192  # random ones, of the maps
FILTERS = 96  # random ones, of the pixels
# Whitened filters of each of three sizes, and mixtures of their answers.
WHITENED = 128
SECOND = 512


def scattered_shape(shape: Shape, maps: int = 0, *, grey: bool = False, step: int = 4) -> Shape:
    """The shape of the scattering transform of an image, or of so many `maps` of it; ValueError for
    other examples.

    >>> scattered_shape((1, 28, 28)), scattered_shape((3, 32, 30), 192)
    ((81, 7, 7), (192, 8, 8))
    """
    if len(shape) != 3 or shape[0] not in (1, 3) or not all(side in SIDES for side in shape[1:]):
        taken = f"1 or 3 channels, and height and width from {SIDES[0]} to {SIDES[-1]}"
        raise ValueError(f"Expected shape={tuple(shape)} of an image to be {taken}.")
    if grey and shape[0] != 1:
        raise ValueError(
            f"Expected shape={shape} of an image to have one channel: only grey images are set"
            " upright."
        )
    return (maps or MAPS * shape[0], *(-(-side // step) for side in shape[1:]))
