"""Worker processes of this machine: one is always warm, and what goes wrong with them ends up in the store.

Any number of pools may serve one home: the one that holds the lock file starts workers, the others stand by to take
over.
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

from dpcore import check
from dpcore.runs.kinds import TRAINING
from dpcore.runs.limits import limits_of, overdue, usual
from dpcore.runs.ray_pool import pool_here
from dpcore.runs.record import Run, Status, StoreError, device_here, is_dead, state_directory
from dpcore.runs.store import Store
from dpcore.runs.supervision import LEFTOVER_SECONDS, STALE, Heartbeats, PoolThread, lock_of, remove_needless
from dpcore.runs.worker_process import Slots, Worker, slots_of

TRAIN = TRAINING.work
INTERVAL = 0.2  # seconds between two rounds
SPARE = 2.0  # seconds a run has the machine to itself before the next worker warms up
GRACE = 5.0  # seconds from a cancellation to SIGTERM, and from there to SIGKILL
LOG = 1_000_000  # bytes that the workers' log may have when a worker starts
MAX_WAIT_SECONDS = 60.0  # seconds between attempts where workers do not come up

_pools: dict[Path, PoolThread] = {}
_pools_lock = threading.Lock()


def ensure_pool(home: Path | str | None = None) -> PoolThread:
    """This process's pool for `home`, started on the first call; cheap afterwards. Raises StoreError.

    It is of this machine, or where DPCORE_POOL=ray says so, of a Ray cluster.
    """
    key = Path(home).absolute() if home else state_directory()
    with _pools_lock:
        if key not in _pools or _pools[key].closed:
            _pools[key] = _pool_of(os.environ.get("DPCORE_POOL") or "local", key).start()
        return _pools[key]


def _pool_of(name: str, home: Path) -> PoolThread:
    if name not in ("local", "ray"):
        raise StoreError(f"Expected DPCORE_POOL={name!r} to be local or ray.")
    return pool_here(Store(home)) if name == "ray" else Pool(Store(home))


def recover_dead(store: Store) -> None:
    """Queue again, or mark lost, what runs by the store but has no process any more: where no pool looks after it."""
    for run in store.runs(Status.RUNNING, kind=None):
        if is_dead(run.worker or ""):
            store.recover(run, f"Its worker {run.worker} died.")


def trim(log: Path, most: int = LOG) -> None:
    """Cut a file of more than `most` bytes down to its last lines, half of that; who appends to it may go on."""
    if not log.exists() or log.stat().st_size <= most:
        return
    with open(log, "r+b") as file:
        file.seek(-(most // 2), os.SEEK_END)
        kept = file.read().partition(b"\n")[2]
        file.seek(0)
        file.write(kept)
        file.truncate()


class Pool(PoolThread):
    """Keeps workers warm for `store`, one for each device's runs; those that find no slot queue.

    There are `slots` for all devices together, or as many for each as the limits say. `trouble` may also say what is
    wrong with the limits. `train` names the function that trains, "module:name"; jobs of other kinds are done by their
    own. All that takes time is measured by `clock`, and `hire` starts a worker, so that `round` can be led by hand.
    """

    def __init__(
        self,
        store: Store,
        slots: int | None = None,
        train: str = TRAIN,
        grace: float = GRACE,
        stale: float = STALE,
        *,
        clock: Callable[[], float] = time.monotonic,
        hire: Callable[[Path, IO[bytes], str, Slots, float], Worker] = Worker,
    ) -> None:
        if slots is not None:
            check.whole(1, slots=slots)
        check.positive(grace=grace, stale=stale)
        super().__init__(store, "dpcore-pool")
        self.slots, self.train, self.grace = slots, train, grace
        self._clock, self._hire = clock, hire
        self.workers: list[Worker] = []
        self._limits = usual()  # those that were in force last
        self._wrong_limits: str | None = None  # what is wrong with the file that says them
        self._lock_file: IO[bytes] | None = None
        self._failures = 0  # workers in a row that ended before they took a run
        self._not_before = -math.inf  # time of the next attempt
        self._deaths: dict[str, int] = {}  # worker name -> exit status
        self._heartbeats = Heartbeats(store, stale, clock)
        self._asked: dict[str, float] = {}  # run -> when its cancellation was first seen
        self._swept = -math.inf  # time of the last look for leftovers

    def close(self) -> None:
        """End the waiting workers; a run that trains goes on, and one that was claimed just now is queued again."""
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
        """Look once after the runs and the workers, where this pool is the one of its home."""
        try:
            if self._owns_home():
                self._look()
            self.trouble = self._failing() or self._wrong_limits
        except (StoreError, OSError) as error:
            self.trouble = str(error)

    def _owns_home(self) -> bool:
        """Whether this pool is the one that starts workers: it holds the lock, or takes it over."""
        self._lock_file = self._lock_file or lock_of(self.store.home)
        return self._lock_file is not None

    def _look(self) -> None:
        self._reap()
        self._read_limits()
        running = self.store.runs(Status.RUNNING, kind=None)
        self._note_busy(running)
        for run in running:
            self._recover_if_dead(run)
            self._end_if_cancelled(run)
            self._end_if_overdue(run)
        ids = {run.id for run in running}
        self._heartbeats.forget_all_but(ids)
        self._asked = {run: since for run, since in self._asked.items() if run in ids}
        if self._clock() - self._swept > LEFTOVER_SECONDS:
            self._swept = self._clock()
            remove_needless(self.store)
        self._keep_warm()

    def _read_limits(self) -> None:
        """Take on the limits that are in force now; where the file is wrong, those from before stay."""
        try:
            self._limits, self._wrong_limits = limits_of(self.store.home), None
        except StoreError as error:
            self._wrong_limits = str(error)

    def _slots_now(self) -> tuple[Slots, ...]:
        if self.slots is not None:
            return (Slots(self.slots),)
        return slots_of(self._limits, device_here(self.store.home))

    def _reap(self) -> None:
        """Forget the workers that have ended, but how."""
        for worker in [worker for worker in self.workers if worker.process.poll() is not None]:
            self.workers.remove(worker)
            status = self._deaths[worker.name] = worker.process.returncode
            if worker.busy_since is None and not worker.dismissed and status != 0:
                self._note_failure(worker)

    def _note_failure(self, worker: Worker) -> None:
        """Wait longer from failure to failure; the first may be an accident."""
        now = self._clock()
        self._failures = 1 if now - worker.born > MAX_WAIT_SECONDS else self._failures + 1
        self._not_before = now + min(2.0 ** (self._failures - 2), MAX_WAIT_SECONDS) if self._failures > 1 else now

    def _failing(self) -> str | None:
        if self._failures < 2:
            return None
        return f"Training workers end before they take a run, {self._failures} times in a row; {self.log} says why."

    def _note_busy(self, running: list[Run]) -> None:
        names = {run.worker for run in running}
        for worker in self.workers:
            if worker.name in names and worker.busy_since is None:
                worker.busy_since = self._clock()
                self._failures = 0

    def _recover_if_dead(self, run: Run) -> None:
        """Queue a run again whose worker is gone, or silent for so long that it must be: then it is ended."""
        worker = run.worker or ""
        if self._heartbeats.recover_silent(run):
            self._signal(worker, signal.SIGKILL)
        if is_dead(worker):
            self.store.recover(run, f"Its worker {worker} died{_how(self._deaths.get(worker))}.")

    def _end_if_cancelled(self, run: Run) -> None:
        """Where a worker does not heed a cancellation: SIGTERM, then SIGKILL; only for workers of this pool."""
        if not run.cancelling:
            return
        waited = self._clock() - self._asked.setdefault(run.id, self._clock())
        if waited > 2 * self.grace:
            self._signal(run.worker, signal.SIGKILL)
        elif waited > self.grace:
            self._signal(run.worker, signal.SIGTERM)

    def _end_if_overdue(self, run: Run) -> None:
        """End a run that took too long and whose worker does not end it by itself; only for workers of this pool."""
        seconds = self._limits.seconds
        for worker in self.workers:
            since = worker.busy_since
            if worker.name == run.worker and since is not None and self._clock() - since > seconds + 2 * self.grace:
                worker.kill(signal.SIGKILL)
                self.store.end(run.id, Status.FAILED, overdue(seconds), run.worker)

    def _signal(self, name: str | None, number: signal.Signals) -> None:
        for worker in self.workers:
            if worker.name == name:
                worker.kill(number)

    def _keep_warm(self) -> None:
        """Have one worker wait for the runs of each device; dismiss those that wait for what others take by now."""
        slots = self._slots_now()
        waiting = [worker for worker in self.workers if worker.busy_since is None and not worker.dismissed]
        for worker in waiting:
            if worker.slots not in slots:
                worker.dismiss()
        for each in slots:
            if all(worker.slots != each for worker in waiting):
                self._start(each)

    def _start(self, slots: Slots) -> None:
        """Start a worker; a run that has just begun keeps the processor to itself for a moment."""
        now = self._clock()
        fresh = any(now - worker.busy_since < SPARE for worker in self.workers if worker.busy_since is not None)
        if fresh or now < self._not_before:
            return
        trim(self.log)
        with open(self.log, "ab") as log:
            self.workers.append(self._hire(self.store.home, log, self.train, slots, now))


def _how(status: int | None) -> str:
    """How a process ended, as far as its pool has seen it."""
    if status is None:
        return ""
    memory = ", perhaps because the system ran out of memory" if status == -signal.SIGKILL else ""
    return f" (status {status}{memory})"
