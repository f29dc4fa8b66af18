"""Audits of a claimed epsilon.

The functions of `bounds` test scores, noise, batches and losses of any trainer; `audit` of
`run_audit` trains a run again and watches it.

>>> import numpy as np
>>> from dpcore import Mechanism
>>> from dpcore.audit.bounds.noise import audit_noise
>>> noise = np.random.default_rng(0).normal(0.0, 0.5, 10_000)  # half of the noise charged
>>> found = audit_noise(noise, Mechanism.constant(q=0.01, sigma=1.0, steps=1000), delta=1e-5)
>>> found.rejected, round(found.figures["sigma_below"], 2)
(True, 0.5)
"""
