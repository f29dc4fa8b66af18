"""The scattering transform in two layers of wavelets: what an image's details weigh, in places of four pixels.

Each layer is a convolution with wavelets and a modulus; what comes out of any layer is averaged by a Gaussian. Of J = 2
scales and L = 8 orientations there are 1 + 16 + 64 = 81 maps: the image itself, |x * psi_a| for each wavelet a, and
||x * psi_a| * psi_b| for each a of scale 0 and b of scale 1. An image is padded by reflection, then wrapped round.

Source: Bruna and Mallat 2013, arXiv 1203.1513, section 2; as features for private training Tramer and Boneh 2021,
arXiv 2011.11660, section 3.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from dpcore.training.features.filters import ORIENTATIONS, STEP, low_pass, wavelets
from dpcore.training.features.shapes import scattered_shape

PADDING = 4  # pixels, by reflection
LARGEST = 1.001  # what a pixel may be: copies that are turned or shifted round differently


def scattering(x: Tensor) -> Tensor:
    """The maps (B, 81 C, H / 4, W / 4) of images (B, C, H, W), float32 in [0, 1] or [-1, 1].

    For each colour channel: the averaged image, 16 maps of one wavelet (scale 0, then 1), 64 of two (orientations of
    the second one run fastest). **Guarantees:** an image's maps depend on nothing but the image; on one thread their
    bits are the same wherever it stands among as many others.
    Errors: ValueError for images of another shape or kind, and for a pixel that is no number within [-1, 1].

    >>> scattering(torch.full((1, 1, 28, 28), 0.5))[0, :2, 3, 3].abs() > 0.1
    tensor([ True, False])
    """
    maps = scattered_shape(x.shape[1:])
    if x.dtype != torch.float32:
        raise ValueError(f"Expected dtype={x.dtype} of the images to be torch.float32.")
    if not (x.abs() <= LARGEST).all():  # not so for NaN either
        raise ValueError("Expected every pixel of the images to be a number in [-1, 1].")
    images = F.pad(x.flatten(0, 1)[:, None], (PADDING,) * 4, mode="reflect")  # (B C, 1, N, N)
    fine, coarse = moduli(images, 0), moduli(images, 1)  # (B C, 8, N, N) and (B C, 8, N / 2, N / 2)
    twice = moduli(fine.flatten(0, 1)[:, None], 1).unflatten(0, fine.shape[:2]).flatten(1, 2)  # (B C, 64, N / 2, N / 2)
    places = [averaged(images, STEP), averaged(fine, STEP), averaged(coarse, STEP // 2), averaged(twice, STEP // 2)]
    return torch.cat(places, 1).view(len(x), *maps)


def moduli(x: Tensor, scale: int) -> Tensor:
    """|x * psi| for the wavelets of a scale j at each 2^j-th pixel: (M, 1, N, N) -> (M, 8, N / 2^j, N / 2^j)."""
    kernels = wavelets(scale)
    wrapped = F.pad(x, (kernels.shape[-1] // 2,) * 4, mode="circular")
    responses = F.conv2d(wrapped, kernels, stride=2**scale)
    real, imaginary = responses[:, :ORIENTATIONS], responses[:, ORIENTATIONS:]
    return real.square().addcmul_(imaginary, imaginary).sqrt_()


def averaged(x: Tensor, step: int) -> Tensor:
    """Each map under the low pass: (M, maps, N, N) -> (M, maps, N / step - 2, N / step - 2)."""
    rows = low_pass(x.shape[-1], step)
    return rows @ x @ rows.T
