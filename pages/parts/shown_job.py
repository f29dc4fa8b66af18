"""The job of one kind that a page shows: chosen, begun and followed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import streamlit as st

from dpcore.check import verbatim
from dpcore.runs.expected import duration, start_of
from dpcore.runs.in_words import status_of, when
from dpcore.runs.record import Run, Status, StoreError, UnknownRun
from dpcore.runs.store import Store
from pages.parts.cancelling import cancel, cancel_button, outcome_unsaid, say_outcome
from pages.parts.controls.url_state import MAX_REASON, Remembered
from pages.parts.jobs import expected_seconds, start, under_way
from pages.parts.shell.streamlit_internals import uninterrupted

RECENT = 50  # jobs on offer
POLL_SECONDS = 0.5  # between two looks at an active job


class Asked(NamedTuple):
    """The request in the controls of a page; None with the reason why there is none."""

    request: Any
    problem: str = ""  # a sentence; empty if the job can be done here


def takes_none(run: Run) -> bool:
    """False: a page has no use for a job of another kind."""
    return False


@dataclass(frozen=True)
class ShownJob:
    """The job that a page shows, of one kind."""

    kind: str
    noun: str  # "comparison"
    verb: str  # "Compare", on the button
    icon: str
    parameter: str  # its name in the address
    expected: str  # "a comparison on this machine", for the error
    first: str = ""  # a sentence below the button if the expected time is unknown
    replaces: bool = False  # a new job cancels the one shown

    def shown(self, store: Store, takes: Callable[[Run], bool] = takes_none) -> Run | None:
        """The job to show, if any; a wrong address is reported.

        `takes` may find a use for a job of another kind in the address.
        """
        say_outcome()
        asked = self._remembered.value
        if not asked:
            return None
        run = None
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

    def button(
        self,
        store: Store | None,
        asked: Asked,
        say: Callable[[str], object],
        on_screen: Callable[[], Asked],
    ) -> None:
        """Draw the button that starts a job, with its expected time if known.

        `say` draws the problem, if there is one. `on_screen` reads the controls anew when the
        button is pressed.
        """
        seconds = expected_seconds(store, asked.request) if asked.request else None
        label = self.verb
        if seconds is not None:
            label += f" · about {duration(max(seconds, 1))}"
        st.button(
            label,
            key=self.verb.lower(),
            type="primary",
            icon=self.icon,
            on_click=self.begin_shown,
            args=(store, on_screen),
            disabled=not (store and asked.request),
            width="stretch",
        )
        if asked.problem:
            say(asked.problem)
        elif seconds is None and self.first:
            st.caption(self.first)

    @uninterrupted
    def begin_shown(self, store: Store, on_screen: Callable[[], Asked]) -> None:
        """Begin the job that the controls ask for now, if any."""
        request = on_screen().request
        if request is not None:
            self.begin(store, request)

    @uninterrupted
    def begin(self, store: Store, request: Any) -> None:
        """Queue a job and show it, unless the same job is under way."""
        before = st.session_state.get(self._remembered.key, "")
        for new in start(store, [request], also=[before]):
            st.session_state[self._remembered.key] = new
            if self.replaces and before in {run.id for run in under_way(store)}:
                cancel(store, before)

    def choice(self, past: Sequence[Run], shown: Run | None, line_of: Callable[[Run], str]) -> None:
        """Draw the choice among earlier jobs, one line each, if there is another.

        Each job, and each status of it, has its own widget, so that a late answer from the browser
        is no choice.
        """
        name = f"{self.noun}_chosen"
        listed = list(past[:RECENT])
        key = f"{name}_none"
        if shown:
            listed.insert(0, shown)
            key = f"{name}_{shown.id}_{shown.status}"
        known = {run.id: run for run in listed if request_of(run)}
        ids = list(known)
        if not ids or (shown and ids == [shown.id]):
            return
        st.session_state[name] = key
        st.container(key="earlier").selectbox(
            f"{self.noun.capitalize()} shown",
            ids,
            format_func=lambda run: line_of(known[run]),
            index=ids.index(shown.id) if shown and shown.id in known else None,
            placeholder="Choose an earlier one",
            key=key,
            on_change=self._choose,
            args=(key, ids),
        )

    @uninterrupted
    def _choose(self, key: str, ids: Sequence[str]) -> None:
        """Show the choice if it comes from the present widget and is one of its options."""
        chosen = st.session_state.get(key)
        if key == st.session_state.get(f"{self.noun}_chosen") and chosen in ids:
            st.session_state[self._remembered.key] = chosen

    def follow(
        self, store: Store, run: Run, read: Callable[..., Any], draw: Callable[[Store, Any], None]
    ) -> None:
        """Draw the job twice a second while it is active.

        `read` gets the job as it is now, its request and its events. `draw` gets the store and the
        result of `read`, the `run` of which is the job.
        """

        def panel(store: Store, job: str, active: bool) -> None:
            try:
                now = store.run(job)
                events = store.events(job)
                found = read(now, now.request, events)
            except (UnknownRun, StoreError) as error:
                st.error(str(error))
                return
            except (ValueError, TypeError, KeyError) as error:  # settings of another version
                st.error(
                    f"Another version of this program made this {self.noun}, or its data are not"
                    f" here. {error}"
                )
                return
            if outcome_unsaid() or (active and not found.run.active):
                st.rerun()
            draw(store, found)

        draw_panel = st.fragment(panel, run_every=POLL_SECONDS if run.active else None)
        draw_panel(store, run.id, run.active)

    def status(self, store: Store, run: Run, done: float, progress: str, until: str) -> None:
        """Draw the progress of the job with its Cancel, or its early end and result (`until`)."""
        if run.active:
            row = st.container(key=f"progress_{run.id}")
            bar, button = row.columns([5, 1], vertical_alignment="center")
            if run.status is Status.QUEUED:
                progress = _place_in_queue(store, run)
            bar.progress(min(done, 1.0), text=progress)
            cancel_button(button, store, run)
        elif run.status is Status.CANCELLED:
            st.info(f"The {self.noun} was cancelled. {until}")
        elif run.status is Status.LOST:
            why = f"{verbatim(run.error, MAX_REASON)} " if run.error else ""
            st.error(f"The {self.noun} was lost. {why}{until} {self.verb} again.")
        elif run.status is Status.FAILED:
            say_failure(run, self.noun, "ValueError: ")

    @property
    def _remembered(self) -> Remembered:
        return Remembered(self.parameter, key=f"{self.noun}_shown")


def _place_in_queue(store: Store, run: Run) -> str:
    """The place of a job in the queue, and its expected start if that is known."""
    place = status_of(run)
    if run.position:
        place += " of all jobs"
    begins = start_of(store, run.id)
    return f"{place}, {begins}" if begins else place


def say_failure(run: Run, noun: str, refusal: str = "") -> None:
    """Draw why a job failed, and its traceback unless the last line begins with `refusal`."""
    lines = (run.error or "").strip().splitlines() or ["The worker gave no reason."]
    last = lines[-1]
    refused = refusal and last.startswith(refusal)
    st.error(f"The {noun} failed: {verbatim(last.removeprefix(refusal), MAX_REASON)}")
    if not refused:
        with st.expander("Traceback"):
            st.code("\n".join(lines), language=None)


def request_of(run: Run | None) -> Any:
    """The request of a job; None without a job, or if another version made it."""
    try:
        return run.request if run else None
    except (ValueError, TypeError):
        return None


def line_end(run: Run) -> str:
    """The end of a job's line in the choice: its time and, unless it finished, its status."""
    if run.status is Status.FINISHED:
        return f"({when(run.created)})"
    return f"({when(run.created)}, {run.status})"
