"""Shapes of examples and of their features; free of torch."""

Shape = tuple[int, ...]  # of one example: (channels, height, width) of an image, or (dimensions,)
MIXTURES = 192  # of the maps, at each place
MAPS = 1 + 2 * 8 + 8 * 8  # of a colour channel's scattering transform: without a wavelet, with one, with two
SCATTERED: dict[Shape, Shape] = {(1, 28, 28): (MAPS, 7, 7), (3, 32, 32): (3 * MAPS, 8, 8)}  # image -> transform


def scattered_shape(shape: Shape) -> Shape:
    """The shape of the scattering transform of images of a shape; ValueError for other images.

    >>> scattered_shape((1, 28, 28)), scattered_shape((3, 32, 32))
    ((81, 7, 7), (243, 8, 8))
    """
    if shape not in SCATTERED:
        taken = " or ".join(map(str, SCATTERED))
        raise ValueError(f"Expected shape={shape} of an image to be {taken}: channels, height and width.")
    return SCATTERED[shape]


def upright_shape(shape: Shape) -> Shape:
    """The shape of the scattering transform of grey images set upright; ValueError for other images.

    >>> upright_shape((1, 28, 28))
    (81, 7, 7)
    """
    if shape[0] != 1:
        raise ValueError(f"Expected shape={shape} of an image to have one channel: only grey images are set upright.")
    return scattered_shape(shape)


def mixed_shape(shape: Shape) -> Shape:
    """The shape of random mixtures of the maps of the scattering transform.

    >>> mixed_shape((3, 32, 32))
    (192, 8, 8)
    """
    return (MIXTURES, *scattered_shape(shape)[1:])
