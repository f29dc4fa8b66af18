"""The pool of this machine's worker processes: one is warm, and the store learns of failures.

Any number of pools may serve one home. The one that holds the lock file starts workers, the others
stand by.
"""

import math
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from dpcore.runs.kinds import TRAINING
from dpcore.runs.lifecycle import Status
from dpcore.runs.limits import limits_of, usual
from dpcore.runs.ray_pool import pool_here
from dpcore.runs.record import Run, StoreError, device_here, state_directory
from dpcore.runs.store import Store
from dpcore.runs.supervision import (
    LEFTOVER_SECONDS,
    STALE,
    Heartbeats,
    PoolThread,
    lock_of,
    recover_if_dead,
    remove_needless,
)
from dpcore.runs.worker_process import Slots, Worker, slots_of
from dpcore.whole_file import private

TRAIN = TRAINING.work
INTERVAL = 0.2  # seconds between two rounds
SPARE = 2.0  # seconds for which a new run has the machine to itself
LOG = 1_000_000  # bytes of the workers' log from which the next worker begins a new one
MAX_WAIT_SECONDS = 60.0  # seconds between attempts to start a worker

_pools: dict[Path, PoolThread] = {}
_pools_lock = threading.Lock()


def ensure_pool(home: Path | str | None = None) -> PoolThread:
    """This process's pool for `home`, started on the first call.

    With DPCORE_POOL=ray it is that of a Ray cluster. Errors: StoreError.
    """
    key = Path(home).absolute() if home else state_directory()
    with _pools_lock:
        if key not in _pools or _pools[key].closed:
            name = os.environ.get("DPCORE_POOL") or "local"
            if name not in ("local", "ray"):
                raise StoreError(f"Set DPCORE_POOL to local or ray, not {name!r}.")
            pool = pool_here(Store(key)) if name == "ray" else Pool(Store(key))
            _pools[key] = pool.start()
        return _pools[key]


class Pool(PoolThread):
    """Keep a warm worker for each device's runs; runs without a free slot wait.

    There are as many for each device as the limits say. `trouble` also reports errors in the
    limits. `train`, "module:name", trains; other kinds of jobs have
    their own function. Tests replace `clock` and `hire`, which starts a worker, and call `round` by
    hand.
    """

    def __init__(
        self,
        store: Store,
        train: str = TRAIN,
        stale: float = STALE,
        *,
        clock: Callable[[], float] = time.monotonic,
        hire: Callable[[Path, IO[bytes], str, Slots, float], Worker] = Worker,
    ) -> None:
        super().__init__(store, "dpcore-pool")
        self.train = train
        self._clock = clock
        self._hire = hire
        self.workers: list[Worker] = []
        self._limits = usual()  # those last in force
        self._wrong_limits: str | None = None  # the error in their file
        self._lock_file: IO[bytes] | None = None
        self._failures = 0  # workers in a row that ended without a run
        self._not_before = -math.inf  # when to try again
        self._deaths: dict[str, int] = {}  # worker name -> exit status
        self._heartbeats = Heartbeats(store, stale, clock)
        self._swept = -math.inf  # time of the last look for leftovers

    def close(self) -> None:
        """End the waiting workers; training runs continue.

        The next pool queues a run again that was claimed just now.
        """
        super().close()
        with suppress(StoreError):
            self._note_busy(self.store.runs(Status.RUNNING, kind=None))
        for worker in self.workers:
            if worker.busy_since is None:
                worker.kill(signal.SIGTERM)
                worker.process.wait()
        if self._lock_file:
            self._lock_file.close()

    def _serve(self) -> None:
        while not self._stop.is_set():
            self.round()
            self._stop.wait(INTERVAL)

    def round(self) -> None:
        """Look after the runs and workers once, if this pool serves its home."""
        try:
            self._lock_file = self._lock_file or lock_of(self.store.home)
            if self._lock_file:
                self._look()
            trouble = self._wrong_limits
            if self._failures > 1:
                trouble = (
                    f"Training workers ended {self._failures} times in a row without taking a run;"
                    f" {self.log} says why."
                )
            self.trouble = trouble
        except (StoreError, OSError) as error:
            self.trouble = str(error)

    def _look(self) -> None:
        self._reap()
        try:
            self._limits = limits_of(self.store.home)
            self._wrong_limits = None
        except StoreError as error:  # the limits before hold
            self._wrong_limits = str(error)
        running = self.store.runs(Status.RUNNING, kind=None)
        self._note_busy(running)
        for run in running:
            self._recover_if_dead(run)
        self._heartbeats.forget_all_but({run.id for run in running})
        if self._clock() - self._swept > LEFTOVER_SECONDS:
            self._swept = self._clock()
            remove_needless(self.store)
        self._keep_warm()

    def _reap(self) -> None:
        """Forget the ended workers, and remember how they ended."""
        for worker in list(self.workers):
            status = worker.process.poll()
            if status is None:
                continue
            self.workers.remove(worker)
            self._deaths[worker.name] = status
            was_waiting = worker.busy_since is None and not worker.dismissed
            if was_waiting and status != 0:
                self._note_failure(worker)

    def _note_failure(self, worker: Worker) -> None:
        """Wait longer after each failure but the first, which may be an accident."""
        now = self._clock()
        lived_long = now - worker.born > MAX_WAIT_SECONDS
        self._failures = 1 if lived_long else self._failures + 1
        self._not_before = now
        if self._failures > 1:
            self._not_before += min(2.0 ** (self._failures - 2), MAX_WAIT_SECONDS)

    def _note_busy(self, running: list[Run]) -> None:
        names = {run.worker for run in running}
        for worker in self.workers:
            if worker.name in names and worker.busy_since is None:
                worker.busy_since = self._clock()
                self._failures = 0

    def _recover_if_dead(self, run: Run) -> None:
        """Queue a run again whose worker is dead, or silent for too long; kill the silent one."""
        if self._heartbeats.recover_silent(run):
            for worker in self.workers:
                if worker.name == run.worker:
                    worker.kill(signal.SIGKILL)
        recover_if_dead(self.store, run, _how(self._deaths.get(run.worker or "")))

    def _keep_warm(self) -> None:
        """Keep one waiting worker for each slot, and dismiss those of earlier slots."""
        slots = slots_of(self._limits, device_here(self.store.home))
        warm = set()
        for worker in self.workers:
            if worker.busy_since is not None or worker.dismissed:
                continue
            warm.add(worker.slots)
            if worker.slots not in slots:
                worker.dismiss()
        for each in slots:
            if each not in warm:
                self._start(each)

    def _start(self, slots: Slots) -> None:
        """Start a worker, unless a run has just begun: it has the processor to itself at first."""
        now = self._clock()
        if now < self._not_before:
            return
        for worker in self.workers:
            if worker.busy_since is not None and now - worker.busy_since < SPARE:
                return
        if self.log.exists() and self.log.stat().st_size > LOG:
            self.log.replace(self.log.with_suffix(".old.log"))
        with open(self.log, "ab", opener=private) as log:
            self.workers.append(self._hire(self.store.home, log, self.train, slots, now))


def _how(status: int | None) -> str:
    """The end of a process in words, as far as its pool saw it."""
    if status is None:
        return ""
    if status == -signal.SIGKILL:
        return f" (status {status}, perhaps because the system ran out of memory)"
    return f" (status {status})"
