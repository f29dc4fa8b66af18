"""Expected times: of a new run, of the rest of a running one, and until a queued one starts.

They follow from the pace of similar jobs on this machine, their cost over their seconds.
"""

import heapq
import json
import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from dpcore.runs.kinds import AUDIT, PERTURBATION, kind_of
from dpcore.runs.lifecycle import Status
from dpcore.runs.limits import limits_of, usual
from dpcore.runs.record import StoreError, cost_of, device_here
from dpcore.runs.run_table import ELSEWHERE
from dpcore.runs.store import OF_WORKERS, PAUSED, Store
from dpcore.runs.store_file import LAST, PER_STEP, latest
from dpcore.runs.worker_process import Slots, slots_of

RECENT = 200  # ended runs looked at
MEDIAN_OF = 5  # latest similar runs
REPORTS = 8  # latest reports, whose median is a run's pace
CALM = 0.15  # of what a report says of the end is believed at once: the time left does not jump
ANSWER_SECONDS = 1.0  # for which an answer holds
SOON_SECONDS = 5.0  # too few for a number
ALIKE = ("dataset", "model", "optimizer", "private", "device")
HELD = "which is paused"
UNKNOWN = "start time unknown until similar runs have finished here"

_answers: dict[Path, tuple[float, dict[str, str]]] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class TimedRun:
    """The facts of a run on which its time depends."""

    id: str
    device: str
    keys: tuple[tuple[Any, ...], ...]  # shared by similar runs, the most similar first
    amount: float  # of work left, as `cost_of` counts it
    pace: float | None = None  # amount per second, if known


Paces = Mapping[tuple[Any, ...], float]


def paces_of(past: Iterable[TimedRun]) -> Paces:
    """The median pace of the latest runs with each key; `past` begins with the newest."""
    seen: dict[tuple[Any, ...], list[float]] = {}
    for job in past:
        for key in job.keys:
            if job.pace and len(seen.setdefault(key, [])) < MEDIAN_OF:
                seen[key].append(job.pace)
    return {key: median(paces) for key, paces in seen.items() if paces}


def seconds_left(job: TimedRun, paces: Paces) -> float:
    """The expected seconds left of a run; infinite without a similar one."""
    similar = [paces[key] for key in job.keys if key in paces]
    pace = job.pace or (similar[0] if similar else 0.0)
    return job.amount / pace if pace else math.inf


def pace_of(paces: Sequence[float]) -> float:
    """The steps per second of a run: the median of its latest reports, 0 before the first.

    >>> pace_of([900.0, 1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0])
    2.0
    """
    return median(paces[-REPORTS:]) if paces else 0.0


def rest_of_run(steps: int, done: int, paces: Sequence[float]) -> float:
    """The expected seconds left of a run after `done` steps; infinite before its first report.

    >>> rest_of_run(100, 40, [10.0, 20.0, 30.0])
    3.0
    """
    pace = pace_of(paces)
    return (steps - done) / pace if pace else math.inf


class Pace:
    """The pace of a run and its expected end, from its reports as they come."""

    def __init__(self, steps: int, clock: Callable[[], float] = time.time) -> None:
        self.steps = steps
        self._clock = clock
        self._paces: list[float] = []
        self._end = math.inf  # by the clock
        self._words = ", 0 steps/s"

    def after(self, done: int, reports: Sequence[float], *, going: bool = True) -> str:
        """The pace and the time left in words, after so many steps and these new reports.

        Without new reports the words stay. While a run is not `going`, its end is not known.
        """
        if reports:
            self._paces = [*self._paces, *reports][-REPORTS:]
            now = self._clock()
            end = math.inf  # nobody said how many steps there will be
            if self.steps:
                end = now + rest_of_run(self.steps, done, self._paces)
            still_ahead = now < self._end < math.inf
            if still_ahead:
                end = self._end + CALM * (end - self._end)
            self._end = end
            pace = float(f"{pace_of(self._paces):.3g}")
            self._words = f", {pace:g} steps/s"
            if end < math.inf:
                self._words += f", {duration(end - now)} left"
        if not going:
            self._end = math.inf
        return self._words


def seconds_for(store: Store, request: Any) -> float | None:
    """The expected seconds of a job here, by similar ones; None without one.

    Similar jobs on the same data come first. A comparison is similar only on the same data: its
    cost leaves out the number of its rows.
    """
    _, paces = _lately(store)
    kind = kind_of(request)
    settings = request.to_json()
    exact, other_data, _ = _keys(kind.name, [settings.get(name) for name in ALIKE])
    alike = (exact,) if kind is PERTURBATION else (exact, other_data)
    if not any(key in paces for key in alike):  # the plan of a run may take a while
        return None
    return seconds_left(TimedRun("", "", alike, cost_of(request)), paces)


def duration(seconds: float) -> str:
    """A duration in words.

    >>> duration(3.2), duration(75), duration(7000)
    ('4 s', '1 min 15 s', '1 h 56 min')
    """
    whole = math.ceil(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s".removesuffix(" 0 s")
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def starts(
    queued: Sequence[TimedRun], running: Sequence[TimedRun], paces: Paces, slots: Sequence[Slots]
) -> dict[str, float]:
    """The expected seconds until each queued run starts; infinite if unknown.

    `queued` is in order.
    """
    found: dict[str, float] = {}
    for each in slots:
        taken = [job for job in running if each.takes(job.device)]
        idle = [0.0] * max(each.count - len(taken), 0)
        free = idle + sorted(seconds_left(job, paces) for job in taken)
        if len(taken) > each.count:  # there were more slots when they began
            free = free[len(taken) - each.count :]
        heapq.heapify(free)
        for job in queued:
            if each.takes(job.device):
                found[job.id] = free[0]
                heapq.heapreplace(free, free[0] + seconds_left(job, paces))
    return found


def said(seconds: float) -> str:
    """The start of a run in words that seldom change.

    >>> said(0), said(130), said(math.inf) == UNKNOWN
    ('starts in a moment', 'starts in about 2 min', True)
    """
    if seconds <= SOON_SECONDS:
        return "starts in a moment"
    if seconds < 60:
        return f"starts in about {math.ceil(seconds / 10) * 10} s"
    if seconds < 3600:
        return f"starts in about {round(seconds / 60)} min"
    if seconds < 2 * 86_400:
        return f"starts in about {round(seconds / 3600)} h"
    if seconds < math.inf:
        return f"starts in about {round(seconds / 86_400)} days"
    return UNKNOWN


def start_of(store: Store, run: str) -> str:
    """The expected start of a queued run in words; empty if it is not queued.

    It is computed once a second for all runs.
    """
    with _lock:
        then, answer = _answers.get(store.path, (-math.inf, {}))
        if time.monotonic() - then > ANSWER_SECONDS or run not in answer:
            answer = _all_starts(store)
            _answers[store.path] = time.monotonic(), answer
    return answer.get(run, "")


def _all_starts(store: Store) -> dict[str, str]:
    order = store.queue()
    if store.board(PAUSED):
        return dict.fromkeys(order, HELD)
    queued = {row["id"]: _job(row) for row in store.rows(_QUEUED)}
    running, paces = _lately(store)
    waiting = [queued[run] for run in order if run in queued]
    found = starts(waiting, running, paces, _slots(store, len(running)))
    return {run: said(seconds) for run, seconds in found.items()}


def _lately(store: Store) -> tuple[list[TimedRun], Paces]:
    """The running runs, and the paces of these and of the lately finished ones."""
    running = [_job(row) for row in store.rows(_RUNNING)]
    past = [_job(row) for row in store.rows(_PAST)]
    return running, paces_of([*running, *past])


def _slots(store: Store, running: int) -> Sequence[Slots]:
    if os.environ.get("DPCORE_POOL") == "ray":  # the cluster has room for those that run now
        return (Slots(max(running, 1)),)
    try:
        limits = limits_of(store.home)
    except StoreError:
        limits = usual()
    return slots_of(limits, device_here(store.home))


def _job(row: Any) -> TimedRun:
    values = json.loads(row["alike"])  # of ALIKE
    pace = pace_of(json.loads(row["paces"]))
    return TimedRun(
        id=row["id"],
        device=values[-1] or "cpu",
        keys=_keys(row["kind"], values),
        amount=row["amount"],
        pace=pace or None,
    )


def _keys(kind: str, values: Sequence[Any]) -> tuple[tuple[Any, ...], ...]:
    """The keys of similar runs: all of `ALIKE`, all but the data, the model alone."""
    return (kind, *values), (kind, *values[1:]), (kind, values[1])


# the facts of a job: the work left, and paces in work per second
_SETTINGS = ", ".join(f"json_extract(settings, '$.{name}')" for name in ALIKE)
_JOB = f"""SELECT id, kind, json_array({_SETTINGS}) AS alike,
    {{amount}} AS amount, {{paces}} AS paces FROM runs WHERE {{which}}"""
_QUEUED = _JOB.format(amount="cost", paces="'[]'", which=f"status = '{Status.QUEUED}'")
_RUNNING = _JOB.format(
    amount=f"""COALESCE(MIN(cost,
        (json_extract(plan, '$.steps') - json_extract({LAST}, '$.step')) * {PER_STEP}), cost)""",
    paces=f"""(SELECT json_group_array(json_extract(body, '$.steps_per_second') * {PER_STEP}) FROM (
        SELECT body FROM events WHERE run = runs.id AND body LIKE '{{"event": "stepped"%'
        ORDER BY sequence DESC LIMIT {REPORTS}))""",
    which=f"status = '{Status.RUNNING}' AND {OF_WORKERS}",
)
# the cost of a finished job is what was left when its last worker began, and its seconds count from
# then
_PAST = _JOB.format(
    amount="0",
    paces=f"json_array(COALESCE(cost / json_extract({LAST}, '$.seconds'), 0))",
    which=f"""status = '{Status.FINISHED}' AND NOT {ELSEWHERE} AND {OF_WORKERS}
        AND (kind != '{AUDIT.name}' OR {latest("stopped")} IS NULL)
        ORDER BY number DESC LIMIT {RECENT}""",
)
