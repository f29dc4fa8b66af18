"""Random numbers of a comparison: a stream for every fit, from the project's own generator."""

import math
from typing import Any, final

import numpy as np
import torch
from numpy.random import SeedSequence

from dpcore.privacy.mechanism import FloatArray
from dpcore.training.randomness.gaussian_noise import normals
from dpcore.training.randomness.missing_mass import BITS
from dpcore.training.randomness.random_words import AesWords, machine_of, secret_of
from dpcore.training.randomness.streams import digest


@final
class Stream:
    """Random numbers from AES in counter mode; normals and uniforms have two keys, so that neither
    shifts the other.

    **Guarantees:** as in training runs, each normal number is within rounding of a Gaussian one,
    except with a probability that is charged.
    """

    def __init__(self, seed: SeedSequence) -> None:
        machine = machine_of(torch.device("cpu"), 1)
        noise, chances = seed.spawn(2)
        self._noise = AesWords(secret_of(noise, machine))
        self._chances = AesWords(secret_of(chances, machine))

    def normals(self, *shape: int) -> FloatArray:
        """Draw independent standard Gaussian numbers."""
        return normals(self._noise, math.prod(shape)).numpy().reshape(shape)

    def uniforms(self, *shape: int) -> FloatArray:
        """Draw independent multiples of 2^-53, uniform on [0, 1)."""
        words = self._chances.draw(math.prod(shape)).numpy()
        return (words >> (BITS - 53)).astype(np.float64).reshape(shape) * 2.0**-53


def stream_of(start: int, what: dict[str, Any]) -> Stream:
    """Return the stream of a fit; another seed, or any other setting of the fit, gives an
    independent one.
    """
    return Stream(SeedSequence(digest(what, start)))
