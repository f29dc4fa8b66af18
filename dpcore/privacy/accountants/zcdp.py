"""Concentrated DP of sampled steps: the form of the noise-schedule papers, with a check of its
order cap.
"""

from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from dpcore.privacy import renyi
from dpcore.privacy.accountants.base import Accountant, Curve, Kind, words_of
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism

ABSENT = "The sampling form does not exist here: it needs q sigma < 1 and an order cap above 1."
UNCHECKED = (
    "The bound of one step is not confirmed at the order used, so the number is only a claim."
)


@final
class Zcdp(Accountant):
    """epsilon = min over 1 < a <= u of rho a + ln(1/delta) / (a - 1), rho = sum of q^2/sigma^2.

    u is the least cap sigma^2 ln(1/(q sigma)) + 1 of the releases used. The minimum is rho + 2
    sqrt(rho ln(1/delta)) inside the cap, else it lies at a = u. For q sigma >= 1 this form does not
    exist, and epsilon is inf.

    **Guarantees:** the kind is UPPER only if ln A(a) <= a (a - 1) q^2/sigma^2 was confirmed for
    every release used, at the order used, at every point of the curve; otherwise CLAIMED.

    >>> curve = Zcdp().curve(Mechanism.constant(0.01, 2.0, 40_000), 40_000, 1e-5)
    >>> curve.epsilon.round(3), str(curve.kind)
    (array([7.786]), 'upper')
    """

    name, title, source, spellings, note, caveat = words_of("zcdp")
    kind: ClassVar[Kind] = Kind.UPPER

    def _account(self, mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> Curve:
        used = mechanism.compositions(steps)  # (n, L)
        rates = np.array([(r.q / r.sigma) ** 2 for r in mechanism.releases])
        # U.
        caps = np.array(
            [1 + max(0.0, -(r.sigma**2) * float(np.log(r.q * r.sigma))) for r in mechanism.releases]
        )
        # (n,).
        rho, cap = used.astype(np.float64) @ rates, np.where(used > 0, caps, np.inf).min(axis=1)
        exists = cap > 1
        free = 1 + np.sqrt(-np.log(delta) / np.maximum(rho, 1e-300))
        orders = np.where(exists, np.minimum(free, cap), 2.0)  # of the minimum, in (1, cap]
        epsilon = np.where(exists, rho * orders - np.log(delta) / (orders - 1), np.inf)
        epsilon = np.where(steps == 0, 0.0, epsilon)
        confirmed = _confirmed(mechanism, used > 0, orders) | ~exists | (steps == 0)
        kind = Kind.UPPER if np.all(confirmed) else Kind.CLAIMED
        notes = [] if np.all(exists) else [ABSENT]
        return Curve(
            steps,
            delta,
            epsilon,
            None,
            kind,
            " ".join(notes + [UNCHECKED] * (kind is Kind.CLAIMED)),
        )


def _confirmed(
    mechanism: Mechanism, used: NDArray[np.bool_], orders: FloatArray
) -> NDArray[np.bool_]:
    """True at each horizon whose order satisfies the bound of one step for every release used
    there, (n,).
    """
    # Log-moments are convex in lambda, so the chord between tabulated orders lies above them and
    # the check errs on the safe side. An order beyond the table counts as a failure.
    grid = np.concatenate([[0.0], renyi.ORDERS - 1])
    holds = np.ones(orders.shape, dtype=bool)
    for index, release in enumerate(mechanism.releases):
        table = np.minimum(
            np.concatenate([[0.0], renyi.log_moments(release.q, release.sigma)]), 1e200
        )
        claim = orders * (orders - 1) * (release.q / release.sigma) ** 2
        fine = (np.interp(orders - 1, grid, table) <= claim) & (orders <= renyi.ORDERS[-1])
        holds &= fine | ~used[:, index]
    return holds
