"""Epsilons of runs: computed once for all sessions. A page draws those that are known; the rest come later.

Those of runs that have ended are computed in the background. That of a run that goes on is another one at every look:
it is computed at once where the plan is such that this takes a blink, and otherwise once the run has ended.
"""

import json
import logging
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future
from functools import lru_cache, partial
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

import streamlit as st

from dpcore.privacy.accountants import ACCOUNTANTS, Kind
from dpcore.privacy.mechanism import Mechanism
from dpcore.runs.editing import done_by
from dpcore.runs.kinds import TRAINING
from dpcore.runs.record import Run, StoreError, UnknownRun
from dpcore.training.plan import Plan
from pages.parts.results import cache

KEPT = 20_000
T = TypeVar("T")


class Spending(NamedTuple):
    """What an epsilon follows from."""

    accountant: str
    plan: str  # as JSON
    delta: float
    done: int | None  # steps; None before it has begun
    over: bool = True  # whether the run has ended: until then a slow epsilon would be out of date before it is known


class Cost(NamedTuple):
    """An epsilon: the number to show, what it is at least where that is proven too, and its kind."""

    epsilon: float
    lower: float | None
    kind: Kind


class Background(Executor):
    """One thread that has no session, so nothing in it may ask Streamlit. It ends with the server, whatever waits.

    Python's own ThreadPoolExecutor would have a server that is stopped compute all that is queued before it ends.
    """

    def __init__(self) -> None:
        self._waiting: SimpleQueue[tuple[Future, Callable[[], object]]] = SimpleQueue()
        threading.Thread(target=self._work, name="dpcore-costs", daemon=True).start()

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> "Future[T]":
        """The future result of the call."""
        future: Future[T] = Future()
        self._waiting.put((future, partial(fn, *args, **kwargs)))
        return future

    def _work(self) -> None:
        while True:
            future, call = self._waiting.get()
            try:
                future.set_result(call())
            except Exception as error:  # whoever asks for the result is told
                future.set_exception(error)


background: Executor = Background()
_lock = threading.Lock()


def spending_of(run: Run, accountant: str) -> Spending | None:
    """What a run's epsilon follows from; None of another kind of job, and where nobody knows its plan."""
    if run.kind != TRAINING.name or not run.stored_plan:
        return None
    return Spending(accountant, run.stored_plan, run.settings["delta"], done_by(run), not run.active)


def learn(spendings: Iterable[Spending]) -> int:
    """Have the background compute what is not known yet; the number of epsilons that are still to come."""
    return sum(each.over and not _future(each).done() for each in dict.fromkeys(spendings))


def known_cost(spending: Spending) -> Cost | None:
    """The cost, if it is computed by now; None also where nothing is released or accounted for."""
    if not spending.over:
        return None if told_later(spending) else _of_active(spending)
    future = _future(spending)
    return future.result() if future.done() else None


@lru_cache(KEPT)
def told_later(spending: Spending) -> bool:
    """Whether this epsilon is computed once its run is over."""
    if spending.over:
        return False
    released = _released(spending)
    return released is not None and cache.slow(released, spending.delta)


def _future(spending: Spending) -> "Future[Cost | None]":
    with _lock:  # else two sessions that ask at once would have it computed twice
        return _asked(spending)


@lru_cache(KEPT)
def _asked(spending: Spending) -> "Future[Cost | None]":
    return background.submit(_computed, spending)


@lru_cache(KEPT)
def _of_active(spending: Spending) -> Cost | None:
    return _computed(spending)


def _computed(spending: Spending) -> Cost | None:
    try:
        released = _released(spending)
        if released is None:
            return None
        end = ACCOUNTANTS[spending.accountant].spent(released, spending.delta)
    except Exception:  # a page shows the other epsilons
        logging.exception("No epsilon could be computed of a run.")
        return None
    return Cost(end.value, end.lower, end.kind)


def _released(spending: Spending) -> Mechanism | None:
    return Plan.from_json(json.loads(spending.plan)).released(spending.done)


EVERY = 1.0  # seconds


def drawn_until_known(key: str, draw: Callable[..., int], *given: Any) -> None:
    """Call `draw`, which says how much it does not know yet, and call it again in a while as long as that is any."""
    again = bool(st.session_state.get(key))
    st.fragment(_drawn, run_every=EVERY if again else None)(key, again, draw, given)


def _drawn(key: str, again: bool, draw: Callable[..., int], given: tuple[Any, ...]) -> None:
    try:
        left = draw(*given)
    except (StoreError, UnknownRun) as error:
        st.error(str(error))
        return
    st.session_state[key] = left > 0
    if (left > 0) != again:
        st.rerun()
