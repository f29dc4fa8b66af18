"""The one job that a page shows: the address names it, a button begins it, it is followed, cancelled, found again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import streamlit as st

from dpcore.check import verbatim
from dpcore.runs.expected import duration, start_of
from dpcore.runs.in_words import status_of, when
from dpcore.runs.record import Run, Status, StoreError, UnknownRun
from dpcore.runs.store import Store
from pages.parts.controls.url_state import MAX_REASON, Remembered
from pages.parts.jobs.start_and_stop import cancel_button, outcome_unsaid, say_outcome, start, started_here
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.visitors import may_change

RECENT = 50  # jobs to choose from
POLL_SECONDS = 0.5  # between two looks while the job goes on
Event = TypeVar("Event")


class Progress(Protocol):
    """What a page reads of a job: at least the job as it was then."""

    @property
    def run(self) -> Run:
        """The job."""
        ...


Read = TypeVar("Read", bound=Progress)


@dataclass(frozen=True)
class ShownJob:
    """A kind of job of which a page shows one."""

    kind: str
    noun: str  # "comparison"
    verb: str  # "Compare", on the button
    icon: str
    parameter: str  # its name in the address
    expected: str  # "a comparison on this machine", where the address names something else
    replaces: bool = False  # whether beginning another cancels the one shown, for which nobody waits any more

    def shown(self, store: Store, takes: Callable[[Run], bool] = lambda run: False) -> Run | None:
        """The job to show, if there is one; what the address names in vain is said.

        `takes` may find another use for a job of another kind that the address names.
        """
        say_outcome()
        run, asked = None, self._remembered.value
        if not asked:
            return None
        try:
            run = store.run(asked)
        except UnknownRun:
            pass
        except StoreError as error:
            st.error(str(error))
        if run is not None and run.kind == self.kind:
            return run
        if run is None or not takes(run):
            named = verbatim(f"{self.parameter}={asked}")
            st.warning(f"Expected {named} to be {self.expected}; it may have been made elsewhere.")
        self._remembered.set("")
        return None

    def button(self, store: Store | None, request: Any, seconds: float | None) -> None:
        """Draw the button that begins a job, with the time that it takes where that is known."""
        st.button(
            f"{self.verb} · about {duration(max(seconds, 1))}" if seconds is not None else self.verb,
            key=self.verb.lower(),
            type="primary",
            icon=self.icon,
            disabled=store is None or request is None,
            on_click=self.begin,
            args=(store, request),
            width="stretch",
        )

    @uninterrupted
    def begin(self, store: Store, request: Any) -> None:
        """Queue a job and show it; one that is shown, or was begun here, and is under way is not begun again."""
        before = st.session_state.get(self._remembered.key, "")
        for new in start(store, [request], also=[before]):
            st.session_state[self._remembered.key] = new
            if self.replaces:
                _cancel_own(store, before)

    def choice(self, past: Sequence[Run], shown: Run | None, line_of: Callable[[Run], str]) -> None:
        """Draw the choice of another job that was made here before, where there is one, each in a line.

        Another job, and another status of it, has a widget of its own: what a browser says that has not heard of the
        change is then not taken for a choice.
        """
        known = {run.id: run for run in (*([shown] if shown else []), *past[:RECENT]) if request_of(run)}
        if not known or (shown and list(known) == [shown.id]):
            return
        ids, name = list(known), f"{self.noun}_chosen"
        key = st.session_state[name] = f"{name}_{shown.id}_{shown.status}" if shown else f"{name}_none"
        st.selectbox(
            f"{self.noun.capitalize()} shown",
            ids,
            index=ids.index(shown.id) if shown and shown.id in known else None,
            format_func=lambda run: line_of(known[run]),
            key=key,
            placeholder="Choose one that was made before",
            on_change=self._choose,
            args=(key, ids),
        )

    @uninterrupted
    def _choose(self, key: str, ids: Sequence[str]) -> None:
        """Show what the widget says, if it is the one that is drawn, and says one of its own options."""
        chosen = st.session_state.get(key)
        if key == st.session_state.get(f"{self.noun}_chosen") and chosen in ids:
            st.session_state[self._remembered.key] = chosen

    def follow(self, store: Store, run: Run, read: Callable[[Store, Run], Read], draw: Callable[[Read], None]) -> None:
        """Draw what is read of the job, and keep it up to date: twice a second while it goes on, then once."""
        polled = POLL_SECONDS if run.active else None
        st.fragment(_panel, run_every=polled)(self.noun, store, run.id, run.active, read, draw)

    def status(self, store: Store, run: Run, done: float, progress: str, until: str) -> None:
        """Draw how far the job is, with what stops it, or how it ended early; `until` says what it had found then."""
        if run.active:
            bar, button = st.container(key=f"progress_{run.id}").columns([5, 1], vertical_alignment="center")
            if run.status is Status.QUEUED:
                place = f"{status_of(run)} of all jobs" if run.position else status_of(run)
                progress = ", ".join(filter(None, [place, start_of(store, run.id)]))
            bar.progress(min(done, 1.0), text=progress)
            cancel_button(button, store, run)
        elif run.status is Status.CANCELLED:
            st.info(f"The {self.noun} was cancelled. {until}")
        elif run.status is Status.LOST:
            why = f"{verbatim(run.error, MAX_REASON)} " if run.error else ""
            st.error(f"The {self.noun} was lost. {why}{until} {self.verb} again.")
        elif run.status is Status.FAILED:
            lines = (run.error or "").strip().splitlines() or ["The worker gave no reason."]
            st.error(f"The {self.noun} failed: {verbatim(lines[-1].removeprefix('ValueError: '), MAX_REASON)}")
            if not lines[-1].startswith("ValueError: "):
                with st.expander("Traceback"):
                    st.code("\n".join(lines), language=None)

    @property
    def _remembered(self) -> Remembered:
        return Remembered(self.parameter, key=f"{self.noun}_shown")


def request_of(run: Run | None) -> Any:
    """What was asked for; None for nothing, and for a job of another version, of which its panel speaks."""
    try:
        return run.request if run else None
    except (ValueError, TypeError):
        return None


def line_end(run: Run) -> str:
    """When a job was begun and, unless it has finished, how it stands: what its line in the choice ends with."""
    ended = "" if run.status is Status.FINISHED else f", {run.status}"
    return f"({when(run.created)}{ended})"


def last_of(events: Sequence[object], kind: type[Event]) -> Event | None:
    """The newest event of a kind."""
    return next((each for each in reversed(events) if isinstance(each, kind)), None)


def all_of(events: Sequence[object], kind: type[Event]) -> tuple[Event, ...]:
    """All events of a kind, in their order."""
    return tuple(each for each in events if isinstance(each, kind))


def _panel(
    noun: str, store: Store, run: str, active: bool, read: Callable[[Store, Run], Read], draw: Callable[[Read], None]
) -> None:
    try:
        found = read(store, store.run(run))
    except (UnknownRun, StoreError) as error:
        st.error(str(error))
        return
    except (ValueError, TypeError, KeyError) as error:  # settings of another version
        st.error(f"This {noun} was made by another version of this program. {error}")
        return
    if outcome_unsaid() or (active and not found.run.active):
        st.rerun()
    draw(found)


def _cancel_own(store: Store, job: str) -> None:
    """Cancel a job that goes on, if it was begun here."""
    try:
        run = store.run(job)
        if run.active and started_here(job) and may_change(run):
            store.cancel(job)
    except (StoreError, UnknownRun):
        return
