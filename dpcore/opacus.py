"""Opacus with the certified accountant: `dpcore.opacus.register()`, before its engine is made.

Then `PrivacyEngine(accountant="dpcore")` counts with it, `engine.get_epsilon(delta)` is its proven
upper bound, and `get_noise_multiplier(accountant="dpcore", ...)` finds the noise that it allows.

Opacus takes q = 1 / len(loader), which may differ from batch / examples in the last digits, and its
`get_noise_multiplier` counts int(epochs / q) steps, which may be one less than a loader gives.
"""

import importlib
from typing import Any

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism, Release

NAME = "dpcore"


def register() -> None:
    """Make "dpcore" the name of an accountant of Opacus; a second call changes nothing.

    Errors: ImportError without Opacus of version 1.6 or later.
    """
    theirs = importlib.import_module("opacus.accountants")

    class CertifiedAccountant(theirs.IAccountant):
        """The certified accountant, for Opacus; epsilon is its upper bound."""

        def __init__(self) -> None:
            self.history: list[tuple[float, float, int]] = []  # sigma, q, steps

        def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
            count = 1
            if self.history and self.history[-1][:2] == (noise_multiplier, sample_rate):
                count += self.history.pop()[2]
            self.history.append((noise_multiplier, sample_rate, count))

        def get_epsilon(self, delta: float, *_: Any, **__: Any) -> float:
            if not self.history:
                return 0.0
            return ACCOUNTANTS[CERTIFIED].spent(mechanism_of(self.history), delta).value

        def __len__(self) -> int:
            return sum(count for _, _, count in self.history)

        @classmethod
        def mechanism(cls) -> str:
            return NAME

    theirs.register_accountant(NAME, CertifiedAccountant, force=True)


def mechanism_of(history: list[tuple[float, float, int]]) -> Mechanism:
    """The mechanism of a history of Opacus: (noise multiplier, sample rate, steps).

    A rate above 1, of batches that were gathered, is counted as 1.

    >>> mechanism_of([(1.1, 0.01, 100)]) == Mechanism.constant(0.01, 1.1, 100)
    True
    """
    return Mechanism(tuple(Release(min(q, 1.0), sigma, steps) for sigma, q, steps in history))
