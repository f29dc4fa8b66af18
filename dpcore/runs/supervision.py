"""A pool on this machine or on a cluster has these in common: its thread, lost workers, and files to remove."""

import fcntl
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Container
from contextlib import suppress
from pathlib import Path
from typing import IO, Self

import dpcore
from dpcore.runs.record import Run, Status, StoreError, checkpoint_path
from dpcore.runs.store import Store

LEFTOVER_SECONDS = 600.0  # between two looks for files that runs have left behind


def lock_of(home: Path) -> IO[bytes] | None:
    """The lock of the home, which is held until it is closed; None where another pool has it."""
    try:
        return locked(home / "pool.lock")
    except BlockingIOError:
        return None


def locked(path: Path, mode: str = "wb") -> IO[bytes]:
    """A file that this process alone has open; OSError where another has it."""
    file = open(path, mode)  # noqa: SIM115  # whoever asks closes it
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise
    return file


def process_environment() -> dict[str, str]:
    """The environment of a process that is to find this very program."""
    root = str(Path(dpcore.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))}


class PoolThread(ABC):
    """Has the runs of `store` done, in a thread of its own.

    `trouble` says what keeps runs from starting, or is None; what workers print is in `log`.
    """

    def __init__(self, store: Store, name: str) -> None:
        self.store = store
        self.log = store.home / "workers.log"
        self.trouble: str | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)

    @abstractmethod
    def _serve(self) -> None:
        """Serve until `_stop` is set."""

    def start(self) -> Self:
        """Begin to serve."""
        self._thread.start()
        return self

    @property
    def closed(self) -> bool:
        """Whether it serves no more."""
        return self._stop.is_set()

    def close(self) -> None:
        """Serve no more; a run that trains goes on."""
        self._stop.set()
        self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()


STALE = 15.0  # seconds without a sign of life that make a worker lost


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
            reason = f"Its worker {run.worker or ''} gave no sign of life for {self.stale:g} s."
            return self._store.recover(run, reason) is not None
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


UNKNOWN_FOR = 3600.0  # seconds that a checkpoint of no known run is kept: a rest's is copied before it is a run


def remove_needless(store: Store) -> list[Path]:
    """Remove checkpoints of runs that have finished or are gone, and halves of those that ended early; what went.

    A run that ended early keeps its checkpoint: it can be resumed from it.
    """
    folder = checkpoint_path(store.home, "any").parent
    files = [file for file in folder.glob("*") if file.suffix in (".pt", ".part")]
    runs = {run.id: run for run in store.runs(kind=None)} if files else {}
    removed = []
    for file in files:
        run, needless = runs.get(file.stem), False
        if run is None:
            with suppress(FileNotFoundError):
                needless = time.time() - file.stat().st_mtime > UNKNOWN_FOR
        else:
            needless = run.status is Status.FINISHED or (file.suffix == ".part" and not run.active)
        if needless:
            file.unlink(missing_ok=True)
            removed.append(file)
    return removed
