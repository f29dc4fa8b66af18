"""A run with its events by kind, as values that do not change when more is said."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from dpcore.privacy.mechanism import Mechanism
from dpcore.runs.record import Run
from dpcore.training.config import RunConfig
from dpcore.training.events import (
    Checkpointed,
    Evaluated,
    Event,
    Finished,
    Started,
    Stepped,
    Unsaved,
)
from dpcore.training.plan import Plan

Kind = TypeVar("Kind")


def last_of(events: Sequence[object], kind: type[Kind] | tuple[type[Kind], ...]) -> Kind | None:
    """The newest event of a kind, or of one of several kinds."""
    for each in reversed(events):
        if isinstance(each, kind):
            return each
    return None


def all_of(events: Sequence[object], kind: type[Kind]) -> tuple[Kind, ...]:
    """All events of a kind, in order."""
    return tuple(each for each in events if isinstance(each, kind))


@dataclass(frozen=True)
class History:
    """The events of a training run up to some number, in order and by kind."""

    events: tuple[Event, ...] = ()

    @cached_property
    def step(self) -> int:
        """The last step that any of them names."""
        return max((getattr(each, "step", 0) for each in self.events), default=0)

    @cached_property
    def started(self) -> Started | None:
        return last_of(self.events, Started)

    @cached_property
    def finished(self) -> Finished | None:
        return last_of(self.events, Finished)

    @cached_property
    def stepped(self) -> tuple[Stepped, ...]:
        return all_of(self.events, Stepped)

    @cached_property
    def evaluated(self) -> tuple[Evaluated, ...]:
        return all_of(self.events, Evaluated)

    @cached_property
    def saved(self) -> Checkpointed | Unsaved | None:
        """The last checkpoint, or that writing it failed."""
        return last_of(self.events, (Checkpointed, Unsaved))

    @property
    def sequence(self) -> int:
        """The number of the last event."""
        return len(self.events)

    @property
    def decisions(self) -> str:
        """The decisions of simulated annealing, "a" or "r" for each step so far."""
        return "".join(each.decisions for each in self.stepped)


@dataclass(frozen=True)
class RunRecord:
    """A training run with its history, without its secret seed."""

    run: Run
    history: History
    label: str = ""  # on charts, its difference from the others
    starts: str = ""  # its expected start in words; "" unless it is queued

    @property
    def config(self) -> RunConfig:
        return self.run.config

    @property
    def plan(self) -> Plan:
        return self.run.plan

    @property
    def epochs(self) -> float:
        return self.plan.steps * self.config.q

    @property
    def averages(self) -> bool:
        """True if its tests also include the averaged weights."""
        return self.config.ema > 0

    @property
    def since(self) -> tuple[str, int]:
        """The run and the number of its last event, from where a browser follows it.

        They are empty once it has ended.
        """
        if not self.run.active:
            return "", 0
        return self.run.id, self.history.sequence

    @property
    def not_measured(self) -> str:
        """The sentence that an imported run was not measured here; empty for other runs."""
        if not self.run.imported:
            return ""
        return f"It was imported as {self.run.imported} and was not measured here."

    @property
    def released(self) -> Mechanism | None:
        """Its releases so far, those of a later checkpoint included.

        None if it has released nothing, or has no accounting.
        """
        step = self.history.step if self.history.events else None
        return self.plan.released(step)

    def needed_mechanism(self, purpose: str) -> Mechanism:
        """Its releases; ValueError if they have no epsilon for the purpose."""
        if self.released is None:
            why = self.plan.unaccounted or "It has released nothing yet."
            raise ValueError(f"Run {self.run.id} has no epsilon {purpose}. {why}")
        return self.released
