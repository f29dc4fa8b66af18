"""The name, status and times of a run in words, for pages and terminals."""

import time
from collections.abc import Mapping
from typing import Any

from dpcore.data.catalogue import DATASETS
from dpcore.data.tabular import TABLES
from dpcore.privacy.report.numbers import percent
from dpcore.runs.kinds import AUDIT, PERTURBATION, TRAINING
from dpcore.runs.lifecycle import Status
from dpcore.runs.plain_text import printable
from dpcore.runs.record import Run
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
    if run.followed and not run.imported:
        return f"followed, {run.status}"
    return with_origin(run.status.value, run)


def with_origin(words: str, run: Run) -> str:
    """The words, marked if the run is imported, or followed."""
    if run.imported:
        return f"{words}, imported"
    return f"{words}, followed" if run.followed else words


def steps_of(run: Run) -> int:
    """The steps of a training run; 0 for another job and a run of another version.

    Of a followed run they are those that its program plans, or 0.
    """
    if run.followed:
        return run.settings.get("steps", 0)
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
    place = f"step {done:,} of {steps:,}" if steps else f"step {done:,}"
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
        "active": run.active,
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
    if run.followed:
        return "Followed training"
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
