"""Rename, tag, annotate, resume, cancel and delete the ticked runs, and continue a paused queue."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from dpcore.check import verbatim
from dpcore.runs import editing
from dpcore.runs.in_words import name_of
from dpcore.runs.limits import NOT_TEACHER, may_rule
from dpcore.runs.record import Run, Status
from dpcore.runs.resume import ended_early
from dpcore.runs.run_table import runs_of
from dpcore.runs.store import PAUSED, Store
from pages.parts.jobs import problems_said, say_problem
from pages.parts.page_change import load
from pages.parts.papers.opening import fields_of_run
from pages.parts.runs.listing import Chosen, ids_of, take_ticks, ticked_now
from pages.parts.shell import menu
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.train import run_picker
from pages.parts.train.buttons import resume
from pages.parts.visitors import current_user, may_change

# In the session: ids of the runs in a dialog.
DELETING = "runs_deleting"
EDITING = "runs_editing"
NOT_YOURS = "Only the owner of a run or a teacher can change it."


def actions(store: Store, chosen: Chosen) -> None:
    """Draw the buttons for the ticked runs, if any."""
    if not chosen.every:
        return
    _dialogs(store)
    row = st.container(horizontal=True, key="run_actions", gap="small")
    ticked = TickedRuns(store, row, chosen)
    mine = _own(chosen)
    edited = "Tags" if len(mine) > 1 else "Name, tags, note"
    ticked.button(edited, "edit", _own, partial(_ask, EDITING))
    ticked.button("Cancel", "stop", _active, partial(each_of, Store.cancel, store))
    ticked.button("Resume", "play_arrow", _early, partial(each_of, resume, store))
    ticked.button("Delete", "delete", _over, partial(_ask, DELETING))
    if menu.SEEN in st.session_state:  # else there is no other page
        ticked.button("Load these settings", "tune", _only_one, partial(_load, store))
    if len(mine) < len(chosen.every):
        row.caption(NOT_YOURS)


@dataclass(frozen=True)
class TickedRuns:
    """The buttons in a row, each for those of the ticked runs that it fits."""

    store: Store
    row: Any
    chosen: Chosen

    def button(
        self,
        label: str,
        icon: str,
        fitting: Callable[[Chosen], list[Run]],
        do: Callable[[list[str]], None],
    ) -> None:
        """Draw the button that does something with the runs that are ticked when it is pressed."""
        runs = fitting(self.chosen)
        if len(runs) > 1:
            label = f"{label} {len(runs)}"
        self.row.button(
            label,
            key=f"run_action_{icon}",
            icon=f":material/{icon}:",
            on_click=self._pressed,
            args=(fitting, do),
            disabled=not runs,
        )

    @uninterrupted
    def _pressed(
        self, fitting: Callable[[Chosen], list[Run]], do: Callable[[list[str]], None]
    ) -> None:
        take_ticks(self.store)  # a tick may have come with the press
        runs = fitting(ticked_now(self.store))
        if runs:
            do(ids_of(runs))


def _own(chosen: Chosen) -> list[Run]:
    return [run for run in chosen.every if may_change(run)]


def _active(chosen: Chosen) -> list[Run]:
    found = []
    for run in _own(chosen):
        under_way = run.active and not run.cancelling
        if under_way and not run.followed:
            found.append(run)
    return found


def _early(chosen: Chosen) -> list[Run]:
    return [run for run in _own(chosen) if run in chosen.charted and ended_early(run)]


def _over(chosen: Chosen) -> list[Run]:
    return [run for run in _own(chosen) if not run.active]


def _only_one(chosen: Chosen) -> list[Run]:
    if len(chosen.every) != 1:
        return []
    return [run for run in chosen.charted if not run.followed]


@uninterrupted
def _ask(what: str, ids: list[str]) -> None:
    st.session_state[what] = ids


@uninterrupted
def _load(store: Store, ids: list[str]) -> None:
    """Open the Lab with the settings of a run."""
    with problems_said():
        load(fields_of_run(store.run(ids[0]).config), menu.LAB.file)


@uninterrupted
def _delete(store: Store, ids: list[str]) -> None:
    _close(DELETING)
    each_of(editing.delete, store, ids)
    left = [run for run in run_picker.shown_runs() if run not in ids]
    run_picker.show(left)


@uninterrupted
def each_of(do: Callable[[Store, str], object], store: Store, ids: Sequence[str]) -> None:
    """Do it with each run that the reader may change; the page says the last error."""
    for run in ids:
        _change(do, store, run)


@uninterrupted
def _change(do: Callable[[Store, str], object], store: Store, run: str) -> bool:
    """Do it with a run that the reader may change; False, with the reason noted, if that fails."""
    with problems_said():
        if not may_change(store.run(run)):
            raise ValueError(NOT_YOURS)
        do(store, run)
        return True
    return False


def _dialogs(store: Store) -> None:
    """Open the dialog that was asked for, if its runs are still there."""
    deleted = runs_of(store, st.session_state.get(DELETING, []))
    if deleted:
        keep = partial(_close, DELETING)
        st.dialog("Delete for good?", on_dismiss=keep)(_deletion)(store, deleted)
        return
    _close(DELETING)
    asked = st.session_state.get(EDITING, [])
    edited = runs_of(store, asked)
    if edited:
        title = "Tags" if len(asked) > 1 else "Name, tags and note"
        st.dialog(title, on_dismiss=partial(_close, EDITING))(_editing)(store, edited)
        return
    _close(EDITING)


def _close(what: str) -> None:
    st.session_state.pop(what, None)


def _deletion(store: Store, runs: Sequence[Run]) -> None:
    if DELETING not in st.session_state:  # answered
        st.rerun()
    named = "\n".join(f"* {verbatim(name_of(run))}" for run in runs)
    st.markdown(f"This deletes these runs and all their measurements for good:\n{named}")
    some_ended_early = any(run.status is not Status.FINISHED for run in runs)
    if some_ended_early:
        st.markdown("You can no longer resume those that ended early.")
    if any(run.sweep for run in runs):
        st.markdown("Releases of a sweep's runs still count in the cost of choosing among them.")
    row = st.container(horizontal=True)
    args = (store, ids_of(runs))
    row.button("Delete", type="primary", key="delete_yes", on_click=_delete, args=args)
    row.button("Keep", key="delete_no", on_click=_close, args=(DELETING,))


def _editing(store: Store, runs: Sequence[Run]) -> None:
    if EDITING not in st.session_state:  # saved
        st.rerun()
    if len(runs) > 1:
        saved = _tag_all(store, runs)
    else:
        saved = _edit(store, runs[0])
    if saved:
        _close(EDITING)
        st.rerun()
    say_problem()


def _tag_all(store: Store, runs: Sequence[Run]) -> bool:
    """Draw the form for the tags of several runs; return whether they were kept."""
    with st.form("tag_runs", border=False):
        st.markdown(f"Each of these {len(runs)} runs gets these tags in addition.")
        tags = st.text_input("Tags to add, separated by commas", key="tags_added").split(",")
        saved = st.form_submit_button("Save", type="primary")

    def add(store: Store, run: str) -> None:
        editing.tag(store, run, [*store.run(run).tags, *tags])

    if not saved:
        return False
    return all(_change(add, store, run.id) for run in runs)


def _edit(store: Store, run: Run) -> bool:
    """Draw the form for name, tags and note; return whether they were kept."""
    with st.form("edit_run", border=False):
        name = st.text_input("Name", run.name, key=f"edit_name_{run.id}", placeholder=name_of(run))
        listed = ", ".join(run.tags)
        tags = st.text_input("Tags, separated by commas", listed, key=f"edit_tags_{run.id}")
        note = st.text_area("Note", run.note, key=f"edit_note_{run.id}")
        saved = st.form_submit_button("Save", type="primary")

    def keep(store: Store, run: str) -> None:
        editing.tag(store, run, tags.split(","))  # first: it is the likeliest to fail
        editing.annotate(store, run, note)
        editing.rename(store, run, name)

    return saved and _change(keep, store, run.id)


def paused_line(store: Store) -> None:
    """Draw the button that continues a paused queue.

    A teacher pauses it in a classroom, but it stays paused if the server is later started for one
    person.
    """
    if not store.board(PAUSED) or not may_rule(current_user()):
        return
    row = st.container(horizontal=True, vertical_alignment="center")
    row.markdown(":material/pause: **The queue is paused.** Queued runs wait.")
    row.button("Continue the queue", key="queue_goes_on", on_click=_let_go_on, args=(store,))


@uninterrupted
def _let_go_on(store: Store) -> None:
    with problems_said():
        if not may_rule(current_user()):
            raise ValueError(NOT_TEACHER)
        store.post(PAUSED, None)
