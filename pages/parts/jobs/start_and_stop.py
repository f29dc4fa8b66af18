"""Jobs of any kind: their store, and starting, resuming and cancelling them, each once, or a sentence why not."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import streamlit as st

from dpcore.check import verbatim
from dpcore.runs import expected, pool, within_limits
from dpcore.runs.in_words import name_of, when
from dpcore.runs.kinds import AUDIT, PERTURBATION, TRAINING, kind_of
from dpcore.runs.limits import NOBODY, may_start, why_not
from dpcore.runs.record import Run, Status, StoreError, UnknownRun, device_here
from dpcore.runs.run_table import runs_of
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from pages.parts.controls.url_state import UNDER_WAY, say_once
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.visitors import current_user, may_change

LATEST = 100  # jobs that a page looks at: what they took and trained on, and what it offers to show


def opened_store(place: Any) -> Store | None:
    """The store; what keeps it from being used, or jobs from being done, is said in a place."""
    try:
        found = pool.ensure_pool()
    except StoreError as error:
        place.error(str(error))
        return None
    if found.trouble:
        place.warning(found.trouble)
    return found.store


def job_store(place: Any, kind: str = TRAINING.name) -> tuple[Store | None, Sequence[Run], str]:
    """The store, its latest jobs of a kind, and the device they use; what keeps them from being done is said there."""
    store = opened_store(place)
    try:
        return (store, store.runs(kind=kind, limit=LATEST), device_here(store.home)) if store else (None, (), "")
    except StoreError as error:
        place.error(str(error))
        return None, (), ""


def expected_seconds(store: Store | None, config: RunConfig) -> float | None:
    """How long a run should take here; None where no run like it has been, or the store cannot say."""
    try:
        return expected.seconds_for(store, config) if store else None
    except StoreError:
        return None


def scaled_seconds(past: Sequence[Run], config: Any, scale: Callable[[Run], float]) -> float | None:
    """The seconds of the latest job of the same data and model that has finished here, times its scale.

    None where there is no such job; one of another version, whose scale is an error, is none.
    """
    for run in past:
        alike = all(run.settings.get(name) == getattr(config, name) for name in ("dataset", "model"))
        if alike and run.status is Status.FINISHED and (seconds := getattr(run.last, "seconds", None)) is not None:
            try:
                return seconds * scale(run)
            except (ValueError, KeyError, ZeroDivisionError):
                continue
    return None


PROBLEM = "job_problem"  # why nothing came of the last click
STARTED = "jobs_started"  # ids of the jobs that this session started
ASKED = "cancel_asked"  # the job that is to be cancelled, and its store, until the reader has said yes or no
UNSAID = "cancel_unsaid"  # set until the page has drawn that question
NOUNS = {TRAINING.name: "a run", PERTURBATION.name: "a comparison", AUDIT.name: "an audit"}
RESUMABLE = "Once cancelled, it can be resumed from its last checkpoint."


@uninterrupted
def start(
    store: Store,
    requests: Sequence[Any],
    names: Callable[[Sequence[Any]], Sequence[str]] = lambda requests: [""] * len(requests),
    sweep: str = "",
    also: Iterable[str] = (),
) -> list[str]:
    """Queue what is asked for, and is not under way, under these names; the ids of the new jobs. In a callback.

    What this session has started counts as under way, and so do the jobs `also`; of a sweep all is queued or nothing.
    Where nothing is queued the page says why.
    """
    if not may_start(user := current_user()):
        st.session_state[PROBLEM] = NOBODY
        return []
    try:
        kind = kind_of(requests[0]).name
        known = Counter(run.request for run in under_way(store, also) if run.kind == kind)
        missing = list((Counter(requests) - known).elements())
        if not missing:
            st.session_state[PROBLEM] = UNDER_WAY
            return []
        queued = requests if sweep else missing
        new = within_limits.submit(store, list(zip(queued, names(queued), strict=True)), user.owner, sweep or None)
    except (RuntimeError, ValueError) as error:  # RuntimeError: the accountant to stop by has no answer; StoreError
        st.session_state[PROBLEM] = str(error)
        return []
    _started().update(new)
    return new


def under_way(store: Store, also: Iterable[str] = ()) -> list[Run]:
    """The jobs that this session has started, and of those `also`, that go on and are not being cancelled."""
    return [run for run in runs_of(store, sorted({*_started(), *also})) if run.active and not run.cancelling]


def started_here(run: str) -> bool:
    """Whether this session has started the job."""
    return run in _started()


@uninterrupted
def resume_run(store: Store, run: str) -> str:
    """Queue the rest of a run that ended early; its id, or "", and the page says why. In a callback."""
    try:
        if any(each.parent == run for each in under_way(store)):
            st.session_state[PROBLEM] = UNDER_WAY
            return ""
        if not _allowed(store.run(run), "resume"):
            return ""
        new = within_limits.submit_rest(store, run)
    except (StoreError, ValueError, OSError) as error:  # OSError: its checkpoint cannot be copied
        st.session_state[PROBLEM] = str(error)
        return ""
    _started().add(new)
    return new


def cancel_button(place: Any, store: Store, run: Run) -> None:
    """Draw the button that stops a job, where it goes on and the reader may stop it."""
    if not run.active or not may_change(run):
        return
    stopping = run.cancelling and run.status is Status.RUNNING
    label = "Cancelling…" if stopping else "Cancel"
    pressed = {"on_click": cancel, "args": (store, run.id), "disabled": stopping}
    place.button(label, key=f"cancel_{run.id}", width="stretch", **pressed)


@uninterrupted
def cancel(store: Store, run: str) -> None:
    """Ask the job to stop, at once where it was started here; else the reader is asked first. In a callback."""
    try:
        asked = store.run(run)
        if not _allowed(asked, "cancel"):
            return
        own = asked.owner and asked.owner == current_user().owner
        if own or started_here(run) or not asked.active:
            store.cancel(run)
        else:
            st.session_state[ASKED], st.session_state[UNSAID] = (store, run), True
    except (StoreError, UnknownRun) as error:
        st.session_state[PROBLEM] = str(error)


def say_outcome() -> None:
    """Draw what came of the last click: the question before a job of somebody else is cancelled, or why nothing did."""
    _ask_first()
    say_once(PROBLEM)


def outcome_unsaid() -> bool:
    """Whether what is drawn apart from the page has something for the page to say; asked for once."""
    return PROBLEM in st.session_state or st.session_state.pop(UNSAID, False)


def _started() -> set[str]:
    return st.session_state.setdefault(STARTED, set())


def _allowed(run: Run, verb: str) -> bool:
    if may_change(run):
        return True
    st.session_state[PROBLEM] = why_not(current_user(), verb)
    return False


@uninterrupted
def _answer(store: Store, run: str, yes: bool) -> None:
    st.session_state.pop(ASKED, None)
    if yes:
        _started().add(run)
        cancel(store, run)


def _ask_first() -> None:
    """Draw the question, if there is one, until it is answered or has no point any more."""
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
    dismissed = lambda: st.session_state.pop(ASKED, None)  # noqa: E731
    st.dialog(f"Cancel {NOUNS[asked.kind]} of somebody else?", on_dismiss=dismissed)(_question)(store, asked)


def _question(store: Store, run: Run) -> None:
    if ASKED not in st.session_state:  # answered
        st.rerun()
    resumable = f" {RESUMABLE}" if run.kind == TRAINING.name else ""
    st.markdown(
        f"**{verbatim(name_of(run))}** ({when(run.created)}) was not started in this tab: somebody else may be waiting "
        f"for it.{resumable}"
    )
    row = st.container(horizontal=True)
    noun = NOUNS[run.kind].split()[-1]
    row.button(f"Cancel this {noun}", type="primary", key="cancel_yes", on_click=_answer, args=(store, run.id, True))
    row.button("Let it run", key="cancel_no", on_click=_answer, args=(store, run.id, False))
