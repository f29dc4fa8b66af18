"""The page of all runs: what is listed, ticked and sorted, and what is done with what is ticked."""

import math
import sqlite3
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.audit.request import AuditRequest
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.report.numbers import outward
from dpcore.runs import editing
from dpcore.runs.expected import duration
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.runs.sweeps import all_released
from dpcore.training.defaults import described
from dpcore.training.events import Finished
from pages.parts.results import cache
from pages.parts.runs.listing import LEFT
from tests.pages import perturbation_page
from tests.pages.runs_page import (
    addressed,
    cells,
    listed,
    opened,
    send,
    shown,
    sort,
    table,
    tick,
    ticked,
)
from tests.pages.runs_page import finished as finished_with
from tests.pages.train_page import CONFIG, metrics, press, progress, recorded

MARKUP = "<script>alert(1)</script> **x** :red[x] $x$ [a](//b) `c`"


def finished(store: Store, **changed: object) -> str:
    return recorded(store, replace(CONFIG, **changed), 40, Status.FINISHED)


def test_the_comparison_calls_runs_by_the_names_in_the_table(store: Store):
    alike = [finished(store) for _ in range(2)]
    other = finished(store, sigma=2.0)
    page = opened(*alike)
    named = [cells(page, run)["name"] for run in alike]
    assert named == ["Run 1", "Run 2"]
    assert [each["label"] for each in progress(page)] == named, "no two bars read the same"
    (key,) = [each.proto.body for each in page.get("html") if 'class="run-key"' in each.proto.body]
    assert all(name in key for name in named), "chance alone tells them apart"
    page = opened(alike[1], other)
    assert [each["label"] for each in progress(page)] == ["Run 2", "Run 3"]
    (key,) = [each.proto.body for each in page.get("html") if 'class="run-key"' in each.proto.body]
    assert "Run 3: sigma 2" in key, "else their settings do"
    whose = [each.proto.body for each in page.get("html") if 'class="whose"' in each.proto.body]
    assert len(whose) == 4, "the numbers, epsilon, classes and norms of one run say whose they are"
    assert all("2: " in each and "Run 3: sigma 2<" in each for each in whose)
    page = opened(*alike, show="classes")
    keys = [each.proto.body for each in page.get("html") if 'class="run-key"' in each.proto.body]
    assert "1: Run 1<" in keys[0]
    assert page.selectbox(key="confusion_run").options == ["1: Run 1", "2: Run 2"]
    page = opened(*alike, show="settings")
    heads = [
        each.proto.body for each in page.get("html") if 'aria-label="Origin"' in each.proto.body
    ]
    assert "1: Run 1<" in heads[0]
    assert "2: Run 2<" in heads[0]


def test_each_run_is_a_row_with_its_settings_its_accuracy_and_its_certified_epsilon(store: Store):
    run = finished(store, sigma=2.0)
    row = cells(opened(), run)
    wanted = {
        "status": "finished",
        "dataset": "MNIST",
        "model": "CNN",
        "optimizer": "SGD",
        "sigma": "2",
    }
    assert wanted.items() <= row.items()
    assert row["accuracy"] == "★ 80.0 %"
    assert float(row["epsilon"].removeprefix("≤ ")) == pytest.approx(0.48, abs=0.05)
    baseline = finished(store, private=False)
    assert cells(opened(), baseline)["epsilon"] == ""
    audit = store.submit(AuditRequest(replace(CONFIG, sigma=2.0)))
    faulty = store.submit(AuditRequest(CONFIG, "half_noise"))
    named = [cells(opened(), each)["name"] for each in (audit, faulty)]
    assert named == ["Audit 3", "Audit 4: half the noise"], "their columns say the rest"
    shared = ("dataset", "model", "optimizer", "sigma", "batch", "epochs")
    assert [cells(opened(), audit)[name] for name in shared] == [row[name] for name in shared]


def test_the_best_private_run_up_to_an_epsilon_is_named_and_marked(store: Store):
    runs = [
        finished_with(store, replace(CONFIG, sigma=sigma), accuracy)
        for sigma, accuracy in ((0.8, 0.9), (2, 0.7))
    ]
    finished_with(store, replace(CONFIG, private=False), 0.95)
    beaten = finished_with(store, replace(CONFIG, sigma=0.7), 0.9)
    for within, said, accuracy, starred in (
        ("any", "", "90.0 %", runs[::-1]),  # neither beats the other
        ("1", " up to epsilon 1", "70.0 %", [runs[1]]),
    ):
        page = priced("-started", within=within)
        best = f"★ Best private run{said}: {accuracy} on MNIST at epsilon ≤ "
        assert best in page.header[0].value
        stars = [each["id"] for each in table(page)["rows"] if "★" in each["cells"]["accuracy"]]
        assert stars == starred
        assert beaten not in stars
    assert "★: no other run is as good in accuracy" in shown(page)
    status, _ = opened(find=runs[0]).get("button_group")[:2]
    assert [each.content for each in status.proto.options] == ["finished 1"]


def test_equals_have_the_star_both_and_a_less_accurate_run_has_none(store: Store):
    best = [finished_with(store, CONFIG, 0.9) for _ in range(2)]
    finished_with(store, CONFIG, 0.8)
    rows = table(priced("started"))["rows"]
    assert [each["id"] for each in rows if "★" in each["cells"]["accuracy"]] == best


def test_no_two_runs_show_the_same_name_and_none_repeats_a_column(store: Store):
    runs = [store.submit(CONFIG, described(CONFIG)) for _ in range(2)]
    named = [store.submit(CONFIG, "mine") for _ in range(2)]
    other = replace(CONFIG, ema=0.99)
    runs.append(store.submit(other, described(other)))
    page = opened()
    names = {run: cells(page, run)["name"] for run in (*runs, *named)}
    assert len(set(names.values())) == 5
    assert [names[run] for run in runs] == ["Run 1", "Run 2", "Run 5, EMA 0.99"]
    assert [names[run] for run in named] == ["mine (3)", "mine (4)"]
    assert all("sigma" not in name and "MNIST" not in name for name in names.values())


def test_the_time_of_a_finished_run_is_that_of_its_training_alone(store: Store):
    run = finished(store)
    last = store.run(run).last
    assert isinstance(last, Finished)
    assert cells(opened(), run)["duration"] == duration(last.seconds)
    assert [each["id"] for each in table(opened())["columns"]][1:5] == [
        "status",
        "accuracy",
        "epsilon",
        "duration",
    ]


def test_an_empty_store_shows_two_finished_examples(store: Store):
    page = opened()
    assert "no run yet" in shown(page)
    assert [each["cells"]["status"] for each in table(page)["rows"]] == ["finished", "finished"]


def test_ticked_runs_are_compared_and_stand_in_the_address(store: Store):
    first, second, _ = (finished(store, sigma=sigma) for sigma in (1.0, 2.0, 4.0))
    page = tick(opened(), first)
    assert (ticked(page), addressed(page)) == ([first], [first])
    page = tick(page, second)
    assert addressed(page) == [first, second]
    assert "sigma 1" in shown(page)
    page = tick(page, first, on=False)
    assert (ticked(page), addressed(page)) == ([second], [second])
    assert metrics(page)["Test accuracy"] == "66.0 %"


def test_several_ticked_runs_show_what_choosing_among_them_costs(store: Store):
    first, second = finished(store), finished(store)
    page = tick(opened(), first)
    columns = table(page)["columns"]
    page = tick(page, second)
    together = cache.final(CERTIFIED, all_released(store.runs()), CONFIG.delta).last
    price = f"≤ {outward(together.value, math.ceil)}"
    assert f"All 2 ticked runs together: epsilon {price}. That covers" in shown(page)
    assert cells(page, first)["epsilon"] != price
    assert table(page)["columns"] == columns, "nothing moves under the pointer"


def test_two_ticks_before_an_answer_both_count_and_an_old_one_does_not_count_twice(store: Store):
    runs = [finished(store) for _ in range(3)]
    page = tick(opened(), runs[0], runs[1])
    assert addressed(page) == runs[:2]
    page = send(page, "ticked", [0, runs[2]])
    assert addressed(page) == runs[:2]


def test_nonsense_from_a_browser_changes_nothing(store: Store):
    for nonsense in [None, "x", ["1"], [10**9, 1], [10**9, []], {}]:
        run = finished(store)
        page = opened(run)
        for event in ("ticked", "sorted"):
            page = send(page, event, nonsense)
            assert addressed(page) == [run], nonsense


def test_a_click_on_a_head_sorts_and_another_one_turns_the_order(store: Store):
    runs = [finished(store, sigma=sigma) for sigma in (2.0, 1.0, 4.0)]
    assert listed(opened()) == runs[::-1]
    page = sort(opened(), "sigma")
    assert listed(page) == [runs[2], runs[0], runs[1]]
    assert page.query_params["sort"] in ("-sigma", ["-sigma"])
    page = sort(page, "sigma")
    assert listed(page) == [runs[1], runs[0], runs[2]]
    assert [each["sorted"] for each in table(page)["columns"] if each["sorted"]] == ["ascending"]
    assert listed(sort(page, "epsilon")) == [runs[1], runs[0], runs[2]]
    assert listed(opened(sort="epsilon")) == [runs[2], runs[0], runs[1]]
    assert listed(opened(sort="nonsense")) == runs[::-1]


def test_names_tags_and_notes_are_text_and_never_markup(store: Store):
    run = finished(store)
    editing.rename(store, run, MARKUP)
    editing.tag(store, run, [MARKUP[:30].strip()])
    editing.annotate(store, run, MARKUP)
    page = opened(run, show="settings")
    assert cells(page, run)["name"] == MARKUP
    html = "".join(each.proto.body for each in page.get("html"))
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)" in html
    page = press(page, "Delete")
    (asked,) = [each.value for each in page.markdown if "for good" in each.value]
    assert "* `<script>alert(1)</script> **x** :red[x] " in asked
    assert page.selectbox(key="tag").options == ["all", MARKUP[:30].strip()]


def test_a_run_is_renamed_tagged_and_annotated(store: Store):
    run = finished(store)
    page = press(opened(run), "Name, tags, note")
    page.text_input(key=f"edit_name_{run}").set_value("the best one")
    page.text_input(key=f"edit_tags_{run}").set_value("talk, sgd,")
    page.text_area(key=f"edit_note_{run}").set_value("look at class 7")
    page = press(page, "Save")
    kept = store.run(run)
    assert (kept.name, kept.tags, kept.note) == ("the best one", ("talk", "sgd"), "look at class 7")
    assert cells(page.run(), run)["name"] == "the best one"


def test_deleting_asks_first(store: Store):
    run, other = finished(store), finished(store)
    page = press(opened(run, other), "Delete 2")
    assert len(store.runs()) == 2
    page = press(page, "Keep")
    assert len(store.runs()) == 2
    page = press(press(page, "Delete 2"), "Delete")
    assert store.runs() == []
    assert addressed(page.run()) == []


def test_active_runs_are_cancelled_and_those_that_ended_early_resumed(store: Store):
    running, queued = recorded(store, CONFIG, 40), store.submit(CONFIG)
    page = press(opened(running, queued), "Cancel 2")
    assert store.run(queued).status is Status.CANCELLED
    assert store.run(running).cancelling
    store.end(running, Status.CANCELLED)
    page = press(opened(queued), "Resume")
    (rest,) = store.runs(Status.QUEUED)
    assert addressed(page) == [rest.id]


def test_what_may_not_be_changed_is_refused_by_the_callback_too(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    from pages.parts.runs import actions

    run = finished(store)
    page = press(opened(run), "Delete")
    monkeypatch.setattr(actions, "may_change", lambda run: False)
    page = press(page, "Delete")
    assert actions.NOT_YOURS in shown(page)
    assert store.run(run)
    (delete,) = [each for each in opened(run).button if each.label == "Delete"]
    assert delete.disabled


def test_runs_of_another_kind_or_version_are_listed_and_said_to_have_no_chart(store: Store):
    comparison, strange = perturbation_page.recorded(store, status=Status.FINISHED), finished(store)
    with sqlite3.connect(store.path) as db:
        db.execute(
            "UPDATE runs SET kind = 'of tomorrow', settings = '{\"x\": 1}' WHERE id = ?", (strange,)
        )
    db.close()
    page = tick(opened(), comparison, strange)
    assert cells(page, comparison)["name"] == "Comparison 1"
    assert cells(page, strange)["status"] == "finished"
    assert addressed(page) == []
    assert set(ticked(page)) == {comparison, strange}
    assert "another page" in shown(page)
    assert "Another version of this program" in shown(page)


def priced(order: str, **query: str) -> AppTest:
    """The page in this order, once every epsilon that is to be known is: on a busy machine they
    come some at a time.
    """
    page = opened(sort=order, **query)
    while page.session_state[LEFT]:
        page.run()
    return page


def test_in_the_order_of_epsilon_runs_that_have_none_come_last(store: Store):
    other = [
        perturbation_page.recorded(store, status=Status.FINISHED),
        finished(store, private=False),
    ]
    runs = [finished(store, sigma=sigma) for sigma in (2.0, 4.0)]
    other.append(store.submit(CONFIG))
    assert listed(priced("epsilon")) == [*runs[::-1], *other]
    page = priced("-epsilon")
    assert listed(page) == [*runs, *other[::-1]]
    assert "Runs 1 to 5 of 5, 1 comparison among them." in shown(page)


def test_runs_are_found_by_their_text_their_status_and_their_tags(store: Store):
    adam, sgd = (
        finished(store, optimizer="adam"),
        recorded(store, CONFIG, 10, Status.FAILED, "Boom"),
    )
    editing.tag(store, sgd, ["mine", "100%"])
    editing.annotate(store, adam, "for the talk")
    for query, found in (
        ({"find": "ADAM"}, [adam]),
        ({"find": "talk"}, [adam]),
        ({"find": "100%"}, [sgd]),
        ({"find": sgd}, [sgd]),
        ({"status": "failed"}, [sgd]),
        ({"tag": "mine"}, [sgd]),
        ({"tag": "mine", "find": "sgd"}, [sgd]),
    ):
        assert listed(opened(**query)) == found, query
    page = opened(find="no such run")
    assert "No run matches" in shown(page)
    assert not any(word in shown(page) for word in ("Tick a run", "None of these runs"))
    assert "No run here has `tag=**b**`" in shown(opened(tag="**b**"))
