"""Batches of one size, drawn without replacement, and neighbours in which one record is replaced."""

from typing import ClassVar, final

import numpy as np

from dpcore.privacy import gaussian, renyi
from dpcore.privacy.accountants.base import Curve
from dpcore.privacy.certified.epsilon_bounds import epsilon_bounds
from dpcore.privacy.certified.lattice import CUT_OFF
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.sampling.base import OtherCurve, Sampler, certified, nothing_promised
from dpcore.privacy.sampling.fixed_order import order_bounds
from dpcore.privacy.sampling.law_bounds import upper_bounds
from dpcore.privacy.sampling.replace_one_law import deviation
from dpcore.privacy.sampling.without_replacement import ORDERS, clt_mu, fixed_size_laws, log_moments
from dpcore.privacy.types import FloatArray, IntArray, Kind

MESH = 0.3  # in standard deviations of a step's loss: a finer one takes seconds and gains a thousandth


@final
class FixedSize(Sampler):
    """Every batch is a set of q n records, all such sets being equally likely.

    >>> curve = FixedSize().curve(0.01, 10.0, 10_000, 1e-5)
    >>> curve.lower.round(2), curve.epsilon.round(2)
    (array([0.74]), array([0.8]))
    """

    name: ClassVar[str] = "fixed_size"
    title: ClassVar[str] = "Fixed size"
    phrase: ClassVar[str] = "batches of a fixed size"
    note: ClassVar[str] = (
        "Each batch is a set of exactly q n records, drawn without replacement. As its size tells nothing, neighbours "
        "differ in what one record says, and that may move the sum by 2 C."
    )
    source: ClassVar[str] = (
        "Balle, Barthe, Gaboardi 2018, arXiv 1807.01647, Theorem 9, composed here (upper); one record against all "
        "others (lower): dpcore/privacy/sampling/README.md"
    )
    adjacency: ClassVar[str] = "replace-one"
    slow: ClassVar[bool] = True
    least_q: ClassVar[float] = 1e-4

    def other_curves(self, q: float, sigma: float, steps: IntArray, delta: float) -> tuple[OtherCurve, ...]:
        """The central limit theorem, an approximation, and the Renyi bound."""
        deltas = np.full(steps.shape, delta)
        mu = clt_mu(q, sigma) * np.sqrt(steps)
        with_orders = renyi.epsilon_improved(steps[:, None] * log_moments(q, sigma), ORDERS, deltas)
        bound = np.where(steps > 0, np.maximum(with_orders, 0.0), 0.0)
        return (
            OtherCurve(
                "Central limit theorem", Curve(steps, deltas, gaussian.epsilon_of(deltas, mu), None, Kind.APPROXIMATE)
            ),
            OtherCurve("Rényi bound", Curve(steps, deltas, bound, None, Kind.UPPER)),
        )

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> Curve:
        if q == 1:
            return certified(steps, delta, *order_bounds(sigma / 2, steps, delta))
        tail, mesh = CUT_OFF * float(delta.min()) / max(int(steps[-1]), 1), MESH * deviation(q, sigma)
        lower = epsilon_bounds(Mechanism.constant(q, sigma / 2, max(int(steps[-1]), 1)), steps, delta).lower
        upper, rows = np.zeros(steps.shape), np.flatnonzero(steps > 0)
        try:
            if rows.size:
                upper[rows] = upper_bounds(fixed_size_laws(q, sigma, mesh, tail), steps[rows], delta[rows])
        except RuntimeError as error:
            return nothing_promised(steps, delta, str(error))
        return certified(steps, delta, np.minimum(lower, upper), upper)
