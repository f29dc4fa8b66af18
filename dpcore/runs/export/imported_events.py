"""Check the values and events of a foreign file against their types and places; execute nothing."""

import json
import math
import types
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import MISSING, fields
from reprlib import Repr
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from dpcore.data.catalogue import DATASETS
from dpcore.runs.in_words import printable
from dpcore.training.config import RunConfig
from dpcore.training.events import (
    KINDS,
    NORM_QUANTILES,
    SHOWN_EXAMPLES,
    Checkpointed,
    Evaluated,
    Event,
    Finished,
    Preparing,
    Started,
    Stepped,
)
from dpcore.training.plan import Plan

MAX_BYTES = 16 * 2**20  # of a file, which takes some forty times as much memory when read
MAX_TEXT_CHARS = 1_000  # of a text without a limit of its own
MAX_ITEMS = 60_000
MAX_INT = 2**63  # whole numbers are smaller

Value = TypeVar("Value")
_SHORT = Repr()
_SHORT.maxlevel, _SHORT.maxdict, _SHORT.maxlist = 1, 2, 2
shortly = _SHORT.repr  # a value in an error


def parsed(content: bytes) -> dict[str, Any]:
    """Read the JSON object of a file; ValueError, and no other error, for a file that is too large
    or wrong.
    """
    if len(content) > MAX_BYTES:
        raise ValueError(
            f"Expected the file to have at most {MAX_BYTES:,} bytes, as exported runs have."
        )
    try:
        found = json.loads(
            content.decode(), parse_constant=_no_number, object_pairs_hook=_each_once
        )
    except RecursionError:
        raise ValueError(
            "Expected the file to be an exported run, but it is nested too deeply."
        ) from None
    except ValueError as error:  # also for bytes that are no text
        why = str(error).split(";")[0]
        raise ValueError(
            f"Expected the file to be an exported run in JSON, but it is not: {why}."
        ) from None
    return table(found, "the file")


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def table(value: Any, name: str) -> dict[str, Any]:
    """Return the value if it is an object, else raise ValueError with its name."""
    if not isinstance(value, dict):
        raise ValueError(f"Expected {name} to be an object, but it is {shortly(value)}.")
    return value


def only(
    values: Mapping[str, Any], known: Set[str], name: str, optional: Collection[str] = ()
) -> None:
    """Raise ValueError if a key is unknown, or missing and not optional."""
    if unknown := [key for key in values if key not in known]:
        raise ValueError(
            f"Expected {name} to have no key {shortly(unknown[0])}: this version knows none."
        )
    if lost := sorted(known - values.keys() - set(optional)):
        raise ValueError(f"Expected {name} to have the key {lost[0]!r}.")


def typed_table(
    value: Any, kinds: Mapping[str, Any], name: str, optional: Collection[str] = ()
) -> dict[str, Any]:
    """Check an object's values against their types; only optional ones may be missing."""
    given = table(value, name)
    only(given, kinds.keys(), name, optional)
    return {key: typed(each, kinds[key], f"{key} of {name}") for key, each in given.items()}


def record(values: Any, kind: type[Value], name: str) -> Value:
    """Make a frozen dataclass of flat values; those with a default may be missing."""
    optional = {each.name for each in fields(kind) if each.default is not MISSING}  # type: ignore[arg-type]
    return kind(**typed_table(values, get_type_hints(kind), name, optional))


def typed(value: Any, kind: Any, name: str) -> Any:
    """Convert the value to the type, such as lists to tuples; ValueError names one that is wrong or
    too long.

    Texts, which pages, terminals and files print, lose their control characters.

    >>> typed([1, 2.5], tuple[float, ...], "norms"), typed(None, int | None, "seed")
    ((1.0, 2.5), None)
    """
    if get_origin(kind) is types.UnionType:
        (inner,) = (each for each in get_args(kind) if each is not types.NoneType)
        return None if value is None else typed(value, inner, name)
    if get_origin(kind) is tuple:
        return _items(value, get_args(kind), name)
    word, good = _SIMPLE[kind]
    if not good(value):
        raise ValueError(f"Expected {name} to be {word}, but it is {shortly(value)}.")
    return float(value) if kind is float else printable(value) if kind is str else value


def _items(value: Any, kinds: tuple[Any, ...], name: str) -> tuple[Any, ...]:
    if not isinstance(value, list) or len(value) > MAX_ITEMS:
        raise ValueError(
            f"Expected {name} to be a list of at most {MAX_ITEMS:,}, but it is {shortly(value)}."
        )
    if kinds[-1] is ...:
        return tuple(typed(each, kinds[0], name) for each in value)
    if len(value) != len(kinds):
        raise ValueError(f"Expected {name} to have {len(kinds)} items, but it has {len(value)}.")
    return tuple(typed(each, kind, name) for each, kind in zip(value, kinds, strict=True))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < MAX_INT


_SIMPLE = {
    bool: ("true or false", lambda value: isinstance(value, bool)),
    int: ("a whole number of at most 63 bits", _is_whole),
    float: (
        "a finite number",
        lambda value: _is_whole(value) or (isinstance(value, float) and math.isfinite(value)),
    ),
    str: (
        f"a text of at most {MAX_TEXT_CHARS:,} characters",
        lambda value: isinstance(value, str) and len(value) <= MAX_TEXT_CHARS,
    ),
}


MAX_SECONDS = 10 * 366 * 86_400.0  # of a run
MAX_STEPS_PER_SECOND = 1e16  # more steps than a run has, within one tick of a clock


def events_from(values: Any, config: RunConfig, plan: Plan) -> tuple[Event, ...]:
    """Read the events of a run; ValueError names the first that a run of this plan cannot have at
    its place.
    """
    if not isinstance(values, list) or not 0 < len(values) <= MAX_ITEMS:
        raise ValueError(f"Expected the events to be a list of 1 to {MAX_ITEMS:,} of them.")
    events = tuple(_event(each, f"event {number}") for number, each in enumerate(values, 1))
    before: Event | None = None
    for number, event in enumerate(events, 1):
        if why := _wrong_place(event, before, plan.steps) or _wrong(event, config, plan):
            raise ValueError(f"Expected event {number} to be possible at its place, but {why}.")
        before = event
    last, tests = events[-1], [event for event in events if isinstance(event, Evaluated)]
    if isinstance(last, Finished) and (
        not tests or (tests[-1].step, tests[-1].accuracy) != (last.step, last.accuracy)
    ):
        raise ValueError("Expected the run to finish with the accuracy of its last test.")
    return events


def _event(value: Any, name: str) -> Event:
    values = dict(table(value, name))
    kind = values.pop("event", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"Expected {name} to be one of {', '.join(KINDS)}.")
    return record(values, KINDS[kind], name)


def _wrong_place(event: Event, before: Event | None, steps: int) -> str:
    """The reason why the event cannot follow the one before it; empty if it can."""
    if isinstance(event, Preparing):
        return (
            ""
            if before is None or isinstance(before, Preparing)
            else "features come before the start"
        )
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
    return "its step does not follow the one before" if event.step < before.step + twice else ""


def _wrong(event: Event, config: RunConfig, plan: Plan) -> str:
    """The first impossible figure of the event; empty if all are possible."""
    classes = len(DATASETS[config.dataset].classes)
    wrong: dict[str, bool] = {}
    if isinstance(event, Stepped | Evaluated):
        wrong["its epoch does not match its step"] = not _near(event.epoch, event.step * config.q)
    match event:
        case Started():
            right = (event.examples, event.steps) == (config.examples, plan.steps) and _near(
                event.q, config.q
            )
            wrong["its data or its steps differ from the settings"] = (
                not right or event.parameters <= 0
            )
        case Preparing():
            wrong["it is not a part of its images"] = (
                not 0 < event.done <= event.total or event.step != 0
            )
        case Stepped():
            norms = len(event.norms) == len(NORM_QUANTILES) and min(event.norms) >= 0
            wrong["its clipped share or norms are impossible"] = not (
                _shares([event.clipped]) and norms
            )
            speed = 0 <= event.steps_per_second <= MAX_STEPS_PER_SECOND
            wrong["its speed or its decisions are impossible"] = not speed or not set(
                event.decisions
            ) <= set("ar")
        case Evaluated():
            shares = _shares([event.accuracy, event.averaged_accuracy, *event.per_class])
            right = shares and (event.rmse or 0) >= 0 and len(event.per_class) <= classes
            wrong["its accuracies are impossible"] = not right
            rows = event.answers or ()
            right = len(rows) <= SHOWN_EXAMPLES and all(
                len(row) == classes and _shares(row) for row in rows
            )
            wrong["its answers do not fit its classes"] = not right
        case Finished():
            shares = _shares([event.accuracy, event.averaged_accuracy])
            right = event.step == plan.steps and shares and 0 <= event.seconds <= MAX_SECONDS
            wrong["its last step, accuracy or time is impossible"] = not right
            rows = event.confusion
            square = rows is None or (
                len(rows) == classes and all(len(row) == classes for row in rows)
            )
            right = square and all(count >= 0 for row in rows or () for count in row)
            wrong["its table of mistakes does not fit its classes"] = not right
    if isinstance(event, Stepped | Finished):
        accepted = 0 <= (event.accepted or 0) <= event.step
        wrong["its count of accepted steps is impossible"] = not accepted
    return next((why for why, holds in wrong.items() if holds), "")


def _shares(values: Sequence[float | None]) -> bool:
    return all(value is None or 0 <= value <= 1 for value in values)


def _near(value: float, other: float) -> bool:
    return math.isclose(value, other, rel_tol=1e-6)
