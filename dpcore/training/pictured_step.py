"""A private step of the simplest network, a linear layer that begins at zero, computed so that it can be drawn.

At zero every one of K classes has probability 1/K. The gradient of an example x with label y at the weights of class k
is then (1/K - [k = y]) x: an image. Its clipped sum and the noise on it are images, too.
Source: Abadi et al. 2016, arXiv 1607.00133, Algorithm 1.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dpcore.data.catalogue import DATASETS
from dpcore.data.loading import load
from dpcore.privacy.mechanism import FloatArray

SEED = 20160701
SHOWN = 6  # examples of the batch
PIXEL = 255.0  # the largest value of a byte


class PicturedStep(NamedTuple):
    """A step on the bundled sample; images are rows of d pixels."""

    examples: FloatArray  # (m, d) the first of the batch, in [0, 1]
    norms: FloatArray  # (m,) lengths of their whole gradients
    gradients: FloatArray  # (m, d) the descent direction that each of them gives its own class
    factors: FloatArray  # (m,) by which clipping shortens them
    clipped_sum: FloatArray  # (d,) of the batch's directions for class `label`
    noise: FloatArray  # (d,) standard normal, to be multiplied by sigma C
    label: int  # the class whose weights the sum and the noise are for
    batch: int  # examples drawn
    shape: tuple[int, ...]  # of an image


@lru_cache(maxsize=128)
def pictured_step(dataset: str, batch: float, clip_norm: float) -> PicturedStep:
    """The step on a Poisson batch of this expected size, always the same for the same arguments.

    Errors: ValueError for a data set without a bundled sample of images.

    >>> step = pictured_step("mnist", 256, 0.1)
    >>> step.batch, bool((step.norms * step.factors <= 0.1 + 1e-12).all())
    (232, True)
    """
    train, generator = load(dataset, "sample").train, np.random.default_rng(SEED)
    drawn = np.flatnonzero(generator.random(len(train)) < min(batch / len(train), 1.0))
    shape, classes = train.images.shape[1:], len(DATASETS[dataset].classes)
    pixels, labels = train.images[drawn].reshape(len(drawn), np.prod(shape)) / PIXEL, train.labels[drawn]
    label = int(train.labels[drawn[0]]) if len(drawn) else 0
    to_own, to_other = 1 - 1 / classes, -1 / classes  # what a pixel of 1 gives its own class, and each other one
    scale = np.sqrt(to_own**2 + (classes - 1) * to_other**2)
    norms = scale * np.linalg.norm(pixels, axis=1)
    factors = np.minimum(1.0, clip_norm / np.maximum(norms, 1e-12))
    weights = factors * np.where(labels == label, to_own, to_other)
    return PicturedStep(
        examples=pixels[:SHOWN],
        norms=norms[:SHOWN],
        gradients=to_own * pixels[:SHOWN],
        factors=factors[:SHOWN],
        clipped_sum=weights @ pixels,
        noise=generator.standard_normal(pixels.shape[1]),
        label=label,
        batch=len(drawn),
        shape=shape,
    )
