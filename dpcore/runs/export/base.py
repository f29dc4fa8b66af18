"""Read a whole run, and the forms of its export: a text, or a folder for another program."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from dpcore import extras
from dpcore.runs.history import History, RunRecord
from dpcore.runs.kinds import TRAINING
from dpcore.runs.store import Store


def record_of(store: Store, run: str) -> RunRecord:
    """Read the run as it is now.

    Errors: UnknownRun; ValueError for a job of another kind, unreadable settings, or a run that has
    not begun.
    """
    found = store.run(run)  # before its events, so that an ended run has all of them
    if found.kind != TRAINING.name and not found.followed:
        raise ValueError(
            f"Run {run} is a job of kind {found.kind}; only training runs can be exported."
        )
    made = RunRecord(found, History(tuple(store.events(run))))
    if not made.history.events:
        raise ValueError(f"Run {run} is {found.status} and has no events yet.")
    _ = found.request, made.plan  # ValueError if this version cannot read them
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


def check_own(record: RunRecord, form: str) -> None:
    """Raise ValueError for a followed run, whose program is not here."""
    if record.followed:
        raise ValueError(
            f"Run {record.run.id} was followed: its program is not here, so there is no {form}."
        )


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
        raise ValueError(extras.sentence("export", package, "This form needs it")) from error
