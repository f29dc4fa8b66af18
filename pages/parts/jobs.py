"""Jobs of any kind on the pages: they are started, resumed and cancelled once, and one is shown."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import streamlit as st

from dpcore.check import verbatim
from dpcore.runs import expected, pool, within_limits
from dpcore.runs.expected import duration, start_of
from dpcore.runs.in_words import name_of, status_of, when
from dpcore.runs.kinds import AUDIT, PERTURBATION, TRAINING, kind_of
from dpcore.runs.limits import NOBODY, may_start, why_not
from dpcore.runs.record import Run, Status, StoreError, UnknownRun, device_here
from dpcore.runs.run_table import runs_of
from dpcore.runs.store import Store
from pages.parts.controls.url_state import MAX_REASON, Remembered
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.visitors import current_user, may_change

LATEST = 100  # jobs that a page reads, for its choices
RECENT = 50  # jobs on offer
POLL_SECONDS = 0.5  # between two looks at an active job
PROBLEM = "job_problem"  # why the last click failed
UNDER_WAY = (
    "This is already under way. To start it again, wait for its end, or change the seed or the"
    " number of runs."
)
STARTED = "jobs_started"  # ids of the jobs that this session started
ASKED = "cancel_asked"  # the store, and the job to cancel, until the reader answers
UNSAID = "cancel_unsaid"  # set until the page draws that question
NOUNS = {TRAINING.name: "a run", PERTURBATION.name: "a comparison", AUDIT.name: "an audit"}


def opened_store(place: Any) -> Store | None:
    """Open the store, and say its trouble in a place."""
    try:
        found = pool.ensure_pool()
    except StoreError as error:
        place.error(str(error))
        return None
    if found.trouble:
        place.warning(found.trouble)
    return found.store


def job_store(place: Any, kind: str = TRAINING.name) -> tuple[Store | None, Sequence[Run], str]:
    """The store, its latest jobs of a kind and their device; trouble is said in the place."""
    store = opened_store(place)
    if store is None:
        return None, (), ""
    try:
        return store, store.runs(kind=kind, limit=LATEST), device_here(store.home)
    except StoreError as error:
        place.error(str(error))
        return None, (), ""


def expected_seconds(store: Store | None, *requests: Any) -> float | None:
    """The expected seconds of jobs in a row; None if one has no similar job, or the store fails."""
    if store is None or not requests:
        return None
    total = 0.0
    try:
        for request in requests:
            seconds = expected.seconds_for(store, request)
            if seconds is None:
                return None
            total += seconds
    except StoreError:
        return None
    return total


def unnamed(requests: Sequence[Any]) -> Sequence[str]:
    """An empty name for each request."""
    return [""] * len(requests)


@uninterrupted
def start(
    store: Store,
    requests: Sequence[Any],
    names: Callable[[Sequence[Any]], Sequence[str]] = unnamed,
    sweep: str = "",
    also: Iterable[str] = (),
) -> list[str]:
    """Queue the requests that are not under way, with these names; return the new ids.

    For a callback. Jobs of this session and the jobs `also` count as under way. A sweep is queued
    whole. The page says why nothing is queued.
    """
    with problems_said():
        user = current_user()
        if not may_start(user):
            raise ValueError(NOBODY)
        kind = kind_of(requests[0]).name
        known = Counter(run.request for run in under_way(store, also) if run.kind == kind)
        missing = list((Counter(requests) - known).elements())
        if not missing:
            raise ValueError(UNDER_WAY)
        queued = requests if sweep else missing
        named = list(zip(queued, names(queued), strict=True))
        new = within_limits.submit(store, named, user.owner, sweep or None)
        _started().update(new)
        return new
    return []


@contextmanager
def problems_said() -> Iterator[None]:
    """End the block at an error, which the page then reports."""
    try:
        yield
    # StoreError; an accountant without an answer; UnknownRun.
    except (RuntimeError, ValueError, OSError) as error:
        st.session_state[PROBLEM] = str(error)


def under_way(store: Store, also: Iterable[str] = ()) -> list[Run]:
    """The active jobs of this session, and the reader's among `also`, unless being cancelled."""
    started = _started()
    found = []
    for run in runs_of(store, sorted({*started, *also})):
        going_on = run.active and not run.cancelling
        if going_on and (run.id in started or may_change(run)):
            found.append(run)
    return found


@uninterrupted
def resume_run(store: Store, run: str) -> str:
    """Queue the rest of a run that ended early; return its id, or "" if the page says why not.

    For a callback.
    """
    with problems_said():
        if any(each.parent == run for each in under_way(store)):
            raise ValueError(UNDER_WAY)
        _check_rights(store.run(run), "resume")
        new = within_limits.submit_rest(store, run)
        _started().add(new)
        return new
    return ""


def cancel_button(place: Any, store: Store, run: Run, name: str = "") -> None:
    """Draw the button that cancels an active job, if the reader may; its help has the name."""
    if not run.active or not may_change(run):
        return
    stopping = run.cancelling and run.status is Status.RUNNING
    place.button(
        "Cancelling…" if stopping else "Cancel",
        key=f"cancel_{run.id}",
        help=f"Cancel {name}." if name else None,
        on_click=cancel,
        args=(store, run.id),
        disabled=stopping,
        width="stretch",
    )


@uninterrupted
def cancel(store: Store, run: str) -> None:
    """Cancel the job, at once if it is the reader's, else after a question. For a callback."""
    with problems_said():
        asked = store.run(run)
        _check_rights(asked, "cancel")
        same_owner = asked.owner and asked.owner == current_user().owner
        if same_owner or run in _started() or not asked.active:
            store.cancel(run)
        else:
            st.session_state[ASKED] = (store, run)
            st.session_state[UNSAID] = True


def say_outcome() -> None:
    """Draw the result of the last click: the question before a cancellation, or an error."""
    _ask_first()
    say_problem()


def say_problem() -> None:
    """Draw why the last click did nothing, once."""
    sentence = st.session_state.pop(PROBLEM, None)
    if sentence == UNDER_WAY:
        st.info(sentence)
    elif sentence:
        st.error(sentence)


def outcome_unsaid() -> bool:
    """True if the page must be run again to draw such a result; once."""
    return PROBLEM in st.session_state or st.session_state.pop(UNSAID, False)


def _started() -> set[str]:
    return st.session_state.setdefault(STARTED, set())


def _check_rights(run: Run, verb: str) -> None:
    if not may_change(run):
        raise ValueError(why_not(current_user(), verb))


@uninterrupted
def _answer(store: Store, run: str, yes: bool) -> None:
    _forget_question()
    if yes:
        _started().add(run)
        cancel(store, run)


def _ask_first() -> None:
    """Draw the question, if there is one, until it is answered or pointless."""
    if ASKED not in st.session_state:
        return
    store, run = st.session_state[ASKED]
    try:
        asked = store.run(run)
    except (StoreError, UnknownRun):
        asked = None
    if asked is None or not asked.active:
        del st.session_state[ASKED]
        return
    title = f"Cancel {NOUNS[asked.kind]} that you did not start here?"
    draw_dialog = st.dialog(title, on_dismiss=_forget_question)(_question)
    draw_dialog(store, asked)


def _forget_question() -> None:
    st.session_state.pop(ASKED, None)


def _question(store: Store, run: Run) -> None:
    if ASKED not in st.session_state:  # answered
        st.rerun()
    words = (
        f"**{verbatim(name_of(run))}** ({when(run.created)}) was not started in this tab. Somebody"
        " else may be waiting for it."
    )
    if run.kind == TRAINING.name:
        words += " You can resume it later from its last checkpoint."
    st.markdown(words)
    row = st.container(horizontal=True)
    noun = NOUNS[run.kind].split()[-1]
    row.button(
        f"Cancel this {noun}",
        type="primary",
        key="cancel_yes",
        on_click=_answer,
        args=(store, run.id, True),
    )
    row.button("Let it run", key="cancel_no", on_click=_answer, args=(store, run.id, False))


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
        st.selectbox(
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
