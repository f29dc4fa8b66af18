"""A run is gone on with once: a second rest would not be charged for what the first one released."""

import os

import pytest

from dpcore.__main__ import main
from dpcore.privacy.mechanism import Release
from dpcore.runs.editing import clear, delete
from dpcore.runs.record import Status, UnknownRun, worker_name
from dpcore.runs.resume import rest_of, resume
from dpcore.runs.store import Store
from dpcore.runs.within_limits import submit_rest
from dpcore.training.config import RunConfig
from dpcore.training.events import Finished, Started, Stepped
from dpcore.training.plan import plan

CONFIG = RunConfig()
DONE = 40


def worked_on(store: Store, run: str, status: Status | None = Status.LOST) -> str:
    """The run after it was claimed where it waited, has released some steps and then ended, or runs still."""
    if store.run(run).status is Status.QUEUED:
        store.claim("here:1")
    store.append(run, Started(10_000, plan(CONFIG).steps, CONFIG.q, "cpu", 9, ""))
    store.append(run, Stepped(DONE, 1.0, 1.0, 0.5, (0.1,) * 5, 20.0))
    if status is Status.FINISHED:
        store.append(run, Finished(plan(CONFIG).steps, 1.0, 0.5))
    if status:
        store.end(run, status)
    return run


@pytest.fixture
def lost(store: Store) -> str:
    """A run that has released some steps, was lost, and left no checkpoint."""
    return worked_on(store, store.submit(CONFIG))


@pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING, Status.FINISHED])
def test_while_a_rest_goes_on_or_once_it_has_finished_there_is_no_second_one(
    store: Store, lost: str, status: Status
) -> None:
    rest = resume(store, lost)
    if status is not Status.QUEUED:
        worked_on(store, rest, None if status is Status.RUNNING else status)
    with pytest.raises(ValueError, match=f"run='{lost}' to be resumed once, but run {rest} (goes|went) on with it"):
        resume(store, lost)
    assert {run.id for run in store.runs()} == {lost, rest}


@pytest.mark.parametrize("status", [Status.LOST, Status.CANCELLED, Status.FAILED])
def test_where_a_rest_ended_early_too_that_one_is_resumed_and_charged_for_both(
    store: Store, lost: str, status: Status
) -> None:
    rest = worked_on(store, resume(store, lost), status)
    with pytest.raises(ValueError, match=f"run {rest} went on with it already and is {status}: resume that one"):
        resume(store, lost)
    assert store.run(resume(store, rest)).plan.spent == (Release(CONFIG.q, CONFIG.sigma, DONE),) * 2


def test_of_several_rests_that_another_version_let_be_the_one_that_goes_on_is_named(store: Store, lost: str) -> None:
    first = worked_on(store, resume(store, lost))
    with store.writing() as db:
        db.execute("UPDATE runs SET parent = NULL WHERE id = ?", (first,))
    second = resume(store, lost)
    with store.writing() as db:
        db.execute("UPDATE runs SET parent = ? WHERE id = ?", (lost, first))
    with pytest.raises(ValueError, match=f"run {second} goes on with it already: it is queued"):
        resume(store, lost)


def test_of_two_that_ask_at_once_one_is_refused(store: Store, lost: str) -> None:
    with rest_of(store, lost) as one, rest_of(store, lost) as two:
        one.submit(store)
        with pytest.raises(ValueError, match=f"run {one.id} goes on with it already"):
            two.submit(store)
    assert {run.id for run in store.runs()} == {lost, one.id}


def test_pages_and_the_command_are_refused_too(
    store: Store, lost: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DPCORE_HOME", str(store.home))
    rest = submit_rest(store, lost)
    with pytest.raises(ValueError, match=f"run {rest} goes on with it already"):
        submit_rest(store, lost)
    assert main(["runs", "resume", lost]) == 2
    assert f"run {rest} goes on with it already: it is queued." in capsys.readouterr().err
    assert len(store.runs()) == 2


def test_a_run_is_not_begun_anew_for_less_once_its_rest_is_deleted(store: Store, lost: str) -> None:
    rest = worked_on(store, resume(store, lost))
    delete(store, rest)
    with pytest.raises(ValueError, match=f"run {rest} went on with it and was deleted. Start a new run"):
        resume(store, lost)


def test_nor_once_the_rest_of_a_rest_that_never_began_is(store: Store, lost: str) -> None:
    second = resume(store, lost)
    store.cancel(second)
    third = worked_on(store, resume(store, second))
    for run in (third, second):
        delete(store, run)
    with pytest.raises(ValueError, match=f"run {second} went on with it and was deleted"):
        resume(store, lost)


def test_a_rest_that_never_began_and_is_deleted_leaves_the_run_to_be_resumed(store: Store, lost: str) -> None:
    rest = resume(store, lost)
    store.cancel(rest)
    delete(store, rest)
    assert store.run(resume(store, lost)).plan.repeated == DONE


def test_a_rest_of_a_run_that_is_deleted_meanwhile_is_not_stored(store: Store, lost: str) -> None:
    with rest_of(store, lost) as rest:
        delete(store, lost)
        with pytest.raises(UnknownRun, match=f"run='{lost}' to be there still, but it was deleted"):
            rest.submit(store)
    assert store.runs() == []


def kept(store: Store) -> list[str]:
    with store.reading() as db:
        return [row["id"] for row in db.execute("SELECT id FROM deleted")]


@pytest.mark.parametrize("last", [lambda store, run: delete(store, run), lambda store, _: clear(store)])
def test_with_the_last_run_that_it_counts_for_a_deleted_one_is_forgotten(store: Store, lost: str, last) -> None:
    rest = worked_on(store, resume(store, lost))
    delete(store, rest)
    assert kept(store) == [rest]
    last(store, lost)
    assert kept(store) == []


def test_a_run_that_this_process_was_handed_counts_as_begun(store: Store, lost: str) -> None:
    rest = resume(store, lost, worker_name(os.getpid()))
    store.end(rest, Status.FAILED)
    delete(store, rest)
    with pytest.raises(ValueError, match=f"run {rest} went on with it and was deleted"):
        resume(store, lost)
