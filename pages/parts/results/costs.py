"""Epsilons of runs: computed once for all sessions. A page draws those that are known; the rest come later.

Those of runs that have ended are computed in the background. That of a run that goes on is another one at every look:
it is computed at once where the plan is such that this takes a blink, and otherwise once the run has ended.
"""

import json
import logging
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import lru_cache
from queue import SimpleQueue
from typing import Any, NamedTuple

import streamlit as st

from dpcore.privacy.accountants import ACCOUNTANTS, Kind
from dpcore.privacy.mechanism import Mechanism
from dpcore.runs.editing import done_by
from dpcore.runs.kinds import TRAINING
from dpcore.runs.record import Run, StoreError, UnknownRun
from dpcore.training.plan import Plan
from pages.parts.results import cache

MAX_EPSILONS = 20_000  # that are kept
POLL_SECONDS = 1.0  # between two looks at what is not known yet


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


waiting: SimpleQueue[tuple[Spending, "Future[Cost | None]"]] = SimpleQueue()
_lock = threading.Lock()


def _work() -> None:
    """Compute what waits, in a thread that has no session: nothing here may ask Streamlit.

    The thread ends with the server. Python's own ThreadPoolExecutor would first compute all that waits.
    """
    while True:
        spending, future = waiting.get()
        future.set_result(cost_of(spending))


threading.Thread(target=_work, name="dpcore-costs", daemon=True).start()


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
        return None if told_later(spending) else _cost_of_active(spending)
    future = _future(spending)
    return future.result() if future.done() else None


@lru_cache(MAX_EPSILONS)
def told_later(spending: Spending) -> bool:
    """Whether this epsilon is computed once its run is over."""
    if spending.over:
        return False
    released = _released(spending)
    return released is not None and cache.slow(released, spending.delta)


def _future(spending: Spending) -> "Future[Cost | None]":
    with _lock:  # else two sessions that ask at once would have it computed twice
        return _asked(spending)


@lru_cache(MAX_EPSILONS)
def _asked(spending: Spending) -> "Future[Cost | None]":
    future: Future[Cost | None] = Future()
    waiting.put((spending, future))
    return future


def cost_of(spending: Spending) -> Cost | None:
    """The cost, computed now; None where nothing is released or accounted for, or that fails."""
    try:
        released = _released(spending)
        if released is None:
            return None
        end = ACCOUNTANTS[spending.accountant].spent(released, spending.delta)
    except Exception:  # a page shows the other epsilons
        logging.exception("No epsilon could be computed of a run.")
        return None
    return Cost(end.value, end.lower, end.kind)


_cost_of_active = lru_cache(MAX_EPSILONS)(cost_of)


def _released(spending: Spending) -> Mechanism | None:
    return Plan.from_json(json.loads(spending.plan)).released(spending.done)


def drawn_until_known(key: str, draw: Callable[..., int], *given: Any) -> None:
    """Call `draw`, which says how much it does not know yet, and call it again in a while as long as that is any."""
    again = bool(st.session_state.get(key))
    st.fragment(_drawn, run_every=POLL_SECONDS if again else None)(key, again, draw, given)


def _drawn(key: str, again: bool, draw: Callable[..., int], given: tuple[Any, ...]) -> None:
    try:
        left = draw(*given)
    except (StoreError, UnknownRun) as error:
        st.error(str(error))
        return
    st.session_state[key] = left > 0
    if (left > 0) != again:
        st.rerun()
