"""A page of runs in a test: opened, ticked, sorted and read, with what the browser would send."""

import json
from itertools import count
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.pages.train_page import opened_at

PAGE = Path(__file__).parents[2] / "pages" / "runs.py"
NUMBERS = count(1)


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
    return [each["id"] for each in table(page)["rows"] if each["ticked"]]


def tick(page: AppTest, *runs: str, on: bool = True) -> AppTest:
    """The page after boxes were ticked one after the other, faster than it could answer."""
    return send(page, "ticked", [{"number": next(NUMBERS), "run": run, "on": on} for run in runs])


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


def addressed(page: AppTest) -> list[str]:
    """The runs that the address names."""
    named = page.query_params.get("run", [])
    return [named] if isinstance(named, str) else list(named)


def _component(page: AppTest) -> Any:
    (found,) = [each.proto for each in page.get("bidi_component") if each.proto.component_name == "runs_table"]
    return found
