"""A sweep on the page of all runs: asked for, cancelled, drawn, and priced."""

import math
import re

import pytest

from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.report.numbers import outward
from dpcore.runs.editing import delete
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.runs.sweeps import all_released, sweep_of
from dpcore.training.config import RunConfig
from dpcore.training.events import Finished
from dpcore.training.plan import plan
from pages.parts.results import cache
from pages.parts.runs.sweeps import LAB, ONE_EACH
from tests.pages.runs_page import listed, opened, shown
from tests.pages.train_page import CONFIG, charts, events_of, press
from tests.runs.by_hand import submit_sweep


def form(**query: str):
    """The page with the form of a sweep open."""
    page = opened(**query)
    page.session_state["sweep_form"] = True
    return page.run()


def done(store: Store, run: str, config: RunConfig, accuracy: float) -> None:
    store.claim("test:1")
    for event in events_of(config, 40):
        store.append(run, event)
    store.append(run, Finished(plan(config).steps, 4.0, accuracy))
    store.end(run, Status.FINISHED)


def swept(store: Store, axes: dict[str, list], seeds: int = 2) -> tuple[str, list[str]]:
    """A sweep whose first three runs have finished."""
    configs = sweep_of(CONFIG, axes, seeds)
    sweep = submit_sweep(store, configs, list(axes), "Sweep")
    ids = [run.id for run in store.runs()][::-1]
    for place in range(3):
        done(store, store.queue()[0], configs[place], 0.8 + 0.02 * place)
    return sweep, ids


def test_a_sweep_is_queued_by_a_click_and_shown(store: Store):
    page = form(sigma="3", batch="128")  # as in the Lab
    assert page.selectbox(key="sweep_base").value == LAB
    page.number_input(key="sweep_seeds").set_value(1).run()
    assert ONE_EACH in [each.value for each in page.warning]
    page.text_input(key="sweep_values_sigma").set_value("1, 2")
    page.number_input(key="sweep_seeds").set_value(2).run()
    page = press(page, "Queue 4 runs")
    runs = store.runs(Status.QUEUED)
    assert sorted(run.config.sigma for run in runs) == [1.0, 1.0, 2.0, 2.0]
    assert {run.config.batch for run in runs} == {128}
    assert len({run.sweep for run in runs}) == 1
    assert page.query_params["sweep"] in (runs[0].sweep, [runs[0].sweep])
    assert set(listed(page)) == {run.id for run in runs}
    assert "**0 of 4 runs** have ended" in shown(page)


def test_one_setting_is_drawn_as_a_line_with_its_spread_and_the_price_of_all_runs(store: Store):
    sweep, _ = swept(store, {"sigma": [1.0, 2.0]})
    page = opened(sweep=sweep, show="sweep")
    (chart,) = charts(page)
    single, mean = chart["data"]
    assert mean["x"] == [1.0, 2.0]
    assert mean["y"] == pytest.approx([81.0, 84.0])
    assert mean["error_y"]["array"][0] == pytest.approx(1.414, abs=0.01)
    assert single["y"] == pytest.approx([80.0, 82.0, 84.0])
    text = shown(page)
    assert "**3 of 4 runs** have ended" in text
    assert "All 3 runs together" in text
    assert "does **not** cover choosing it" in text
    assert "arXiv 2110.03620" in text
    together = cache.final(CERTIFIED, all_released(store.runs()), CONFIG.delta).last
    assert f">≤ {outward(together.value, math.ceil)}</td>" in text


def test_a_run_of_it_that_cannot_be_read_leaves_no_price_and_says_so(store: Store):
    sweep, ids = swept(store, {"sigma": [1.0, 2.0]})
    with store.writing() as db:
        db.execute(
            "UPDATE runs SET settings = json_insert(settings, '$.unheard', 1) WHERE id = ?",
            (ids[1],),
        )
    text = shown(opened(sweep=sweep, show="sweep"))
    assert "cannot read one of the runs" in text
    assert "runs together" not in text


def test_deleting_runs_of_it_changes_nothing_of_the_price_and_is_said(store: Store):
    sweep, ids = swept(store, {"sigma": [1.0, 2.0]})
    before = shown(opened(sweep=sweep, show="sweep"))
    for run in ids[:2]:
        delete(store, run)
    after = shown(opened(sweep=sweep, show="sweep"))
    assert "All 3 runs together so far, 2 of them deleted: **epsilon" in after
    number = re.compile(r"together.*?\*\*epsilon (.*?)\*\*")
    assert number.findall(after) == number.findall(before) != []


def test_what_is_left_of_a_sweep_is_cancelled_as_one(store: Store):
    sweep, ids = swept(store, {"sigma": [1.0, 2.0, 4.0]})
    press(opened(sweep=sweep, show="sweep"), "Cancel the other 3")
    assert [store.run(run).status for run in ids].count(Status.CANCELLED) == 3
    assert [store.run(run).status for run in ids].count(Status.FINISHED) == 3
