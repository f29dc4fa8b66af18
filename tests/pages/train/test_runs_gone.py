"""Runs that are no longer in the store: each is named as gone, and the rest of the page works."""

import sqlite3

import pytest

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from tests.pages.train_page import CONFIG, metrics, opened, press, recorded, whole


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
def test_a_run_that_goes_while_it_is_watched_is_named_and_the_other_one_stays(
    store: Store, status: Status | None
):
    first, second = (
        recorded(store, CONFIG, 40, status or Status.CANCELLED),
        recorded(store, CONFIG, 40, status),
    )
    page = opened(first, second)
    emptied(store, second)
    page.run()
    assert not page.exception
    assert second in warnings(page)
    assert "Deleted: run" in warnings(page)
    assert addressed(page) == [first]
    assert metrics(page)["Test accuracy"] == "66.0 %"


def test_pressing_a_button_of_a_run_that_is_gone_is_a_sentence(store: Store):
    for button in ["Cancel", "Resume"]:
        run = recorded(store, CONFIG, 40, Status.CANCELLED if button == "Resume" else None)
        page = whole(run)
        emptied(store)
        press(page, button)
        assert any(run in each.value for each in page.error), button
