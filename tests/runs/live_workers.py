"""Worker processes of tests: a pool that leaves none behind, which of them live, and a store that another holds."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpcore.runs.pool import Pool
from dpcore.runs.record import Run
from dpcore.runs.store import Store


@contextmanager
def pool_of(store: Store, train: str, **options: float) -> Iterator[Pool]:
    """A pool whose workers train with a double, of train_doubles or a module; ends every worker it started."""
    with Pool(store, train=train if ":" in train else f"train_doubles:{train}", **options) as pool:  # type: ignore[arg-type]
        try:
            yield pool
        finally:
            workers = list(pool.workers)
            for worker in workers:
                worker.kill(signal.SIGKILL)
            pool.close()
            for worker in [*workers, *pool.workers]:
                worker.kill(signal.SIGKILL)
                worker.process.wait()


def pid_of(run: Run) -> int:
    """The process that trains a run."""
    assert run.worker is not None
    return int(run.worker.rpartition(":")[2])


def processes(home: Path) -> list[int]:
    """Ids of the live worker processes that serve `home`."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"dpcore.runs.worker" in words and str(home).encode() in words:
            found.append(int(entry.name))
    return found


HOLD = """
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
time.sleep(float(sys.argv[2]))
db.execute("ROLLBACK")
"""


@contextmanager
def held(file: Path, seconds: float) -> Iterator[subprocess.Popen[bytes]]:
    """The database in the hands of another process, for so many seconds from the beginning of the block on."""
    command = [sys.executable, "-c", HOLD, str(file), str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
            yield holder
        finally:
            holder.kill()
