"""The shared part of all pools: their thread, watch over workers, removal of old files."""

import fcntl
import json
import os
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

import dpcore
from dpcore.runs.lifecycle import Status
from dpcore.runs.record import Run, StoreError, checkpoint_path, is_dead
from dpcore.runs.store import Store
from dpcore.whole_file import private

LEFTOVER_SECONDS = 600.0  # between two looks for leftover files


def lock_of(home: Path) -> IO[bytes] | None:
    """Take the lock of the home, which is held until it is closed; None if another pool has it."""
    try:
        return locked(home / "pool.lock")
    except BlockingIOError:
        return None


def locked(path: Path, mode: str = "wb") -> IO[bytes]:
    """Open and lock a file, private if it is new; OSError if another process holds it."""
    file = open(path, mode, opener=private)  # noqa: SIM115  # the caller closes it
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise
    return file


def start_process(
    module: str,
    home: Path,
    options: Mapping[str, Any],
    log: IO[bytes],
    *,
    output: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a module of this very program for a home, in a session of its own.

    It gets the options as JSON, with this process as `parent`, and logs to `log`. Its output goes
    there, too, unless `output` is subprocess.PIPE.
    """
    root = str(Path(dpcore.__file__).parents[1])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    given = json.dumps({**options, "parent": os.getpid()})
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module, str(home), given],
        stdin=subprocess.DEVNULL,
        stdout=log if output is None else output,
        stderr=log,
        env={**os.environ, "PYTHONPATH": path, **(environment or {})},
        start_new_session=True,
    )


class PoolThread(ABC):
    """A thread that has the runs of `store` done.

    `trouble` says why no run can start, or is None; `log` holds the output of the workers.
    """

    def __init__(self, store: Store, name: str) -> None:
        self.store = store
        self.log = store.home / "workers.log"
        self.trouble: str | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)

    @abstractmethod
    def _serve(self) -> None: ...

    def start(self) -> Self:
        self._thread.start()
        return self

    @property
    def closed(self) -> bool:
        return self._stop.is_set()

    def close(self) -> None:
        """Stop the thread; a run that trains continues."""
        self._stop.set()
        self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()


def recover_if_dead(store: Store, run: Run, how: str = "") -> None:
    """Queue a run again, or end it, if its worker is a dead process of this machine."""
    if run.worker and is_dead(run.worker):
        store.recover(run, f"Its worker {run.worker} died{how}.")


def recover_dead(store: Store) -> None:
    """Do that with all runs; for use without a pool."""
    for run in store.runs(Status.RUNNING, kind=None):
        recover_if_dead(store, run)


STALE = 15.0  # seconds without a sign of life that make a worker lost


class Heartbeats:
    """The last change of each run's heartbeat, by this process's own `clock`.

    The clocks of machines differ, and a machine that was suspended must not lose its runs.
    """

    def __init__(
        self, store: Store, stale: float = STALE, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.stale = stale
        self._store = store
        self._clock = clock
        # Run -> heartbeat, `_now` when first seen.
        self._seen: dict[str, tuple[float | None, float]] = {}
        self._waited = 0.0  # seconds in all, for the store

    def recover_silent(self, run: Run) -> bool:
        """Queue a run again whose worker was silent for too long; True if that happened.

        A worker that waits for the store is not silent. So after half of the time each call waits
        for the store as the worker would, and that wait does not count. After a full disk every
        worker has its whole time again.
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
            reason = f"Its worker {run.worker or ''} gave no sign of life for {self.stale:g} s."
            return self._store.recover(run, reason) is not None
        except StoreError:
            self._seen.clear()
            raise

    @property
    def _now(self) -> float:
        """The time without the waits for the store."""
        return self._clock() - self._waited

    def forget_all_but(self, runs: Container[str]) -> None:
        self._seen = {run: seen for run, seen in self._seen.items() if run in runs}


# Seconds for which a checkpoint without a run is kept: a rest is copied before it is stored.
UNKNOWN_FOR = 3600.0


def remove_needless(store: Store) -> None:
    """Remove the checkpoints of finished and deleted runs, and half-written old ones.

    A run that ended early keeps its checkpoint, to be resumed from.
    """
    folder = checkpoint_path(store.home, "any").parent
    files = [file for file in folder.glob("*") if file.suffix in (".pt", ".part")]
    if not files:
        return
    runs = {run.id: run for run in store.runs(kind=None)}
    for file in files:
        with suppress(FileNotFoundError):  # another process may have removed it
            run = runs.get(file.stem)
            age = time.time() - file.stat().st_mtime
            finished = run is not None and run.status is Status.FINISHED
            orphaned = run is None and age > UNKNOWN_FOR
            if finished or orphaned:
                file.unlink()
