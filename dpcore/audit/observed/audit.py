"""One audit: a generator of events, so that whoever runs it can report and stop between them."""

import time
from collections.abc import Iterator

import numpy as np

from dpcore.audit.bounds.losses import LossFinding
from dpcore.audit.bounds.roc import Roc, roc_of
from dpcore.audit.events import Event, Finished, Measured, Scored, Stopped, Traced
from dpcore.audit.observed.outcomes import Outcomes
from dpcore.audit.observed.torch_normal import torch_counts
from dpcore.audit.observed.watch import Watch
from dpcore.audit.request import AuditRequest
from dpcore.audit.verdict import judged, measured
from dpcore.training.randomness.streams import new_secret

REPORTS = 40  # of how far the training is


def audit(request: AuditRequest, secret: int | None = None) -> Iterator[Event]:
    """The events of an audit: Prepared, Watched as training goes on, a Measured for each audit, Judged, Finished.

    `secret` is the seed where the request has none; None draws a fresh one. The same seed gives the same events on the
    same device with as many threads, but for their times.
    What it finds are exact figures of the training data, and no epsilon covers them.
    Errors: ValueError, as a sentence, where data or device are not here, or the settings cannot be trained.
    """
    began = time.perf_counter()
    start = request.seed if request.seed is not None else new_secret() if secret is None else secret
    watch = Watch(request, start)
    yield watch.prepared()
    yield from _trained(watch)
    yield from _found(watch, start)
    yield Finished(watch.record.steps, time.perf_counter() - began)


def _trained(watch: Watch) -> Iterator[Event]:
    """Every step; what training ends in before its time is said, and the audit goes on with what it has seen."""
    steps = watch.plan.steps
    every = -(-steps // REPORTS)
    for step in range(1, steps + 1):
        try:
            watch.step(step)
        except RuntimeError as error:
            yield Stopped(step, f"Training ended at step {step}: {error}.")
            return
        if step % every == 0 or step == steps:
            yield watch.watched(step)


def _scores(watch: Watch) -> Iterator[Event]:
    """The canaries' scores and their ROC curve, where there are any."""
    sums, inside = watch.scores.sums, watch.canaries.inside
    if len(sums) and watch.record.steps and np.isfinite(sums).all():
        yield Scored(tuple(sums[inside].tolist()), tuple(sums[~inside].tolist()))
        yield from traced("one_run", roc_of(sums[inside], sums[~inside], confidence=watch.request.confidence))


def traced(name: str, roc: Roc) -> Iterator[Traced]:
    """A ROC curve as an event; none where there is none."""
    if not roc.note:
        rates, seen, above, below = (
            tuple(each.tolist()) for each in (roc.false_positives, roc.seen, roc.above, roc.below)
        )
        yield Traced(name, rates, seen, above, below, roc.area, roc.scores)


def _found(watch: Watch, start: int) -> Iterator[Event]:
    outcomes, found = Outcomes(watch), list[Measured]()
    for name, finding in outcomes.each():
        found.append(measured(name, finding, outcomes.unaccounted))
        yield found[-1]
        if isinstance(finding, LossFinding) and finding.roc:
            yield from traced(name, finding.roc)
    yield from torch_counts(watch.request.torch_draws, start)
    yield from _scores(watch)
    yield judged(found, outcomes.claim, watch.config.delta, watch.request.confidence)
