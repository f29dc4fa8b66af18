"""The page that checks a claim, in a test: an address that holds one, and what browsers send."""

import json
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.pages.train_page import handed, opened_at

CLAIM = {
    "claim_epsilon": "0.83",
    "claim_delta": "1e-5",
    "claim_batch": "256",
    "claim_examples": "60k",
    "claim_sigma": "1.3",
    "claim_epochs": "15",
    "claim_sampler": "poisson",
}
# Runs 1, 2 and 4 hold, and run 3 is refuted.
RUNS = """All runs: Opacus (RDP accountant), sample rate 0.02, 1500 steps, δ = 1e-5.

| run | σ | ε |
|:---:|---:|---:|
| r1 | 0.6 | 19.15 |
| r2 | 0.8 | 8.73 |
| r3 | 1.0 | 3.30 |
| r4 | 1.5 | 2.68 |
"""
opened = partial(opened_at, Path(__file__).parents[2] / "pages" / "check.py")
PRESSES = count(1)


def pasted(text: str) -> AppTest:
    """The page after a text was pasted."""
    return opened().text_area(key="claim_text").set_value(text).run()


def fields_of(app: AppTest) -> dict[str, str]:
    """The texts of the fields that say something."""
    return {
        (each.key or "").removeprefix("claim_"): each.value for each in app.text_input if each.value
    }


def standing_of(app: AppTest) -> str:
    """What the verdict on the open claim says."""
    assert not app.exception
    return next(each.proto.body for each in app.get("html") if "class=sign" in each.proto.body)


def rows_of(app: AppTest) -> list[str]:
    """The rows of the table of runs, as HTML."""
    (table,) = handed(app, "claim_runs")
    return table["table"].split("<tr>")[2:]


def parts_of(app: AppTest) -> list[dict[str, Any]]:
    """The parts of the marked text that are no plain ones."""
    (text,) = handed(app, "claim_text")
    return [each for each in text["parts"] if len(each) > 1]


def marks_of(app: AppTest) -> list[tuple[str, str]]:
    """The values that were taken from the text, with their fields."""
    return [(each["text"], each["field"]) for each in parts_of(app) if not each.get("passed")]


def sent(app: AppTest, component: str, event: str, value: object) -> AppTest:
    """The page after a component has sent a message."""
    protos = [each.proto for each in app.get("bidi_component")]
    (proto,) = [each for each in protos if each.component_name == component]
    states = app._tree.get_widget_states()
    message = states.widgets.add(id=f"$$STREAMLIT_INTERNAL_KEY_{proto.id}__events")
    message.json_trigger_value = json.dumps([{"event": event, "value": value}])
    return app._run(states)


def run_opened(app: AppTest, number: int) -> AppTest:
    """The page after a press on a row of the table, from 0."""
    return sent(app, "claim_runs", "opened", number)


def filled(app: AppTest, *presses: tuple[str, str]) -> AppTest:
    """The page after presses on numbers of the text and on fields, faster than it could answer."""
    (text,) = handed(app, "claim_text")
    told = []
    for number, field in presses:
        part = next(each for each in text["parts"] if each["text"] == number and "start" in each)
        assert field in dict(part["offers"]), part
        told.append([next(PRESSES), text["of"], part["start"], field])
    return sent(app, "claim_text", "filled", told)
