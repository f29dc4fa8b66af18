"""The events of a claimed job: from its beginning, or from where it was when its worker went."""

import importlib
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, Protocol

from dpcore.runs.kinds import TRAINING, event_to_json, kind_named
from dpcore.runs.record import Run, checkpoint_path
from dpcore.training.checkpoint_header import label_of
from dpcore.training.events import Finished
from dpcore.training.resume_point import resume_point_of

# of a configuration, with `file`, where its state is kept, `planned`, its plan, `secret`, its seed, and `begun`, how
# far it had come
Train = Callable[..., Generator[Any, None, None]]
TIMES = ("seconds",)  # of an event: they differ from one attempt to the next


class NotContinued(ValueError):
    """Nobody can go on with the job here; the text says why."""


class Record(Protocol):
    """The part of a `Store` that a job needs to go on; on a node of a cluster there is no more."""

    home: Path

    def secret(self, run: str, /) -> int | None:
        """The secret seed of a run."""

    def tail(self, run: str, /) -> Sequence[tuple[int, Any]]:
        """The events that it has said, each behind its number."""
        ...


def job_events(store: Record, run: Run, train: Train) -> Generator[Any, None, None]:
    """The events of a job that are not in the store yet, a training run's by `train`.

    Errors: NotContinued, before the first of them, where a job that was begun cannot go on here.
    """
    secret, said = store.secret(run.id), [event for _, event in store.tail(run.id)]
    if run.kind != TRAINING.name:
        events = load(kind_named(run.kind).work)(run.request, secret=secret)
        return _behind(events, said)
    if said and isinstance(said[-1], Finished):  # its worker went before it could note the end
        return (event for event in ())
    file, begun = checkpoint_path(store.home, run.id), resume_point_of(said, run.origin)
    label = label_of(file) if file.exists() else None
    if label and label.step > (begun.reported if begun else 0):
        file.unlink()  # a power cut took the last events, and kept what came after them
    events = train(run.config, file=file, planned=run.plan, secret=secret, begun=begun)
    return _explained(events) if begun else events


def load(work: str) -> Train:
    """The function that "module:name" names."""
    module, _, name = work.partition(":")
    return getattr(importlib.import_module(module), name)


def _explained(events: Generator[Any, None, None]) -> Generator[Any, None, None]:
    """The events; what keeps the first of them from coming is NotContinued."""
    try:
        first = next(events, None)
    except ValueError as error:
        raise NotContinued(str(error)) from error
    if first is not None:
        yield first
        yield from events


def _behind(events: Generator[Any, None, None], said: list[Any]) -> Generator[Any, None, None]:
    """The events behind those that were said before, which must come again as they were."""
    for before in said:
        if _timeless(next(events, None)) != _timeless(before):
            raise NotContinued("What it finds here is not what it has said before, so it cannot go on here.")
    yield from events


def _timeless(event: Any) -> dict[str, Any] | None:
    return event and {name: value for name, value in event_to_json(event).items() if name not in TIMES}
