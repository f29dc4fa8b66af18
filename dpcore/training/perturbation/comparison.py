"""Compare methods on one table, as a generator of events that can be stopped between them."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.data.tabular import TABLES
from dpcore.data.tabular.table import Problem
from dpcore.privacy.report.statement import delta_warning, seed_warning
from dpcore.training.perturbation.events import Event, Finished, Measured, Prepared, Skipped
from dpcore.training.perturbation.methods import METHODS, Method
from dpcore.training.perturbation.methods.base import Fits
from dpcore.training.perturbation.minimisers import best, is_exact
from dpcore.training.perturbation.request import Request
from dpcore.training.perturbation.task import Task, released
from dpcore.training.randomness.streams import secret_or_new

AT_ONCE = 5e7  # product of rows, parameters and fits computed together
OVERFLOW = (
    "Training overflows. Lower the step size, raise the regulariser, or choose an epsilon nearer"
    " to 1."
)


@dataclass(frozen=True, eq=False)
class Ground:
    """Data and settings that all fits of a comparison share."""

    request: Request
    task: Task
    problem: Problem
    least: float  # loss without noise, L*
    start: int  # the seed of all random numbers


def compare(request: Request, secret: int | None = None) -> Iterator[Event]:
    """Yield the events of a comparison: Prepared, a Measured or Skipped for each method and
    epsilon, Finished.

    `secret` is the seed if the request has none; None draws a fresh one.
    Errors: ValueError, as a sentence, if the table is missing or makes no problem.
    """
    began = time.perf_counter()
    problem = TABLES[request.dataset].problem(request.classes)
    task = request.task(problem.examples, problem.features)
    theta = best(task, problem)
    least = float(task.model.losses(theta, problem.rows, problem.labels, task.regulariser)[0])
    start = request.seed if request.seed is not None else secret_or_new(secret)
    ground = Ground(request, task, problem, least, start)
    positive = float((problem.test_labels > 0).mean())
    accuracy = float(task.model.accuracies(theta, problem.test_rows, problem.test_labels)[0])
    yield Prepared(
        problem.examples,
        len(problem.test_labels),
        problem.features,
        task.parameters,
        least,
        accuracy,
        max(positive, 1 - positive),
        notes_on(ground),
    )
    for name in request.methods:
        yield from _measured(ground, METHODS[name])
    yield Finished(time.perf_counter() - began)


def notes_on(ground: Ground) -> tuple[str, ...]:
    """Return sentences that a reader of the figures should know."""
    request = ground.request
    notes = []
    small = delta_warning(request.delta, ground.task.examples)
    if small:
        notes.append(small)
    count = ground.problem.constant_columns
    if count:
        notes.append(
            f"Features with one value in all rows: {count}. They are useless and only add noise."
        )
    if not is_exact(ground.task):
        notes.append(
            "L* is the smallest loss that long gradient descent found, so a gap may be below 0."
        )
    if request.seed is not None:
        notes.append(seed_warning([request.seed]))
    return tuple(notes)


def _measured(ground: Ground, method: Method) -> Iterator[Event]:
    """Yield the events of one method, fitting as many epsilons together as memory and patience
    allow.
    """
    request = ground.request
    seeds = 1
    epsilons: Sequence[float] = (math.inf,)
    if method.takes_epsilon:
        seeds = request.seeds
        epsilons = request.epsilons
    together = max(1, int(AT_ONCE / (seeds * ground.task.examples * ground.task.parameters)))
    for first in range(0, len(epsilons), together):
        yield from _fitted(ground, method, epsilons[first : first + together], seeds)


def _fitted(
    ground: Ground, method: Method, epsilons: Sequence[float], seeds: int
) -> Iterator[Event]:
    # Here, not above: torch takes seconds to load.
    from dpcore.training.gradients.core_threads import one_thread
    from dpcore.training.perturbation.noise import stream_of

    task = ground.task
    problem = ground.problem
    draws = []
    for epsilon in epsilons:
        for number in range(seeds):
            what = {
                "table": ground.request.dataset,
                "classes": ground.request.classes,
                "task": repr(task),
                "method": method.name,
                "epsilon": epsilon,
                "number": number,
            }
            draws.append(stream_of(ground.start, what))
    try:  # one thread: a fit draws little at once, and threads would mostly wait for one another
        with one_thread(), np.errstate(over="raise", invalid="raise"):
            fits = Fits(task, problem, np.repeat(epsilons, seeds).tolist(), draws)
            thetas = released(method.fit(fits))
            losses = task.model.losses(thetas, problem.rows, problem.labels, task.regulariser)
    except (RuntimeError, ArithmeticError) as error:
        if len(epsilons) > 1:  # each alone, from the same draws, to skip only those that fail
            for epsilon in epsilons:
                yield from _fitted(ground, method, (epsilon,), seeds)
            return
        reason = f"{error}" if isinstance(error, RuntimeError) else OVERFLOW
        yield Skipped(method.name, epsilons[0] if method.takes_epsilon else None, reason)
        return
    gaps = (losses - ground.least).tolist()
    accuracies = task.model.accuracies(thetas, problem.test_rows, problem.test_labels).tolist()
    for place, epsilon in enumerate(epsilons):
        own = slice(place * seeds, (place + 1) * seeds)
        yield Measured(
            method.name,
            epsilon if method.takes_epsilon else None,
            method.noise(task, epsilon),
            tuple(accuracies[own]),
            tuple(gaps[own]),
            method.obstacles(task, epsilon),
        )
