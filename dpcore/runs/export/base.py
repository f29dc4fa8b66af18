"""The whole of a run, and the forms that it is exported in: a text, or a folder that a program of others reads."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Any

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism
from dpcore.runs.kinds import TRAINING
from dpcore.runs.record import Run
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Event, Finished, Started
from dpcore.training.plan import Plan


@dataclass(frozen=True)
class RunRecord:
    """A training run and its events, the first of them first. Its secret seed is no part of it."""

    run: Run
    events: tuple[Event, ...]

    @property
    def config(self) -> RunConfig:
        """Its settings."""
        return self.run.config

    @property
    def plan(self) -> Plan:
        """What follows from its settings, as it is stored with the run."""
        return self.run.plan

    @property
    def not_measured(self) -> str:
        """Of an imported run that it is one, as a sentence; empty of a run of this store."""
        return (
            f"It was imported, as {imported}: nothing here has measured it." if (imported := self.run.imported) else ""
        )

    @cached_property
    def tests(self) -> tuple[Evaluated, ...]:
        """Its evaluations on the test set."""
        return tuple(event for event in self.events if isinstance(event, Evaluated))

    @property
    def finished(self) -> Finished | None:
        """Its end, if it came to that."""
        return next((event for event in reversed(self.events) if isinstance(event, Finished)), None)

    @property
    def steps(self) -> int:
        """The steps that it is known to have taken."""
        return max((event.step for event in self.events if not isinstance(event, Started)), default=0)

    @cached_property
    def released(self) -> Mechanism | None:
        """What it has released until then; None where that is nothing, or there is nothing to account for."""
        return self.plan.released(self.steps)

    def needed_mechanism(self, purpose: str) -> Mechanism:
        """What it has released; ValueError where that has no epsilon for the purpose."""
        if self.released is None:
            why = self.plan.unaccounted or "It has released nothing yet."
            raise ValueError(f"Expected run={self.run.id!r} to have an epsilon {purpose}. {why}")
        return self.released

    def epsilons(self, steps: Sequence[int], accountant: str = CERTIFIED) -> list[float] | None:
        """Epsilon after each of the steps, which do not decrease; +inf where the accountant has no answer.

        None for a run that has no epsilon.
        """
        mechanism = self.plan.mechanism
        if mechanism is None or not steps:
            return None if mechanism is None else []
        at = [self.plan.compositions_at(step) for step in steps]
        return ACCOUNTANTS[accountant].curve(mechanism, at, self.config.delta).epsilon.tolist()


def record_of(store: Store, run: str) -> RunRecord:
    """The run as it is now.

    Errors: UnknownRun; ValueError for a job of another kind, one of another version's settings, or one that has not
    begun.
    """
    found = store.run(run)  # before its events: a run that has ended then has all of them
    if found.kind != TRAINING.name:
        raise ValueError(f"Expected run={run!r} to be a training run, but it is of the kind {found.kind}.")
    made = RunRecord(found, tuple(event for _, event in store.tail(run)))
    if not made.events:
        raise ValueError(f"Expected run={run!r} to have begun, but it is {found.status} and has said nothing yet.")
    _ = made.config, made.plan  # ValueError for what this version cannot read
    return made


@dataclass(frozen=True)
class TextForm:
    """Runs as one text."""

    name: str  # on the command line
    title: str  # on a page, and in what `--help` says
    ending: str  # of its file, with the dot
    media: str  # its type, as a browser is told
    write: Callable[[Sequence[RunRecord]], str]  # ValueError, a sentence, for runs that have no such text
    several: bool = False  # whether it takes more than one run


@dataclass(frozen=True)
class FolderForm:
    """Runs as files in a folder, made where it is not there."""

    name: str
    title: str
    write: Callable[[Sequence[RunRecord], Path], None]  # ValueError where the package that it takes is missing
    several: bool = True


Form = TextForm | FolderForm


def filled(name: str, **values: Any) -> str:
    """The template of this name with the values in their places."""
    template = Path(__file__).with_name("templates") / f"{name}.txt"
    return Template(template.read_text(encoding="utf-8")).substitute(values)


@contextmanager
def optional(package: str) -> Iterator[None]:
    """Where a package is imported that not everybody has: without it ValueError says how to come by it."""
    try:
        yield
    except ImportError as error:
        raise ValueError(
            f"Expected the package {package} to be here; 'pip install -r requirements-export.txt' brings it."
        ) from error
