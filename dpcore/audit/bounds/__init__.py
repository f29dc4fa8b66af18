"""The statistics of auditing: what scores of canaries, noise and batches that were seen show of a claim of privacy.

Needs no trainer and no torch: arrays come in, and each audit returns a `Finding`. README.md has the theorems.

>>> import numpy as np
>>> from dpcore.privacy.mechanism import Mechanism
>>> noise = np.random.default_rng(0).normal(0.0, 1.0, 10_000)  # half of the 2.0 that is charged
>>> found = audit_noise(noise, Mechanism.constant(q=1.0, sigma=2.0, steps=4), 1e-5)
>>> found.rejected, found.evidence.value, round(found.epsilon, 1)
(True, 'conditional', 9.9)
"""

from dpcore.audit.bounds.families import Family, GaussianFamily, NoiseFamily, PairFamily
from dpcore.audit.bounds.finding import Evidence, Finding, bonferroni
from dpcore.audit.bounds.generator import Charged, GeneratorFinding, audit_generator
from dpcore.audit.bounds.influence import InfluenceFinding, audit_influence
from dpcore.audit.bounds.losses import LossFinding, audit_losses
from dpcore.audit.bounds.noise import NoiseFinding, RepetitionFinding, audit_noise, audit_repetition
from dpcore.audit.bounds.one_run import OneRunFinding, audit_one_run
from dpcore.audit.bounds.one_run_tradeoff import TradeoffFinding, audit_tradeoff
from dpcore.audit.bounds.per_step import PerStepFinding, audit_per_step
from dpcore.audit.bounds.roc import Roc, roc_of
from dpcore.audit.bounds.sampling import SamplingFinding, audit_sampling
from dpcore.audit.bounds.two_run import TwoRunFinding, audit_two_run

__all__ = [
    "Charged",
    "Evidence",
    "Family",
    "Finding",
    "GaussianFamily",
    "GeneratorFinding",
    "InfluenceFinding",
    "LossFinding",
    "NoiseFamily",
    "NoiseFinding",
    "OneRunFinding",
    "PairFamily",
    "PerStepFinding",
    "RepetitionFinding",
    "Roc",
    "SamplingFinding",
    "TradeoffFinding",
    "TwoRunFinding",
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
    "bonferroni",
    "roc_of",
]
