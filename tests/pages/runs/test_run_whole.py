"""One run, whole, on the page Runs: opened by a click or its address, followed, and left again."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.figures.style import style_of
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.runs import editing
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from tests.pages import perturbation_page
from tests.pages.runs_page import addressed, finished, opened, send, shown, table
from tests.pages.train_page import (
    CONFIG,
    LAB,
    charts,
    handed,
    metrics,
    press,
    progress,
    recorded,
    whole,
)


def test_a_click_on_a_run_shows_all_of_it_and_the_table_comes_back(store: Store):
    run, other = finished(store), finished(store)
    page = send(opened(other), "opened", run)
    assert addressed(page, "one") == [run]
    assert handed(page, "runs_table") == []
    assert [each["run"] for each in progress(page)] == [run]
    labels = {each.label for each in page.get("expander")}
    assert {"Export this run", "The numbers in the charts"} <= labels
    assert any("Gradient norms before clipping" in each.value for each in page.markdown)
    assert {"Settings", "Mistakes on the test set"} <= {each.value for each in page.subheader}
    (head,) = page.header
    assert head.value == "Run 1", "the name of the table"
    assert "Run 2" not in shown(page)
    page = press(page, "All runs")
    assert "one" not in page.query_params
    assert table(page)["ticked"] == [other]


def test_a_link_on_another_page_opens_the_run_that_it_names_also_after_another_one(store: Store):
    app = AppTest.from_file(LAB.parents[1] / "app.py", default_timeout=60).run()
    for run in (finished(store), finished(store)):
        app.switch_page("pages/lab.py").run()
        app.query_params["one"] = run
        app.switch_page("pages/runs.py").run()
        assert [each["run"] for each in progress(app)] == [run]


def test_a_running_run_shows_accuracy_epsilon_pace_and_time_left(store: Store):
    page = whole(recorded(store, CONFIG, 40), by="rdp")
    (bar,) = progress(page)
    assert bar["state"]["said"] == "step 40 of 79, 20 steps/s, 2 s left on cpu"
    numbers = metrics(page)
    assert numbers["Test accuracy"] == "66.0 %"
    assert numbers["Gradients clipped"] == "97 %"
    spent = [
        numbers[f"Epsilon, {ACCOUNTANTS[name].title}"].removeprefix("≤ ") for name in ("pld", "rdp")
    ]
    assert 0 < float(spent[0]) < float(spent[1])
    drawn = " ".join(each["text"] for each in charts(page)[1]["layout"]["annotations"])
    for name, mark in (
        ("pld", "≤"),
        ("moments", "≤"),
        ("rdp", "≤"),
        ("mma", "says"),
        ("gdp", "≈"),
    ):
        assert re.search(rf"{mark} [\d.]+ \S+ {re.escape(style_of(name).label)}", drawn), name


def test_cancel_is_asked_for_once_and_what_happened_is_kept(store: Store):
    run = recorded(store, CONFIG, 40)
    page = press(press(whole(run), "Cancel"), "Cancel this run")
    assert store.run(run).cancelling
    assert [each.disabled for each in page.button if each.label == "Cancelling…"] == [True]
    store.end(run, Status.CANCELLED)
    page = whole(run)
    assert progress(page)[0]["state"]["said"] == "cancelled at step 40 of 79"
    assert metrics(page)["Test accuracy"] == "66.0 %"


def test_a_failed_run_says_its_last_line_and_keeps_the_traceback(store: Store):
    error = (
        "Traceback (most recent call last):\n  File x\nRuntimeError: loss is not finite at step 20"
    )
    page = whole(recorded(store, CONFIG, 20, Status.FAILED, error))
    assert page.error[0].value == "The run failed: `RuntimeError: loss is not finite at step 20`"
    assert "Traceback" in page.code[0].value


@pytest.mark.parametrize("status", [Status.LOST, Status.CANCELLED, Status.FAILED])
def test_the_rest_of_a_run_is_shown_in_its_place(store: Store, status: Status):
    run = recorded(store, CONFIG, 40, status, "a reason")
    page = press(whole(run), "Resume")
    (rest,) = store.runs(Status.QUEUED)
    assert addressed(page, "one") == [rest.id]
    assert [each["run"] for each in progress(page)] == [rest.id]


def test_what_has_no_charts_is_told_and_where_it_has_some(store: Store):
    comparison = perturbation_page.recorded(store, status=Status.FINISHED)
    page = whole(comparison)
    assert "another page" in shown(page)
    assert charts(page) == []


@pytest.mark.parametrize(
    "name", ["nobody", "../../etc/passwd", "a" * 500, "'; drop table runs; --"]
)
def test_an_unknown_run_is_a_sentence_and_a_way_back(store: Store, name: str):
    run = finished(store)
    page = whole(name)
    assert "This machine has no `one=" in page.warning[0].value
    page = press(page, "All runs")
    assert [each["id"] for each in table(page)["rows"]] == [run]
    assert "one" not in page.query_params


def test_its_name_is_text_and_never_markup(store: Store):
    run = finished(store)
    editing.rename(store, run, "**x** :red[y] <b>")
    assert whole(run).header[0].value == r"\*\*x\*\* \:red\[y\] \<b\>"
