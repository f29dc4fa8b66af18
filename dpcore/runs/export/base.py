"""What a form of export is: a text, or a folder that a program of others reads."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dpcore.runs.export.run_record import RunRecord


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


@contextmanager
def optional(package: str) -> Iterator[None]:
    """Where a package is imported that not everybody has: without it ValueError says how to come by it."""
    try:
        yield
    except ImportError as error:
        raise ValueError(
            f"Expected the package {package} to be here; 'pip install -r requirements-export.txt' brings it."
        ) from error
