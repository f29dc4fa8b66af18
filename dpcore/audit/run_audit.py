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
from dpcore.audit.bounds.finding import Finding
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
    claim, found = request.by.claims(watched.config, watched.accepted), list[Measured]()
    for name, finding in outcomes_of(watched, claim):
        found.append(event_of(name, finding, "" if claim else watched.plan.unaccounted))
        yield found[-1]
        if roc := finding.figures.get("roc"):
            yield from traced(name, roc)
    yield from torch_counts(request.torch_draws, start)
    yield from _scores(watched)
    yield judge(found, claim, watched.config.delta, request.confidence)
    yield Finished(watched.record.steps, time.perf_counter() - began)


def _train(watched: WatchedRun) -> Iterator[Event]:
    """Take every step; report an error of the training, and leave the audit to judge the steps
    before.
    """
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
        yield from traced(
            "one_run", roc_of(sums[inside], sums[~inside], confidence=watched.request.confidence)
        )


def traced(name: str, roc: Roc) -> Iterator[Traced]:
    """Yield a ROC curve as an event, if there is one."""
    if not roc.note:
        rates, *curves = (
            tuple(each.tolist()) for each in (roc.false_positives, roc.seen, roc.above, roc.below)
        )
        yield Traced(name, rates, *curves, area=roc.area, scores=roc.scores)


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
    block, largest, drawn = torch.empty(min(TORCH_BLOCK, max(draws, 1))), 0.0, 0
    every = -(-draws // TORCH_BLOCK // TORCH_REPORTS) or 1
    for place in range(-(-draws // TORCH_BLOCK)):
        values = block[: min(TORCH_BLOCK, draws - drawn)].normal_(generator=generator)
        largest, drawn = (
            max(largest, float(values.max()), -float(values.min())),
            drawn + len(values),
        )
        if place % every == every - 1 or drawn == draws:
            yield Counted(drawn, largest, 2 * drawn * float(ndtr(-largest)))


def outcomes_of(watched: WatchedRun, claim: Mechanism | None) -> Iterator[tuple[str, Finding]]:
    """Yield each test's name and finding, in the order of the reports."""
    # The noise of the settings.
    drawn = Mechanism(watched.plan.drawn) if watched.plan.drawn else None
    yield from _of_noise(watched, claim, drawn)
    yield from _of_steps(watched, claim, drawn)
    yield from _of_canaries(watched, claim)
    yield "losses", _of_losses(watched)


def _of_noise(
    watched: WatchedRun, claim: Mechanism | None, drawn: Mechanism | None
) -> Iterator[tuple[str, Finding]]:
    record, delta, confidence = watched.record, watched.config.delta, watched.request.confidence
    noise, charged = np.array(record.noise), claim or drawn
    untrained = "" if record.steps else NO_STEPS
    if charged is None or untrained:
        yield (
            "noise",
            Finding(
                confidence=confidence,
                shows=untrained or NO_NOISE,
                figures={"projections": noise.size},
            ),
        )
    else:
        sigma = np.array(record.sigmas)[:, None]
        yield "noise", audit_noise(noise, charged, delta, sigma=sigma, confidence=confidence)
    if drawn is None or untrained:
        yield (
            "fresh_noise",
            Finding(confidence=confidence, shows=untrained or NO_NOISE, figures={"steps": 0}),
        )
    else:
        yield "fresh_noise", audit_repetition(record.noise, confidence=confidence)
    yield "evidence", record.evidence.finding(confidence)
    radius = largest_drawn(generator_of(str(watched.run.device), watched.config.noise_generator))
    user = Charged(claim, delta, radius) if claim else None
    yield (
        "generator",
        audit_generator(partial(_draw, watched.run), DRAWS, charged=user, confidence=confidence),
    )


def _draw(run: TrainingRun, count: int) -> FloatArray:
    """Draw `count` numbers from the trainer's source of noise, at a standard deviation of 1."""
    noise, size = run.noise, len(run.engine.parameters)
    vector = torch.zeros(-(-count // size), size, dtype=torch.float64)
    for row in vector:
        for piece, part in enumerate(noise.pieces(row)):
            noise.add(piece, part, 1.0)
    return vector.flatten()[:count].numpy()


def _of_steps(
    watched: WatchedRun, claim: Mechanism | None, drawn: Mechanism | None
) -> Iterator[tuple[str, Finding]]:
    record, config, plan, confidence = (
        watched.record,
        watched.config,
        watched.plan,
        watched.request.confidence,
    )
    looks = record.looks
    if drawn:
        limit = CLIPPINGS[config.clipping].sensitivity(MODELS[config.model].groups)
        lengths = [length / limit for look in looks for length in (look.alone, look.moved)]
        charged = claim or drawn
        yield (
            "clipping",
            audit_influence(lengths, charged, config.delta, allowed=ALLOWED, confidence=confidence),
        )
    gaps, moves = [look.differs for look in looks], [look.remembered for look in looks]
    yield (
        "gradients",
        audit_distances(GRADIENTS, gaps, tried=ROWS * len(looks), confidence=confidence),
    )
    yield (
        "history",
        audit_distances(HISTORY, moves, tried=NEIGHBOURS * len(looks), confidence=confidence),
    )
    batches = {"batch_sizes": record.sizes, "examples": config.examples}
    if record.steps:
        yield (
            "sampler",
            audit_sampling(record.inclusions, config.q, **batches, confidence=confidence),
        )
    else:
        yield (
            "sampler",
            Finding(confidence=confidence, shows=NO_STEPS, figures={"steps": 0, "canaries": 0}),
        )
    if drawn:
        steps = (*plan.first, *first_steps(plan.charged or plan.drawn, watched.observer.releases))
        released = Mechanism(steps) if steps else None
        unclaimed = (
            Finding(confidence=confidence, shows=NO_CLAIM)
            if plan.unaccounted and not claim
            else None
        )
        yield (
            "releases",
            unclaimed or audit_releases(released, claim, config.delta, confidence=confidence),
        )


def _of_canaries(watched: WatchedRun, claim: Mechanism | None) -> Iterator[tuple[str, Finding]]:
    """Yield the findings of the canaries on each step and on everything together; without canaries,
    sentences.
    """
    delta, confidence = watched.config.delta, watched.request.confidence
    scores, inside = watched.scores.sums, watched.canaries.inside
    note = "" if watched.record.steps else NO_STEPS
    if not len(scores):
        note = watched.without_canaries or NO_CANARIES
    elif claim is None:
        note = NO_CLAIM
    if note or claim is None:
        yield "per_step", Finding(confidence=confidence, shows=note)
        for name in ("one_run", "one_run_curve", "one_run_gaussian"):
            yield (
                name,
                Finding(confidence=confidence, shows=note, figures={"canaries": len(scores)}),
            )
        yield "in_out", Finding(confidence=confidence, shows=note)
        return
    yield "per_step", audit_per_step(*watched.scores.of_steps, claim, delta, confidence=confidence)
    _, claimed = claimed_band(claim, delta)
    yield "one_run", audit_one_run(scores, inside, delta, claimed=claimed, confidence=confidence)
    band, family = tradeoff_bounds(claim), NoiseFamily(claim)
    curve = None if band.empty else band.lower
    yield (
        "one_run_curve",
        audit_tradeoff(scores, inside, family, delta, claimed=curve, confidence=confidence),
    )
    yield (
        "one_run_gaussian",
        audit_tradeoff(scores, inside, GaussianFamily(), delta, confidence=confidence),
    )
    apart = (scores[inside], scores[~inside])
    yield "in_out", audit_two_run(*apart, delta, independent=False, confidence=confidence)


def _of_losses(watched: WatchedRun) -> Finding:
    confidence = watched.request.confidence
    try:
        return audit_losses(*watched.losses(), watched.config.delta, confidence=confidence)
    except RuntimeError as error:
        return Finding(confidence=confidence, shows=f"Nothing can be shown: {error}.")


def largest_drawn(generator: str) -> float:
    """Return the largest number of a generator of noise, whose uniform number has only bits of 0.

    >>> round(largest_drawn("AES"), 1), round(largest_drawn("CUDA"), 1)
    (37.4, 26.5)
    """
    return math.sqrt(2 * math.log(2) * (BITS * (1 + FURTHER[generator]) + 1))
