"""Private deep learning: accountants for a mechanism, and training that is charged exactly.

>>> import dpcore
>>> mechanism = dpcore.Mechanism.constant(q=0.01, sigma=4.0, steps=10_000)
>>> dpcore.epsilon(mechanism, delta=1e-5).kind.value, [*dpcore.ACCOUNTANTS][:3]
('certified', ['moments', 'rdp', 'mma'])
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpcore.privacy.accountants import ACCOUNTANTS, TradeoffCurve
    from dpcore.privacy.calibration.solve import Answer
    from dpcore.privacy.mechanism import Mechanism, Reading

    follow: Any  # its module lies above this one

__version__ = "0.1.0"
__all__ = ["ACCOUNTANTS", "Mechanism", "calibrate", "epsilon", "follow", "tradeoff"]

LATE = {
    "Mechanism": "dpcore.privacy.mechanism",
    "ACCOUNTANTS": "dpcore.privacy.accountants",
    "follow": "dpcore.runs.followed.start",
}


def epsilon(mechanism: Mechanism, delta: float, accountant: str = "pld") -> Reading:
    """Compute epsilon after the whole mechanism: value, kind, note and, if certified, the proven
    lower bound.

    >>> import dpcore
    >>> mechanism = dpcore.Mechanism.constant(q=0.01, sigma=4.0, steps=10_000)
    >>> found = dpcore.epsilon(mechanism, delta=1e-5)
    >>> found.lower < found.value < 1.01 * found.lower, found.kind.value
    (True, 'certified')
    """
    return _accountant(accountant).spent(mechanism, delta)


def calibrate(
    solve: str,
    *,
    target_epsilon: float | None = None,
    target_advantage: float | None = None,
    target_mu: float | None = None,
    delta: float | None = None,
    accountant: str = "pld",
    **known: Any,
) -> Answer:
    """Find the sigma, steps, q or batch, as `solve` says, for exactly one target.

    `known` has the q, sigma, steps and examples that the question needs, and `recipe` for a noise
    schedule.

    >>> import dpcore
    >>> found = dpcore.calibrate(
    ...     "sigma", target_epsilon=3.0, delta=1e-5, q=0.01, steps=10_000, accountant="rdp"
    ... )
    >>> found.value
    1.66222
    """
    from dpcore.privacy.calibration import solve as questions
    from dpcore.privacy.calibration.targets import target_of

    target = target_of(
        {"epsilon": target_epsilon, "advantage": target_advantage, "mu": target_mu}, delta
    )
    return questions.solve(solve, target, accountant=accountant, **known)


def tradeoff(mechanism: Mechanism, accountant: str = "pld") -> TradeoffCurve:
    """Compute the accountant's trade-off function after the whole mechanism, and a proven upper one
    where known.

    >>> import dpcore
    >>> mechanism = dpcore.Mechanism.constant(q=1.0, sigma=2.0, steps=4)  # exactly 1-GDP
    >>> found = dpcore.tradeoff(mechanism)
    >>> float(found.lower.beta(0.05).round(3)), float(found.upper.beta(0.05).round(3))
    (0.74, 0.74)
    """
    return _accountant(accountant).tradeoff(mechanism, 1e-9)


def _accountant(name: str) -> Any:
    from dpcore import check
    from dpcore.privacy.accountants import ACCOUNTANTS

    check.one_of(ACCOUNTANTS, accountant=name)
    return ACCOUNTANTS[name]


def __getattr__(name: str) -> Any:
    # Late, so that a command loads no more than it needs.
    if name in LATE:
        return getattr(importlib.import_module(LATE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
