"""Epsilons of runs, computed once for all sessions; a page draws the known ones first.

A background thread computes those of ended runs. The epsilon of an active run changes with each
look: it is computed at once if that is quick, otherwise after the run has ended.
"""

import json
import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from functools import lru_cache
from queue import SimpleQueue
from typing import Any, NamedTuple

import streamlit as st

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism, Reading
from dpcore.runs.editing import Deleted
from dpcore.runs.kinds import TRAINING
from dpcore.runs.record import Run, StoreError, UnknownRun
from dpcore.runs.sweeps import all_released
from dpcore.training.plan import Plan
from pages.parts.results import cache

MAX_EPSILONS = 20_000  # in memory
# Of steps: with more, the certified accountant takes seconds, so Rényi DP's bound is shown.
MAX_KINDS = 25
POLL_SECONDS = 1.0  # between two looks at missing epsilons


class Spending(NamedTuple):
    """All that an epsilon depends on."""

    accountant: str
    plan: str  # as JSON
    delta: float
    done: int | None  # steps; None before it has begun
    over: bool = True  # the run has ended; before that, a slow epsilon would soon be out of date


waiting: SimpleQueue[tuple[Spending, "Future[Reading | None]"]] = SimpleQueue()
_lock = threading.Lock()


def _work() -> None:
    """Compute the waiting epsilons, in a thread without a session that ends with the server.

    Python's own ThreadPoolExecutor would first compute all that waits.
    """
    while True:
        spending, future = waiting.get()
        future.set_result(cost_of(spending))


threading.Thread(target=_work, name="dpcore-costs", daemon=True).start()


def spending_of(run: Run, accountant: str = CERTIFIED) -> Spending | None:
    """The spending of a run; None for another kind of job, without a plan, or without privacy."""
    trains = run.kind == TRAINING.name or run.followed
    if not trains or not run.stored_plan or not run.settings.get("private", True):
        return None
    return Spending(accountant, run.stored_plan, run.settings["delta"], run.done, not run.active)


def learn(spendings: Iterable[Spending]) -> int:
    """Ask the background for all missing epsilons, and return their number."""
    return sum(each.over and not _future(each).done() for each in dict.fromkeys(spendings))


def known_cost(spending: Spending) -> Reading | None:
    """The cost, if it is known; None also where nothing is released or accounted for."""
    if not spending.over:
        return None if told_later(spending) else _cost_of_active(spending)
    future = _future(spending)
    return future.result() if future.done() else None


@lru_cache(MAX_EPSILONS)
def told_later(spending: Spending) -> bool:
    """True if this epsilon is computed only after the run has ended."""
    if spending.over:
        return False
    released = _released(spending)
    return released is not None and cache.slow(released, spending.delta)


def _future(spending: Spending) -> "Future[Reading | None]":
    with _lock:  # or two sessions could ask for it at the same time
        return _asked(spending)


@lru_cache(MAX_EPSILONS)
def _asked(spending: Spending) -> "Future[Reading | None]":
    future: Future[Reading | None] = Future()
    waiting.put((spending, future))
    return future


def cost_of(spending: Spending) -> Reading | None:
    """The cost, computed now; None if nothing is released or accounted for, or if that fails."""
    try:
        released = _released(spending)
        return (
            None
            if released is None
            else ACCOUNTANTS[spending.accountant].spent(released, spending.delta)
        )
    except Exception:  # a page shows the other epsilons
        logging.exception("No epsilon could be computed of a run.")
        return None


def cost_of_choosing(runs: Sequence[Run | Deleted], delta: float) -> Reading | None:
    """The cost of publishing any of the runs, however it is chosen among them; None if there is
    none.
    """
    mechanism = all_released(runs)
    if mechanism is None:
        return None
    return cache.final(
        CERTIFIED if len(mechanism.releases) <= MAX_KINDS else "rdp", mechanism, delta
    ).last


_cost_of_active = lru_cache(MAX_EPSILONS)(cost_of)


def _released(spending: Spending) -> Mechanism | None:
    return Plan.from_json(json.loads(spending.plan)).released(spending.done)


def drawn_until_known(key: str, draw: Callable[..., int], *given: Any) -> None:
    """Call `draw`, which returns the number of missing epsilons, again and again until none is
    missing.
    """
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
