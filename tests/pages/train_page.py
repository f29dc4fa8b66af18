"""Pages of runs in a test: opened, pressed and read; a run's events are written as a worker would."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from streamlit.testing.v1 import AppTest

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.defaults import OPENING_SIGMA, defaults
from dpcore.training.events import Evaluated, Event, Finished, Started, Stepped
from dpcore.training.plan import plan

PAGE = Path(__file__).parents[2] / "pages" / "runs.py"
LAB = PAGE.with_name("lab.py")
CONFIG = RunConfig(batch=256, epochs=2.0)
# What the Lab opens on.
FIRST = replace(defaults("mnist", "linear", "sgd", features="scatter_upright"), sigma=OPENING_SIGMA)
HERE = (("device", "cpu (a test's)"),)
CLASSES = (0.9, 0.8, 0.7, 0.9, 0.8, 0.7, 0.9, 0.8, 0.7, 0.8)


def opened(*runs: str, **query: str) -> AppTest:
    """The page Runs with these runs ticked."""
    return opened_at(PAGE, *runs, **query)


def whole(run: str, **query: str) -> AppTest:
    """The page Runs with this run whole."""
    return opened_at(PAGE, one=run, **query)


def lab(**query: str) -> AppTest:
    """The Lab at these settings; its button starts no baseline."""
    return opened_at(LAB, session={"baseline": False}, **query)


def started(store: Store, **query: str) -> RunConfig:
    """The run that the Lab starts at these settings."""
    lab(**query).button(key="train").click().run()
    return store.runs()[0].config


def opened_at(
    file: Path, *runs: str, session: Mapping[str, object] = MappingProxyType({}), **query: str
) -> AppTest:
    """The page with these runs, this query and this in its session."""
    page = AppTest.from_file(file, default_timeout=60)
    for name, value in session.items():
        page.session_state[name] = value
    if runs:
        page.query_params["run"] = list(runs)
    for name, value in query.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    return page


def events_of(config: RunConfig, done: int) -> list[Event]:
    """What a run has said after `done` steps."""
    said: list[Event] = [
        Started(config.examples, plan(config).steps, config.q, "cpu", 26010, "book-keeping", HERE)
    ]
    for step in range(10, done + 1, 10):
        said.append(
            Stepped(step, step * config.q, 2.3 - 0.01 * step, 0.97, (0.1, 0.2, 0.3, 0.4, 0.5), 20.0)
        )
        said.append(Evaluated(step, step * config.q, 0.5 + 0.004 * step, 1.0, CLASSES))
    return said


def recorded(
    store: Store,
    config: RunConfig,
    done: int,
    status: Status | None = None,
    error: str | None = None,
) -> str:
    """A run that got so far; still running where no status is given."""
    run = store.submit(config, worker="test:1")
    for event in events_of(config, done):
        store.append(run, event)
    if status is Status.FINISHED:
        store.append(run, Finished(plan(config).steps, 4.0, 0.8))
    if status:
        store.end(run, status, error)
    return run


def handed(page: AppTest, component: str) -> list[dict[str, Any]]:
    """What the page hands to the components of this name, from above."""
    found = [each.proto for each in page.get("bidi_component")]
    return [json.loads(proto.json) for proto in found if proto.component_name == component]


def charts(page: AppTest) -> list[dict[str, Any]]:
    """The figures that can follow runs."""
    return [json.loads(each["figure"]) for each in handed(page, "live_chart")]


def progress(page: AppTest) -> list[dict[str, Any]]:
    """How far each run is, as the browser is told."""
    return handed(page, "run_progress")


def metrics(page: AppTest) -> dict[str, str]:
    """The numbers that stand under names."""
    readings = [reading for each in handed(page, "live_figures") for reading in each["readings"]]
    return {each.label: each.value for each in page.metric} | {
        each["label"]: each["value"] for each in readings
    }


def press(page: AppTest, label: str) -> AppTest:
    next(each for each in page.button if each.label == label).click().run()
    assert not page.exception
    return page
