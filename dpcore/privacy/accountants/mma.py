"""The modified moments accountant (MMA): a closed form whose proof does not hold.

Ding et al. 2022 bound one use by K(lambda) <= ln(1 + q^2 lambda^2 / sigma^2), set K(lambda) =
lambda epsilon / 2 = ln(1/delta) over all uses, and eliminate lambda. The proof drops all terms past
the third, and the elimination ignores the range of lambda. So the number is a claim.
"""

import math
from typing import ClassVar, final

import numpy as np

from dpcore import check
from dpcore.privacy.accountants.base import Accountant, Curve, Kind, words_of
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism

NEWTON_STEPS = 200  # never reached: one step needs a few dozen, many steps a handful


@final
class Mma(Accountant):
    """epsilon = 2 ln(1/delta) / lambda, where sum over uses of ln(1 + q^2 lambda^2 / sigma^2) =
    ln(1/delta).

    >>> Mma().curve(Mechanism.constant(0.01, 2.0, 40_000), 40_000, 1e-5).epsilon.round(3)
    array([6.786])
    """

    name, title, source, spellings, note, caveat = words_of("mma")
    kind: ClassVar[Kind] = Kind.CLAIMED

    def _account(self, mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> Curve:
        orders = _orders(mechanism, steps, delta)
        epsilon = np.where(steps == 0, 0.0, -2 * np.log(delta) / orders)
        failing = (
            failing_conditions(mechanism, int(steps[-1]), float(delta[-1])) if steps[-1] else ()
        )
        note = f"Outside its stated conditions: {'; '.join(failing)}." if failing else ""
        return Curve(steps, delta, epsilon, None, self.kind, note)


def failing_conditions(mechanism: Mechanism, steps: int, delta: float) -> tuple[str, ...]:
    """The conditions of Theorem 3 that the first `steps` steps break, each with the values that
    break it.

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
    order = float(_orders(mechanism, horizon, np.array([delta]))[0])
    epsilon = -2 * math.log(delta) / order
    sigma, q = min(release.sigma for release in used), max(release.q for release in used)
    reach = max(release.q * release.sigma for release in used)
    cap, floor = 0.1 / q**2, 0.002 * steps / order
    stated = (
        (sigma >= 1, f"sigma >= 1 (here {sigma:.3g})"),
        (reach < 1, f"q < 1/sigma (here q sigma = {reach:.3g})"),
        (order <= cap, f"lambda <= 1/(10 q^2) (here {order:.3g} > {cap:.3g})"),
        (epsilon > floor, f"epsilon > 0.002 T/lambda (here {epsilon:.3g} <= {floor:.3g})"),
    )
    return tuple(text for holds, text in stated if not holds)


def _orders(mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> FloatArray:
    """The lambda at which the claimed costs sum to ln(1/delta), (n,); 1 where steps = 0."""
    # Newton on v = lambda^2, in which the sum is concave. It starts left of the root, at v =
    # ln(1/delta) / (sum of q^2/sigma^2), and rises towards it. So epsilon is never below the
    # formula's exact value.
    compositions = mechanism.compositions(steps).astype(np.float64)  # (n, L)
    squares = np.array([(r.q / r.sigma) ** 2 for r in mechanism.releases])  # (L,)
    target = -np.log(delta)
    rate = np.where(steps == 0, 1.0, compositions @ squares)
    v = target / rate
    for _ in range(NEWTON_STEPS):
        scaled = squares * v[:, None]  # (n, L)
        gap = target - np.einsum("nl,nl->n", compositions, np.log1p(scaled))
        slope = np.where(
            steps == 0, 1.0, np.einsum("nl,nl->n", compositions, squares / (1 + scaled))
        )
        step = np.where(steps == 0, 0.0, np.maximum(gap, 0.0) / slope)
        v = v + step
        if np.all(step <= 1e-14 * v):
            break
    return np.where(steps == 0, 1.0, np.sqrt(v))
