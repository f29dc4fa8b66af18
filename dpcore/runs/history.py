"""A run with its events by kind, as values that do not change when more is said."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from dpcore.privacy.mechanism import Mechanism
from dpcore.runs.followed.ahead import ahead_of, named_followed
from dpcore.runs.followed.count import epoch_of, phases_of
from dpcore.runs.followed.events import Logged
from dpcore.runs.followed.events import Stepped as Told
from dpcore.runs.record import Run
from dpcore.training.config import RunConfig
from dpcore.training.defaults import described
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
    def paced(self) -> tuple[Stepped | Told, ...]:
        """The reports that have a pace, of a followed run too."""
        return self.stepped or all_of(self.events, Told)

    @cached_property
    def evaluated(self) -> tuple[Evaluated, ...]:
        return all_of(self.events, Evaluated)

    @cached_property
    def logged(self) -> tuple[Logged, ...]:
        """What the training of another program logged."""
        return all_of(self.events, Logged)

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
        """Its settings; a followed run has no such, and answers by what follows below."""
        return self.run.config

    @property
    def followed(self) -> bool:
        return self.run.followed

    @property
    def private(self) -> bool:
        return self.followed or self.config.private

    @property
    def delta(self) -> float:
        return self.run.request.delta

    @property
    def examples(self) -> int:
        return self.run.request.examples

    @property
    def q(self) -> float:
        """The sampling rate; of a followed run, that of its last steps."""
        if self.followed:
            drawn = self.run.plan.drawn
            return drawn[-1].q if drawn else self.run.request.q
        return self.config.q

    @property
    def seed(self) -> int | None:
        """The fixed seed of its noise; None for a secret one, or where nobody said."""
        return None if self.followed else self.config.seed

    @property
    def words(self) -> str:
        """What it is, in a few words."""
        return named_followed(self.run) if self.followed else described(self.config)

    @cached_property
    def plan(self) -> Plan:
        """The plan; of a followed run that goes on, as far ahead as its chart reaches."""
        if self.followed and self.run.active:
            return ahead_of(self.run.request, self.run.plan, self.history.step)
        return self.run.plan

    @property
    def step(self) -> int:
        """The steps that it has taken, or is charged for if it has ended."""
        if self.followed and not self.run.active:
            return self.run.plan.steps
        return self.history.step

    @cached_property
    def now(self) -> float:
        """The epoch that it has reached."""
        if self.followed:
            return epoch_of(phases_of(self.run.plan.drawn), self.step)
        return self.step * self.q

    @property
    def epochs(self) -> float:
        if self.followed:
            return epoch_of(phases_of(self.plan.drawn), self.plan.steps)
        return self.plan.steps * self.config.q

    @property
    def averages(self) -> bool:
        """True if its tests also include the averaged weights."""
        return not self.followed and self.config.ema > 0

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
        step = self.step if self.history.events else None
        return self.plan.released(step)

    def needed_mechanism(self, purpose: str) -> Mechanism:
        """Its releases; ValueError if they have no epsilon for the purpose."""
        if self.released is None:
            why = self.plan.unaccounted or "It has released nothing yet."
            raise ValueError(f"Run {self.run.id} has no epsilon {purpose}. {why}")
        return self.released
