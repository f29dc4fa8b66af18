"""What runs have spent: computed once for all sessions; where there are many, or slow ones, the page does not wait."""

import json
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from functools import lru_cache
from queue import SimpleQueue
from typing import NamedTuple

from dpcore.privacy.accountants import Kind
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.answers import epsilon_at_end
from dpcore.runs.kinds import TRAINING
from dpcore.runs.record import Run
from dpcore.runs.spent import done_by
from dpcore.training.plan import Plan
from pages.parts.results import cache

KEPT = 20_000
PATIENCE = 0.3  # seconds at a time: the costs that are not known by then come with the next look


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


_known: "OrderedDict[Spending, Cost | None]" = OrderedDict()
_under_way: set[Spending] = set()  # that some thread computes, or that wait for the background
_waiting: "SimpleQueue[Spending]" = SimpleQueue()
_lock = threading.Lock()


def spending_of(run: Run, accountant: str) -> Spending | None:
    """What a run's epsilon follows from; None of another kind of job, and where nobody knows its plan."""
    if run.kind != TRAINING.name or not run.stored_plan:
        return None
    return Spending(accountant, run.stored_plan, run.settings["delta"], done_by(run), not run.active)


def learn(spendings: Iterable[Spending]) -> int:
    """Compute what is not known yet, until patience ends, each for one session alone; how many are left.

    What takes longer than a blink is left to a thread of its own, and that of a run that goes on until it has ended.
    At least one that nobody has begun is, so that who asks again and again has all of them one day.
    """
    until, asked = time.monotonic() + PATIENCE, dict.fromkeys(spendings)
    missing = [each for each in asked if each not in _known and each not in _under_way]
    for place, each in enumerate(missing):
        if place and time.monotonic() > until:
            break
        slow = _slow(each)
        if slow and not each.over:
            _note(each, None)
        elif _taken(each):
            see_to = _leave_to_background if slow else _compute
            see_to(each)
    return sum(each not in _known for each in asked)


def known_cost(spending: Spending) -> Cost | None:
    """What was computed; None where nothing is released or accounted for, and before `learn` has come to it."""
    return _known.get(spending)


def told_later(spending: Spending) -> bool:
    """Whether this epsilon is computed once its run is over."""
    return not spending.over and _slow(spending)


def _taken(spending: Spending) -> bool:
    """Whether this thread is the one that sees to it."""
    with _lock:
        if spending in _under_way or spending in _known:
            return False
        _under_way.add(spending)
        return True


def _compute(spending: Spending) -> None:
    try:
        _note(spending, _computed(spending))
    finally:
        _under_way.discard(spending)


def _note(spending: Spending, found: Cost | None) -> None:
    with _lock:
        _known[spending] = found
        while len(_known) > KEPT:
            _known.popitem(last=False)


def _leave_to_background(spending: Spending) -> None:
    with _lock:
        _begin_background()
    _waiting.put(spending)


@lru_cache(1)
def _begin_background() -> None:
    """Start the thread for slow ones; it has no session, so nothing that it calls may ask Streamlit for anything."""
    threading.Thread(target=_work_in_background, name="dpcore-costs", daemon=True).start()


def _work_in_background() -> None:
    while True:
        spending = _waiting.get()
        try:
            _compute(spending)
        except Exception:  # else all that wait behind it would wait for ever
            logging.exception("No epsilon could be computed of a run.")
            _note(spending, None)


def _released(spending: Spending) -> Mechanism | None:
    return Plan.from_json(json.loads(spending.plan)).released(spending.done)


def _slow(spending: Spending) -> bool:
    released = _released(spending)
    return released is not None and cache.slow(released, spending.delta)


def _computed(spending: Spending) -> Cost | None:
    released = _released(spending)
    if released is None:
        return None
    end = epsilon_at_end(spending.accountant, released, spending.delta).last
    return Cost(end.value, end.lower, end.kind)
