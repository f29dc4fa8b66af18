"""The runs to choose from in words: when, what, for how long, how it ended, how good it was and what it cost."""

import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from dpcore.privacy.accountants import CERTIFIED, Kind
from dpcore.privacy.report.kinds import marked
from dpcore.privacy.report.numbers import epochs_of, percent
from dpcore.runs.record import Run
from dpcore.training.events import Evaluated
from pages.parts.results import cache
from pages.parts.train.run_labels import described

PATIENCE = 0.3  # seconds for what runs cost; the ones that come after have no epsilon beside them until it is known


def choices(runs: Sequence[Run], tests: Mapping[str, Evaluated], taken: Collection[str] = ()) -> dict[str, str]:
    """A line for each run, with its latest test; none twice, nor one that is taken: by it the widget knows the run."""
    until = time.monotonic() + PATIENCE
    plain = {run.id: _line(run, tests.get(run.id), time.monotonic() < until) for run in runs}
    met = Counter([*plain.values(), *taken])
    return {run: f"{line}, {run}" if met[line] > 1 else line for run, line in plain.items()}


def _line(run: Run, test: Evaluated | None, patient: bool) -> str:
    made, now = time.localtime(run.created), time.localtime()
    form = "%H:%M:%S" if made[:3] == now[:3] else "%Y-%m-%d %H:%M"
    what = f"{time.strftime(form, made)} {described(run.config)}, {epochs_of(run.config.epochs)}"
    if run.active:  # what changes with every test would change under the pointer
        return f"{what} · {run.status.value}"
    accuracy = [percent(test.accuracy)] if test else []
    spent = spent_by(run) if patient else None
    epsilon = [] if spent is None else [f"epsilon {marked(spent, Kind.CERTIFIED)}"]
    return f"{what} · {', '.join([run.status.value, *accuracy, *epsilon])}"


def spent_by(run: Run) -> float | None:
    """The certified epsilon of the steps that a run has done; None where it has none, or has not begun."""
    done = getattr(run.last, "step", 0)
    mechanism = run.plan.mechanism
    if mechanism is None or not done:
        return None
    return cache.epsilons(CERTIFIED, mechanism, run.config.delta, (run.plan.compositions_at(done),))[0]
