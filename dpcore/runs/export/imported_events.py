"""Check the values and events of a foreign file against their types and places; execute nothing."""

import json
import math
import types
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import MISSING, fields
from reprlib import Repr
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from dpcore.data.catalogue import DATASETS
from dpcore.runs.history import last_of
from dpcore.runs.plain_text import printable
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
_SHORT.maxlevel = 1
_SHORT.maxdict = 2
_SHORT.maxlist = 2
shortly = _SHORT.repr  # a value in an error


def parsed(content: bytes) -> dict[str, Any]:
    """Read the JSON object of a file.

    Errors: ValueError, and no other, for a file that is too large or wrong.
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
    for key in values:
        if key not in known:
            raise ValueError(
                f"Expected {name} to have no key {shortly(key)}: this version knows none."
            )
    missing = sorted(known - values.keys() - set(optional))
    if missing:
        raise ValueError(f"Expected {name} to have the key {missing[0]!r}.")


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
    """Convert the value to the type, such as lists to tuples.

    Texts, which pages, terminals and files print, lose their control characters. Errors: ValueError
    names a value that is wrong or too long.

    >>> typed([1, 2.5], tuple[float, ...], "norms"), typed(None, int | None, "seed")
    ((1.0, 2.5), None)
    """
    if get_origin(kind) is types.UnionType:
        if value is None:
            return None
        (inner,) = set(get_args(kind)) - {types.NoneType}
        return typed(value, inner, name)
    if get_origin(kind) is tuple:
        return _items(value, get_args(kind), name)
    if not _fits(value, kind):
        raise ValueError(f"Expected {name} to be {_WORDS[kind]}, but it is {shortly(value)}.")
    if kind is float:
        return float(value)
    if kind is str:
        return printable(value)
    return value


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


def _fits(value: Any, kind: type) -> bool:
    """True if the value is of a simple type, and neither too large nor too long."""
    if kind is bool or isinstance(value, bool):
        return isinstance(value, bool) and kind is bool
    if kind is str:
        return isinstance(value, str) and len(value) <= MAX_TEXT_CHARS
    if isinstance(value, int):
        return abs(value) < MAX_INT
    return kind is float and isinstance(value, float) and math.isfinite(value)


_WORDS = {  # simple type -> its name in an error
    bool: "true or false",
    int: "a whole number of at most 63 bits",
    float: "a finite number",
    str: f"a text of at most {MAX_TEXT_CHARS:,} characters",
}


MAX_SECONDS = 10 * 366 * 86_400.0  # of a run
MAX_STEPS_PER_SECOND = 1e16  # more steps than a run has, within one tick of a clock
WRONG_EPOCH = "its epoch does not match its step"


def events_from(values: Any, config: RunConfig, plan: Plan) -> tuple[Event, ...]:
    """Read the events of a run.

    Errors: ValueError names the first that a run of this plan cannot have at its place.
    """
    if not isinstance(values, list) or not 0 < len(values) <= MAX_ITEMS:
        raise ValueError(f"Expected the events to be a list of 1 to {MAX_ITEMS:,} of them.")
    events = tuple(_event(each, f"event {number}") for number, each in enumerate(values, 1))
    before: Event | None = None
    for number, event in enumerate(events, 1):
        why = _wrong_place(event, before, plan.steps) or _wrong(event, config, plan)
        if why:
            raise ValueError(f"Expected event {number} to be possible at its place, but {why}.")
        before = event
    last = events[-1]
    if isinstance(last, Finished):
        tested = last_of(events, Evaluated)
        if tested is None or (tested.step, tested.accuracy) != (last.step, last.accuracy):
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
    if before is None or isinstance(before, Preparing):
        may_begin = isinstance(event, Preparing | Started)
        return "" if may_begin else "a run starts first"
    if isinstance(event, Preparing):
        return "features come before the start"
    if isinstance(event, Started):
        return "a run starts once"
    if isinstance(before, Finished):
        return "the run has finished"
    if not 1 <= event.step <= steps:
        return f"it is of step {event.step}, and the run has {steps}"
    if isinstance(before, Started):
        return ""
    same_kind = type(event) is type(before) and not isinstance(event, Checkpointed)
    earliest = before.step + 1 if same_kind else before.step
    return "its step does not follow the one before" if event.step < earliest else ""


def _wrong(event: Event, config: RunConfig, plan: Plan) -> str:
    """The first impossible figure of the event; empty if all are possible."""
    match event:
        case Preparing():
            return _wrong_preparation(event)
        case Started():
            return _wrong_start(event, config, plan)
        case Stepped():
            return _wrong_step(event, config)
        case Evaluated():
            return _wrong_test(event, config)
        case Finished():
            return _wrong_end(event, config, plan)
    return ""


def _wrong_preparation(event: Preparing) -> str:
    if not 0 < event.done <= event.total or event.step != 0:
        return "it is not a part of its images"
    return ""


def _wrong_start(event: Started, config: RunConfig, plan: Plan) -> str:
    same_sizes = event.examples == config.examples and event.steps == plan.steps
    if not same_sizes or not _near(event.q, config.q) or event.parameters <= 0:
        return "its data or its steps differ from the settings"
    return ""


def _wrong_step(event: Stepped, config: RunConfig) -> str:
    if not _near(event.epoch, event.step * config.q):
        return WRONG_EPOCH
    whole_norms = len(event.norms) == len(NORM_QUANTILES) and min(event.norms) >= 0
    if not whole_norms or not _shares([event.clipped]):
        return "its clipped share or norms are impossible"
    possible_speed = 0 <= event.steps_per_second <= MAX_STEPS_PER_SECOND
    if not possible_speed or not set(event.decisions) <= set("ar"):
        return "its speed or its decisions are impossible"
    return _wrong_acceptance(event)


def _wrong_test(event: Evaluated, config: RunConfig) -> str:
    classes = len(DATASETS[config.dataset].classes)
    if not _near(event.epoch, event.step * config.q):
        return WRONG_EPOCH
    shares = _shares([event.accuracy, event.averaged_accuracy, *event.per_class])
    if event.loss is None:
        return "its loss is missing"
    if not shares or (event.rmse or 0) < 0 or len(event.per_class) > classes:
        return "its accuracies are impossible"
    answers = event.answers or ()
    fitting = all(len(row) == classes and _shares(row) for row in answers)
    if not fitting or len(answers) > SHOWN_EXAMPLES:
        return "its answers do not fit its classes"
    return ""


def _wrong_end(event: Finished, config: RunConfig, plan: Plan) -> str:
    shares = _shares([event.accuracy, event.averaged_accuracy])
    if event.step != plan.steps or not shares or not 0 <= event.seconds <= MAX_SECONDS:
        return "its last step, accuracy or time is impossible"
    if event.confusion is not None:
        classes = len(DATASETS[config.dataset].classes)
        counts = all(len(row) == classes and min(row) >= 0 for row in event.confusion)
        if not counts or len(event.confusion) != classes:
            return "its table of mistakes does not fit its classes"
    return _wrong_acceptance(event)


def _wrong_acceptance(event: Stepped | Finished) -> str:
    possible = 0 <= (event.accepted or 0) <= event.step
    return "" if possible else "its count of accepted steps is impossible"


def _shares(values: Sequence[float | None]) -> bool:
    return all(value is None or 0 <= value <= 1 for value in values)


def _near(value: float, other: float) -> bool:
    return math.isclose(value, other, rel_tol=1e-6)
