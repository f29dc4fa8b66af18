"""Concentrated DP of sampled steps, in the form of the noise-schedule papers, with a check."""

from typing import final

import numpy as np
from numpy.typing import NDArray

from dpcore.privacy import renyi
from dpcore.privacy.accountants.base import Accountant, Curve, Kind
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

    name = "zcdp"
    title = "zCDP, sampled"
    source = (
        "Yu, Liu, Pu, Gursoy and Truex 2019, Differentially private model publishing for deep"
        " learning, arXiv 1904.02200, section 5; concentrated DP: Bun and Steinke 2016, arXiv"
        " 1605.02065, Proposition 1.3"
    )
    spellings = r"\bzcdp\b(?! (?:of|=) \d)"  # a number of zCDP is no accountant
    note = "zCDP keeps a single number per step, and throws the rest away."
    caveat = (
        "Its authors checked its bound of one sampled step on examples and did not prove it. It is"
        " checked here again, at the order that it uses. If the check fails, the number is only a"
        " claim; if it succeeds, the number is loose."
    )
    kind = Kind.UPPER

    def _account(self, mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> Curve:
        uses = mechanism.compositions(steps)  # (n, L)
        rates = np.array([(r.q / r.sigma) ** 2 for r in mechanism.releases])  # (L,)
        caps = np.array([_order_cap(r.q, r.sigma) for r in mechanism.releases])  # (L,)
        rho = uses.astype(np.float64) @ rates  # (n,)
        cap = np.where(uses > 0, caps, np.inf).min(axis=1)  # (n,)
        exists = cap > 1
        free = 1 + np.sqrt(-np.log(delta) / np.maximum(rho, 1e-300))
        orders = np.where(exists, np.minimum(free, cap), 2.0)  # of the minimum, in (1, cap]
        epsilon = np.where(exists, rho * orders - np.log(delta) / (orders - 1), np.inf)
        epsilon = np.where(steps == 0, 0.0, epsilon)
        checked = _confirmed(mechanism, uses > 0, orders) | ~exists | (steps == 0)
        kind = Kind.UPPER
        notes = []
        if not np.all(exists):
            notes.append(ABSENT)
        if not np.all(checked):
            kind = Kind.CLAIMED
            notes.append(UNCHECKED)
        return Curve(steps, delta, epsilon, None, kind, " ".join(notes))


def _order_cap(q: float, sigma: float) -> float:
    """The largest order u of the form; 1 where it does not exist."""
    return 1 + max(0.0, -(sigma**2) * float(np.log(q * sigma)))


def _confirmed(
    mechanism: Mechanism, used: NDArray[np.bool_], orders: FloatArray
) -> NDArray[np.bool_]:
    """True where the order satisfies the bound of one step for every release used, (n,)."""
    # Log-moments are convex in lambda, so the chord between tabulated orders lies above them and
    # the check errs on the safe side. An order beyond the table counts as a failure.
    grid = np.concatenate([[0.0], renyi.ORDERS - 1])
    holds = np.ones(orders.shape, dtype=bool)
    for index, release in enumerate(mechanism.releases):
        moments = np.concatenate([[0.0], renyi.log_moments(release.q, release.sigma)])
        chord = np.interp(orders - 1, grid, np.minimum(moments, 1e200))
        claim = orders * (orders - 1) * (release.q / release.sigma) ** 2
        confirmed = (chord <= claim) & (orders <= renyi.ORDERS[-1])
        holds &= confirmed | ~used[:, index]
    return holds
