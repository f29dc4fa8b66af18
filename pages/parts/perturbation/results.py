"""What a comparison has found so far, from its events."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.figures.perturbation import Level, Spread, method_style
from dpcore.runs.record import Run
from dpcore.runs.store import Store
from dpcore.training.perturbation.events import Finished, Measured, Prepared, Skipped
from dpcore.training.perturbation.methods import METHODS
from dpcore.training.perturbation.request import Request
from pages.parts.jobs.job_store import scaled_seconds
from pages.parts.jobs.shown_job import all_of, last_of

BLIND = method_style(next(iter(METHODS)))._replace(color="#808080", dash="dot", glyph="···", label="Blind guess")


@dataclass(frozen=True)
class Results:
    """A comparison: what was asked for, and what was found until now."""

    run: Run
    request: Request
    prepared: Prepared | None = None
    measured: tuple[Measured, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    seconds: float | None = None

    @property
    def done(self) -> int:
        """Results that there are."""
        return len(self.measured) + len(self.skipped)

    @property
    def total(self) -> int:
        """Results that there will be."""
        return results_of(self.request)

    def of(self, method: str, *, kept: bool) -> list[Measured]:
        """A method's results by rising epsilon, of those that are kept, or that are not."""
        own = [each for each in self.measured if each.method == method and each.private == kept and each.epsilon]
        return sorted(own, key=lambda each: each.epsilon or 0)

    def spreads(self, measure: str, *, kept: bool) -> list[Spread]:
        """A line for each method that has such results; `measure` is "accuracy" or "gap"."""
        return [
            Spread(method, [each.epsilon or 0 for each in own],
                   [each.accuracies if measure == "accuracy" else each.gaps for each in own])
            for method in self.request.methods
            if (own := self.of(method, kept=kept))
        ]  # fmt: skip

    def levels(self, measure: str) -> list[Level]:
        """The accuracy without noise, where that was asked for, and of blind guessing."""
        if measure != "accuracy" or self.prepared is None:
            return []
        without = [
            Level(method_style(each.method), float(np.mean(each.accuracies)))
            for each in self.measured
            if each.epsilon is None
        ]
        return [*without, Level(BLIND, self.prepared.majority)]


def results(store: Store, run: Run) -> Results:
    """What the store has of a comparison; ValueError where this version does not know what was asked for."""
    events = [event for _, event in store.tail(run.id)]
    finished = last_of(events, Finished)
    return Results(
        run,
        run.request,
        last_of(events, Prepared),
        all_of(events, Measured),
        all_of(events, Skipped),
        finished.seconds if finished else None,
    )


def results_of(request: Request) -> int:
    """How many results a comparison has in the end."""
    return sum(len(request.epsilons) if METHODS[name].takes_epsilon else 1 for name in request.methods)


def work_of(request: Request) -> int:
    """What its time grows with, where data and model stay: fits, and steps of each."""
    return results_of(request) * request.seeds * request.steps


def expected_seconds(request: Request, past: Sequence[Run]) -> float | None:
    """By the latest comparison with these data and this model that has finished here; None where there is none."""
    return scaled_seconds(past, request, lambda run: work_of(request) / work_of(run.request))
