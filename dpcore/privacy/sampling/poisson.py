"""Poisson batches, which everything else here is compared with."""

from typing import ClassVar, final

from dpcore.privacy.accountants.base import Curve
from dpcore.privacy.certified.epsilon_bounds import epsilon_bounds
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.sampling.base import Sampler, certified
from dpcore.privacy.types import FloatArray, IntArray


@final
class Poisson(Sampler):
    """Every record takes part in every step with probability q, independently of all else.

    >>> import numpy as np
    >>> Poisson().curve(0.01, 4.0, 10_000, 1e-5).epsilon.round(2)
    array([0.95])
    """

    name: ClassVar[str] = "poisson"
    title: ClassVar[str] = "Poisson"
    phrase: ClassVar[str] = "Poisson batches"
    note: ClassVar[str] = (
        "Each record is in each batch with probability q, by a coin of its own. Nobody can know which batch holds it, "
        "not even knowing all other batches: that is what makes sampling hide so much."
    )
    source: ClassVar[str] = "dpcore/privacy/certified/README.md, Theorem 1"
    adjacency: ClassVar[str] = "add/remove"

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> Curve:
        lower, upper, note = epsilon_bounds(Mechanism.constant(q, sigma, max(int(steps[-1]), 1)), steps, delta)
        return certified(steps, delta, lower, upper, note)
