"""Poisson batches under the other adjacency: a record is replaced by another one."""

from typing import ClassVar, final

import numpy as np

from dpcore.privacy.accountants.base import Curve
from dpcore.privacy.certified.lattice import CUT_OFF
from dpcore.privacy.sampling.base import Sampler, certified, nothing_promised
from dpcore.privacy.sampling.fixed_order import order_bounds
from dpcore.privacy.sampling.law_bounds import law_bounds
from dpcore.privacy.sampling.replace_one_law import deviation, replace_one_laws
from dpcore.privacy.sampling.round_laws import RoundLaws
from dpcore.privacy.types import FloatArray, IntArray

MESH = 0.12  # first mesh, in standard deviations of a step's loss


@final
class PoissonReplaceOne(Sampler):
    """Poisson batches, where neighbours differ in what one record says, not in whether it is there.

    >>> PoissonReplaceOne().curve(0.01, 1.0, 1000, 1e-5).lower.round(2)
    array([2.84])
    """

    name: ClassVar[str] = "poisson_replace_one"
    title: ClassVar[str] = "Poisson, replace-one"
    phrase: ClassVar[str] = "Poisson batches"
    note: ClassVar[str] = (
        "The same batches as Poisson's, but neighbours differ in what one record says: it may move the sum by 2 C "
        "where an absent one moves it by C. An epsilon for one adjacency says nothing of one for the other."
    )
    source: ClassVar[str] = "dpcore/privacy/sampling/README.md, Theorem 1"
    adjacency: ClassVar[str] = "replace-one"

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> Curve:
        if q == 1:
            return certified(steps, delta, *order_bounds(sigma / 2, steps, delta))
        tail, unit = CUT_OFF * float(delta.min()) / max(int(steps[-1]), 1), MESH * deviation(q, sigma)
        lower, upper, rows = np.zeros(steps.shape), np.zeros(steps.shape), np.flatnonzero(steps > 0)

        def laws_on(fineness: float) -> RoundLaws:
            return RoundLaws(replace_one_laws(q, sigma, unit * fineness, tail), 0.0)

        try:
            if rows.size:
                lower[rows], upper[rows] = law_bounds(laws_on, steps[rows], delta[rows])
        except RuntimeError as error:
            return nothing_promised(steps, delta, str(error))
        return certified(steps, delta, lower, upper)
