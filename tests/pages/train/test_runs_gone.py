"""Runs that are not in the store, or no longer: each is named as gone, and the rest of the training page works."""

import json
import sqlite3
from dataclasses import replace

import pytest

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from pages.parts.train import live
from tests.pages.train_page import CONFIG, metrics, opened, press, recorded


def emptied(store: Store, *gone: str) -> None:
    """Another program takes runs out of the store, all of them where none is named."""
    with sqlite3.connect(store.path) as db:
        for table, column in (("events", "run"), ("runs", "id")):
            if gone:
                db.executemany(f"DELETE FROM {table} WHERE {column} = ?", [(run,) for run in gone])
            else:
                db.execute(f"DELETE FROM {table}")
    db.close()


def addressed(page) -> list[str]:
    named = page.query_params["run"]
    return [named] if isinstance(named, str) else named


def warnings(page) -> str:
    return " ".join(each.value for each in page.warning)


@pytest.mark.parametrize("status", [None, Status.FINISHED], ids=["running", "finished"])
def test_a_run_that_goes_while_it_is_watched_is_named_and_the_other_one_stays(store: Store, status: Status | None):
    first, second = (recorded(store, CONFIG, 40, status or Status.CANCELLED), recorded(store, CONFIG, 40, status))
    page = opened(first, second)
    emptied(store, second)
    page.run()
    assert not page.exception
    assert f"'{second}'" in warnings(page)
    assert "No longer in the run store" in warnings(page)
    assert addressed(page) == [first]
    assert metrics(page)["Test accuracy"] == "66.0 %"


def test_an_older_run_whose_settings_no_longer_have_a_plan_is_left_out(store: Store):
    old, run = recorded(store, CONFIG, 40), recorded(store, CONFIG, 40)
    settings = json.dumps(replace(CONFIG, sigma=1e-9).to_json())
    with sqlite3.connect(store.path) as db:
        db.execute("UPDATE runs SET plan = NULL, settings = ? WHERE id = ?", (settings, old))
    db.close()
    page = opened(old, run)
    assert not page.exception
    assert f"`run={old}`" in warnings(page)
    assert metrics(page)["Test accuracy"] == "66.0 %"


def test_a_run_that_goes_between_two_looks_starts_the_page_over(store: Store, monkeypatch: pytest.MonkeyPatch):
    run = recorded(store, CONFIG, 40)
    emptied(store)
    asked: list[str] = []
    monkeypatch.setattr(live.st, "rerun", lambda: asked.append("again"))
    live._panel(store, (run,), "pld", "epoch", True)
    assert asked == ["again"]


def test_pressing_a_button_of_a_run_that_is_gone_is_a_sentence(store: Store):
    for button in ["Cancel", "Resume"]:
        run = recorded(store, CONFIG, 40, Status.CANCELLED if button == "Resume" else None)
        page = opened(run)
        emptied(store)
        press(page, button)
        assert any(run in each.value for each in page.error), button
