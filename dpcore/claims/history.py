"""The state of an accountant of Opacus: its history of steps, as JSON."""

import json
import re
from collections.abc import Mapping
from typing import Any

from dpcore.claims.claim import Claim
from dpcore.claims.dp_event import claim_of
from dpcore.privacy.mechanism import Release

MAX_ENTRIES = 100_000  # before equal neighbours are joined
MAX_KINDS = 1000  # of steps
ENTRIES = "Expected each entry of the history to be [noise_multiplier, sample_rate, num_steps]."


def read_history(state: Mapping[str, Any]) -> Claim:
    """Read the `history` of an Opacus accountant's state, of (noise multiplier, rate, steps).

    It does not say how batches were drawn. Errors: ValueError for a state unlike those of Opacus.
    """
    history = state.get("history")
    if not isinstance(history, list) or not 0 < len(history) <= MAX_ENTRIES:
        raise ValueError(f"Expected history=... to be a list of 1 to {MAX_ENTRIES:,} steps.")
    for each in history:
        if not isinstance(each, list) or len(each) != 3:
            raise ValueError(ENTRIES)
    claim = claim_of([Release(q, sigma, steps) for sigma, q, steps in history])
    if claim.mechanism is not None and len(claim.mechanism.releases) > MAX_KINDS:
        raise ValueError(f"Expected the history to hold at most {MAX_KINDS:,} kinds of steps.")
    return claim


def history_span(text: str, history: Any) -> tuple[int, int]:
    """Return where this history begins and ends in a JSON text, which may hold others, too.

    These are the ends of the text if the key "history" is written with escapes.

    >>> history_span('{"history": [[1.0, 1.0, 5]], "mechanism": "rdp"}', [[1.0, 1.0, 5]])
    (12, 27)
    """
    for name in re.finditer(r'"history"\s*:\s*', text):
        found, stop = json.JSONDecoder().raw_decode(text, name.end())
        if found == history:
            return name.end(), stop
    return 0, len(text)
