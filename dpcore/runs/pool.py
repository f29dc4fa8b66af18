"""Worker processes of this machine: one is always warm, and what goes wrong with them ends up in the store.

Any number of pools may serve one home: the one that holds the lock file starts workers, the others stand by to take
over.
"""

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

import dpcore
from dpcore import check
from dpcore.runs.kinds import TRAINING
from dpcore.runs.leftovers import sweep
from dpcore.runs.record import Run, Status, StoreError, is_dead, state_directory, worker_name
from dpcore.runs.store import Store

TRAIN = TRAINING.work
INTERVAL = 0.2  # seconds between two rounds
SPARE = 2.0  # seconds a run has the machine to itself before the next worker warms up
GRACE = 5.0  # seconds from a cancellation to SIGTERM, and from there to SIGKILL
STALE = 15.0  # seconds without a heartbeat that make a run lost
LOG = 1_000_000  # bytes that the workers' log may have when a worker starts
SWEEP = 600.0  # seconds between two looks for files that runs have left behind
LONGEST_WAIT = 60.0  # seconds between attempts where workers do not come up

_pools: dict[Path, "Pool"] = {}
_pools_lock = threading.Lock()


def ensure_pool(home: Path | str | None = None) -> "Pool":
    """This process's pool for `home`, started on the first call; cheap afterwards. Raises StoreError."""
    key = Path(home).absolute() if home else state_directory()
    with _pools_lock:
        if key not in _pools or _pools[key].closed:
            _pools[key] = Pool(Store(key)).start()
        return _pools[key]


def lose_dead(store: Store) -> None:
    """Mark lost what runs by the store but has no process any more: for where no pool looks after it."""
    for run in store.runs(Status.RUNNING, kind=None):
        if is_dead(run.worker or ""):
            store.lose(run.id, f"Its worker {run.worker} died.")


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


class Worker:
    """A process that this pool started, in a process group of its own."""

    def __init__(self, store: Store, log: IO[bytes], train: str, slots: int) -> None:
        command = [sys.executable, "-P", "-m", "dpcore.runs.worker", "--home", str(store.home)]
        command += ["--parent", str(os.getpid()), "--slots", str(slots), "--train", train]
        if train == TRAIN:  # another function need not end after one step
            command.append("--warm-up")
        root = str(Path(dpcore.__file__).parents[1])
        path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,
        )
        self.name = worker_name(self.process.pid)
        self.born = time.monotonic()
        self.busy_since: float | None = None  # when its run was first seen

    def kill(self, number: signal.Signals) -> None:
        """Signal the whole process group, unless the worker has ended."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, number)


class Pool:
    """Keeps one worker warm for `store`, up to `slots` runs at once; the others queue.

    `trouble` says what keeps runs from starting, or is None. `train` names the function that trains, "module:name";
    jobs of other kinds are done by their own.
    """

    def __init__(self, store: Store, slots: int = 1, train: str = TRAIN, grace: float = GRACE, stale: float = STALE):
        check.whole(1, slots=slots)
        check.positive(grace=grace, stale=stale)
        self.store, self.slots, self.train, self.grace, self.stale = store, slots, train, grace, stale
        self.log = store.home / "workers.log"
        self.trouble: str | None = None
        self.workers: list[Worker] = []
        self._lock_file: IO[bytes] | None = None
        self._failures = 0  # workers in a row that ended before they took a run
        self._not_before = 0.0  # monotonic time of the next attempt
        self._deaths: dict[str, int] = {}  # worker name -> exit status
        self._beats: dict[str, tuple[float | None, float]] = {}  # run -> heartbeat, when it was first seen
        self._asked: dict[str, float] = {}  # run -> when its cancellation was first seen
        self._swept = -SWEEP  # monotonic time of the last look for leftovers
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="dpcore-pool", daemon=True)

    def start(self) -> "Pool":
        """Begin to serve, in a thread of its own."""
        self._thread.start()
        return self

    @property
    def closed(self) -> bool:
        """Whether the pool serves no more."""
        return self._stop.is_set()

    def close(self) -> None:
        """End the waiting workers; a run that trains goes on, and one that was claimed just now is queued again."""
        self._stop.set()
        self._thread.join()
        with suppress(StoreError):
            self._note_busy(self.store.runs(Status.RUNNING, kind=None))
        for worker in self.workers:
            if worker.busy_since is None:
                worker.kill(signal.SIGTERM)
                worker.process.wait()
        if self._lock_file:
            self._lock_file.close()

    def __enter__(self) -> "Pool":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _serve(self) -> None:
        while not self._stop.is_set():
            try:
                if self._owns_home():
                    self._round()
                self.trouble = self._failing()
            except (StoreError, OSError) as error:
                self.trouble = str(error)
            self._stop.wait(INTERVAL)

    def _owns_home(self) -> bool:
        """Whether this pool is the one that starts workers: it holds the lock, or takes it over."""
        if self._lock_file:
            return True
        file = open(self.store.home / "pool.lock", "wb")  # noqa: SIM115  # held as long as the pool lives
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return False
        self._lock_file = file
        return True

    def _round(self) -> None:
        self._reap()
        running = self.store.runs(Status.RUNNING, kind=None)
        self._note_busy(running)
        for run in running:
            self._end_if_dead(run)
            self._end_if_cancelled(run)
        ids = {run.id for run in running}
        for memory in (self._beats, self._asked):
            for gone in memory.keys() - ids:
                del memory[gone]
        if time.monotonic() - self._swept > SWEEP:
            self._swept = time.monotonic()
            sweep(self.store)
        self._keep_one_warm()

    def _reap(self) -> None:
        """Forget the workers that have ended, but how."""
        for worker in [worker for worker in self.workers if worker.process.poll() is not None]:
            self.workers.remove(worker)
            status = self._deaths[worker.name] = worker.process.returncode
            if worker.busy_since is None and status != 0:
                self._note_failure(worker)

    def _note_failure(self, worker: Worker) -> None:
        """Wait longer from failure to failure; the first may be an accident."""
        now = time.monotonic()
        self._failures = 1 if now - worker.born > LONGEST_WAIT else self._failures + 1
        self._not_before = now + min(2.0 ** (self._failures - 2), LONGEST_WAIT) if self._failures > 1 else now

    def _failing(self) -> str | None:
        if self._failures < 2:
            return None
        return f"Training workers end before they take a run, {self._failures} times in a row; {self.log} says why."

    def _note_busy(self, running: list[Run]) -> None:
        names = {run.worker for run in running}
        for worker in self.workers:
            if worker.name in names and worker.busy_since is None:
                worker.busy_since = time.monotonic()
                self._failures = 0

    def _end_if_dead(self, run: Run) -> None:
        """Mark a run lost whose worker is gone, or silent for so long that it must be."""
        worker = run.worker or ""
        heartbeat, seen = self._beats.get(run.id, (None, 0.0))
        if heartbeat != run.heartbeat:
            # by this pool's clock: a suspended machine must not lose the runs it will go on with
            self._beats[run.id] = (run.heartbeat, time.monotonic())
        elif time.monotonic() - seen > self.stale:
            self.store.lose(run.id, f"Its worker {worker} gave no sign of life for {self.stale:g} s.")
            self._signal(worker, signal.SIGKILL)
        if is_dead(worker):
            status = self._deaths.get(worker)
            self.store.lose(run.id, f"Its worker {worker} died" + ("." if status is None else f" (status {status})."))

    def _end_if_cancelled(self, run: Run) -> None:
        """Where a worker does not heed a cancellation: SIGTERM, then SIGKILL; only for workers of this pool."""
        if not run.cancelling:
            return
        waited = time.monotonic() - self._asked.setdefault(run.id, time.monotonic())
        if waited > 2 * self.grace:
            self._signal(run.worker, signal.SIGKILL)
        elif waited > self.grace:
            self._signal(run.worker, signal.SIGTERM)

    def _signal(self, name: str | None, number: signal.Signals) -> None:
        for worker in self.workers:
            if worker.name == name:
                worker.kill(number)

    def _keep_one_warm(self) -> None:
        """Start a worker where none waits; a run that has just begun keeps the processor to itself for a moment."""
        now = time.monotonic()
        waiting = any(worker.busy_since is None for worker in self.workers)
        fresh = any(worker.busy_since and now - worker.busy_since < SPARE for worker in self.workers)
        if waiting or fresh or now < self._not_before:
            return
        trim(self.log)
        with open(self.log, "ab") as log:
            self.workers.append(Worker(self.store, log, self.train, self.slots))
