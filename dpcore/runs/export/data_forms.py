"""A run as data: JSON, a tidy table of its figures, and its releases as a DpEvent."""

import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from dpcore import __version__
from dpcore.claims.dp_event import event_of
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import finite
from dpcore.runs.export.base import TextForm
from dpcore.runs.followed.budget import reading_of
from dpcore.runs.followed.events import Logged
from dpcore.runs.history import RunRecord
from dpcore.runs.kinds import event_to_json
from dpcore.runs.plain_text import as_csv
from dpcore.runs.record import Run
from dpcore.training.events import NORM_QUANTILES, Evaluated, Finished, Stepped
from dpcore.training.settings import SETTINGS

FORMAT = "dpcore run"
FOLLOWED_FORMAT = "dpcore followed run"  # which nobody can check against settings of ours
VERSION = 1
MAX_REASON_CHARS = 500  # of the reason of a failure


def run_json(records: Sequence[RunRecord]) -> str:
    """One object with format, version, the run, settings, plan and events.

    It leaves out the secret seed, the worker, the owner, and all but the last line of a traceback.
    Numbers that are not finite, which older versions stored, are null.
    """
    (record,) = records
    run = record.run
    lines = (run.error or "").strip().splitlines() or [""]  # the last has no paths
    facts = {
        "id": run.id,
        "name": run.name,
        "status": run.status,
        "created": run.created,
        "started": run.started,
        "ended": run.ended,
        "error": lines[-1][:MAX_REASON_CHARS],
        "tags": run.tags,
        "note": run.note,
        "origin": run.origin or {},
    }
    whole = {
        "format": FOLLOWED_FORMAT if record.followed else FORMAT,
        "version": VERSION,
        "program": f"dpcore {__version__}",
        "run": facts,
        "settings": run.request.to_json(),
        "plan": run.plan.to_json(),
        "events": [event_to_json(event) for event in record.history.events],
    }
    return json.dumps(finite(whole), allow_nan=False, separators=(",", ":")) + "\n"


JSON = TextForm(
    "json", "The whole run as JSON, for import elsewhere", ".json", "application/json", run_json
)


EPSILON = "privacy/epsilon"  # name of a figure


class Figure(NamedTuple):
    """A measured number, with its name and its time."""

    sequence: int  # of its event
    step: int
    epoch: float
    name: str
    value: float


def figures_of(record: RunRecord) -> list[Figure]:
    """All figures in order, with the certified epsilon after each test, if there is one.

    Numbers that are not finite are left out, except an infinite epsilon.
    """
    if record.followed:
        return _told_figures(record)
    epsilons = iter(_epsilons_of_tests(record))
    found = []
    for sequence, event in enumerate(record.history.events, 1):
        match event:
            case Stepped():
                epoch = event.epoch
                named = _of_steps(event)
            case Evaluated():
                epoch = event.epoch
                named = [*_of_test(event), (EPSILON, next(epsilons, None))]
            case Finished():
                epoch = event.step * record.config.q
                named = [("run/seconds", event.seconds)]
            case _:
                continue
        for name, value in named:
            if value is None:
                continue
            infinite_epsilon = name == EPSILON and value == math.inf
            if math.isfinite(value) or infinite_epsilon:
                found.append(Figure(sequence, event.step, epoch, name, value))
    return found


def _told_figures(record: RunRecord) -> list[Figure]:
    """What a followed run logged, and what is charged at its tests and for the whole of it."""
    delta = record.delta
    found = []
    for sequence, event in enumerate(record.history.events, 1):
        if isinstance(event, Logged):
            named = list(event.values.items())
        elif isinstance(event, Evaluated):
            named = privacy_figures(record.plan.released(event.step), delta, event.step)
        else:
            continue
        for name, value in named:
            found.append(Figure(sequence, event.step, event.epoch, name, value))
    charged = record.run.plan.steps if not record.run.active else record.history.step
    for name, value in privacy_figures(record.released, delta, charged):
        found.append(Figure(record.history.sequence, charged, record.now, name, value))
    return found


def privacy_figures(
    released: Mechanism | None, delta: float, steps: int
) -> list[tuple[str, float]]:
    """Epsilon of what was released and what belongs to it, by their keys; empty without one."""
    if released is None:
        return []
    found = reading_of(released.releases, delta)
    return [
        (EPSILON, found.value),
        ("privacy/epsilon_lower", found.lower or 0.0),
        ("privacy/delta", delta),
        ("privacy/steps", float(steps)),
    ]


def _epsilons_of_tests(record: RunRecord) -> list[float]:
    """The certified epsilon at each test; empty if the run has none."""
    mechanism = record.plan.mechanism
    tests = record.history.evaluated
    if mechanism is None or not tests:
        return []
    compositions = [record.plan.compositions_at(test.step) for test in tests]
    curve = ACCOUNTANTS[CERTIFIED].curve(mechanism, compositions, record.config.delta)
    return curve.epsilon.tolist()


def _of_steps(event: Stepped) -> list[tuple[str, float | None]]:
    norms = zip(NORM_QUANTILES, event.norms, strict=False)
    return [
        ("train/loss", event.loss),
        ("train/clipped", event.clipped),
        *[(f"train/norm {quantile:g}", norm) for quantile, norm in norms],
        ("train/steps per second", event.steps_per_second),
        ("train/accepted", event.accepted),
    ]


def _of_test(event: Evaluated) -> list[tuple[str, float | None]]:
    classes = enumerate(event.per_class)
    return [
        ("test/accuracy", event.accuracy),
        ("test/loss", event.loss),
        ("test/averaged accuracy", event.averaged_accuracy),
        ("test/RMSE", event.rmse),
        *[(f"test/accuracy of class {place}", accuracy) for place, accuracy in classes],
    ]


def with_origin_of(run: Run) -> str:
    """The status of a run, with the mark of a followed one."""
    return f"{run.status.value}, {run.mark}" if run.mark else run.status.value


COLUMNS = ("run", "name", "status", "imported", "event", "step", "epoch", "figure", "value")


def tidy_csv(records: Sequence[RunRecord]) -> str:
    """One row for each figure of each run.

    Each setting that differs from its default has a column. Epsilon is certified. A secret seed is
    empty. An imported run names its original.
    """
    chosen = dict[str, Any]()
    for record in records:
        own = record.run.request
        chosen |= own.to_json() if record.followed else own.chosen()
    settings = [name for name in SETTINGS if name in chosen]
    settings += [name for name in chosen if name not in SETTINGS]
    rows = []
    for record in records:
        run = record.run
        about = [run.id, run.name, with_origin_of(run), run.imported]
        values = [getattr(run.request, name, None) for name in settings]
        rows += [[*about, *figure, *values] for figure in figures_of(record)]
    return as_csv([*COLUMNS, *settings], rows)


CSV = TextForm("csv", "Tidy CSV, a row for each figure", ".csv", "text/csv", tidy_csv, several=True)


def dp_event_json(records: Sequence[RunRecord]) -> str:
    """The DpEvent as JSON, with a note for an imported run.

    Errors: ValueError for a run without epsilon.
    """
    (record,) = records
    event = event_of(record.needed_mechanism("to account for"))
    if record.not_measured:
        event["note"] = record.not_measured
    return json.dumps(event, allow_nan=False, indent=1) + "\n"


DP_EVENT = TextForm(
    "dp-event",
    "Its releases as a DpEvent of dp-accounting (JSON)",
    ".dp-event.json",
    "application/json",
    dp_event_json,
)
