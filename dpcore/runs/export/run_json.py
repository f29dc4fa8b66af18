"""A run as JSON, whole: what `imported` reads back. Its secret seed is no part of it."""

import json
from collections.abc import Sequence

from dpcore import __version__
from dpcore.runs.export.base import RunRecord, TextForm
from dpcore.runs.kinds import event_to_json
from dpcore.runs.printable import finite

FORMAT, VERSION = "dpcore run", 1
LONGEST_REASON = 500  # characters of why a run failed


def run_json(records: Sequence[RunRecord]) -> str:
    """One object: format and version, what the run is and was, settings, plan, events.

    Left out are the secret seed, the worker's name, who owned the run, and the traceback but for its last line. A
    number that is not finite, as older versions stored some, is null.
    """
    (record,) = records
    run = record.run
    told = {
        "id": run.id,
        "name": run.name,
        "status": run.status.value,
        "created": run.created,
        "started": run.started,
        "ended": run.ended,
        "error": _reason(run.error),
        "tags": list(run.tags),
        "note": run.note,
        "origin": run.origin or {},
    }
    whole = {
        "format": FORMAT,
        "version": VERSION,
        "program": f"dpcore {__version__}",
        "run": told,
        "settings": record.config.to_json(),
        "plan": record.plan.to_json(),
        "events": [event_to_json(event) for event in record.events],
    }
    return json.dumps(finite(whole), allow_nan=False, separators=(",", ":")) + "\n"


def _reason(error: str | None) -> str:
    """The last line of an error, which says what it was without the paths of a traceback."""
    lines = (error or "").strip().splitlines()
    return lines[-1][:LONGEST_REASON] if lines else ""


JSON = TextForm("json", "The whole run as JSON, to be imported elsewhere", ".json", "application/json", run_json)
