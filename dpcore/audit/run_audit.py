"""One audit as a generator of events: a run is trained and watched, then each test reports its finding."""

import hashlib
import math
import time
from collections.abc import Iterator

import numpy as np
import torch
from scipy.special import ndtr

from dpcore import check
from dpcore.audit.bounds.exact import (
    ALLOWED,
    GRADIENTS,
    HISTORY,
    audit_distances,
    audit_influence,
    audit_releases,
)
from dpcore.audit.bounds.finding import Finding
from dpcore.audit.bounds.generator import Charged, audit_generator
from dpcore.audit.bounds.noise import NoiseFinding, RepetitionFinding, audit_noise, audit_repetition
from dpcore.audit.bounds.one_run import OneRunFinding, audit_one_run
from dpcore.audit.bounds.one_run_tradeoff import GaussianFamily, NoiseFamily, audit_tradeoff
from dpcore.audit.bounds.per_step import PerStepFinding, audit_per_step
from dpcore.audit.bounds.roc import Roc, roc_of
from dpcore.audit.bounds.sampling import audit_sampling
from dpcore.audit.bounds.two_run import LossFinding, TwoRunFinding, audit_losses, audit_two_run
from dpcore.audit.events import Counted, Event, Finished, Measured, Scored, Stopped, Traced
from dpcore.audit.probe import NEIGHBOURS, ROWS
from dpcore.audit.request import MAX_DRAWS, AuditRequest
from dpcore.audit.verdict import claimed_band, event_of, judge
from dpcore.audit.watched_run import WatchedRun
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import FloatArray, Mechanism
from dpcore.training.gradients.clipping import CLIPPINGS
from dpcore.training.models import MODELS
from dpcore.training.plan import first_steps
from dpcore.training.randomness.missing_mass import BITS, FURTHER, generator_of
from dpcore.training.randomness.streams import new_secret

TRAINING_REPORTS = 40
TORCH_REPORTS = 12
TORCH_BLOCK = 2**22  # numbers drawn at once
DRAWS = 2_000_000  # of the noise's generator
NO_NOISE = "Nothing can be shown: the settings have no noise."
NO_CANARIES = "Nothing can be shown: the audit has no canaries."
NO_CLAIM = "Nothing can be shown: nothing is charged, so nothing is claimed."


def audit(request: AuditRequest, secret: int | None = None) -> Iterator[Event]:
    """Yield Prepared, Watched during training, a Measured for each test, Judged, and Finished.

    `secret` is the seed if the request has none; None draws a fresh one. The same seed gives the same events, but for
    times, on the same device with the same number of threads.
    Findings are exact figures of the training data, which no epsilon covers.
    Errors: ValueError, as a sentence, if the data or the device are missing or the settings cannot be trained.
    """
    began = time.perf_counter()
    start = request.seed if request.seed is not None else new_secret() if secret is None else secret
    watched = WatchedRun(request, start)
    yield watched.prepared()
    yield from _train(watched)
    outcomes, found = Outcomes(watched), list[Measured]()
    for name, finding in outcomes.each():
        found.append(event_of(name, finding, outcomes.unaccounted))
        yield found[-1]
        if isinstance(finding, LossFinding) and finding.roc:
            yield from traced(name, finding.roc)
    yield from torch_counts(request.torch_draws, start)
    yield from _scores(watched)
    yield judge(found, outcomes.claim, watched.config.delta, request.confidence)
    yield Finished(watched.record.steps, time.perf_counter() - began)


def _train(watched: WatchedRun) -> Iterator[Event]:
    """Take every step; report an error of the training, and leave the audit to judge the steps before."""
    steps = watched.plan.steps
    every, caught = -(-steps // TRAINING_REPORTS), ""
    for step in range(1, steps + 1):
        try:
            watched.step(step)
        except RuntimeError as error:
            yield Stopped(step, f"Training ended at step {step}: {error}.")
            return
        before, caught = caught, watched.record.evidence.caught
        if step % every == 0 or step == steps or caught != before:
            yield watched.progress(step)


def _scores(watched: WatchedRun) -> Iterator[Event]:
    sums, inside = watched.scores.sums, watched.canaries.inside
    if len(sums) and watched.record.steps and np.isfinite(sums).all():
        yield Scored(tuple(sums[inside].tolist()), tuple(sums[~inside].tolist()))
        yield from traced("one_run", roc_of(sums[inside], sums[~inside], confidence=watched.request.confidence))


def traced(name: str, roc: Roc) -> Iterator[Traced]:
    """Yield a ROC curve as an event, if there is one."""
    if not roc.note:
        rates, *curves = (tuple(each.tolist()) for each in (roc.false_positives, roc.seen, roc.above, roc.below))
        yield Traced(name, rates, *curves, area=roc.area, scores=roc.scores)


def torch_counts(draws: int, seed: int) -> Iterator[Counted]:
    """Yield the largest of torch's normal numbers by size, and the normal numbers expected beyond it, in blocks.

    Many libraries draw noise from torch's float32 numbers on a CPU. These come from uniform numbers of 24 bits, so none
    is beyond sqrt(48 ln 2) = 5.768.

    >>> [(each.draws, each.largest < 5.769) for each in torch_counts(1000, 0)]
    [(1000, True)]
    """
    check.whole(0, MAX_DRAWS, draws=draws)
    own_seed = hashlib.sha256(f"torch's normal numbers {seed}".encode()).digest()[
        :7
    ]  # reveals nothing of the run's seed
    generator = torch.Generator().manual_seed(int.from_bytes(own_seed))
    block, largest, drawn = torch.empty(min(TORCH_BLOCK, max(draws, 1))), 0.0, 0
    every = -(-draws // TORCH_BLOCK // TORCH_REPORTS) or 1
    for place in range(-(-draws // TORCH_BLOCK)):
        values = block[: min(TORCH_BLOCK, draws - drawn)].normal_(generator=generator)
        largest, drawn = max(largest, float(values.max()), -float(values.min())), drawn + len(values)
        if place % every == every - 1 or drawn == draws:
            yield Counted(drawn, largest, 2 * drawn * float(ndtr(-largest)))


class Outcomes:
    """Computes the findings of one watched run."""

    def __init__(self, watched: WatchedRun) -> None:
        self._watched, self._record, self._config = watched, watched.record, watched.config
        self._confidence, self._delta = watched.request.confidence, watched.config.delta
        self.claim = watched.request.by.claims(watched.config, watched.accepted)
        self.unaccounted = "" if self.claim else watched.plan.unaccounted
        self._drawn = Mechanism(watched.plan.drawn) if watched.plan.drawn else None  # the noise of the settings

    def each(self) -> Iterator[tuple[str, Finding]]:
        """Yield each test's name and finding."""
        looks, confidence = self._record.looks, self._confidence
        yield "noise", self._noise()
        yield "fresh_noise", self._fresh_noise()
        yield "evidence", self._record.evidence.finding(self._confidence)
        yield "generator", self._generator()
        if self._drawn:
            yield "clipping", self._clipping(self._drawn)
        gaps, moves = [look.differs for look in looks], [look.remembered for look in looks]
        yield "gradients", audit_distances(GRADIENTS, gaps, tried=ROWS * len(looks), confidence=confidence)
        yield "history", audit_distances(HISTORY, moves, tried=NEIGHBOURS * len(looks), confidence=confidence)
        yield "sampler", self._sampler()
        if self._drawn:
            yield "releases", self._releases(self._drawn)
        yield from self._of_canaries()
        yield "losses", self._losses()

    def _noise(self) -> Finding:
        noise, mechanism = np.array(self._record.noise), self.claim or self._drawn
        if mechanism is None or not self._record.steps:
            return NoiseFinding(confidence=self._confidence, projections=noise.size, note=NO_NOISE)
        sigma = np.array(self._record.sigmas)[:, None]
        return audit_noise(noise, mechanism, self._delta, sigma=sigma, confidence=self._confidence)

    def _fresh_noise(self) -> Finding:
        if self._drawn is None or not self._record.steps:
            return RepetitionFinding(confidence=self._confidence, steps=0, note=NO_NOISE)
        return audit_repetition(self._record.noise, confidence=self._confidence)

    def _generator(self) -> Finding:
        device = str(self._watched.run.device)
        radius = largest_drawn(generator_of(device, self._config.noise_generator))
        charged = Charged(self.claim, self._delta, radius) if self.claim else None
        return audit_generator(self._draw, DRAWS, charged=charged, confidence=self._confidence)

    def _draw(self, count: int) -> FloatArray:
        """Draw `count` numbers from the trainer's source of noise, at a standard deviation of 1."""
        noise, size = self._watched.run.noise, len(self._watched.run.engine.parameters)
        vector = torch.zeros(-(-count // size), size, dtype=torch.float64)
        for row in vector:
            for piece, part in enumerate(noise.pieces(row)):
                noise.add(piece, part, 1.0)
        return vector.flatten()[:count].numpy()

    def _clipping(self, drawn: Mechanism) -> Finding:
        limit = CLIPPINGS[self._config.clipping].sensitivity(MODELS[self._config.model].groups)
        lengths = [length / limit for look in self._record.looks for length in (look.alone, look.moved)]
        return audit_influence(lengths, self.claim or drawn, self._delta, allowed=ALLOWED, confidence=self._confidence)

    def _sampler(self) -> Finding:
        return audit_sampling(
            self._record.inclusions,
            self._config.q,
            batch_sizes=self._record.sizes,
            examples=self._config.examples,
            confidence=self._confidence,
        )

    def _releases(self, drawn: Mechanism) -> Finding:
        plan = self._watched.plan
        steps = first_steps(plan.charged or plan.drawn, self._watched.observer.releases)
        released = Mechanism((*plan.first, *steps)) if steps else drawn
        return audit_releases(released, self.claim, self._delta, confidence=self._confidence)

    def _of_canaries(self) -> Iterator[tuple[str, Finding]]:
        """Yield the findings of the canaries on each step and on everything together; without canaries, sentences."""
        watched, claim, delta, confidence = self._watched, self.claim, self._delta, self._confidence
        scores, inside = watched.scores.sums, watched.canaries.inside
        note = "" if self._record.steps else NO_CANARIES
        if not len(scores):
            note = watched.without_canaries or NO_CANARIES
        elif claim is None:
            note = NO_CLAIM
        if note or claim is None:
            yield "per_step", PerStepFinding(confidence=confidence, note=note, scores=(0, 0))
            for name in ("one_run", "one_run_curve", "one_run_gaussian"):
                yield name, OneRunFinding(confidence=confidence, note=note, canaries=len(scores))
            yield "in_out", TwoRunFinding(confidence=confidence, note=note, scores=(0, 0))
            return
        yield "per_step", audit_per_step(*watched.scores.of_steps, claim, delta, confidence=confidence)
        _, claimed = claimed_band(claim, delta)
        yield "one_run", audit_one_run(scores, inside, delta, claimed=claimed, confidence=confidence)
        band, family = tradeoff_bounds(claim), NoiseFamily(claim)
        curve = None if band.empty else band.lower
        yield "one_run_curve", audit_tradeoff(scores, inside, family, delta, claimed=curve, confidence=confidence)
        yield "one_run_gaussian", audit_tradeoff(scores, inside, GaussianFamily(), delta, confidence=confidence)
        apart = (scores[inside], scores[~inside])
        yield "in_out", audit_two_run(*apart, delta, independent=False, confidence=confidence)

    def _losses(self) -> Finding:
        try:
            return audit_losses(*self._watched.losses(), self._delta, confidence=self._confidence)
        except RuntimeError as error:
            return LossFinding(confidence=self._confidence, note=f"Nothing can be shown: {error}.")


def largest_drawn(generator: str) -> float:
    """Return the largest number of a generator of noise, whose uniform number has only bits of 0.

    >>> round(largest_drawn("AES"), 1), round(largest_drawn("CUDA"), 1)
    (37.4, 26.5)
    """
    return math.sqrt(2 * math.log(2) * (BITS * (1 + FURTHER[generator]) + 1))
