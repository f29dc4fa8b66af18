"""The rows of the table: each run in words."""

import time
from collections.abc import Mapping, Sequence

from dpcore.data.catalogue import DATASETS
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.report.numbers import marked, percent, value_text
from dpcore.runs.editing import done_by
from dpcore.runs.expected import duration
from dpcore.runs.in_words import name_of, state_of, status_of
from dpcore.runs.kinds import TRAINING
from dpcore.runs.record import Run
from dpcore.training.events import Evaluated
from dpcore.training.optimizers import OPTIMIZERS
from pages.parts.components.elements import Row
from pages.parts.results.costs import known_cost, spending_of, told_later
from pages.parts.visitors import current_user

LATER = "once it has ended"  # told of an epsilon that takes long to compute


def row(run: Run, test: Evaluated | None, ticked: bool, starts: str) -> Row:
    """A run as it stands now, with its latest test; `starts` says when a queued one is expected to begin."""
    step, steps = done_by(run) or 0, _steps(run)
    cells = {"name": name_of(run), "status": status_of(run), **_settings(run)}
    accuracy = getattr(run.last, "accuracy", test.accuracy if test else None)
    cells |= {"accuracy": "" if accuracy is None else percent(accuracy), "epsilon": _epsilon(run)}
    cells |= {"duration": _time(run), "tags": ", ".join(run.tags), "owner": owner_told(run.owner)}
    return Row(run.id, cells, ticked, run.sequence, step, steps, state_of(run, starts) if run.active else None)


def owner_told(owner: str) -> str:
    """Who asked for a run: the reader, or somebody by a part of the id; empty where there is a single user."""
    return "you" if owner and owner == current_user().owner else owner[:6]


def _steps(run: Run) -> int:
    try:
        return run.plan.steps if run.kind == TRAINING.name else 0
    except (ValueError, TypeError, KeyError, RuntimeError):
        return 0


def _settings(run: Run) -> dict[str, str]:
    """The settings that have a column, as they are stored: another version may have others."""
    stored: Mapping[str, object] = run.settings
    dataset, optimizer = stored.get("dataset", ""), stored.get("optimizer", "")
    cells = {
        "dataset": DATASETS[dataset].title if dataset in DATASETS else str(dataset),
        "model": str(stored.get("model", "")),
    }
    if run.kind != TRAINING.name:
        return cells
    private = bool(stored.get("private", True))
    return cells | {
        "optimizer": OPTIMIZERS[optimizer].title if optimizer in OPTIMIZERS else str(optimizer),
        "sigma": _number(stored.get("sigma")) if private else "no privacy",
        "batch": _number(stored.get("batch")),
        "epochs": _number(stored.get("epochs")),
    }


def _number(value: object) -> str:
    return "" if value is None else value_text(value)


def _epsilon(run: Run) -> str:
    spending = spending_of(run, CERTIFIED)
    if spending is None:
        return ""
    if cost := known_cost(spending):
        return marked(cost.epsilon, cost.kind)
    return LATER if told_later(spending) else ""


def _time(run: Run) -> str:
    if run.started is None:
        return ""
    return duration(max((run.ended or time.time()) - run.started, 0))


def rows(
    runs: Sequence[Run], tests: Mapping[str, Evaluated], ticked: Sequence[str], starts: Mapping[str, str]
) -> list[Row]:
    """The rows of the runs."""
    return [row(run, tests.get(run.id), run.id in ticked, starts.get(run.id, "")) for run in runs]
