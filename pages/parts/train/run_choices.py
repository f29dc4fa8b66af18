"""The runs to choose from in words: when, what, for how long, how it ended, how good it was and what it cost."""

import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from dpcore.privacy.accountants import CERTIFIED, Kind
from dpcore.privacy.report.kinds import marked
from dpcore.privacy.report.numbers import epochs_of, percent
from dpcore.runs.in_words import when, with_origin
from dpcore.runs.record import Run
from dpcore.runs.spent import released_by
from dpcore.training.described import described
from dpcore.training.events import Evaluated
from pages.parts.results import cache

PATIENCE = 0.3  # seconds for what runs cost; the ones that come after have no epsilon beside them until it is known


def choices(runs: Sequence[Run], tests: Mapping[str, Evaluated], taken: Collection[str] = ()) -> dict[str, str]:
    """A line for each run, with its latest test; none twice, nor one that is taken: by it the widget knows the run."""
    until = time.monotonic() + PATIENCE
    plain = {run.id: _line(run, tests.get(run.id), time.monotonic() < until) for run in runs}
    met = Counter([*plain.values(), *taken])
    return {run: f"{line}, {run}" if met[line] > 1 else line for run, line in plain.items()}


def _line(run: Run, test: Evaluated | None, patient: bool) -> str:
    what = f"{when(run.created, short=True)} {described(run.config)}, {epochs_of(run.config.epochs)}"
    if run.active:  # what changes with every test would change under the pointer
        return f"{what} · {run.status.value}"
    accuracy = [percent(test.accuracy)] if test else []
    spent = spent_by(run) if patient else None
    epsilon = [] if spent is None else [f"epsilon {marked(spent, Kind.CERTIFIED)}"]
    return f"{what} · {', '.join([with_origin(run.status.value, run), *accuracy, *epsilon])}"


def spent_by(run: Run) -> float | None:
    """The certified epsilon of what a run has released; None where that is nothing, or has no epsilon."""
    released = released_by(run)
    return released and cache.final(CERTIFIED, released, run.config.delta).last.value
