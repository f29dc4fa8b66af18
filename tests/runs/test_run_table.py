"""Which runs of a store are found, in which order, a few at a time."""

import json
import random
import sqlite3
from dataclasses import replace

import pytest

from dpcore.runs import editing
from dpcore.runs.record import Status
from dpcore.runs.run_table import (
    ORDERS,
    Wanted,
    counted,
    ended,
    found,
    owners_of,
    priced,
    runs_of,
    sweeps_of,
    tags_of,
)
from dpcore.runs.store import Store
from tests.pages import perturbation_page
from tests.pages.train_page import CONFIG, recorded


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path) as store:
        yield store


def ids(store: Store, wanted: Wanted | None = None, order: str = "started", **more) -> list[str]:
    return [run.id for run in found(store, wanted or Wanted(), order, **more).runs]


def test_the_pages_of_the_table_together_hold_every_run_once_in_order(store: Store):
    runs = [store.submit(CONFIG, f"{place}") for place in range(7)]
    pages = [found(store, Wanted(), limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [run.id for page in pages for run in page.runs] == runs[::-1]
    assert {page.total for page in pages} == {7}
    assert ids(store, descending=False) == runs


@pytest.mark.parametrize("order", sorted(ORDERS))
def test_every_order_is_turned_around_but_what_has_no_value_comes_last(store: Store, order: str):
    for sigma in (2.0, 1.0, 4.0):
        recorded(store, replace(CONFIG, sigma=sigma), int(10 * sigma), Status.FINISHED)
    up, down = (ids(store, order=order, descending=way) for way in (False, True))
    assert up == down[::-1]
    store.submit(CONFIG)
    if order in ("accuracy", "duration"):
        assert ids(store, order=order)[:3] == down
        assert ids(store, order=order, descending=False)[:3] == up


def test_accuracy_is_the_last_that_was_measured(store: Store):
    early, late = recorded(store, CONFIG, 20), recorded(store, CONFIG, 40)
    done = recorded(store, CONFIG, 10, Status.FINISHED)  # which says 80 % at its end
    assert ids(store, order="accuracy") == [done, late, early]


def test_the_time_of_a_run_that_goes_on_grows(store: Store):
    long, short = recorded(store, CONFIG, 10), recorded(store, CONFIG, 10, Status.FINISHED)
    with sqlite3.connect(store.path) as db:
        db.execute("UPDATE runs SET started = started - 100 WHERE id = ?", (long,))
        db.execute("UPDATE runs SET ended = started + 50 WHERE id = ?", (short,))
    db.close()
    assert ids(store, order="duration") == [long, short]


def test_each_word_is_found_somewhere_and_no_sign_of_sql_is_one(store: Store):
    adam, sgd = store.submit(replace(CONFIG, optimizer="adam"), "100% sure"), store.submit(CONFIG, "a_b 'x' \\")
    editing.annotate(store, adam, "Über den Vortrag")
    for text, wanted in (
        ("ADAM", [adam]), ("100%", [adam]), ("%", [adam]), ("_b", [sgd]), ("'x'", [sgd]), ("\\", [sgd]), (sgd, [sgd]),
        ("sure vortrag", [adam]), ("sure 'x'", []), ("' OR 1=1 --", []), ("  ", [sgd, adam]),
        (" ".join("a" * 99), [sgd, adam]),
    ):  # fmt: skip
        assert ids(store, Wanted(text=text)) == wanted, text


def test_filters_hold_together(store: Store):
    draw = random.Random(1)
    for place in range(30):
        run = store.submit(CONFIG, f"run {place}", owner=draw.choice(["ann", "bob"]))
        editing.tag(store, run, draw.sample(["x", "y"], draw.randint(0, 2)))
        if draw.random() < 0.5:
            store.cancel(run)
    everything = store.runs(kind=None)
    for owner in ("", "ann"):
        for tag in ("", "x", "yy"):
            for statuses in ((), ("queued",), ("queued", "cancelled")):
                wanted = [run for run in everything if owner in ("", run.owner) and (not tag or tag in run.tags)]
                wanted = [run.id for run in wanted if not statuses or run.status in statuses]
                assert ids(store, Wanted(statuses=statuses, tag=tag, owner=owner)) == wanted
    assert tags_of(store) == ["x", "y"]
    assert {*owners_of(store)} == {"ann", "bob"}
    assert sum(counted(store).values()) == 30


def test_runs_are_looked_up_in_the_order_asked_for_with_their_places_in_the_queue(store: Store):
    first, second = store.submit(replace(CONFIG, epochs=4.0)), store.submit(CONFIG)
    looked_up = runs_of(store, [first, "nosuch", second])
    assert [run.id for run in looked_up] == [first, second]
    assert [run.position for run in looked_up] == [2, 1]  # the shorter one goes first
    assert runs_of(store, []) == []


def test_jobs_of_every_kind_are_listed_and_only_training_runs_have_a_plan_and_steps_to_price(store: Store):
    comparison = perturbation_page.recorded(store, status=Status.FINISHED)
    run, new = recorded(store, CONFIG, 20, Status.CANCELLED), store.submit(CONFIG)
    assert set(ids(store)) == {comparison, run, new}
    last, cancelled, first = priced(store, Wanted())
    assert (first.id, first.plan, first.over) == (comparison, "", True)
    assert (cancelled.id, cancelled.delta, cancelled.done, cancelled.over) == (run, CONFIG.delta, 20, True)
    assert json.loads(cancelled.plan)["steps"] == 79
    assert (last.id, last.done, last.over) == (new, None, False)
    assert ended(store, Wanted(), 10) == []


def test_only_finished_runs_have_come_to_something(store: Store):
    recorded(store, CONFIG, 20, Status.CANCELLED)
    runs = [recorded(store, replace(CONFIG, sigma=sigma), 20, Status.FINISHED) for sigma in (1.0, 2.0)]
    assert [each.id for each in ended(store, Wanted(), 10)] == runs[::-1]
    assert [each.id for each in ended(store, Wanted(), 1)] == runs[1:]
    assert {each.accuracy for each in ended(store, Wanted(), 10)} == {0.8}


def test_sweeps_are_told_by_the_name_that_their_runs_have_in_common(store: Store):
    for name, sweep in (("Noise: sigma 1", "a"), ("Noise: sigma 2", "a"), ("Rate: lr 1", "b")):
        store.submit_as(store.new_id(), CONFIG, name, sweep=sweep)
    assert sweeps_of(store) == {"b": "Rate, 1 run", "a": "Noise, 2 runs"}


@pytest.mark.parametrize(
    ("given", "said"), [({"order": "x"}, "order"), ({"limit": -1}, "limit"), ({"offset": -1}, "offset")]
)
def test_what_cannot_be_asked_for_is_refused(store: Store, given: dict, said: str):
    with pytest.raises(ValueError, match=said):
        found(store, Wanted(), **given)
