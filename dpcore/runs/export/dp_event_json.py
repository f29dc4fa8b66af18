"""What a run has released as a DpEvent of dp-accounting, in JSON."""

import json
from collections.abc import Sequence

from dpcore.claims.dp_event import event_of
from dpcore.runs.export.base import TextForm
from dpcore.runs.export.run_record import RunRecord


def dp_event_json(records: Sequence[RunRecord]) -> str:
    """The event as an object of its fields, with a note for an imported run.

    Errors: ValueError for a run that has no epsilon.
    """
    (record,) = records
    mechanism = record.released
    if mechanism is None:
        why = record.plan.unaccounted or "It has released nothing yet."
        raise ValueError(f"Expected run={record.run.id!r} to have an epsilon to account for. {why}")
    told = {"note": record.not_measured} if record.not_measured else {}
    return json.dumps(event_of(mechanism) | told, allow_nan=False, indent=1) + "\n"


DP_EVENT = TextForm(
    "dp-event",
    "What it has released, as a DpEvent of dp-accounting (JSON)",
    ".dp-event.json",
    "application/json",
    dp_event_json,
)
