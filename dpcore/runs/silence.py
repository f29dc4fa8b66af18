"""Workers that say nothing: from when on they are taken for dead, and when it is the store that keeps them silent."""

import time
from collections.abc import Callable, Container

from dpcore.runs.record import Run, StoreError
from dpcore.runs.store import Store

STALE = 15.0  # seconds without a sign of life that make a worker lost


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
        self._seen: dict[str, tuple[float | None, float]] = {}  # run -> heartbeat, `_now` when it was first seen
        self._waited = 0.0  # seconds for the store, in all

    def recover_silent(self, run: Run) -> bool:
        """Queue a run again whose worker was silent for so long that it must be gone; whether that was done.

        What the store has kept from speaking is not silent: from half of the time on, each call waits for the store as
        the worker would, and what that takes does not count. On a full disk nobody can note anything: once there is
        room, each has its time again.
        """
        if run.id not in self._seen or self._seen[run.id][0] != run.heartbeat:
            self._seen[run.id] = (run.heartbeat, self._now)
        since = self._seen[run.id][1]
        if self._now - since <= self.stale / 2:
            return False
        asked = self._clock()
        try:
            with self._store.writing():
                self._waited += self._clock() - asked
            if self._now - since <= self.stale:
                return False
            return self._store.recover(run, silent(run.worker or "", self.stale)) is not None
        except StoreError:
            self._seen.clear()
            raise

    @property
    def _now(self) -> float:
        """The time, in which waiting for the store takes none."""
        return self._clock() - self._waited

    def forget_all_but(self, runs: Container[str]) -> None:
        """Remember nothing of other runs than these."""
        self._seen = {run: seen for run, seen in self._seen.items() if run in runs}
