"""Whether events from elsewhere are what a run of these settings can have said, in this order."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dpcore.data.catalogue import DATASETS
from dpcore.runs.editing import text
from dpcore.runs.export.typed_json import LONGEST_TEXT, MOST_ITEMS, record, table
from dpcore.training.config import RunConfig
from dpcore.training.events import (
    KINDS,
    NORM_QUANTILES,
    Checkpointed,
    Evaluated,
    Event,
    Finished,
    Preparing,
    Started,
    Stepped,
    Unsaved,
)
from dpcore.training.plan import Plan

LONGEST_TIME = 10 * 366 * 86_400.0  # seconds that a run may have taken
FASTEST = 1e16  # steps per second: all that a run may have, at one look at the clock


def events_from(values: Any, config: RunConfig, plan: Plan) -> tuple[Event, ...]:
    """The events of a run.

    Errors: ValueError names the first one that a run of this plan does not say, or not there.
    """
    if not isinstance(values, list) or not 0 < len(values) <= MOST_ITEMS:
        raise ValueError(f"Expected the events to be a list of 1 to {MOST_ITEMS:,} of them.")
    events = tuple(_event(each, f"event {number}") for number, each in enumerate(values, 1))
    before: Event | None = None
    for number, event in enumerate(events, 1):
        if why := _wrong_place(event, before, plan.steps) or _wrong(event, config, plan):
            raise ValueError(f"Expected event {number} to be one that this run can have said there, but {why}.")
        before = event
    _check_end(events)
    return events


def _event(value: Any, name: str) -> Event:
    values = dict(table(value, name))
    kind = values.pop("event", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"Expected {name} to be one of {', '.join(KINDS)}.")
    return _worded(record(values, KINDS[kind], name))


def _worded(event: Event) -> Event:
    """The event with its texts as they are kept: pages, terminals and files print them."""
    match event:
        case Started():
            device, engine = _words(event.device, "device"), _words(event.engine, "engine")
            origin = tuple((_words(name, "origin"), _words(value, "origin")) for name, value in event.origin)
            return replace(event, device=device, engine=engine, origin=origin)
        case Unsaved():
            return replace(event, reason=_words(event.reason, "reason"))
        case _:
            return event


def _words(value: str, what: str) -> str:
    return text(value, LONGEST_TEXT, what)


def _wrong_place(event: Event, before: Event | None, steps: int) -> str:
    """Why the event does not belong behind the one before it; empty where it does."""
    if isinstance(event, Preparing):
        return "" if before is None or isinstance(before, Preparing) else "features come before the start"
    if isinstance(event, Started):
        return "" if before is None or isinstance(before, Preparing) else "a run starts once"
    if before is None or isinstance(before, Preparing):
        return "a run starts first"
    if isinstance(before, Finished):
        return "the run has finished"
    if not 1 <= event.step <= steps:
        return f"it is of step {event.step}, and the run has {steps}"
    if isinstance(before, Started):
        return ""
    twice = type(event) is type(before) and not isinstance(event, Checkpointed)
    return "its step does not come behind the one before" if event.step < before.step + twice else ""


def _wrong(event: Event, config: RunConfig, plan: Plan) -> str:
    """Which figure of the event cannot be; empty where all can."""
    match event:
        case Started():
            right = (event.examples, event.steps) == (config.examples, plan.steps) and _near(event.q, config.q)
            return "" if right and event.parameters > 0 else "its data or its steps are not those of the settings"
        case Preparing():
            return "" if 0 < event.done <= event.total and event.step == 0 else "it is no part of its images"
        case Stepped():
            return _epoch(event, config) or _of_steps(event)
        case Evaluated():
            return _epoch(event, config) or _of_test(event, len(DATASETS[config.dataset].classes))
        case Finished():
            return _of_end(event, plan.steps) or _of_mistakes(event, len(DATASETS[config.dataset].classes))
        case _:
            return ""


def _of_steps(event: Stepped) -> str:
    if not _shares([event.clipped]) or len(event.norms) != len(NORM_QUANTILES) or min(event.norms) < 0:
        return "its clipped share or norms are none"
    if not 0 <= event.steps_per_second <= FASTEST or set(event.decisions) - set("ar"):
        return "its speed or its decisions are none"
    return _accepted(event)


def _of_test(event: Evaluated, classes: int) -> str:
    right = _shares([event.accuracy, event.averaged_accuracy, *event.per_class]) and (event.rmse or 0) >= 0
    return "" if right and len(event.per_class) <= classes else "its accuracies are none"


def _of_end(event: Finished, steps: int) -> str:
    right = event.step == steps and _shares([event.accuracy, event.averaged_accuracy])
    if not right or not 0 <= event.seconds <= LONGEST_TIME:
        return "it does not end at the last step with an accuracy and in a time that can be"
    return _accepted(event)


def _accepted(event: Stepped | Finished) -> str:
    return "" if 0 <= (event.accepted or 0) <= event.step else "it has accepted more steps, or fewer, than there were"


def _of_mistakes(event: Finished, classes: int) -> str:
    rows = event.confusion
    if rows is None or (len(rows) == classes and all(len(row) == classes and min(row) >= 0 for row in rows)):
        return ""
    return "its table of mistakes is none of its classes"


def _epoch(event: Stepped | Evaluated, config: RunConfig) -> str:
    return "" if _near(event.epoch, event.step * config.q) else "its epoch is not that of its step"


def _shares(values: Sequence[float | None]) -> bool:
    return all(value is None or 0 <= value <= 1 for value in values)


def _near(value: float, other: float) -> bool:
    return math.isclose(value, other, rel_tol=1e-6)


def _check_end(events: Sequence[Event]) -> None:
    """A run ends with the accuracy of its last test, which is of its last step."""
    last, tests = events[-1], [event for event in events if isinstance(event, Evaluated)]
    if isinstance(last, Finished) and (not tests or (tests[-1].step, tests[-1].accuracy) != (last.step, last.accuracy)):
        raise ValueError("Expected the run to finish with the accuracy of its last test.")
