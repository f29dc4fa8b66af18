"""Worker processes of tests: a pool that leaves none behind, and which of them live."""

import signal
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
