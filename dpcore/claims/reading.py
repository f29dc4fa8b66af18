"""Readers of a claim in a text, in an Opacus history, or in a DpEvent as JSON.

Texts are read by the usual names of their numbers. Nothing is invented: ambiguous and contradictory values are left
out.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from dpcore.claims.claim import Claim, joined
from dpcore.claims.dp_event import FIELDS, claim_of, event_in, read_event
from dpcore.claims.printed import printed_epsilon
from dpcore.claims.vocabulary import ACCUMULATED, ASIDE, DENIED, HALF_PAIR, LOG_LINE, NO_STEPS, NUMBERS, PAIR, WORDS
from dpcore.privacy.mechanism import Release
from dpcore.written_number import read_number

MAX_TEXT_CHARS = 20_000
MIN_EPSILON = 1e-3  # a smaller epsilon is an optimizer's
WHOLE = ("batch", "examples", "steps")
SHARES = ("q", "delta")  # fields printed as fractions: 3/10 epochs are a place in a training
BEFORE = 60  # characters before a number or a word that tell its meaning
ACCUMULATES = "batch is left out: the text accumulates gradients, without the number of examples in all."
MAX_JSON_CHARS = 1_000_000
MAX_ENTRIES = 100_000  # of a history, before equal neighbours are joined
MAX_KINDS = 1000  # of steps in a history
OPACUS = {"rdp": "rdp", "gdp": "gdp", "prv": "pld"}  # its accountants
EVENT_NAMES = re.compile(rf"\s*(?:[\w.]+\.)?(?:{'|'.join(FIELDS)}|\w+DpEvent)\(")


class Found(NamedTuple):
    """A value of a text, and its place there."""

    field: str
    value: Any
    start: int
    end: int
    wrong: str = ""  # a sentence if it is out of its range


class Read(NamedTuple):
    """The claim of a text, the places of its values, and sentences about values left out."""

    claim: Claim
    found: tuple[Found, ...]
    unsure: tuple[str, ...] = ()


def read_text(text: str) -> Read:
    """Read the claim of a text; report and leave out a value out of its range. Errors: ValueError for a long text.

    >>> read = read_text("(ε, δ) = (2.92, 10⁻⁵), noise multiplier 1.1, batch size 256, 60k examples, 15 epochs, RDP")
    >>> read.claim.epsilon.text, read.claim.delta, read.claim.sigma, read.claim.batch, read.claim.accountant
    ('2.92', 1e-05, 1.1, 256, 'rdp')
    >>> [(each.field, each.start, each.end) for each in read.found][:2]
    [('epsilon', 10, 14), ('delta', 16, 20)]
    """
    if len(text) > MAX_TEXT_CHARS:
        raise ValueError(f"The text has {len(text):,} characters: paste at most {MAX_TEXT_CHARS:,}.")
    found = sorted([*_numbers(_last_of_log(text)), *_words(text)], key=lambda each: each.start)
    values: dict[str, set[Any]] = {}
    for each in found:
        values.setdefault(each.field, set()).add(each.value)
    wrong = {each.field: f"{each.field} is left out: {each.wrong}" for each in found if each.wrong}
    if "batch" in values and ACCUMULATED.search(text):
        wrong["batch"] = ACCUMULATES
    twice = {field: _twice(field, each) for field, each in values.items() if len(each) > 1}
    unsure = twice | wrong
    sure = {field: next(iter(several)) for field, several in values.items() if field not in unsure}
    return Read(Claim(**sure), tuple(each for each in found if each.field in sure), tuple(unsure.values()))


def _numbers(text: str) -> Iterator[Found]:
    """Read the numbers of a text; blot out each number read, so that none is read twice."""
    left = text
    for each in LOG_LINE.finditer(text):
        yield _found("epochs", each["value"], each.start("value"))
        left = _blotted(left, each.start(), each.end("value"))
    for each in list(PAIR.finditer(left)):
        if each["after"] or each["named"]:
            yield _found("epsilon", each["epsilon"], each.start("epsilon"))
            yield _found("delta", each["delta"], each.start("delta"))
            left = _blotted(left, each.start(), each.end())
    for each in list(HALF_PAIR.finditer(left)):
        for field in ("epsilon", "delta"):
            why = f"({each['value'].strip()}) is not a pair of numbers."
            yield _no_value(field, each["value"], each.start("value"), why)
        left = _blotted(left, each.start(), each.end())
    for field, pattern in NUMBERS:
        for each in list(pattern.finditer(left)):
            read = _found(field, each["value"], each.start("value"))
            left = _blotted(left, each.start(), each.end())
            if not _is_other(text, each.start(), read):
                yield read


def _is_other(text: str, start: int, read: Found) -> bool:
    """True for another number of the same name, such as an optimizer's epsilon or the steps of a warm-up."""
    if read.field == "epsilon":
        return not read.wrong and read.value.value < MIN_EPSILON
    return read.field == "steps" and NO_STEPS.search(text[max(0, start - BEFORE) : start]) is not None


def _found(field: str, text: str, start: int) -> Found:
    """Read a number; one out of its range carries a sentence."""
    try:
        if "/" in text and field not in SHARES:
            raise ValueError(f"{text.strip()} may be a place in a training.")
        value = _value(field, text)
        Claim(**{field: value})
    except ValueError as error:
        return _no_value(field, text, start, str(error))
    return Found(field, value, start, start + len(text.rstrip()))


def _value(field: str, text: str) -> Any:
    if field == "epsilon":
        return printed_epsilon(text)
    value = float(read_number(text, field))
    return int(value) if field in WHOLE and value.is_integer() else value


def _no_value(field: str, text: str, start: int, why: str) -> Found:
    return Found(field, text.strip(), start, start + len(text.rstrip()), why)


def _words(text: str) -> Iterator[Found]:
    plain = ASIDE.sub(lambda each: " " * len(each[0]), text)
    for field, value, pattern in WORDS:
        for each in pattern.finditer(plain):
            if not DENIED.search(plain[max(0, each.start() - BEFORE) : each.start()]):
                yield Found(field, value, each.start(), each.end())


def _last_of_log(text: str) -> str:
    """Remove all lines of a training log but the last, which states the final epsilon."""
    lines = list(LOG_LINE.finditer(text))
    for each in lines[:-1]:
        text = _blotted(text, each.start(), each.end())
    return text


def _blotted(text: str, start: int, end: int) -> str:
    return text[:start] + re.sub(r"[^\n]", "\0", text[start:end]) + text[end:]


def _twice(field: str, values: set[Any]) -> str:
    shown = sorted(str(getattr(value, "text", value)) for value in values)
    return f"{field} is left out: the text says {' and '.join(shown)}."


def read_claim(text: str) -> Read:
    """Read the claim in a text or in JSON. Errors: ValueError for other content.

    >>> read_claim('{"history": [[1.1, 0.01, 1000]], "mechanism": "rdp"}').claim.steps
    1000
    """
    if EVENT_NAMES.match(text):
        return Read(read_event(event_in(text[:MAX_JSON_CHARS])), ())
    if text.lstrip()[:1] not in ("{", "["):
        return read_text(text)
    if len(text) > MAX_JSON_CHARS:
        raise ValueError(f"The JSON has {len(text):,} characters: paste at most {MAX_JSON_CHARS:,}.")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return read_text(text)
    return _of_json(found, text)


def read_history(state: Mapping[str, Any]) -> Claim:
    """Read an Opacus accountant's state: `history` of (noise multiplier, rate, steps), and `mechanism`.

    The state does not say how batches were drawn. Errors: ValueError for a state unlike those of Opacus.
    """
    history = state.get("history")
    if not isinstance(history, list) or not 0 < len(history) <= MAX_ENTRIES:
        raise ValueError(f"Expected history=... to be a list of 1 to {MAX_ENTRIES:,} steps.")
    claim = claim_of([_entry(each) for each in history])
    if claim.mechanism is not None and len(claim.mechanism.releases) > MAX_KINDS:
        raise ValueError(f"Expected the history to hold at most {MAX_KINDS:,} kinds of steps.")
    named = state.get("mechanism")
    accountant = OPACUS.get(named) if isinstance(named, str) else None
    return joined([claim, Claim(accountant=accountant)])


def _entry(found: Any) -> Release:
    if not isinstance(found, list) or len(found) != 3:
        raise ValueError("Expected each entry of the history to be [noise_multiplier, sample_rate, num_steps].")
    sigma, q, steps = found
    return Release(q, sigma, steps)


def _of_json(found: Any, text: str) -> Read:
    if isinstance(found, Mapping) and "history" in found:
        rest = {name: value for name, value in found.items() if name not in ("history", "mechanism")}
        return _with(read_history(found), rest)
    if isinstance(found, Mapping) and "class_name" in found:
        return Read(read_event(found), ())
    if isinstance(found, list) and len(found) > 1 and isinstance(found[1], str) and found[1].endswith("DpEvent"):
        return Read(read_event(found), ())
    if isinstance(found, Mapping):
        return read_text(text)
    raise ValueError("Paste an Opacus accountant's state, a DpEvent, or an object of named numbers as JSON.")


def _with(claim: Claim, rest: Mapping[str, Any]) -> Read:
    """Add the numbers beside a history to its claim, without their places; keep its releases to find contradictions."""
    plain = {name: value for name, value in rest.items() if isinstance(value, int | float | str)}
    read = read_text(json.dumps(plain, ensure_ascii=False)[1:-1]) if plain else Read(Claim(), ())
    return Read(joined([claim, read.claim, Claim(accountant=claim.accountant)]), (), read.unsure)
