"""A run in words, the same on pages and in a terminal: what it is called, where it stands, and when that was."""

import time
from typing import Any

from dpcore.data.tabular import TABLES
from dpcore.runs.kinds import AUDIT, PERTURBATION, TRAINING
from dpcore.runs.printable import printable
from dpcore.runs.record import Run
from dpcore.training.defaults import described

OTHER_VERSION = "run of another version of this program"


def name_of(run: Run) -> str:
    """The name that a run was given, or else what it is. Nothing in it moves a cursor."""
    return printable(run.name) or printable(_what(run))


def status_of(run: Run) -> str:
    """Where a run stands: its status, its place in the queue, and whether it is to stop."""
    if run.active and run.cancelling:
        return "cancelling"
    if run.position:
        return f"{run.status}, number {run.position}"
    return with_origin(run.status.value, run)


def with_origin(words: str, run: Run) -> str:
    """What is said of a run; of an imported one also that it is one."""
    return f"{words}, imported" if run.imported else words


def state_of(run: Run, starts: str = "") -> dict[str, Any]:
    """The same for who follows a run; `starts` says when a queued one is expected to begin."""
    state = {"status": run.status.value, "position": run.position, "cancelling": run.cancelling}
    return state | {"words": status_of(run), "starts": starts}


def when(moment: float, *, utc: bool = False, short: bool = False) -> str:
    """A Unix time where the reader is, or in UTC; `short` leaves out the date of today.

    >>> when(1.0, utc=True)
    '1970-01-01 00:00:01 UTC'
    """
    if utc:
        return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(moment))
    then = time.localtime(moment)
    today = short and then[:3] == time.localtime()[:3]
    return time.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M:%S", then)


def _what(run: Run) -> str:
    data = str(run.settings.get("dataset", ""))
    if run.kind == PERTURBATION.name:
        return f"Comparison of methods, {TABLES[data].title if data in TABLES else data}"
    if run.kind not in (TRAINING.name, AUDIT.name):
        return f"{run.kind} {data}"
    try:
        return run.request.title if run.kind == AUDIT.name else described(run.config)
    except (ValueError, TypeError, KeyError):
        return OTHER_VERSION
