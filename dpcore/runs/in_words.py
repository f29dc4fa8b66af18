"""The name, status and times of a run in words, for pages and terminals.

It also makes foreign text and numbers safe for terminals, pages and spreadsheets.
"""

import csv
import io
import math
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any

from dpcore.data.catalogue import DATASETS
from dpcore.data.tabular import TABLES
from dpcore.privacy.report.numbers import percent
from dpcore.runs.kinds import AUDIT, PERTURBATION, TRAINING
from dpcore.runs.record import Run, Status
from dpcore.training.defaults import described
from dpcore.training.events import Evaluated, Finished, Preparing, Started

OTHER_VERSION = "run of another version of this program"


def name_of(run: Run) -> str:
    """The name of a run, or a description of it; free of control characters."""
    return printable(run.name) or printable(_what(run))


def status_of(run: Run) -> str:
    """The status of a run, with its place in the queue."""
    if run.active and run.cancelling:
        return "cancelling"
    if run.position:
        return f"{run.status}, number {run.position}"
    return with_origin(run.status.value, run)


def with_origin(words: str, run: Run) -> str:
    """The words, marked as imported if the run is."""
    return f"{words}, imported" if run.imported else words


def steps_of(run: Run) -> int:
    """The steps of a training run; 0 for another job and a run of another version."""
    try:
        return run.plan.steps if run.kind == TRAINING.name else 0
    except (ValueError, TypeError, KeyError, RuntimeError):
        return 0


def state_of(
    run: Run, steps: int, starts: str = "", pace: str = "", *, held: bool = False
) -> dict[str, Any]:
    """The status of a run of so many steps for a browser, with its percentage.

    `words` has it in a few words and `said` in a sentence. `starts` says when a queued run should
    begin, `pace` how fast a running one is.
    """
    done = getattr(run.last, "step", 0)
    place = f"step {done:,} of {steps:,}"
    share = min(100 * done / steps, 100) if steps else 0
    words = status_of(run)
    said = f"{words} at {place}"
    if run.status is Status.QUEUED:
        said = f"{words}, {starts}" if starts else words
        if starts.startswith("starts"):  # else that is not known yet
            words = said
    elif run.status is Status.RUNNING:
        if steps and not run.cancelling:
            words = f"{words}, {int(share)} %"
        said = f"paused at {place}" if held else _progress_in_words(run, f"{place}{pace}")
    return {
        "status": run.status.value,
        "cancelling": run.cancelling,
        "words": words,
        "said": said,
        "share": share,
    }


def _progress_in_words(run: Run, progress: str) -> str:
    """The progress of a running run, once it trains, and where."""
    if isinstance(run.last, Preparing):
        return f"starting: features of {run.last.done:,} of {run.last.total:,} images"
    if run.last is None:
        return "starting"
    device = (run.origin or {}).get("device", "").partition(" (")[0]
    return f"{progress} on {device}" if device else progress


def progress_of(run: Run) -> str:
    """The progress of a run in a few words."""
    event = run.last
    if event is None:
        return "-"
    if isinstance(event, Started):
        return "started"
    step = getattr(event, "step", None)
    if step is None:  # it does not train
        return f"{run.sequence} results"
    if isinstance(event, Evaluated | Finished):
        return f"step {step}, accuracy {percent(event.accuracy, gap='')}"
    return f"step {step}"


def when(moment: float, *, utc: bool = False, short: bool = False) -> str:
    """A Unix time in local time or UTC; `short` leaves out today's date.

    >>> when(1.0, utc=True)
    '1970-01-01 00:00:01 UTC'
    """
    if utc:
        return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(moment))
    then = time.localtime(moment)
    today = then[:3] == time.localtime()[:3]
    form = "%H:%M:%S" if short and today else "%Y-%m-%d %H:%M:%S"
    return time.strftime(form, then)


def _what(run: Run) -> str:
    data = str(run.settings.get("dataset", ""))
    if run.kind == PERTURBATION.name:
        title = TABLES[data].title if data in TABLES else data
        return f"Comparison of methods, {title}"
    try:
        if run.kind == AUDIT.name:
            return run.request.title
        if run.kind == TRAINING.name:
            return described(run.config)
    except (ValueError, TypeError, KeyError):
        return unreadable(run.settings)
    return f"{run.kind} {data}"


def unreadable(settings: Mapping[str, Any]) -> str:
    """The description of a run whose settings cannot be read here."""
    data = str(settings.get("config", settings).get("dataset", "mnist"))
    return OTHER_VERSION if data in DATASETS else f"run on {data}, which is not on this machine"


SPECIAL = str.maketrans({each: f"\\{each}" for each in "\\`*_{}[]<>|&~$:#!"})  # to Markdown

# Before these places: the sign of a list or a rule at the start, and a point of an address without
# a scheme
SPECIAL_PLACE = re.compile(r"^(?=[-+])|^[0-9]+(?=[.)])|www(?=\.)", re.IGNORECASE)


def printable(words: str, *, lines: bool = False) -> str:
    """The words without control characters and outer blanks, on one line unless `lines`.

    >>> printable("  two\\x1b[2J words\\n"), printable("two\\x00\\nlines ", lines=True)
    ('two [2J words', 'two \\nlines')
    """
    if lines:
        return "\n".join(map(_without_controls, words.split("\n"))).strip()
    return " ".join(_without_controls(words).split())


def _without_controls(words: str) -> str:
    return "".join(each if each.isprintable() else " " for each in words)


def escaped(words: str) -> str:
    """The words on one line, escaped so that Markdown shows them unchanged.

    An address with an @ is the exception: some readers make a link of it however it is escaped.

    >>> escaped("<b>[x](y)</b>")
    '\\\\<b\\\\>\\\\[x\\\\](y)\\\\</b\\\\>'
    """
    return SPECIAL_PLACE.sub(r"\g<0>\\", printable(words).translate(SPECIAL))


# A spreadsheet computes a cell that begins with such a sign, in full or small width, too.
FORMULA = "=+@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b-"
FORMULA_CELL = re.compile(rf"(^|[;|])(?=[ \"]*[{FORMULA}])")


def as_text(words: str) -> str:
    """The words on one line, quoted wherever a spreadsheet would compute them.

    Some spreadsheets also begin a cell at ; and |.

    >>> as_text("=1+1"), as_text("two words"), as_text("a;=1+1")
    ("'=1+1", 'two words', "a;'=1+1")
    """
    return FORMULA_CELL.sub(r"\1'", printable(words))


def as_csv(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table as CSV, with empty cells for NaN and None, and no formulas.

    >>> as_csv(["q", "note"], [[1e-5, "a, b"], [float("nan"), "=1+1"]])
    'q,note\\n1e-05,"a, b"\\n,\\'=1+1\\n'
    """
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(map(_cell, columns))
    table.writerows(map(_cell, row) for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return as_text(value)
    if isinstance(value, float) and math.isnan(value):
        return None
    return value
