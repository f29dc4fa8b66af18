"""What leads workers asks of a cluster: workers to start, find, ask and end, wherever they are."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol


class Shape(NamedTuple):
    """What a kind of worker takes of its node, and which runs it does: those that ask for one of these devices."""

    cpus: int
    gpus: float
    devices: tuple[str, ...]  # empty: all

    def __str__(self) -> str:
        return f"{self.cpus} CPU" + (f" and {self.gpus:g} GPU" if self.gpus else "")


class Gone(Exception):
    """The worker does not answer this, and never will; the text says why."""


class NoAnswer(Exception):
    """The worker could not be reached; whether it has done what it was asked is not known."""


class Cluster(Protocol):
    """Workers and questions are whatever it takes them for."""

    def start(self, name: str, shape: Shape, train: str) -> Any:
        """A new `NodeWorker`, which may have to wait for a place; it outlives this process."""

    def find(self, name: str) -> Any | None:
        """The worker of this name, if it lives."""

    def ask(self, worker: Any, method: str, *values: Any) -> Any:
        """Ask a worker; the question, for `answered` and `answer`."""

    def answered(self, questions: Sequence[Any], within: float) -> Sequence[Any]:
        """Those that have been answered, or never will be, after so many seconds, or once all have."""
        ...

    def answer(self, question: Any) -> Any:
        """The answer. Errors: Gone, NoAnswer."""

    def end(self, worker: Any) -> None:
        """End a worker at once, whatever it does."""

    def room(self, shape: Shape) -> int:
        """How many more workers of this shape the cluster may have a place for now."""
        ...

    def fits(self, shape: Shape) -> bool:
        """Whether a node is there that could have a worker of this shape."""
        ...

    def has_gpus(self) -> bool:
        """Whether some node has a GPU."""
        ...


def shapes_of(has_gpus: bool, cpus: int, gpus: float) -> list[Shape]:
    """The kinds of workers: with GPUs in the cluster, what asks for one or for any device gets a share of one.

    >>> [str(shape) for shape in shapes_of(True, 2, 0.25)]
    ['2 CPU and 0.25 GPU', '2 CPU']
    """
    if not has_gpus:
        return [Shape(cpus, 0.0, ())]
    return [Shape(cpus, gpus, ("auto", "cuda")), Shape(cpus, 0.0, ("cpu", "mps"))]
