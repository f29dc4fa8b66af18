"""The runs to choose from in words: when, what, for how long, how it ended, how good it was and what it cost."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.report.numbers import epochs_of, marked, percent
from dpcore.runs.in_words import when, with_origin
from dpcore.runs.record import Run
from dpcore.training.described import described
from dpcore.training.events import Evaluated
from pages.parts.runs.costs import known_cost, spending_of


def choices(runs: Sequence[Run], tests: Mapping[str, Evaluated], taken: Collection[str] = ()) -> dict[str, str]:
    """A line for each run, with its latest test, and its epsilon once that is known.

    None is there twice, nor one that is taken: by it the widget knows the run.
    """
    plain = {run.id: _line(run, tests.get(run.id)) for run in runs}
    met = Counter([*plain.values(), *taken])
    return {run: f"{line}, {run}" if met[line] > 1 else line for run, line in plain.items()}


def _line(run: Run, test: Evaluated | None) -> str:
    what = f"{when(run.created, short=True)} {described(run.config)}, {epochs_of(run.config.epochs)}"
    if run.active:  # what changes with every test would change under the pointer
        return f"{what} · {run.status.value}"
    accuracy = [percent(test.accuracy)] if test else []
    spending = spending_of(run, CERTIFIED)
    cost = known_cost(spending) if spending else None
    epsilon = [f"epsilon {marked(cost.epsilon, cost.kind)}"] if cost else []
    return f"{what} · {', '.join([with_origin(run.status.value, run), *accuracy, *epsilon])}"
