"""Whose turn it is to compute what a file will keep: one at a time, of the threads and processes that want it.

Whoever has the turn holds a lock on a file of its own, which the operating system takes from a process that is killed.
That file is as many bytes long as images are done, so that those who wait can say so: it holds nothing and takes no
room. A turn saves work and protects nothing: two who compute at once find the same bits, and neither sees half a file.
So where there is no lock to be had, and where whoever has the turn gets no further, nobody is waited for.
"""

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Self

LOOK = 0.2  # seconds between two looks at whether the turn has come
PATIENCE = 120.0  # seconds without a further image after which nobody is waited for: a process may be suspended


class Turn:
    """The turn that goes with a lock file, asked for again and again until it comes; over when the context ends."""

    def __init__(self, path: Path) -> None:
        self.done = 0  # images, of whoever has the turn
        self._path = path
        self._file: IO[bytes] | None = None  # of the lock that is held
        self._heard = time.monotonic()  # when another number of images was seen

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the lock file while it is still locked, so that whoever opened it meanwhile finds it gone."""
        if self._file is None:
            return
        with suppress(OSError):
            if lies_at(self._file, self._path):
                self._path.unlink()
        self._file.close()

    def awaited(self, total: int) -> Iterator[tuple[int, int]]:
        """Until it comes: how many images are done, and of how many, also while that stays the same."""
        while not self.came():
            yield min(self.done, total), total
            time.sleep(LOOK)

    def came(self) -> bool:
        """Whether nobody is waited for any more: the turn is taken, or there is none to be had. Does not block."""
        with ExitStack() as undone:
            try:
                import fcntl  # late: not every system has it

                self._path.parent.mkdir(parents=True, exist_ok=True)
                file = undone.enter_context(open(self._path, "ab"))
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not lies_at(file, self._path):  # removed meanwhile by whoever had the turn: it keeps nobody out
                    return self._hears(self.done)
            except BlockingIOError:
                return self._hears(os.fstat(file.fileno()).st_size)
            except (OSError, ImportError):  # nothing can be written there, or locked
                return True
            undone.pop_all()
        self._file = file
        self.tell(0)
        return True

    def tell(self, done: int, total: int = 0) -> None:
        """Tell those who wait how many images are done."""
        if self._file:
            with suppress(OSError):
                self._file.truncate(done)

    def _hears(self, done: int) -> bool:
        """Note how far whoever has the turn is; whether that has not changed for too long."""
        if done != self.done:
            self.done, self._heard = done, time.monotonic()
        return time.monotonic() - self._heard > PATIENCE


def lies_at(file: IO[bytes], path: Path) -> bool:
    """Whether the open file is the one that has that path now."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    return False
