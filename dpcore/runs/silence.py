"""Workers that say nothing: from when on they are taken for dead, and when it is the store that keeps them silent."""

import time
from collections.abc import Callable, Container

from dpcore.runs.record import Run, StoreError
from dpcore.runs.store import Store

STALE = 15.0  # seconds without a sign of life that make a worker lost
HELD = 0.2  # seconds of waiting for the store that say that another process has held it


def silent(worker: str, seconds: float) -> str:
    """Why a run was taken from a worker that said nothing for so long.

    >>> silent("node:17", STALE)
    'Its worker node:17 gave no sign of life for 15 s.'
    """
    return f"Its worker {worker} gave no sign of life for {seconds:g} s."


class Heartbeats:
    """When each run's heartbeat was seen to change, by this process's own `clock`.

    Clocks of machines differ, and one that was suspended must not lose the runs that it goes on with.
    """

    def __init__(self, store: Store, stale: float = STALE, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self.stale, self._clock = store, stale, clock
        self._seen: dict[str, tuple[float | None, float]] = {}  # run -> heartbeat, when it was first seen

    def recover_silent(self, run: Run) -> bool:
        """Queue a run again whose worker was silent for so long that it must be gone; whether that was done.

        It is not where the store may have kept the worker from speaking: where another process has held it, the worker
        has waited for it, too, and on a full disk nobody can note anything. From there on it has its time again.
        """
        if run.id not in self._seen or self._seen[run.id][0] != run.heartbeat:
            self._seen[run.id] = (run.heartbeat, self._clock())
        if self._clock() - self._seen[run.id][1] <= self.stale:
            return False
        asked = self._clock()
        try:
            with self._store.writing():
                held = self._clock() - asked > HELD
            if not held:
                return self._store.recover(run, silent(run.worker or "", self.stale)) is not None
        except StoreError:
            self._seen.clear()
            raise
        self._seen.clear()  # all of them may speak now
        return False

    def forget_all_but(self, runs: Container[str]) -> None:
        """Remember nothing of other runs than these."""
        self._seen = {run: seen for run, seen in self._seen.items() if run in runs}
