"""What the audits make of a run that was watched."""

import math
from collections.abc import Iterator

import torch

from dpcore.audit.bounds.finding import Finding
from dpcore.audit.bounds.generator import Charged, audit_generator
from dpcore.audit.bounds.influence import audit_influence
from dpcore.audit.bounds.losses import LossFinding, audit_losses
from dpcore.audit.bounds.noise import NoiseFinding, RepetitionFinding, audit_noise, audit_repetition
from dpcore.audit.bounds.sampling import audit_sampling
from dpcore.audit.exact_findings import ALLOWED, audit_gradients, audit_history, audit_releases
from dpcore.audit.observed.canary_outcomes import CanaryOutcomes
from dpcore.audit.observed.look import NEIGHBOURS, ROWS
from dpcore.audit.observed.watch import Watch
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.types import FloatArray
from dpcore.training.accounting import first_steps
from dpcore.training.gradients.clipping import CLIPPINGS
from dpcore.training.models import MODELS
from dpcore.training.randomness.missing_mass import BITS, FURTHER, generator_of

DRAWS = 2_000_000  # of the noise's generator
NO_NOISE = "Nothing can be shown of noise: the settings have none."


class Outcomes:
    """The findings of one watched run."""

    def __init__(self, watch: Watch) -> None:
        self._watch, self._record, self._config = watch, watch.record, watch.config
        self._confidence, self._delta = watch.request.confidence, watch.config.delta
        self.claim = watch.request.by.claims(watch.config, watch.accepted)
        self.unaccounted = "" if self.claim else watch.plan.unaccounted
        self._drawn = Mechanism(watch.plan.drawn) if watch.plan.drawn else None  # what the settings say is drawn

    def each(self) -> Iterator[tuple[str, Finding]]:
        """Every audit by its name, and what it found."""
        yield "noise", self._noise()
        yield "fresh_noise", self._fresh_noise()
        yield "generator", self._generator()
        if self._drawn:
            yield "clipping", self._clipping(self._drawn)
        yield "gradients", self._gradients()
        yield "history", self._history()
        yield "sampler", self._sampler()
        if self._drawn:
            yield "releases", self._releases(self._drawn)
        yield from CanaryOutcomes(self._watch, self.claim).each()
        yield "losses", self._losses()

    def _losses(self) -> Finding:
        try:
            return audit_losses(*self._watch.losses(), self._delta, confidence=self._confidence)
        except RuntimeError as error:
            return LossFinding(confidence=self._confidence, note=f"Nothing can be shown of losses: {error}.")

    def _noise(self) -> Finding:
        noise, mechanism = self._record.noise, self.claim or self._drawn
        if mechanism is None or not self._record.steps:
            return NoiseFinding(confidence=self._confidence, projections=noise.size, note=NO_NOISE)
        sigma = self._record.sigmas[:, None]
        return audit_noise(noise, mechanism, self._delta, sigma=sigma, confidence=self._confidence)

    def _fresh_noise(self) -> Finding:
        if self._drawn is None or not self._record.steps:
            return RepetitionFinding(confidence=self._confidence, steps=0, note=NO_NOISE)
        return audit_repetition(self._record.noise, confidence=self._confidence)

    def _generator(self) -> Finding:
        device = str(self._watch.run.device)
        radius = largest_drawn(generator_of(device, self._config.noise_generator))
        charged = Charged(self.claim, self._delta, radius) if self.claim else None
        return audit_generator(self._draw, DRAWS, charged=charged, confidence=self._confidence)

    def _draw(self, count: int) -> FloatArray:
        """So many numbers of the trainer's source of noise, of standard deviation 1 if it does as it is told."""
        noise, size = self._watch.run.noise, len(self._watch.run.engine.parameters)
        vector = torch.zeros(-(-count // size), size, dtype=torch.float64)
        for row in vector:
            for piece, part in enumerate(noise.pieces(row)):
                noise.add(piece, part, 1.0)
        return vector.flatten()[:count].numpy()

    def _clipping(self, drawn: Mechanism) -> Finding:
        """Influences, in units of what one example may move the sum by."""
        looks = self._record.looks
        limit = CLIPPINGS[self._config.clipping].sensitivity(MODELS[self._config.model].groups)
        lengths = [length / limit for look in looks for length in (look.alone, look.moved)]
        return audit_influence(lengths, self.claim or drawn, self._delta, allowed=ALLOWED, confidence=self._confidence)

    def _gradients(self) -> Finding:
        distances = [look.differs for look in self._record.looks]
        return audit_gradients(distances, tried=ROWS * len(distances), confidence=self._confidence)

    def _history(self) -> Finding:
        moves = [look.remembered for look in self._record.looks]
        return audit_history(moves, tried=NEIGHBOURS * len(moves), confidence=self._confidence)

    def _sampler(self) -> Finding:
        record, config = self._record, self._config
        return audit_sampling(
            record.inclusions,
            config.q,
            batch_sizes=record.sizes,
            examples=config.examples,
            confidence=self._confidence,
        )

    def _releases(self, drawn: Mechanism) -> Finding:
        plan = self._watch.plan
        steps = first_steps(plan.charged or plan.drawn, self._watch.observer.releases)
        released = Mechanism((*plan.first, *steps)) if steps else drawn
        return audit_releases(released, self.claim, self._delta, confidence=self._confidence)


def largest_drawn(generator: str) -> float:
    """The largest number that a generator of noise can return: where all bits of its uniform number are 0.

    >>> round(largest_drawn("AES"), 1), round(largest_drawn("CUDA"), 1)
    (37.4, 26.5)
    """
    return math.sqrt(2 * math.log(2) * (BITS * (1 + FURTHER[generator]) + 1))
