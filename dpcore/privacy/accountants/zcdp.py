"""Concentrated DP of sampled steps: the noise-schedule papers' form, with its order cap and a check of it."""

from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from dpcore.privacy import renyi
from dpcore.privacy.accountants.base import Accountant, Curve, Kind, words_of
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism

ABSENT = "The sampling form does not exist here: it needs q sigma < 1 and an order cap above 1."
UNCHECKED = "Its bound of one step is not confirmed at the order that it uses, so the number is only a claim."


@final
class Zcdp(Accountant):
    """epsilon = min over 1 < a <= u of rho a + ln(1/delta) / (a - 1), rho = sum of q^2/sigma^2.

    u is the least cap sigma^2 ln(1/(q sigma)) + 1 of the releases used. Inside it the minimum is rho + 2 sqrt(rho
    ln(1/delta)), else it lies at a = u. Where q sigma >= 1 there is no such form, and epsilon is inf.

    **Guarantees:** kind is UPPER only where ln A(a) <= a (a - 1) q^2/sigma^2 was confirmed for every release used, at
    the order used, at every point of the curve; otherwise CLAIMED.

    >>> curve = Zcdp().curve(Mechanism.constant(0.01, 2.0, 40_000), 40_000, 1e-5)
    >>> curve.epsilon.round(3), str(curve.kind)
    (array([7.786]), 'upper')
    """

    name: ClassVar[str] = "zcdp"
    title, spellings, note, caveat = words_of("zcdp")
    source: ClassVar[str] = (
        "Yu, Liu, Pu, Gursoy and Truex 2019, Differentially private model publishing for deep learning, "
        "arXiv 1904.02200, section 5; concentrated DP: Bun and Steinke 2016, arXiv 1605.02065, Proposition 1.3"
    )
    kind: ClassVar[Kind] = Kind.UPPER

    def _account(self, mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> Curve:
        used = mechanism.compositions(steps)  # (n, L)
        rates = np.array([(r.q / r.sigma) ** 2 for r in mechanism.releases])
        caps = np.array([_cap(r.q, r.sigma) for r in mechanism.releases])
        rho, cap = used.astype(np.float64) @ rates, np.where(used > 0, caps, np.inf).min(axis=1)  # (n,)
        orders = _best_orders(rho, cap, delta)
        exists = cap > 1
        epsilon = np.where(exists, rho * orders - np.log(delta) / (orders - 1), np.inf)
        epsilon = np.where(steps == 0, 0.0, epsilon)
        confirmed = _confirmed(mechanism, used > 0, orders) | ~exists | (steps == 0)
        kind = Kind.UPPER if np.all(confirmed) else Kind.CLAIMED
        notes = [] if np.all(exists) else [ABSENT]
        return Curve(steps, delta, epsilon, None, kind, " ".join(notes + [UNCHECKED] * (kind is Kind.CLAIMED)))


def _cap(q: float, sigma: float) -> float:
    """u = sigma^2 ln(1/(q sigma)) + 1, or 1 where q sigma >= 1."""
    return 1 + max(0.0, -(sigma**2) * float(np.log(q * sigma)))


def _best_orders(rho: FloatArray, cap: FloatArray, delta: FloatArray) -> FloatArray:
    """The order of the minimum, (n,), in (1, cap]; 2 where there is none."""
    free = 1 + np.sqrt(-np.log(delta) / np.maximum(rho, 1e-300))
    return np.where(cap > 1, np.minimum(free, cap), 2.0)


def _confirmed(mechanism: Mechanism, used: NDArray[np.bool_], orders: FloatArray) -> NDArray[np.bool_]:
    """Whether the per-step bound holds at each horizon's order for every release used there, (n,)."""
    # Log-moments are convex in lambda, so the chord between tabulated orders lies above them: the check is on the safe
    # side. Orders that were not tabulated count as a failure.
    grid = np.concatenate([[0.0], renyi.ORDERS - 1])
    holds = np.ones(orders.shape, dtype=bool)
    for index, release in enumerate(mechanism.releases):
        table = np.minimum(np.concatenate([[0.0], renyi.log_moments(release.q, release.sigma)]), 1e200)
        claim = orders * (orders - 1) * (release.q / release.sigma) ** 2
        # np.interp is flat past the end of the table
        fine = (np.interp(orders - 1, grid, table) <= claim) & (orders <= renyi.ORDERS[-1])
        holds &= fine | ~used[:, index]
    return holds
