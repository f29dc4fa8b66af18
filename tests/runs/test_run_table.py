"""Which runs of a store are found in which order, how they are called, edited and deleted."""

import json
import os
import random
import time
from dataclasses import replace
from pathlib import Path

import pytest

from dpcore.audit.request import AuditRequest
from dpcore.runs import editing
from dpcore.runs.editing import MAX_NAME_CHARS, MAX_TAGS, annotate, clear, delete, rename, tag
from dpcore.runs.expected import UNKNOWN
from dpcore.runs.in_words import OTHER_VERSION, name_of, state_of, status_of
from dpcore.runs.record import IMPORTED, Status, UnknownRun, checkpoint_path
from dpcore.runs.run_table import ORDERS, Wanted, counted, ended, found, owners_of, priced, tags_of
from dpcore.runs.store import Store
from dpcore.runs.supervision import UNKNOWN_FOR, remove_needless
from dpcore.training.config import RunConfig
from dpcore.training.events import Checkpointed, Preparing, Started
from dpcore.training.perturbation.request import Request
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


def test_every_order_is_turned_around_but_what_has_no_value_comes_last(store: Store):
    for sigma in (2.0, 1.0, 4.0):
        recorded(store, replace(CONFIG, sigma=sigma), int(10 * sigma), Status.FINISHED)
    both = {
        order: [ids(store, order=order, descending=way) for way in (False, True)]
        for order in ORDERS
    }
    for order, (up, down) in both.items():
        assert up == down[::-1], order
    store.submit(CONFIG)
    for order in ("accuracy", "duration"):
        assert [ids(store, order=order, descending=way)[:3] for way in (False, True)] == both[order]


def test_each_word_is_found_somewhere_and_no_sign_of_sql_is_one(store: Store):
    adam, sgd = (
        store.submit(replace(CONFIG, optimizer="adam"), "100% sure"),
        store.submit(CONFIG, "a_b 'x' \\"),
    )
    editing.annotate(store, adam, "Über den Vortrag")
    for text, wanted in (
        ("ADAM", [adam]), ("100%", [adam]), ("%", [adam]), ("_b", [sgd]), ("'x'", [sgd]),
        ("\\", [sgd]), (sgd, [sgd]),
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
        for label in ("", "x", "yy"):
            for statuses in ((), ("queued",), ("queued", "cancelled")):
                wanted = [
                    run
                    for run in everything
                    if owner in ("", run.owner) and (not label or label in run.tags)
                ]
                wanted = [run.id for run in wanted if not statuses or run.status in statuses]
                assert ids(store, Wanted(statuses=statuses, tag=label, owner=owner)) == wanted
    assert tags_of(store) == ["x", "y"]
    assert {*owners_of(store)} == {"ann", "bob"}
    assert sum(counted(store, "status").values()) == 30


def test_jobs_of_every_kind_are_listed_and_only_training_runs_have_a_plan_and_steps_to_price(
    store: Store,
):
    comparison = perturbation_page.recorded(store, status=Status.FINISHED)
    run, new = recorded(store, CONFIG, 20, Status.CANCELLED), store.submit(CONFIG)
    assert set(ids(store)) == {comparison, run, new}
    last, cancelled, first = priced(store, Wanted())
    assert (first.id, first.plan, first.over) == (comparison, "", True)
    assert (cancelled.id, cancelled.delta, cancelled.done, cancelled.over) == (
        run,
        CONFIG.delta,
        20,
        True,
    )
    assert json.loads(cancelled.plan)["steps"] == 79
    assert (last.id, last.done, last.over) == (new, None, False)
    assert ended(store, Wanted(), 10) == []


STARTED = Started(1, 1, 0.5, "cpu", 1, "")


def test_a_run_keeps_its_name_tags_and_note_as_text_and_what_is_too_long_is_refused(
    store: Store,
) -> None:
    run = store.submit(RunConfig(), "before")
    rename(store, run, " <script>alert(1)</script>\n**x** ")
    tag(store, run, ["first", " second ", "first", ""])
    annotate(store, run, "line\nline\x00")
    with pytest.raises(
        ValueError, match=f"a name of at most {MAX_NAME_CHARS} characters, not 10,000"
    ):
        rename(store, run, "x" * 10_000)
    with pytest.raises(ValueError, match=f"at most {MAX_TAGS} tags"):
        tag(store, run, [str(number) for number in range(MAX_TAGS + 1)])
    found = store.run(run)
    assert found.name == "<script>alert(1)</script> **x**"
    assert (found.tags, found.note) == (("first", "second"), "line\nline")
    for edit in (lambda: rename(store, "none", "x"), lambda: delete(store, "none")):
        with pytest.raises(UnknownRun, match="run='none'"):
            edit()


def test_only_a_run_that_has_ended_is_deleted_and_all_of_it_is(store: Store) -> None:
    run, other = store.submit(RunConfig()), store.submit(RunConfig())
    with pytest.raises(ValueError, match="Cancel it before you delete it"):
        delete(store, run)
    store.claim("here:1")
    store.append(run, STARTED)
    with pytest.raises(ValueError, match=r"is running\. Cancel it"):
        delete(store, run)
    store.end(run, Status.LOST)
    file = left(store, run)
    delete(store, run)
    assert [each.id for each in store.runs()] == [other]
    assert store.bodies(run) == []
    assert not file.exists()


def test_clearing_leaves_what_runs_and_asks_it_to_stop(store: Store) -> None:
    runs = [store.submit(RunConfig()) for _ in range(3)]
    store.claim("here:1", 2)
    store.append(runs[0], STARTED)
    store.end(runs[0], Status.FINISHED)
    store.claim("here:1", 1)
    deleted, still_there = clear(store)
    assert (deleted, [run.id for run in still_there]) == (2, [runs[1]])
    assert still_there[0].cancelling
    assert [run.id for run in store.runs()] == [runs[1]]
    assert store.bodies(runs[0]) == []


def left(store: Store, run: str, suffix: str = ".pt", age: float = 0.0) -> Path:
    """What a run has left behind."""
    file = checkpoint_path(store.home, run).with_suffix(suffix)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"state")
    os.utime(file, (time.time() - age,) * 2)
    return file


def test_no_checkpoint_is_kept_that_nobody_can_resume_from_and_none_is_lost_that_somebody_can(
    store: Store,
) -> None:
    def run_that(status: Status | None) -> str:
        run = store.submit(RunConfig(), worker="elsewhere:1")
        if status:
            store.end(run, status)
        return run

    gone = [left(store, run_that(Status.FINISHED))]
    gone += [left(store, "removedrun", age=UNKNOWN_FOR + 60)]
    gone += [left(store, f".{run_that(Status.LOST)}.pt.0", ".part", UNKNOWN_FOR + 60)]
    kept = [
        left(store, run_that(each)) for each in (None, Status.LOST, Status.CANCELLED, Status.FAILED)
    ]
    kept += [
        left(store, f".{run_that(None)}.pt.0", ".part"),
        left(store, "beingmade1"),
        left(store, "notes", ".txt", age=1e6),
    ]
    remove_needless(store)
    assert not any(file.exists() for file in gone)
    assert all(file.exists() for file in kept)


def test_a_state_has_one_word_a_run_that_waits_its_place_and_an_imported_one_says_so(
    store: Store,
) -> None:
    first, second = store.submit(RunConfig()), store.submit(RunConfig())
    assert state_of(store.run(first), 4000, "starts in a moment") == {
        "status": "queued", "active": True, "cancelling": False, "share": 0,
        "words": "queued, number 1, starts in a moment",
        "said": "queued, number 1, starts in a moment",
    }  # fmt: skip
    assert store.claim("here:1")
    assert [status_of(store.run(run)) for run in (first, second)] == ["running", "queued, number 1"]
    store.cancel(first)
    store.cancel(second)
    assert [status_of(store.run(run)) for run in (first, second)] == ["cancelling", "cancelled"]
    store.end(first, Status.CANCELLED)
    assert status_of(store.run(first)) == "cancelled"
    with store.writing() as db:
        db.execute(
            "UPDATE runs SET status = 'finished', origin = ?", (f'{{"{IMPORTED}": "run a"}}',)
        )
    assert status_of(store.run(second)) == "finished, imported"


def test_where_a_run_stands_is_said_in_a_few_words_and_in_a_sentence(store: Store) -> None:
    run = store.run(store.submit(RunConfig()))
    running, place = replace(run, status=Status.RUNNING, position=None), "step 1,160 of 4,000"
    on_cpu = replace(running, last=Checkpointed(1160), origin={"device": "cpu (AVX2, by hand)"})
    for each, given, words, said in (
        (run, {"starts": UNKNOWN}, "queued, number 1", f"queued, number 1, {UNKNOWN}"),
        (run, {}, "queued, number 1", "queued, number 1"),
        (running, {}, "running, 0 %", "starting"),
        (replace(running, last=Preparing(500, 10_000)), {}, "running, 0 %",
         "starting: features of 500 of 10,000 images"),
        (replace(running, last=Checkpointed(1160)), {}, "running, 29 %", place),
        (on_cpu, {"pace": ", 20 steps/s"}, "running, 29 %", f"{place}, 20 steps/s on cpu"),
        (on_cpu, {"pace": ", 20 steps/s", "held": True}, "running, 29 %", f"paused at {place}"),
        (replace(on_cpu, cancelling=True), {}, "cancelling", f"{place} on cpu"),
        (replace(on_cpu, status=Status.CANCELLED), {}, "cancelled", f"cancelled at {place}"),
    ):  # fmt: skip
        state = state_of(each, 4000, **given)
        assert (state["words"], state["said"], state["share"]) == (
            words,
            said,
            29 * ("," in said and place in said),
        )
    assert state_of(on_cpu, 0)["words"] == "running"


def test_a_run_is_called_by_its_name_or_by_what_it_is(store: Store) -> None:
    named, plain = (
        store.submit(RunConfig(), "  mine\x1b]0;\x07 \n"),
        store.submit(RunConfig(sigma=2.0)),
    )
    blank, comparison = store.submit(RunConfig(), "\x00"), store.submit(Request())
    called = [name_of(store.run(run)) for run in (named, plain, blank, comparison)]
    usual = "MNIST cnn, SGD, sigma"
    assert called == [
        "mine ]0;",
        f"{usual} 2",
        f"{usual} 1.23",
        "Comparison of methods, Breast Cancer",
    ]
    with store.writing() as db:
        db.execute("UPDATE runs SET settings = '{\"unheard\": 1}' WHERE id = ?", (plain,))
        db.execute("UPDATE runs SET kind = 'of\x1btomorrow' WHERE id = ?", (comparison,))
    assert name_of(store.run(plain)) == OTHER_VERSION
    assert name_of(store.run(comparison)) == "of tomorrow breast_cancer"


def test_a_run_on_images_that_are_missing_here_is_called_by_their_name(store: Store) -> None:
    runs = {
        "$.dataset": store.submit(RunConfig()),
        "$.config.dataset": store.submit(AuditRequest(RunConfig())),
    }
    with store.writing() as db:
        for place, run in runs.items():
            db.execute(
                "UPDATE runs SET settings = json_set(settings, ?, 'pets') WHERE id = ?",
                (place, run),
            )
    assert {name_of(store.run(run)) for run in runs.values()} == {
        "run on pets, which is not on this machine"
    }
