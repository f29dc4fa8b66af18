"""Whether a claim of privacy holds for a program: what can be tested of it, and what that shows.

The functions take anyone's scores (in and out), noise, batches and losses; `audit` trains a run again and watches it.

>>> import numpy as np
>>> from dpcore import Mechanism, audit
>>> noise = np.random.default_rng(0).normal(0.0, 0.5, 10_000)  # drawn at half of what is charged
>>> found = audit.audit_noise(noise, Mechanism.constant(q=0.01, sigma=1.0, steps=1000), delta=1e-5)
>>> found.rejected, round(found.sigma_below, 2)
(True, 0.5)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpcore.audit.bounds.finding import Finding
    from dpcore.audit.bounds.generator import audit_generator
    from dpcore.audit.bounds.influence import audit_influence
    from dpcore.audit.bounds.losses import audit_losses
    from dpcore.audit.bounds.noise import audit_noise, audit_repetition
    from dpcore.audit.bounds.one_run import audit_one_run
    from dpcore.audit.bounds.one_run_tradeoff import audit_tradeoff
    from dpcore.audit.bounds.per_step import audit_per_step
    from dpcore.audit.bounds.roc import roc_of
    from dpcore.audit.bounds.sampling import audit_sampling
    from dpcore.audit.bounds.two_run import audit_two_run
    from dpcore.audit.broken import TRAINERS
    from dpcore.audit.observed.audit import audit
    from dpcore.audit.request import AuditRequest

HOMES = {  # module -> the names that are taken from it, once they are asked for: some load torch
    "bounds.finding": ("Finding",),
    "bounds.generator": ("audit_generator",),
    "bounds.influence": ("audit_influence",),
    "bounds.losses": ("audit_losses",),
    "bounds.noise": ("audit_noise", "audit_repetition"),
    "bounds.one_run": ("audit_one_run",),
    "bounds.one_run_tradeoff": ("audit_tradeoff",),
    "bounds.per_step": ("audit_per_step",),
    "bounds.roc": ("roc_of",),
    "bounds.sampling": ("audit_sampling",),
    "bounds.two_run": ("audit_two_run",),
    "broken": ("TRAINERS",),
    "observed.audit": ("audit",),
    "request": ("AuditRequest",),
}
HOME_OF = {name: home for home, names in HOMES.items() for name in names}
__all__ = [
    "TRAINERS",
    "AuditRequest",
    "Finding",
    "audit",
    "audit_generator",
    "audit_influence",
    "audit_losses",
    "audit_noise",
    "audit_one_run",
    "audit_per_step",
    "audit_repetition",
    "audit_sampling",
    "audit_tradeoff",
    "audit_two_run",
    "roc_of",
]


def __getattr__(name: str) -> Any:
    if name in HOME_OF:
        return getattr(importlib.import_module(f"dpcore.audit.{HOME_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
