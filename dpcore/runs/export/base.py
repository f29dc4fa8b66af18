"""A whole run, and the forms of its export: a text, or a folder for another program."""

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
    """A training run and its events in order, without its secret seed."""

    run: Run
    events: tuple[Event, ...]

    @property
    def config(self) -> RunConfig:
        return self.run.config

    @property
    def plan(self) -> Plan:
        return self.run.plan

    @property
    def not_measured(self) -> str:
        """The sentence that an imported run was not measured here; empty for a run of this store."""
        return f"It was imported as {self.run.imported} and was not measured here." if self.run.imported else ""

    @cached_property
    def tests(self) -> tuple[Evaluated, ...]:
        return tuple(event for event in self.events if isinstance(event, Evaluated))

    @property
    def finished(self) -> Finished | None:
        return next((event for event in reversed(self.events) if isinstance(event, Finished)), None)

    @property
    def steps(self) -> int:
        return max((event.step for event in self.events if not isinstance(event, Started)), default=0)

    @cached_property
    def released(self) -> Mechanism | None:
        """Its releases so far; None if there are none, or no accountant applies."""
        return self.plan.released(self.steps)

    def needed_mechanism(self, purpose: str) -> Mechanism:
        """Its releases; ValueError if they have no epsilon for the purpose."""
        if self.released is None:
            why = self.plan.unaccounted or "It has released nothing yet."
            raise ValueError(f"Run {self.run.id} has no epsilon {purpose}. {why}")
        return self.released

    def epsilons(self, steps: Sequence[int], accountant: str = CERTIFIED) -> list[float] | None:
        """Epsilon after each of the non-decreasing steps, +inf without an answer; None for a run without epsilon."""
        mechanism = self.plan.mechanism
        if mechanism is None or not steps:
            return None if mechanism is None else []
        at = [self.plan.compositions_at(step) for step in steps]
        return ACCOUNTANTS[accountant].curve(mechanism, at, self.config.delta).epsilon.tolist()


def record_of(store: Store, run: str) -> RunRecord:
    """Read the run as it is now.

    Errors: UnknownRun; ValueError for a job of another kind, unreadable settings, or a run that has not begun.
    """
    found = store.run(run)  # before its events, so that an ended run has all of them
    if found.kind != TRAINING.name:
        raise ValueError(f"Run {run} is a job of kind {found.kind}; only training runs can be exported.")
    made = RunRecord(found, tuple(event for _, event in store.tail(run)))
    if not made.events:
        raise ValueError(f"Run {run} is {found.status} and has no events yet.")
    _ = made.config, made.plan  # ValueError if this version cannot read them
    return made


@dataclass(frozen=True)
class TextForm:
    """Runs as one text."""

    name: str  # on the command line
    title: str  # on a page, and in what `--help` says
    ending: str  # of its file, with the dot
    media: str  # its type, as a browser is told
    write: Callable[[Sequence[RunRecord]], str]  # ValueError says why there is no such text
    several: bool = False  # whether it takes more than one run


@dataclass(frozen=True)
class FolderForm:
    """Runs as files in a folder, which is made if needed."""

    name: str
    title: str
    write: Callable[[Sequence[RunRecord], Path], None]  # ValueError if a package is missing
    several: bool = True


Form = TextForm | FolderForm


def filled(name: str, **values: Any) -> str:
    """Fill the values into the template of this name."""
    template = Path(__file__).with_name("templates") / f"{name}.txt"
    return Template(template.read_text(encoding="utf-8")).substitute(values)


@contextmanager
def optional(package: str) -> Iterator[None]:
    """Import an optional package inside; ValueError says how to install a missing one."""
    try:
        yield
    except ImportError as error:
        raise ValueError(
            f"The package {package} is missing; 'pip install -r requirements-export.txt' installs it."
        ) from error
