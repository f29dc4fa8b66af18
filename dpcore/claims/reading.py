"""Whatever somebody pastes: a text, the state of an accountant of Opacus as JSON, or a DpEvent of dp-accounting."""

import json
import re
from collections.abc import Mapping
from typing import Any

from dpcore.claims.claim import Claim, joined
from dpcore.claims.dp_event import FIELDS, claim_of, event_in, read_event
from dpcore.claims.text import Read, read_text
from dpcore.privacy.mechanism import Release

LONGEST_JSON = 1_000_000  # characters
MOST_ENTRIES = 100_000  # of a history, in which equal neighbours are one
MOST_KINDS = 1000  # of steps in a history
OPACUS = {"rdp": "rdp", "gdp": "gdp", "prv": "pld"}  # its accountants
EVENT_NAMES = re.compile(rf"\s*(?:[\w.]+\.)?(?:{'|'.join(FIELDS)}|\w+DpEvent)\(")


def read_claim(text: str) -> Read:
    """The claim in a text or in JSON. Errors: ValueError, a sentence, where it is neither.

    >>> read_claim('{"history": [[1.1, 0.01, 1000]], "mechanism": "rdp"}').claim.steps
    1000
    """
    if EVENT_NAMES.match(text):
        return Read(read_event(event_in(text[:LONGEST_JSON])), ())
    if text.lstrip()[:1] not in ("{", "["):
        return read_text(text)
    if len(text) > LONGEST_JSON:
        raise ValueError(f"Expected JSON of at most {LONGEST_JSON:,} characters, and this has {len(text):,}.")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return read_text(text)
    return _of_json(found, text)


def read_history(state: Mapping[str, Any]) -> Claim:
    """What the state of an accountant of Opacus says: `history` of (noise multiplier, rate, steps), and `mechanism`.

    How batches were drawn is not in it. Errors: ValueError names what is not as Opacus has it.
    """
    history = state.get("history")
    if not isinstance(history, list) or not 0 < len(history) <= MOST_ENTRIES:
        raise ValueError(f"Expected history=... to be a list of 1 to {MOST_ENTRIES:,} steps.")
    claim = claim_of([_entry(each) for each in history])
    if claim.mechanism is not None and len(claim.mechanism.releases) > MOST_KINDS:
        raise ValueError(f"Expected the history to hold at most {MOST_KINDS:,} kinds of steps.")
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
    raise ValueError(
        "Expected JSON to be the state of an accountant of Opacus, a DpEvent, or an object of named numbers."
    )


def _with(claim: Claim, rest: Mapping[str, Any]) -> Read:
    """The claim with the numbers that stand beside it: where they are is not told, the text was JSON.

    Its releases stay as they are, so that a number which does not fit them is found.
    """
    plain = {name: value for name, value in rest.items() if isinstance(value, int | float | str)}
    read = read_text(json.dumps(plain, ensure_ascii=False)[1:-1]) if plain else Read(Claim(), ())
    return Read(joined([claim, read.claim, Claim(accountant=claim.accountant)]), (), read.unsure)
