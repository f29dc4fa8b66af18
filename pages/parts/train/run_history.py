"""The runs on the pages with their events, each read once and shared by all sessions."""

import threading
from collections.abc import Sequence
from functools import lru_cache

from dpcore.runs.expected import start_of
from dpcore.runs.history import History, RunRecord
from dpcore.runs.in_words import name_of, with_origin
from dpcore.runs.store import Store
from pages.parts.results import cache
from pages.parts.train.run_labels import labels_of

MAX_HISTORIES = 64  # runs in memory
_lock = threading.Lock()


def epsilons_of(watched: RunRecord, accountant: str, steps: Sequence[int]) -> tuple[float, ...]:
    """Epsilon by an accountant after each of the steps; empty for a run without privacy."""
    mechanism = watched.plan.mechanism
    if mechanism is None:
        return ()
    compositions = tuple(map(watched.plan.compositions_at, steps))
    return cache.epsilons(accountant, mechanism, watched.delta, compositions)


def watched_runs(store: Store, ids: Sequence[str]) -> list[RunRecord]:
    """The runs with these ids as they are now; UnknownRun if one was deleted."""
    # Before the events, so that an ended run has all of them.
    runs = [store.run(each) for each in ids]
    own = [run for run in runs if not run.followed]
    label_of: dict[str, str] = {}
    if own:
        labels = labels_of([run.config for run in own])
        for run, label in zip(own, labels, strict=True):
            label_of[run.id] = label
    watched = []
    for run in runs:
        label = label_of.get(run.id) or name_of(run)
        starts = start_of(store, run.id) if run.position else ""
        history = history_of(store, run.id)
        watched.append(RunRecord(run, history, with_origin(label, run), starts))
    return watched


def history_of(store: Store, run: str) -> History:
    """Read the history of a run up to now."""
    with _lock:
        known = _known(str(store.path), run)
        events = store.events(run, known[0].sequence)
        if events:
            known[0] = History((*known[0].events, *events))
        return known[0]


@lru_cache(MAX_HISTORIES)
def _known(store: str, run: str) -> list[History]:
    """The history of a run so far; `history_of` replaces it."""
    return [History()]
