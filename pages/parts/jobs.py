"""The store of a page, and jobs of any kind: each is started and resumed once."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import streamlit as st

from dpcore.runs import expected, pool, within_limits
from dpcore.runs.kinds import FOLLOWED, TRAINING, kind_of
from dpcore.runs.limits import NOBODY, may_start, why_not
from dpcore.runs.record import Run, StoreError, device_here
from dpcore.runs.run_table import runs_of
from dpcore.runs.store import Store
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.visitors import current_user, may_change

LATEST = 100  # jobs that a page reads, for its choices
PROBLEM = "job_problem"  # why the last click failed
UNDER_WAY = (
    "This is already under way. To start it again, wait for its end, or change the seed or the"
    " number of runs."
)
STARTED = "jobs_started"  # in the session


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


def with_followed(store: Store | None, past: Sequence[Run]) -> Sequence[Run]:
    """These runs and the latest followed ones, newest first."""
    if store is None:
        return past
    try:
        followed = store.runs(kind=FOLLOWED.name, limit=LATEST)
    except StoreError:  # said already
        return past
    return sorted([*past, *followed], key=lambda run: run.created, reverse=True)


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
        started_here().update(new)
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
    started = started_here()
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
        check_rights(store.run(run), "resume")
        new = within_limits.submit_rest(store, run)
        started_here().add(new)
        return new
    return ""


def say_problem() -> None:
    """Draw why the last click did nothing, once."""
    sentence = st.session_state.pop(PROBLEM, None)
    if sentence == UNDER_WAY:
        st.info(sentence)
    elif sentence:
        st.error(sentence)


def started_here() -> set[str]:
    """The ids of the jobs that this session started."""
    return st.session_state.setdefault(STARTED, set())


def check_rights(run: Run, verb: str) -> None:
    """Raise ValueError unless the reader may do this with the job."""
    if not may_change(run):
        raise ValueError(why_not(current_user(), verb))
