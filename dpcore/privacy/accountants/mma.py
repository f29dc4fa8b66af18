"""The modified moments accountant (MMA): a closed form whose proof does not hold.

Ding et al. 2022 bound one use by K(lambda) <= ln(1 + q^2 lambda^2 / sigma^2), set K(lambda) =
lambda epsilon / 2 = ln(1/delta) over all uses, and eliminate lambda. The proof drops all terms past
the third, and the elimination ignores the range of lambda. So the number is a claim.
"""

import math
from typing import final

import numpy as np

from dpcore import check
from dpcore.privacy.accountants.base import Accountant, Curve, Kind
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism

NEWTON_STEPS = 200  # never reached: one step needs a few dozen, many steps a handful


@final
class Mma(Accountant):
    """epsilon = 2 ln(1/delta) / lambda, at the lambda where the costs of all uses are ln(1/delta).

    The cost of one use is ln(1 + q^2 lambda^2 / sigma^2).

    >>> Mma().curve(Mechanism.constant(0.01, 2.0, 40_000), 40_000, 1e-5).epsilon.round(3)
    array([6.786])
    """

    name = "mma"
    title = "Modified moments accountant"
    short = "MMA"
    source = (
        "Perturbed iterative gradient descent optimization (PIGDO, 2022), Theorem 3; it modifies"
        " the moments accountant of Abadi et al. 2016, arXiv 1607.00133"
    )
    spellings = r"(?-i:\bMMA\b)|\bmodified moments accountant\b"
    note = (
        "The modified moments accountant replaces each step's moment by a simpler formula whose"
        " proof drops terms, so it can fall below the truth."
    )
    caveat = (
        "A published formula whose proof does not hold. Even under all its stated conditions it"
        " can promise more privacy than there is; elsewhere it is looser than the method that it"
        " modifies."
    )
    kind = Kind.CLAIMED

    def _account(self, mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> Curve:
        orders = _orders(mechanism, steps, delta)
        epsilon = np.where(steps == 0, 0.0, -2 * np.log(delta) / orders)
        last = int(steps[-1])
        note = ""
        if last > 0:
            failing = failing_conditions(mechanism, last, float(delta[-1]))
            if failing:
                note = f"Outside its stated conditions: {'; '.join(failing)}."
        return Curve(steps, delta, epsilon, None, self.kind, note)


def failing_conditions(mechanism: Mechanism, steps: int, delta: float) -> tuple[str, ...]:
    """The conditions of Theorem 3 that the first `steps` steps break, each with its values.

    They are sigma >= 1; q < 1/sigma; lambda <= 1/(10 q^2); epsilon > 0.002 T / lambda, at the
    theorem's lambda.

    >>> failing_conditions(Mechanism.constant(0.01, 2.0, 40_000), 40_000, 1e-5)
    ('epsilon > 0.002 T/lambda (here 6.79 <= 23.6)',)
    """
    check.whole(1, mechanism.steps, steps=steps)
    check.delta(delta=delta)
    horizon = np.array([steps])
    counts = mechanism.compositions(horizon)[0]
    used = [release for release, count in zip(mechanism.releases, counts, strict=True) if count]
    sigma = min(release.sigma for release in used)
    q = max(release.q for release in used)
    q_sigma = max(release.q * release.sigma for release in used)
    order = float(_orders(mechanism, horizon, np.array([delta]))[0])
    cap = 0.1 / q**2
    epsilon = -2 * math.log(delta) / order
    floor = 0.002 * steps / order
    failing = []
    if not sigma >= 1:
        failing.append(f"sigma >= 1 (here {sigma:.3g})")
    if not q_sigma < 1:
        failing.append(f"q < 1/sigma (here q sigma = {q_sigma:.3g})")
    if not order <= cap:
        failing.append(f"lambda <= 1/(10 q^2) (here {order:.3g} > {cap:.3g})")
    if not epsilon > floor:
        failing.append(f"epsilon > 0.002 T/lambda (here {epsilon:.3g} <= {floor:.3g})")
    return tuple(failing)


def _orders(mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> FloatArray:
    """The lambda at which the claimed costs sum to ln(1/delta), (n,); 1 where steps = 0."""
    # Newton on v = lambda^2, in which the sum is concave. It starts left of the root, at v =
    # ln(1/delta) / (sum of q^2/sigma^2), and rises towards it. So epsilon is never below the
    # formula's exact value.
    uses = mechanism.compositions(steps).astype(np.float64)  # (n, L)
    squares = np.array([(r.q / r.sigma) ** 2 for r in mechanism.releases])  # (L,)
    target = -np.log(delta)  # (n,)
    nothing = steps == 0
    v = target / np.where(nothing, 1.0, uses @ squares)
    for _ in range(NEWTON_STEPS):
        scaled = squares * v[:, None]  # (n, L)
        gap = target - np.einsum("nl,nl->n", uses, np.log1p(scaled))
        slope = np.einsum("nl,nl->n", uses, squares / (1 + scaled))
        rise = np.maximum(gap, 0.0) / np.where(nothing, 1.0, slope)
        step = np.where(nothing, 0.0, rise)
        v = v + step
        if np.all(step <= 1e-14 * v):
            break
    return np.where(nothing, 1.0, np.sqrt(v))
