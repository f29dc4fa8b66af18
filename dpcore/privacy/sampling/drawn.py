"""A sampler as an accountant: every question about a mechanism, for batches drawn in its way."""

from typing import final

import numpy as np

from dpcore.privacy.accountants.base import Accountant, Curve, Kind, TradeoffCurve
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism, Release
from dpcore.privacy.sampling.base import Sampler, tradeoff_band


@final
class Drawn(Accountant):
    """The proven bounds of a sampler, for steps that are all alike.

    Errors: ValueError for steps of several kinds, since nothing is proven for them.

    >>> from dpcore.privacy.sampling import sampler_of
    >>> steps = Mechanism.constant(q=0.1, sigma=2.0, steps=40)  # four passes in a fixed order: G_1
    >>> round(Drawn(sampler_of("fixed_order")).spent(steps, 1e-5).value, 2)
    4.38
    """

    title = "Proven bounds of a sampler"
    source = "dpcore/privacy/sampling/README.md"
    note = "The bounds hold for batches of this sampler alone, and for its own adjacency."
    caveat = "Proven for constant noise alone."
    kind = Kind.CERTIFIED

    def __init__(self, sampler: Sampler) -> None:
        self.sampler = sampler
        self.name = sampler.name

    def own_tradeoff(self, mechanism: Mechanism) -> TradeoffCurve:
        """The band that follows from the sampler's privacy profile."""
        step = self._step(mechanism)
        band = tradeoff_band(self.sampler, step.q, step.sigma, step.count)
        lower = None if band.empty else band.lower
        return TradeoffCurve(lower, band.upper, self.kind, band.note)

    def _account(self, mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> Curve:
        step = self._step(mechanism)
        if np.unique(delta).size == 1:
            return self.sampler.curve(step.q, step.sigma, steps, float(delta.min()))
        return self.sampler.profile(step.q, step.sigma, int(steps[-1]), delta)

    def _step(self, mechanism: Mechanism) -> Release:
        """The only kind of step."""
        step, *others = mechanism.releases
        if others:
            raise ValueError(
                f"Expected steps that are all alike with sampler={self.name}: nothing is proven"
                " for steps of several kinds."
            )
        return step
