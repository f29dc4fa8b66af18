"""The events of runs on the pages, each read once and shared by all sessions.

A history is a value that does not change when other sessions read on.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from dpcore.privacy.mechanism import Mechanism
from dpcore.runs.editing import done_by
from dpcore.runs.expected import REPORTS, start_of
from dpcore.runs.in_words import with_origin
from dpcore.runs.record import Run
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Checkpointed, Evaluated, Event, Finished, Preparing, Started, Stepped, Unsaved
from dpcore.training.plan import Plan
from pages.parts.jobs import all_of, last_of
from pages.parts.results import cache
from pages.parts.train.run_labels import labels_of

MAX_HISTORIES = 64  # runs in memory
_lock = threading.Lock()


@dataclass(frozen=True)
class History:
    """The events of a run up to some number, by kind."""

    sequence: int = 0  # of the last event
    preparing: Preparing | None = None  # the latest progress of the features
    started: Started | None = None
    finished: Finished | None = None
    stepped: tuple[Stepped, ...] = ()
    evaluated: tuple[Evaluated, ...] = ()
    unsaved: Unsaved | None = None  # the last checkpoint, if writing it failed

    def followed_by(self, events: Sequence[tuple[int, Event]]) -> "History":
        """Add the events that came next, each with its number."""
        if not events:
            return self
        said = [event for _, event in events]
        attempt = last_of(said, Checkpointed | Unsaved) or self.unsaved
        return replace(
            self,
            sequence=events[-1][0],
            preparing=last_of(said, Preparing) or self.preparing,
            started=last_of(said, Started) or self.started,
            finished=last_of(said, Finished) or self.finished,
            stepped=(*self.stepped, *all_of(said, Stepped)),
            unsaved=attempt if isinstance(attempt, Unsaved) else None,
            evaluated=(*self.evaluated, *all_of(said, Evaluated)),
        )

    @property
    def step(self) -> int:
        return max((each[-1].step for each in (self.stepped, self.evaluated) if each), default=0)

    @property
    def decisions(self) -> str:
        """The decisions of simulated annealing, "a" or "r" for each step so far."""
        return "".join(each.decisions for each in self.stepped)

    @property
    def paces(self) -> tuple[float, ...]:
        """The steps per second of the latest reports."""
        return tuple(each.steps_per_second for each in self.stepped[-REPORTS:])


@dataclass(frozen=True)
class Watched:
    """A run on the charts, with its history."""

    run: Run
    config: RunConfig
    history: History
    label: str  # its difference from the others
    starts: str = ""  # its expected start in words; "" unless it is queued

    def epsilons(self, accountant: str, steps: Sequence[int]) -> tuple[float, ...]:
        """Epsilon by an accountant after each of the steps; empty for a run without privacy."""
        mechanism = self.plan.mechanism
        compositions = tuple(self.plan.compositions_at(step) for step in steps)
        return cache.epsilons(accountant, mechanism, self.config.delta, compositions) if mechanism else ()

    @property
    def since(self) -> tuple[str, int]:
        """The run and the number of its last event, from where a browser follows it; none once it has ended."""
        return (self.run.id, self.history.sequence) if self.run.active else ("", 0)

    @property
    def released(self) -> Mechanism | None:
        """The run's releases so far, those of a later checkpoint included; None without any, or without accounting."""
        done = max(self.history.step, done_by(self.run) or 0)
        return self.plan.released(done if self.history.sequence else None)

    @property
    def epochs(self) -> float:
        return self.plan.steps * self.config.q

    @property
    def plan(self) -> Plan:
        return self.run.plan

    @property
    def averages(self) -> bool:
        """Return whether its tests also include the averaged weights."""
        return self.config.ema > 0


def watched_runs(store: Store, ids: Sequence[str]) -> list[Watched]:
    """The runs with these ids as they are now; UnknownRun if one was deleted."""
    runs = [store.run(each) for each in ids]  # before the events, so that an ended run has all of them
    configs, watched = [run.config for run in runs], []
    for run, config, label in zip(runs, configs, labels_of(configs), strict=True):
        starts = start_of(store, run.id) if run.position else ""
        watched.append(Watched(run, config, history_of(store, run.id), with_origin(label, run), starts))
    return watched


def history_of(store: Store, run: str) -> History:
    """Read the history of a run up to now."""
    with _lock:
        known = _known(str(store.path), run)
        known[0] = known[0].followed_by(store.tail(run, known[0].sequence))
        return known[0]


@lru_cache(MAX_HISTORIES)
def _known(store: str, run: str) -> list[History]:
    """The history of a run so far; `history_of` replaces it."""
    return [History()]
