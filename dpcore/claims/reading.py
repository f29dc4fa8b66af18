"""The claim of a text, of an Opacus history, or of a DpEvent: what is taken, and what is passed
over and why.

A text is read in four stages: its plain form (plain_text.py), all values that have a name
(candidates.py), the decision between them, and numbers without a name, by what stands around such
numbers in other texts (likeness.py). Nothing is invented: an epsilon that its own line contradicts
is passed over, and what is less than sure is marked.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any, NamedTuple

from dpcore.claims.candidates import Found, Reader, in_range
from dpcore.claims.cases import rounds_to
from dpcore.claims.claim import NAMES, Claim, joined
from dpcore.claims.dp_event import FIELDS, MAX_DEPTH, event_in, read_event
from dpcore.claims.history import history_span, read_history
from dpcore.claims.plain_text import plain_text
from dpcore.claims.printed import Printed
from dpcore.claims.vocabulary import FINAL, LIKENED, NOTES, PATTERNS, REASONS, SUPPOSED
from dpcore.privacy.report.numbers import plain

MAX_TEXT_CHARS = 100_000
MAX_JSON_CHARS = 1_000_000
PARTS = ("device_batch", "devices", "nodes", "accumulation")  # of a batch
PASSED = "Passed over: {}; {}."
SHOWN = 6  # values passed over for one reason that a sentence names
NONE_PASSED = "Nothing in the text was passed over."
MAX_EVENT_CHARS = 10_000  # of an event within a text
EVENT_CALL = re.compile(
    rf"(?P<within>\bcompose\(\s*(?:\w+\.)*)?\b(?P<event>(?:{'|'.join(FIELDS)})\()"
)
BRACKET = re.compile(r"#[^\n]*|[()]")  # and comments, in which brackets mean nothing
EVENT_NAMES = re.compile(rf"\s*(?:[\w.]+\.)?(?:{'|'.join(FIELDS)}|\w+DpEvent)\(")


class Read(NamedTuple):
    """The claim of a text, the values taken and passed over with their places, and sentences about
    the reading.
    """

    claim: Claim
    found: tuple[Found, ...] = ()
    passed: tuple[Found, ...] = ()
    notes: tuple[str, ...] = ()

    def parts(self, text: str) -> Iterator[tuple[str, Found | None]]:
        """Yield the text in parts, each with what was taken from it or passed over in it."""
        last = 0
        for each in sorted(
            (*self.found, *(each for each in self.passed if each.field)), key=attrgetter("start")
        ):
            if each.start >= last:
                yield from ((text[last : each.start], None), (text[each.start : each.end], each))
                last = each.end
        yield text[last:], None

    @property
    def left_out(self) -> tuple[str, ...]:
        """The notes, and a sentence for each reason that values are passed over for."""
        values: dict[tuple[str, str], dict[str, None]] = {}  # by field and reason, in order
        for each in sorted(self.passed, key=lambda each: (not each.field, each.field, each.why)):
            values.setdefault((each.field, each.why.rstrip(".")), {})[written(each.value)] = None
        return (
            *self.notes,
            *(
                PASSED.format(f"{field} {_some(each)}".strip(), why)
                for (field, why), each in values.items()
            ),
        )


def _some(values: Iterable[str]) -> str:
    shown = list(values)
    return ", ".join(shown[:SHOWN]) + (
        f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
    )


def written(value: object) -> str:
    """Return a value as a reader writes it, with all its digits."""
    if isinstance(value, float):
        return repr(value) if len(plain(value)) >= 6 else plain(value)
    return str(getattr(value, "text", value))


def read_text(text: str) -> Read:
    """Read the claim of a text. Errors: ValueError for a long text.

    >>> read = read_text(
    ...     "(ε, δ) = (2.92, 10⁻⁵), noise multiplier 1.1,"
    ...     " batch size 256, 60k examples, 15 epochs, RDP"
    ... )
    >>> claim = read.claim
    >>> claim.epsilon.text, claim.delta, claim.sigma, claim.batch, claim.accountant
    ('2.92', 1e-05, 1.1, 256, 'rdp')
    >>> [(each.field, each.start, each.end) for each in read.found][:2]
    [('epsilon', 10, 14), ('delta', 16, 20)]
    >>> read_text("ε = 3.0 or rather ε = 2.9").left_out
    ('Passed over: epsilon 3.0, 2.9; the text says 2.9 and 3.0.',)
    """
    if len(text) > MAX_TEXT_CHARS:
        raise ValueError(
            f"The text has {len(text):,} characters: paste at most {MAX_TEXT_CHARS:,}."
        )
    bare = plain_text(text)
    reader = Reader(bare.text)
    found = [*_whole_batches(reader.found(), bare.text)]
    for field in NAMES:
        found = _decided(found, field)
    found = _decided(reader.likened(found), "examples")
    found = _decided([*_shares_of(found)], "delta")
    claim = Claim(**{each.field: each.value for each in found if not each.why})
    if claim.sigma and (half := PATTERNS.microbatched.search(bare.text)):
        found.append(Found("sigma", claim.sigma / 2, *half.span(), why=REASONS["halved"]))
    found = [
        each._replace(start=start, end=end)
        for each in found
        for start, end in [bare.span(*each[2:4])]
    ]
    taken = tuple(sorted((each for each in found if not each.why), key=attrgetter("start")))
    known = {each[:2] for each in taken}
    return Read(
        claim,
        taken,
        tuple(each for each in found if each.why and each[:2] not in known),
        (*_notes(reader, taken, text),),
    )


def _whole_batches(found: list[Found], text: str) -> Iterator[Found]:
    """Multiply the batch of a device by the number of devices and of accumulated batches."""
    values = {(each.field, each.value) for each in found if each.field in PARTS and not each.why}
    parts = dict(values)
    product = (
        math.prod(parts.values())
        if {"device_batch", "devices"} <= {*parts} and len(parts) == len(values)
        else 0
    )
    whole = parts.get("device_batch", 0) * parts.get("accumulation", 1)
    several = (
        parts["accumulation"] > 1 if "accumulation" in parts else PATTERNS.accumulated.search(text)
    )
    for each in found:
        if each.field in PARTS and product and not each.why:
            yield in_range(each._replace(field="batch", value=product, rank=FINAL))
        elif each.field == "device_batch":
            yield each._replace(field="batch", why=each.why or REASONS["one_device"])
        elif each.field in PARTS:
            yield each._replace(field="", why=REASONS["elsewhere"])
        elif each.field == "batch" and several and each.rank != FINAL and each.value != whole:
            yield each._replace(why=each.why or REASONS["accumulated"])
        else:
            yield (
                each._replace(field="sigma", why=REASONS["spread"])
                if each.field == "spread"
                else each
            )


def _shares_of(found: list[Found]) -> Iterator[Found]:
    """Compute a delta of 1/N from the number of examples."""
    n = next((each.value for each in found if each.field == "examples" and not each.why), None)
    for each in found:
        of_n = (
            PATTERNS.of_n.fullmatch(str(each.value))
            if each.field == "delta" and not each.why
            else None
        )
        if of_n and n:
            times, power = (
                float(of_n[one] or of_n[other] or 1)
                for one, other in (("times", "times2"), ("power", "power2"))
            )
            yield in_range(each._replace(value=1 / (times * n**power)))
        else:
            yield each._replace(why=REASONS["unknown_n"]) if of_n else each


def _decided(found: list[Found], field: str) -> list[Found]:
    """Choose the value of a field: the outcome before a target, and the one with the most digits of
    several.
    """
    several = [each for each in found if each.field == field and not each.why]
    least = min((each.rank for each in several), default=FINAL)
    values = dict.fromkeys(each.value for each in several if each.rank == least)
    chosen = next((value for value in values if all(_same(value, other) for other in values)), None)
    twice = REASONS["twice"].format(" and ".join(sorted(map(written, values))[:SHOWN]))

    def decided(each: Found) -> Found:
        if chosen is not None and _same(chosen, each.value):
            return each._replace(value=chosen)
        if chosen is None and each.rank == least:
            return each._replace(why=twice)
        return each._replace(why=REASONS["supposed" if each.rank == SUPPOSED else "outcome"])

    return [decided(each) if each.field == field and not each.why else each for each in found]


def _same(value: Any, shown: Any) -> bool:
    """True if a value is the shown one, which may have fewer digits."""
    if isinstance(value, Printed) and isinstance(shown, Printed):
        return value == shown or (
            len(value.text) >= len(shown.text) and shown.low <= value.value < shown.high
        )
    if isinstance(value, float) and isinstance(shown, float):
        return len(repr(value)) >= len(repr(shown)) and rounds_to(value, shown)
    return value == shown


def _notes(reader: Reader, taken: tuple[Found, ...], text: str) -> Iterator[str]:
    """Yield what a reader should know of the values taken."""
    around = (
        text[max(0, each.start - 40) : each.end + 40]
        for each in taken
        if each.field in ("q", "batch", "examples")
    )
    if people := next(filter(None, map(PATTERNS.people.search, around)), None):
        yield NOTES["people"].format(f"{people[1].lower()}s")
    parts = dict.fromkeys(
        text[each.start : each.end]
        for each in taken
        if each.field == "batch" and each.rank == FINAL
    )
    if len(parts) > 1:
        yield NOTES["product"].format(" x ".join(parts))
    if likened := [f"{each.field} {written(each.value)}" for each in taken if each.rank == LIKENED]:
        yield NOTES["likened"].format(", ".join(likened))
    if turned_off := PATTERNS.not_private.search(text):
        yield NOTES["not_private"].format(" ".join(turned_off[0].split()))
    yield from (
        NOTES["from_zero"].format(log.count, log.count + 1) for log in reader.logs if log.from_zero
    )


def read_claim(text: str) -> Read:
    """Read the claim in a text or in JSON. Errors: ValueError for other content.

    >>> read_claim('{"history": [[1.1, 0.01, 1000]], "mechanism": "rdp"}').claim.steps
    1000
    """
    if EVENT_NAMES.match(text):
        return Read(read_event(event_in(text[:MAX_JSON_CHARS])))
    if text.lstrip()[:1] not in ("{", "["):
        return _with_event(text) or read_text(text)
    if len(text) > MAX_JSON_CHARS:
        raise ValueError(
            f"The JSON has {len(text):,} characters: paste at most {MAX_JSON_CHARS:,}."
        )
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return read_text(text)
    if state := next(filter(_has_history, _states(found)), None):
        return _around(text, *history_span(text, state["history"]), read_history(state))
    if isinstance(found, Mapping) and "class_name" in found:
        return Read(read_event(found))
    if (
        isinstance(found, list)
        and len(found) > 1
        and isinstance(found[1], str)
        and found[1].endswith("DpEvent")
    ):
        return Read(read_event(found))
    return read_text(text)


def _states(found: Any, depth: int = MAX_DEPTH) -> Iterator[Mapping[str, Any]]:
    """Yield an object of JSON and those within it."""
    if isinstance(found, Mapping) and depth:
        yield found
        for each in found.values():
            yield from _states(each, depth - 1)


def _has_history(state: Mapping[str, Any]) -> bool:
    """True for the state of an accountant: it names its mechanism, or its history is a list of
    lists.
    """
    history = state.get("history")
    listed = isinstance(history, list) and bool(history) and isinstance(history[0], list)
    return listed or ("history" in state and "mechanism" in state)


def _with_event(text: str) -> Read | None:
    """Read the event that a text states, and the words around it; None without one.

    A composition is the whole training; beside one that cannot be read, no event is. A step alone
    does not say how many of it there were, nor does what `compose` repeats. Errors: ValueError if
    the text has events of other steps too.
    """
    if len(text) > MAX_TEXT_CHARS + MAX_EVENT_CHARS:
        return None
    found, calls, stop = [], 0, 0
    while call := EVENT_CALL.search(text, stop):
        start, depth = call.start("event"), 1
        for each in BRACKET.finditer(text, call.end(), start + MAX_EVENT_CHARS):
            depth += {"(": 1, ")": -1}.get(each[0], 0)
            if not depth:
                break
        else:
            return None
        stop, composed, within = (
            each.end(),
            "ComposedDpEvent" in call["event"],
            bool(call["within"]),
        )
        calls += within
        try:
            claim = read_event(event_in(text[start:stop]))
        except ValueError:
            if composed or within:
                return None
            continue
        whole = composed and not (within and text[stop:].lstrip().startswith(","))
        found.append((claim if whole else _step_of(claim), start, stop))
    if not found:
        return None
    claim, start, stop = next((each for each in found if each[0].mechanism), found[0])
    if (calls and len(found) > 1) or any(
        other not in (claim, _step_of(claim)) for other, _, _ in found
    ):
        raise ValueError(
            "The text has several events: paste the one that holds the whole training."
        )
    return _around(text, start, stop, claim)


def _step_of(claim: Claim) -> Claim:
    return replace(claim, steps=None, mechanism=None)


def _around(text: str, start: int, stop: int, claim: Claim) -> Read:
    """Read the text around a history; keep its releases, to find contradictions."""
    read = read_text(text[:start] + text[stop:])
    length = stop - start
    found = tuple(_moved(each, start, length) for each in read.found)
    passed = tuple(_moved(each, start, length) for each in read.passed)
    history = Found("mechanism", "the releases", start, stop)
    return Read(joined([claim, read.claim]), (*found, history), passed, read.notes)


def _moved(value: Found, start: int, length: int) -> Found:
    """Move a value's place by `length` if it lies behind `start`."""
    if value.start < start:
        return value
    return value._replace(start=value.start + length, end=value.end + length)
