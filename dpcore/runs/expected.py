"""How long runs take: a run that is asked for, the rest of one that runs, and those ahead of a queued one.

All of it follows from how fast runs like those have been here, and how fast the ones are that run.
"""

import heapq
import json
import math
import os
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from dpcore.runs.kinds import TRAINING
from dpcore.runs.limits import limits_of, usual
from dpcore.runs.record import IMPORTED, StoreError, device_here
from dpcore.runs.store import PAUSED, Store
from dpcore.runs.store_file import SAVED
from dpcore.runs.worker_process import Slots, slots_of
from dpcore.training.config import RunConfig
from dpcore.training.plan import plan

RECENT = 200  # ended runs that are looked at
MEDIAN_OF = 5  # of the latest runs that are alike
REPORTS = 8  # the latest of a run: their median pace is the run's
ANSWER_SECONDS = 1.0  # that an answer holds for everybody who asks
SOON_SECONDS = 5.0  # that are not worth a number
ALIKE = ("dataset", "model", "optimizer", "private", "device")
HELD = "which is paused"
UNKNOWN = "start known once runs like those before it have finished here"

_answers: dict[Path, tuple[float, dict[str, str]]] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class TimedRun:
    """A run as far as its time depends on it."""

    id: str
    device: str
    keys: tuple[tuple[Any, ...], ...]  # what runs have in common that are alike; each where no run has those before it
    amount: float  # what there is still to do: examples to look at, or 1 for a job of another kind
    pace: float | None = None  # how much of that it does in a second, where it has shown


Paces = Mapping[tuple[Any, ...], float]


def paces_of(past: Iterable[TimedRun]) -> Paces:
    """The median pace of the latest runs with each key; `past` is newest first."""
    seen: dict[tuple[Any, ...], list[float]] = {}
    for job in past:
        for key in job.keys:
            if job.pace and len(seen.setdefault(key, [])) < MEDIAN_OF:
                seen[key].append(job.pace)
    return {key: median(paces) for key, paces in seen.items() if paces}


def seconds_left(job: TimedRun, paces: Paces) -> float:
    """How long a run should take from now; infinite where none like it has been here."""
    pace = job.pace or next((paces[key] for key in job.keys if key in paces), 0.0)
    return job.amount / pace if pace else math.inf


def pace_of(paces: Sequence[float]) -> float:
    """Steps a second of a run: the median of its latest reports, 0 before the first.

    >>> pace_of([900.0, 1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0])
    2.0
    """
    return median(paces[-REPORTS:]) if paces else 0.0


def rest_of_run(steps: int, done: int, paces: Sequence[float]) -> float:
    """In how many seconds a run should be over that has done so many of its steps; infinite before its first report.

    >>> rest_of_run(100, 40, [10.0, 20.0, 30.0])
    3.0
    """
    pace = pace_of(paces)
    return (steps - done) / pace if pace else math.inf


def seconds_for(store: Store, config: RunConfig) -> float | None:
    """How long a run should take here, by the latest runs like it, of the same data if there are; None before one."""
    _, paces = _lately(store)
    alike = _keys(TRAINING.name, [getattr(config, name) for name in ALIKE])[:-1]
    if not any(key in paces for key in alike):  # the plan of a run may take a while
        return None
    return seconds_left(
        TimedRun("", "", alike, float(plan(config).steps * _per_step(config.batch, config.public))), paces
    )


def duration(seconds: float) -> str:
    """A duration as one would say it.

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
    """In how many seconds each queued run should begin, infinite where that is not known; they come in their order."""
    found: dict[str, float] = {}
    for each in slots:
        taken = [job for job in running if not each.devices or job.device in each.devices]
        free = [0.0] * max(each.count - len(taken), 0) + sorted(seconds_left(job, paces) for job in taken)
        if len(taken) > each.count:  # there were more slots when they began
            free = free[len(taken) - each.count :]
        heapq.heapify(free)
        for job in queued:
            if not each.devices or job.device in each.devices:
                found[job.id] = free[0]
                heapq.heapreplace(free, free[0] + seconds_left(job, paces))
    return found


def said(seconds: float) -> str:
    """When a run starts, in words that change now and then only.

    >>> said(0), said(130), said(math.inf)
    ('starts in a moment', 'starts in about 2 min', 'start known once runs like those before it have finished here')
    """
    if seconds <= SOON_SECONDS:
        return "starts in a moment"
    if seconds < 60:
        return f"starts in about {math.ceil(seconds / 10) * 10} s"
    if seconds < 3600:
        return f"starts in about {round(seconds / 60)} min"
    if seconds < 2 * 86_400:
        return f"starts in about {round(seconds / 3600)} h"
    return f"starts in about {round(seconds / 86_400)} days" if seconds < math.inf else UNKNOWN


def start_of(store: Store, run: str) -> str:
    """What is to be said of when a queued run starts; empty for one that is not in the queue.

    It is worked out once a second for all runs and everybody who asks.
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
    """What runs now, and how fast that and what has finished lately has been."""
    running = [_job(row) for row in store.rows(_RUNNING)]
    past = [_job(row) for row in store.rows(_PAST)]
    return running, paces_of([*running, *past])


def _slots(store: Store, running: int) -> Sequence[Slots]:
    if os.environ.get("DPCORE_POOL") == "ray":  # as many as the cluster has room for: those that run now
        return (Slots(max(running, 1)),)
    try:
        limits = limits_of(store.home)
    except StoreError:
        limits = usual()
    return slots_of(limits, device_here(store.home))


def _job(row: Any) -> TimedRun:
    values = json.loads(row["alike"])
    keys = _keys(row["kind"], values)
    if row["kind"] != TRAINING.name:
        taken = row["ended"] - row["started"] if row["ended"] and row["started"] else 0.0
        return TimedRun(row["id"], values[-1] or "cpu", keys, 1.0, 1 / taken if taken > 0 else None)
    last, reports = json.loads(row["body"] or "{}"), json.loads(row["reports"])
    per_step, done = _per_step(row["batch"], row["public"]), last.get("step", 0)
    rate = pace_of(reports[::-1]) or (done / max(last["seconds"], 1e-3) if "seconds" in last else 0.0)
    left = max((row["steps"] or 0) - done, 0) * per_step
    return TimedRun(row["id"], values[-1] or "cpu", keys, left, rate * per_step or None)


def _keys(kind: str, values: Sequence[Any]) -> tuple[tuple[Any, ...], ...]:
    """What runs that are alike have in common, of `ALIKE`: all of it, all but the data, or the model alone."""
    return (kind, *values), (kind, *values[1:]), (kind, values[1])


def _per_step(batch: int | None, public: int | None) -> float:
    """Examples that a step looks at; 0 of a run of another version, which does not say so."""
    return float((batch or 0) + (public or 0)) if batch else 0.0


_ALIKE = ", ".join(f"json_extract(settings, '$.{name}')" for name in ALIKE)
_JOBS = f"""SELECT id, kind, started, ended, json_array({_ALIKE}) AS alike, json_extract(plan, '$.steps') AS steps,
    json_extract(settings, '$.batch') AS batch, json_extract(settings, '$.public') AS public,
    {{body}} AS body, {{reports}} AS reports FROM runs WHERE """
_LAST = "(SELECT body FROM events WHERE run = runs.id ORDER BY sequence DESC LIMIT 1)"
# newest first
_REPORTS = f"""(SELECT json_group_array(json_extract(body, '$.steps_per_second')) FROM (SELECT body FROM events
    WHERE run = runs.id AND body LIKE '{{"event": "stepped"%' ORDER BY sequence DESC LIMIT {REPORTS}))"""
_QUEUED = _JOBS.format(body=SAVED, reports="'[]'") + "status = 'queued'"
_RUNNING = _JOBS.format(body=_LAST, reports=_REPORTS) + "status = 'running'"
_PAST = (
    _JOBS.format(body=_LAST, reports="'[]'")
    + f"""status = 'finished'
    AND (origin IS NULL OR json_extract(origin, '$.{IMPORTED}') IS NULL) ORDER BY number DESC LIMIT {RECENT}"""
)
