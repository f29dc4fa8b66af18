"""A class that moves its sliders at once: pages are run a few at a time, so that the first are soon done.

Python runs one thread at a time. If a hundred pages are run at once each takes a hundred times as long, and what has to
be quick waits among them: charts that are drawn while a slider moves, and events on their way to who follows runs.
"""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

AT_ONCE = 2  # pages: one that reads the store or computes in numpy leaves Python to another
LONGEST = 1.0  # seconds that a page has its turn for; one that computes for longer goes on beside the others
URGENT = 1.0  # seconds that a page whose turn has come waits for what is urgent


class Turns:
    """Turns for so many at once, given in the order in which they were asked for."""

    def __init__(self, at_once: int = AT_ONCE, longest: float = LONGEST) -> None:
        self._at_once, self._longest = at_once, longest
        self._lock = threading.Lock()
        self._waiting: deque[threading.Condition] = deque()
        self._since: dict[threading.Condition, float] = {}  # when each that runs began
        self._urgent = 0
        self._first_since = 0.0  # when whoever waits longest became that

    @contextmanager
    def one(self) -> Iterator[None]:
        """Wait for a turn, and have it while the block runs."""
        mine = threading.Condition(self._lock)
        with self._lock:
            self._waiting.append(mine)
            if self._waiting[0] is mine:
                self._first_since = time.monotonic()
            try:
                while (behind := self._waiting[0] is not mine) or self._until_free() > 0:
                    mine.wait(None if behind else self._until_free())
                self._since[mine] = time.monotonic()
            finally:
                self._waiting.remove(mine)
                self._first_since = time.monotonic()
                self._wake_next()
        try:
            yield
        finally:
            with self._lock:
                del self._since[mine]
                self._wake_next()

    @contextmanager
    def urgent(self) -> Iterator[None]:
        """Have pages wait while the block runs, though none for long. It is never waited for here."""
        with self._lock:
            self._urgent += 1
        try:
            yield
        finally:
            with self._lock:
                self._urgent -= 1
                self._wake_next()

    def _wake_next(self) -> None:
        if self._waiting:
            self._waiting[0].notify()

    def _until_free(self) -> float:
        """Seconds until there is a turn for whoever is first, even if nobody is done before."""
        ends = sorted(began + self._longest for began in self._since.values())
        free = ends[-self._at_once] if len(ends) >= self._at_once else 0.0
        if self._urgent:
            free = max(free, self._first_since + URGENT)
        return free - time.monotonic()


_turns = Turns()


def in_turn() -> AbstractContextManager[None]:
    """Wait for a turn to run a page, and have it while the block runs."""
    return _turns.one()


def before_pages() -> AbstractContextManager[None]:
    """Have pages wait while the block draws what a moving hand waits for."""
    return _turns.urgent()
