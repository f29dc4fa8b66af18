"""A run in words, the same on pages and in a terminal: what it is called, where it stands, and when that was.

Text and numbers from elsewhere are made such as terminals, pages, spreadsheets and JSON can hold.
"""

import csv
import io
import math
import time
from collections.abc import Iterable
from typing import Any

from dpcore.data.tabular import TABLES
from dpcore.privacy.report.numbers import percent
from dpcore.runs.kinds import AUDIT, PERTURBATION, TRAINING
from dpcore.runs.record import Run
from dpcore.training.defaults import described
from dpcore.training.events import Evaluated, Finished, Started

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


def progress_of(run: Run) -> str:
    """How far a run has got."""
    event = run.last
    if event is None:
        return "-"
    if isinstance(event, Started):
        return "started"
    if (step := getattr(event, "step", None)) is None:  # it does not train
        return f"{run.sequence} results"
    accuracy = f", accuracy {percent(event.accuracy, gap='')}" if isinstance(event, Evaluated | Finished) else ""
    return f"step {step}{accuracy}"


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


SPECIAL = str.maketrans({each: f"\\{each}" for each in "\\`*_{}[]<>|&~$:#!"})  # to Markdown


def printable(words: str, *, lines: bool = False) -> str:
    """The words on one line, or with `lines` on theirs: without control characters, and without blanks at both ends.

    >>> printable("  two\\x1b[2J words\\n"), printable("two\\x00\\nlines ", lines=True)
    ('two [2J words', 'two \\nlines')
    """
    kept = "".join(each if each.isprintable() or (lines and each == "\n") else " " for each in words)
    return kept.strip() if lines else " ".join(kept.split())


def escaped(words: str) -> str:
    """Words as Markdown shows them as they are, on one line.

    >>> escaped("<b>[x](y)</b>")
    '\\\\<b\\\\>\\\\[x\\\\](y)\\\\</b\\\\>'
    """
    return printable(words).translate(SPECIAL)


FORMULA = ("=", "+", "-", "@")  # what a cell begins with that a spreadsheet would compute


def as_text(words: str) -> str:
    """Words that a spreadsheet does not take for a formula, on one line.

    >>> as_text("=1+1"), as_text("two words")
    ("'=1+1", 'two words')
    """
    line = printable(words)
    return f"'{line}" if line.startswith(FORMULA) else line


def as_csv(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table as CSV; NaN and None are empty, and no text is a formula.

    >>> as_csv(["q", "note"], [[1e-5, "a, b"], [float("nan"), "=1+1"]])
    'q,note\\n1e-05,"a, b"\\n,\\'=1+1\\n'
    """
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(columns)
    table.writerows(map(_cell, row) for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return as_text(value)
    return None if isinstance(value, float) and math.isnan(value) else value


def finite(value: Any) -> Any:
    """The value with null for NaN and infinities, which JSON has not; older stores may hold them.

    >>> finite({"loss": float("nan"), "rates": (1.0, float("inf"))})
    {'loss': None, 'rates': [1.0, None]}
    """
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
