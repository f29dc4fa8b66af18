"""A run whose worker went in the middle: how far it had come, for the worker that goes on with it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dpcore.training.events import Evaluated, Started, Stepped


@dataclass(frozen=True)
class Begun:
    """What was said of a run is not said again: by then somebody has seen it, and another number must not replace it.

    The steps after the last checkpoint are taken again with the same batches and the same noise, so that nothing is
    released twice.
    """

    reported: int = 0  # the step of the last report
    tested: int = 0  # the step of the last evaluation
    origin: Mapping[str, str] = field(
        default_factory=dict
    )  # where it was trained: elsewhere its noise would be another

    @property
    def silent_until(self) -> int:
        """No event of a step up to this one is said."""
        return max(self.reported, self.tested)


def begun_by(events: Iterable[Any], origin: Mapping[str, str] | None) -> Begun | None:
    """How far a run had come that has said these events; None where it has said nothing."""
    reported = tested = 0
    started = False
    for event in events:
        started = started or isinstance(event, Started)
        reported = event.step if isinstance(event, Stepped) else reported
        tested = event.step if isinstance(event, Evaluated) else tested
    return Begun(reported, tested, origin or {}) if started else None
