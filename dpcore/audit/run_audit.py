"""One audit as a generator of events: a run is trained and watched, then each test reports its
finding.
"""

import hashlib
import math
import time
from collections.abc import Iterator
from functools import partial

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
from dpcore.audit.bounds.finding import Finding, nothing
from dpcore.audit.bounds.generator import Charged, audit_generator
from dpcore.audit.bounds.noise import audit_noise, audit_repetition
from dpcore.audit.bounds.one_run import audit_one_run
from dpcore.audit.bounds.one_run_tradeoff import GaussianFamily, NoiseFamily, audit_tradeoff
from dpcore.audit.bounds.per_step import audit_per_step
from dpcore.audit.bounds.roc import Roc, roc_of
from dpcore.audit.bounds.sampling import audit_sampling
from dpcore.audit.bounds.two_run import audit_losses, audit_two_run
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
from dpcore.training.randomness.streams import secret_or_new
from dpcore.training.training_run import TrainingRun

TRAINING_REPORTS = 40
TORCH_REPORTS = 12
TORCH_BLOCK = 2**22  # numbers drawn at once
DRAWS = 2_000_000  # of the noise's generator
Outcomes = Iterator[tuple[str, Finding]]  # of tests, by their names
NO_STEPS = "Nothing can be shown: no step was completed."
NO_NOISE = "Nothing can be shown: the settings have no noise."
NO_CANARIES = "Nothing can be shown: the audit has no canaries."
NO_CLAIM = "Nothing can be shown: nothing is charged, so nothing is claimed."


def audit(request: AuditRequest, secret: int | None = None) -> Iterator[Event]:
    """Yield Prepared, Watched during training, a Measured for each test, Judged, and Finished.

    `secret` is the seed if the request has none; None draws a fresh one. The same seed gives the
    same events, but for times, on the same device with the same number of threads. Findings are
    exact figures of the training data, which no epsilon covers. Errors: ValueError, as a sentence,
    if the data or the device are missing or the settings cannot be trained.
    """
    began = time.perf_counter()
    start = request.seed if request.seed is not None else secret_or_new(secret)
    watched = WatchedRun(request, start)
    yield watched.prepared()
    yield from _train(watched)
    claim = request.by.claims(watched.config, watched.accepted)
    unaccounted = "" if claim else watched.plan.unaccounted
    found: list[Measured] = []
    for name, finding in outcomes_of(watched, claim):
        measured = event_of(name, finding, unaccounted)
        found.append(measured)
        yield measured
        if "roc" in finding.figures:
            yield from traced(name, finding.figures["roc"])
    yield from torch_counts(request.torch_draws, start)
    yield from _scores(watched)
    yield judge(found, claim, watched.config.delta, request.confidence)
    yield Finished(watched.record.steps, time.perf_counter() - began)


def _train(watched: WatchedRun) -> Iterator[Event]:
    """Take every step; report an error of the training, and leave the audit to judge the steps
    before.
    """
    steps = watched.plan.steps
    every = -(-steps // TRAINING_REPORTS)
    caught = ""
    for step in range(1, steps + 1):
        try:
            watched.step(step)
        except RuntimeError as error:
            yield Stopped(step, f"Training ended at step {step}: {error}.")
            return
        newly_caught = caught != watched.record.evidence.caught
        caught = watched.record.evidence.caught
        if step % every == 0 or step == steps or newly_caught:
            yield watched.progress(step)


def _scores(watched: WatchedRun) -> Iterator[Event]:
    sums = watched.scores.sums
    if len(sums) and watched.record.steps and np.isfinite(sums).all():
        inside = sums[watched.canaries.inside]
        outside = sums[~watched.canaries.inside]
        yield Scored(_plain(inside), _plain(outside))
        roc = roc_of(inside, outside, confidence=watched.request.confidence)
        yield from traced("one_run", roc)


def _plain(array: FloatArray) -> tuple[float, ...]:
    return tuple(array.tolist())


def traced(name: str, roc: Roc) -> Iterator[Traced]:
    """Yield a ROC curve as an event, if there is one."""
    if not roc.note:
        yield Traced(
            name,
            _plain(roc.false_positives),
            _plain(roc.seen),
            _plain(roc.above),
            _plain(roc.below),
            roc.area,
            roc.scores,
        )


def torch_counts(draws: int, seed: int) -> Iterator[Counted]:
    """Yield the largest of torch's normal numbers by size, and the normal numbers expected beyond
    it, in blocks.

    Many libraries draw noise from torch's float32 numbers on a CPU. These come from uniform numbers
    of 24 bits, so none is beyond sqrt(48 ln 2) = 5.768.

    >>> [(each.draws, each.largest < 5.769) for each in torch_counts(1000, 0)]
    [(1000, True)]
    """
    check.whole(0, MAX_DRAWS, draws=draws)
    # Reveals nothing of the seed.
    own_seed = hashlib.sha256(f"torch's normal numbers {seed}".encode()).digest()[:7]
    generator = torch.Generator().manual_seed(int.from_bytes(own_seed))
    block = torch.empty(min(TORCH_BLOCK, draws))
    blocks = -(-draws // TORCH_BLOCK)
    every = -(-blocks // TORCH_REPORTS)
    largest = 0.0
    drawn = 0
    for place in range(1, blocks + 1):
        values = block[: draws - drawn].normal_(generator=generator)
        largest = max(largest, float(values.max()), -float(values.min()))
        drawn += len(values)
        if place % every == 0 or drawn == draws:
            yield Counted(drawn, largest, 2 * drawn * float(ndtr(-largest)))


def outcomes_of(watched: WatchedRun, claim: Mechanism | None) -> Outcomes:
    """Yield each test's name and finding, in the order of the reports."""
    noise = watched.plan.drawn  # of the settings
    drawn = Mechanism(noise) if noise else None
    yield from _of_noise(watched, claim, drawn)
    yield from _of_steps(watched, claim, drawn)
    yield from _of_canaries(watched, claim)
    yield "losses", _of_losses(watched)


def _of_noise(watched: WatchedRun, claim: Mechanism | None, drawn: Mechanism | None) -> Outcomes:
    record = watched.record
    delta = watched.config.delta
    confidence = watched.request.confidence
    note = NO_NOISE if record.steps else NO_STEPS  # where there is nothing to test
    noise = np.array(record.noise)
    charged = claim or drawn
    finding = nothing(note, confidence, projections=noise.size)
    if record.steps and charged:
        sigma = np.array(record.sigmas)[:, None]
        finding = audit_noise(noise, charged, delta, sigma=sigma, confidence=confidence)
    yield "noise", finding
    finding = nothing(note, confidence, steps=0)
    if record.steps and drawn:
        finding = audit_repetition(noise, confidence=confidence)
    yield "fresh_noise", finding
    yield "evidence", record.evidence.finding(confidence)
    user = None
    if claim:
        generator = generator_of(str(watched.run.device), watched.config.noise_generator)
        user = Charged(claim, delta, largest_drawn(generator))
    draw = partial(_draw, watched.run)
    yield "generator", audit_generator(draw, DRAWS, charged=user, confidence=confidence)


def _draw(run: TrainingRun, count: int) -> FloatArray:
    """Draw `count` numbers from the trainer's source of noise, at a standard deviation of 1."""
    size = len(run.engine.parameters)
    vector = torch.zeros(-(-count // size), size, dtype=torch.float64)
    for row in vector:
        for piece, part in enumerate(run.noise.pieces(row)):
            run.noise.add(piece, part, 1.0)
    return vector.flatten()[:count].numpy()


def _of_steps(watched: WatchedRun, claim: Mechanism | None, drawn: Mechanism | None) -> Outcomes:
    record = watched.record
    config = watched.config
    confidence = watched.request.confidence
    looks = record.looks
    if drawn:
        limit = CLIPPINGS[config.clipping].sensitivity(MODELS[config.model].groups)
        lengths = []
        for look in looks:
            lengths += [look.alone / limit, look.moved / limit]
        finding = audit_influence(
            lengths, claim or drawn, config.delta, allowed=ALLOWED, confidence=confidence
        )
        yield "clipping", finding
    gaps = [look.differs for look in looks]
    tried = ROWS * len(looks)
    yield "gradients", audit_distances(GRADIENTS, gaps, tried=tried, confidence=confidence)
    moves = [look.remembered for look in looks]
    tried = NEIGHBOURS * len(looks)
    yield "history", audit_distances(HISTORY, moves, tried=tried, confidence=confidence)
    finding = nothing(NO_STEPS, confidence, steps=0, canaries=0)
    if record.steps:
        finding = audit_sampling(
            record.inclusions,
            config.q,
            batch_sizes=record.sizes,
            examples=config.examples,
            confidence=confidence,
        )
    yield "sampler", finding
    if drawn:
        yield "releases", _of_releases(watched, claim)


def _of_releases(watched: WatchedRun, claim: Mechanism | None) -> Finding:
    plan = watched.plan
    confidence = watched.request.confidence
    if plan.unaccounted and not claim:
        return nothing(NO_CLAIM, confidence)
    seen = first_steps(plan.charged or plan.drawn, watched.observer.releases)
    steps = (*plan.first, *seen)
    released = Mechanism(steps) if steps else None
    return audit_releases(released, claim, watched.config.delta, confidence=confidence)


def _of_canaries(watched: WatchedRun, claim: Mechanism | None) -> Outcomes:
    """Yield the findings of the canaries on each step and on everything together; without canaries,
    sentences.
    """
    delta = watched.config.delta
    confidence = watched.request.confidence
    scores = watched.scores.sums
    inside = watched.canaries.inside
    note = "" if watched.record.steps else NO_STEPS
    if not len(scores):
        note = watched.without_canaries or NO_CANARIES
    elif claim is None:
        note = NO_CLAIM
    if note or claim is None:
        yield "per_step", nothing(note, confidence)
        for name in ("one_run", "one_run_curve", "one_run_gaussian"):
            yield name, nothing(note, confidence, canaries=len(scores))
        yield "in_out", nothing(note, confidence)
        return
    with_it, without = watched.scores.of_steps
    yield "per_step", audit_per_step(with_it, without, claim, delta, confidence=confidence)
    _, claimed = claimed_band(claim, delta)
    yield "one_run", audit_one_run(scores, inside, delta, claimed=claimed, confidence=confidence)
    band = tradeoff_bounds(claim)
    curve = None if band.empty else band.lower
    finding = audit_tradeoff(
        scores, inside, NoiseFamily(claim), delta, claimed=curve, confidence=confidence
    )
    yield "one_run_curve", finding
    finding = audit_tradeoff(scores, inside, GaussianFamily(), delta, confidence=confidence)
    yield "one_run_gaussian", finding
    finding = audit_two_run(
        scores[inside], scores[~inside], delta, independent=False, confidence=confidence
    )
    yield "in_out", finding


def _of_losses(watched: WatchedRun) -> Finding:
    confidence = watched.request.confidence
    try:
        return audit_losses(*watched.losses(), watched.config.delta, confidence=confidence)
    except RuntimeError as error:
        return nothing(f"Nothing can be shown: {error}.", confidence)


def largest_drawn(generator: str) -> float:
    """Return the largest number of a generator of noise, whose uniform number has only bits of 0.

    >>> round(largest_drawn("AES"), 1), round(largest_drawn("CUDA"), 1)
    (37.4, 26.5)
    """
    return math.sqrt(2 * math.log(2) * (BITS * (1 + FURTHER[generator]) + 1))
