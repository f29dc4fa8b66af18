"""Import of runs: read the output of `run_json`, check every value, and keep the run as imported.

**Guarantees:** nothing in a file is executed, and sizes are bounded. As for any run, the settings
determine the cost: a plan that does not follow from them is refused, and so is an event that no
such run has at that place. Nobody here measured its figures, so lists, charts, tables and exports
mark it as imported, and fronts and averages leave it out.
"""

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpcore import check
from dpcore.data.catalogue import DATASETS
from dpcore.runs.editing import MAX_NAME_CHARS, MAX_NOTE_CHARS, clean, text
from dpcore.runs.export.data_forms import FORMAT, MAX_REASON_CHARS, VERSION
from dpcore.runs.export.imported_events import (
    events_from,
    only,
    parsed,
    record,
    shortly,
    table,
    typed,
    typed_table,
)
from dpcore.runs.lifecycle import Status
from dpcore.runs.record import IMPORTED, row_of
from dpcore.runs.store import Store, add_run
from dpcore.runs.store_file import Database
from dpcore.training.config import RunConfig
from dpcore.training.events import Event, Finished
from dpcore.training.plan import ALREADY_RELEASED, Plan, matching
from dpcore.training.plan import plan as plan_of

DAY = 86_400.0  # seconds by which another machine's clock may be ahead
RELEASES = tuple[tuple[float, float, int], ...]  # q, sigma, count
MAX_EARLIER_RUNS = 10  # that a run may have begun again
VERSION_OF = r"[0-9A-Za-z.+!_-]{1,60}"
ORIGIN = {  # key of `origin_of` -> pattern of its value
    "dpcore": VERSION_OF,
    "python": VERSION_OF,
    "numpy": VERSION_OF,
    "torch": VERSION_OF,
    "device": f".{{1,{MAX_REASON_CHARS}}}",
    "threads": "[1-9][0-9]{0,3}",
    "data": "[0-9a-f]{64}",
}
IMPORTABLE = [each.value for each in Status if each is not Status.QUEUED]
WHILE_IT_RAN = "It was exported while it was running."
TOLD: dict[str, Any] = {  # key of the run in a file, beside note and origin -> type
    "id": str,
    "name": str,
    "status": str,
    "created": float,
    "started": float | None,
    "ended": float | None,
    "error": str,
    "tags": tuple[str, ...],
}
PLAN: dict[str, Any] = {
    "steps": int,
    **dict.fromkeys(("first", "drawn", "charged", "spent"), RELEASES),
    "unaccounted": str,
    ALREADY_RELEASED: int,
}
PARTS = {"format", "version", "program", "run", "settings", "plan", "events"}


@dataclass(frozen=True)
class ImportedRun:
    """A checked run of a file, not in a store yet."""

    config: RunConfig
    plan: Plan
    events: tuple[Event, ...]
    columns: dict[str, Any]  # of its row, beside those from the settings

    def add_run(self, db: Database, run: str, owner: str = "") -> None:
        """Keep it as `owner`'s run of this id, ended and without a secret seed."""
        row = row_of(run, self.config, "", planned=self.plan, owner=owner)
        row |= self.columns
        row["secret"] = None
        add_run(db, row, self.events)


def read_run(content: bytes) -> ImportedRun:
    """Read the run of a file. Errors: ValueError names the wrong part in a sentence."""
    whole = parsed(content)
    if whole.get("format") != FORMAT:
        raise ValueError(
            f"Expected the file to be of the format {FORMAT!r}, as 'runs export --format json'"
            " writes it."
        )
    if whole.get("version") != VERSION:
        raise ValueError(
            f"Expected the file to be of version {VERSION} of its format: another program wrote it."
        )
    only(whole, PARTS, "the file")
    config = record(whole["settings"], RunConfig, "the settings")
    given = typed_table(whole["plan"], PLAN, "the plan", ("spent", ALREADY_RELEASED))
    check.whole(0, given["steps"], **{ALREADY_RELEASED: given.get(ALREADY_RELEASED, 0)})
    plan = _affirmed(config, matching(config, Plan.from_json(given)))
    events = events_from(whole["events"], config, plan)
    columns = _columns(table(whole["run"], "the run"), events)
    own_data = config.dataset not in DATASETS.shipped
    # A fingerprint of features would say nothing about the images.
    on_pixels = config.features == "pixels" and config.views == 1
    here = DATASETS[config.dataset].fingerprint
    there = json.loads(columns["origin"]).get("data")
    if own_data and on_pixels and there not in (None, here):
        raise ValueError(
            f"Expected a run on the images that are called {config.dataset} here; it was on others."
        )
    return ImportedRun(config, plan, events, columns)


def take_in(store: Store, imported: ImportedRun, owner: str = "") -> str:
    """Keep the run; return its new id. `within_limits.keep` also checks the limits."""
    run = store.new_id()
    with store.writing() as db:
        imported.add_run(db, run, owner)
    return run


def _affirmed(config: RunConfig, plan: Plan) -> Plan:
    """Return the plan if its steps keep `stop_epsilon` and earlier runs had the same settings."""
    if config.stop_epsilon:
        affordable = _affordable_steps(config)
        if plan.steps > affordable:
            raise ValueError(
                f"Expected the plan to keep stop_epsilon={config.stop_epsilon:g}, which allows "
                f"{affordable} steps by {config.stop_accountant}; it has {plan.steps}."
            )
    own = (*plan.first, *plan.charged)
    kinds = {(each.q, each.sigma) for each in own}
    spent_kinds = {(each.q, each.sigma) for each in plan.spent}
    most = MAX_EARLIER_RUNS * sum(each.count for each in own)
    if plan.repeated > most or not spent_kinds <= kinds:
        raise ValueError(
            "Expected what the plan says was spent before to be releases of the same settings."
        )
    return plan


def _affordable_steps(config: RunConfig) -> int:
    """The steps of a run with these settings.

    Errors: ValueError if `stop_epsilon` allows none, or has no answer.
    """
    try:
        return plan_of(config).steps
    except RuntimeError as error:
        raise ValueError(str(error)) from error


def _columns(values: dict[str, Any], events: tuple[Event, ...]) -> dict[str, Any]:
    note = values.pop("note", "")
    origin = values.pop("origin", {})
    run = typed_table(values, TOLD, "the run", ("tags",))
    check.one_of(IMPORTABLE, status=run["status"])
    status = Status(run["status"])
    if (status is Status.FINISHED) is not isinstance(events[-1], Finished):
        raise ValueError(f"Expected a run that is {status} to end with such an event.")
    _check_times(run)
    if not isinstance(note, str):
        raise ValueError("Expected the note of the run to be a text.")
    if not re.fullmatch("[0-9a-z]{1,40}", run["id"]):
        raise ValueError("Expected the id of the run to be letters and digits.")
    if status is Status.RUNNING:  # nobody will hear of its end
        status = Status.LOST
        ended = run["started"]
        error = WHILE_IT_RAN
    else:
        ended = run["ended"]
        error = text(run["error"], MAX_REASON_CHARS, "error")
    return {
        "name": text(run["name"], MAX_NAME_CHARS, "name"),
        "status": status,
        "created": run["created"],
        "started": run["started"],
        "ended": ended,
        "error": error or None,
        "tags": json.dumps(clean(run.get("tags", ()))),
        "note": text(note, MAX_NOTE_CHARS, "note", lines=True),
        "origin": json.dumps(_origin(origin) | {IMPORTED: f"run {run['id']} of another store"}),
    }


def _check_times(run: Mapping[str, Any]) -> None:
    """Raise ValueError for a time in the future, or times in an impossible order."""
    moments = []
    for name in ("created", "started", "ended"):
        if run[name] is not None:
            check.in_range(0, time.time() + DAY, **{name: run[name]})
            moments.append(run[name])
    if moments != sorted(moments):
        raise ValueError(
            "Expected the run to be created, to start and to end in this order; its times differ."
        )


def _origin(origin: Any) -> dict[str, str]:
    """The origin of the run, limited to the names that runs have here."""
    values = table(origin, "the origin of the run")
    only(values, {*ORIGIN, IMPORTED}, "the origin of the run", [*ORIGIN, IMPORTED])
    found = {}
    for name, value in values.items():
        if name == IMPORTED:
            continue
        said = typed(value, str, f"{name} in the origin of the run")
        if not re.fullmatch(ORIGIN[name], said):
            raise ValueError(
                f"Expected {name} in the origin of the run to be as runs here note it, not"
                f" {shortly(said)}."
            )
        found[name] = said
    return found
