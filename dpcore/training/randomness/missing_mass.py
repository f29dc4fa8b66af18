"""The Gaussian mass that the noise generators miss, and its charge to the delta of a run
(README.md).
"""

from collections.abc import Iterable
from math import exp, inf, log, sqrt

from dpcore.privacy.mechanism import Release

BITS = 63  # of each random word
FURTHER = {"AES": 15, "CUDA": 7}  # words that continue the first word of a uniform number
DIGITS = 53  # bits that remain of a uniform number, at least: as many as float64 has
RADIUS = {  # in standard deviations
    name: sqrt(2 * log(2) * (BITS * (1 + words) - DIGITS)) for name, words in FURTHER.items()
}
NUMBERS = 10**9  # of one release, at most


def generator_of(device: str, noise_generator: str) -> str:
    """The generator of a run's noise; if two are possible, the one that misses more.

    >>> generator_of("auto", "auto"), generator_of("cpu", "auto"), generator_of("cuda", "secure")
    ('CUDA', 'AES', 'AES')
    """
    return "CUDA" if device in ("auto", "cuda") and noise_generator != "secure" else "AES"


def added_delta(releases: Iterable[Release], radius: float) -> float:
    """The most that delta grows, at every epsilon, because numbers beyond the radius are not
    Gaussian.

    >>> added_delta([Release(0.01, 1.0, 10**9)], RADIUS["CUDA"]) < 1e-100
    True
    """
    return sum(release.count * _of_one(1 / release.sigma, radius) for release in releases)


def _of_one(shift: float, radius: float) -> float:
    """The part of one release, in which an example moves the sum by at most `shift` standard
    deviations.

    It moves fewer than shift^2 pairs of numbers by more than 1.
    """
    if shift >= radius:
        return inf
    return 2 * NUMBERS * exp(-((radius - 1) ** 2) / 2) + shift**2 * exp(
        -((radius - shift) ** 2) / 2
    )
