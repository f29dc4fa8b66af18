"""A page of runs in a test: opened, ticked, sorted and read, with what the browser would send."""

import json
from itertools import count
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from dpcore.runs.export import record_of
from dpcore.runs.export.data_forms import run_json
from dpcore.runs.export.imported import read_run, take_in
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Finished
from dpcore.training.plan import plan
from tests.pages.train_page import CLASSES, CONFIG, events_of, opened_at

PAGE = Path(__file__).parents[2] / "pages" / "runs.py"
NUMBERS = count(1)
SHOW = "accuracy and epsilon"


def opened(*runs: str, **query: str) -> AppTest:
    """The page with these runs ticked, and this in its address."""
    return opened_at(PAGE, *runs, session={}, **query)


def table(page: AppTest) -> dict[str, Any]:
    """What the table is told."""
    return json.loads(_component(page).json)


def listed(page: AppTest) -> list[str]:
    """The ids of the rows, from above."""
    return [each["id"] for each in table(page)["rows"]]


def cells(page: AppTest, run: str) -> dict[str, str]:
    """The texts of a run's row."""
    return next(each["cells"] for each in table(page)["rows"] if each["id"] == run)


def ticked(page: AppTest) -> list[str]:
    """The ids of the ticked rows, from above."""
    return [run for run in listed(page) if run in table(page)["ticked"]]


def tick(page: AppTest, *runs: str, on: bool = True) -> AppTest:
    """The page after boxes were ticked one after the other, faster than it could answer."""
    others = [run for run in table(page)["ticked"] if run not in runs]
    return send(page, "ticked", [next(NUMBERS), *others, *(runs if on else ())])


def sort(page: AppTest, column: str) -> AppTest:
    """The page after a click on a column's head."""
    return send(page, "sorted", column)


def send(page: AppTest, event: str, value: object) -> AppTest:
    """The page after the table has sent a message."""
    states = page._tree.get_widget_states()
    sent = states.widgets.add(id=f"$$STREAMLIT_INTERNAL_KEY_{_component(page).id}__events")
    sent.json_trigger_value = json.dumps([{"event": event, "value": value}])
    after = page._run(states)
    assert not after.exception
    return after


def addressed(page: AppTest, name: str = "run") -> list[str]:
    """The runs that the address names."""
    named = page.query_params.get(name, [])
    return [named] if isinstance(named, str) else list(named)


def _component(page: AppTest) -> Any:
    (found,) = [
        each.proto
        for each in page.get("bidi_component")
        if each.proto.component_name == "runs_table"
    ]
    return found


def finished(
    store: Store, config: RunConfig = CONFIG, accuracy: float = 0.8, **more: object
) -> str:
    """A run to its end, with this test accuracy."""
    run = store.submit(config, worker="test:1")
    for event in events_of(config, 40):
        store.append(run, event)
    steps = plan(config).steps
    store.append(run, Evaluated(steps, steps * config.q, accuracy, 1.0, CLASSES))
    store.append(run, Finished(steps, 4.0, accuracy, **more))  # type: ignore[arg-type]
    store.end(run, Status.FINISHED)
    return run


def imported(store: Store, run: str) -> str:
    """The run, exported and taken in again as another one."""
    return take_in(store, read_run(run_json([record_of(store, run)]).encode()))


def shown(page: AppTest) -> str:
    """What the page says."""
    kinds = ("markdown", "caption", "info", "error")
    texts = [each.value for kind in kinds for each in page.get(kind)]
    return " ".join([*texts, *(each.proto.body for each in page.get("html"))])
