"""Audits of a claimed epsilon.

The functions test scores, noise, batches and losses of any trainer; `audit` trains a run again and watches it.

>>> import numpy as np
>>> from dpcore import Mechanism, audit
>>> noise = np.random.default_rng(0).normal(0.0, 0.5, 10_000)  # half of the noise charged
>>> found = audit.audit_noise(noise, Mechanism.constant(q=0.01, sigma=1.0, steps=1000), delta=1e-5)
>>> found.rejected, round(found.figures["sigma_below"], 2)
(True, 0.5)
"""

import importlib
from typing import Any

HOMES = {  # name -> its module, imported at first use: some load torch
    "Finding": "bounds.finding",
    "NoiseEvidence": "bounds.e_process",
    "audit_generator": "bounds.generator",
    "audit_influence": "bounds.exact",
    "audit_losses": "bounds.two_run",
    "audit_noise": "bounds.noise",
    "audit_repetition": "bounds.noise",
    "audit_one_run": "bounds.one_run",
    "audit_tradeoff": "bounds.one_run_tradeoff",
    "audit_per_step": "bounds.per_step",
    "roc_of": "bounds.roc",
    "audit_sampling": "bounds.sampling",
    "audit_two_run": "bounds.two_run",
    "TRAINERS": "broken_trainers",
    "audit": "run_audit",
    "AuditRequest": "request",
}


def __getattr__(name: str) -> Any:
    if name in HOMES:
        return getattr(importlib.import_module(f"dpcore.audit.{HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
