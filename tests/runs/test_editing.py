"""What is said about a run afterwards is text, and an ended run can be taken out of the store."""

import pytest

from dpcore.runs.editing import LONGEST_NAME, MOST_TAGS, annotate, clear, delete, rename, tag
from dpcore.runs.record import Status, UnknownRun, checkpoint_path
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Started

STARTED = Started(1, 1, 0.5, "cpu", 1, "")


def test_a_run_keeps_its_name_tags_and_note_as_text(store: Store) -> None:
    run = store.submit(RunConfig(), "before")
    rename(store, run, " <script>alert(1)</script>\n**x** ")
    tag(store, run, ["first", " second ", "first", ""])
    annotate(store, run, "line\nline\x00")
    found = store.run(run)
    assert found.name == "<script>alert(1)</script> **x**"
    assert (found.tags, found.note) == (("first", "second"), "line\nline")


def test_what_is_too_long_is_refused_and_nothing_is_changed(store: Store) -> None:
    run = store.submit(RunConfig(), "before")
    with pytest.raises(ValueError, match=f"Expected name of 10,000 characters to have at most {LONGEST_NAME}"):
        rename(store, run, "x" * 10_000)
    with pytest.raises(ValueError, match=f"to be at most {MOST_TAGS}"):
        tag(store, run, [str(number) for number in range(MOST_TAGS + 1)])
    assert (store.run(run).name, store.run(run).tags) == ("before", ())


@pytest.mark.parametrize("edit", [lambda store: rename(store, "none", "x"), lambda store: delete(store, "none")])
def test_an_unknown_run_is_named(store: Store, edit) -> None:
    with pytest.raises(UnknownRun, match="run='none'"):
        edit(store)


def test_only_a_run_that_has_ended_is_deleted_and_all_of_it_is(store: Store) -> None:
    run, other = store.submit(RunConfig()), store.submit(RunConfig())
    with pytest.raises(ValueError, match="to have ended, but it is queued; cancel it first"):
        delete(store, run)
    store.claim("here:1")
    store.append(run, STARTED)
    with pytest.raises(ValueError, match="but it is running"):
        delete(store, run)
    store.end(run, Status.LOST)
    file = checkpoint_path(store.home, run)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"state")
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
    deleted, left = clear(store)
    assert (deleted, [run.id for run in left]) == (2, [runs[1]])
    assert left[0].cancelling
    assert [run.id for run in store.runs()] == [runs[1]]
    assert store.bodies(runs[0]) == []


def test_what_is_posted_is_on_the_board_until_it_is_taken_down(store: Store) -> None:
    assert store.board("projected") is None
    for value in ("one", "two", None):
        store.post("projected", value)
        assert store.board("projected") == value
