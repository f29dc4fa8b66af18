"""Values of a file from elsewhere, each checked against the type that it is to have; nothing of it is executed."""

import json
import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields
from reprlib import Repr
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

MOST_BYTES = 16 * 2**20  # of a file: what is read of it takes some forty times as much memory
LONGEST_TEXT = 1_000  # characters, where the text's own place names no other number
MOST_ITEMS = 60_000
LARGEST = 2**63  # of a whole number

Value = TypeVar("Value")
_SHORT = Repr()
_SHORT.maxlevel, _SHORT.maxdict, _SHORT.maxlist = 1, 2, 2
shortly = _SHORT.repr  # a value in an error


def parsed(content: bytes) -> dict[str, Any]:
    """The JSON object that a file holds.

    Errors: ValueError, a sentence, for what is too large, no JSON object, or no number; nothing else is raised.
    """
    if len(content) > MOST_BYTES:
        raise ValueError(f"Expected the file to have at most {MOST_BYTES:,} bytes, as exported runs have.")
    try:
        found = json.loads(content.decode(), parse_constant=_no_number, object_pairs_hook=_each_once)
    except RecursionError:
        raise ValueError("Expected the file to be an exported run, but it is nested too deeply.") from None
    except ValueError as error:  # of bytes that are no text, too
        why = str(error).split(";")[0]
        raise ValueError(f"Expected the file to be an exported run in JSON, but it is not: {why}.") from None
    return table(found, "the file")


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def table(value: Any, name: str) -> dict[str, Any]:
    """The value, if it is an object; ValueError names it where it is not."""
    if not isinstance(value, dict):
        raise ValueError(f"Expected {name} to be an object, but it is {shortly(value)}.")
    return value


def only(values: Mapping[str, Any], known: set[str], name: str, optional: frozenset[str] = frozenset()) -> None:
    """Raise ValueError where a key is unknown or, unless it is optional, missing."""
    if unknown := [key for key in values if key not in known]:
        raise ValueError(f"Expected {name} to have no key {shortly(unknown[0])}: this version knows none.")
    if lost := sorted(known - optional - values.keys()):
        raise ValueError(f"Expected {name} to have the key {lost[0]!r}.")


def record(values: Any, kind: type[Value], name: str) -> Value:
    """A frozen dataclass of flat values; those with a default may be left out."""
    optional = frozenset(each.name for each in fields(kind) if each.default is not MISSING)  # type: ignore[arg-type]
    hints = get_type_hints(kind)
    given = table(values, name)
    only(given, {each.name for each in fields(kind)}, name, optional)  # type: ignore[arg-type]
    return kind(**{key: typed(value, hints[key], f"{key} of {name}") for key, value in given.items()})


def typed(value: Any, kind: Any, name: str) -> Any:
    """The value as the type has it: lists as tuples, whole numbers as floats where a float is asked for.

    Errors: ValueError names it where it is of no such type, not finite, or too long.

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
    return float(value) if kind is float else value


def _items(value: Any, kinds: tuple[Any, ...], name: str) -> tuple[Any, ...]:
    if not isinstance(value, list) or len(value) > MOST_ITEMS:
        raise ValueError(f"Expected {name} to be a list of at most {MOST_ITEMS:,}, but it is {shortly(value)}.")
    if kinds[-1] is ...:
        return tuple(typed(each, kinds[0], name) for each in value)
    if len(value) != len(kinds):
        raise ValueError(f"Expected {name} to have {len(kinds)} items, but it has {len(value)}.")
    return tuple(typed(each, kind, name) for each, kind in zip(value, kinds, strict=True))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST


def _is_number(value: Any) -> bool:
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_TEXT


_SIMPLE = {
    bool: ("true or false", lambda value: isinstance(value, bool)),
    int: ("a whole number of at most 63 bits", _is_whole),
    float: ("a finite number", _is_number),
    str: (f"a text of at most {LONGEST_TEXT:,} characters", _is_text),
}
