"""A class that moves its sliders at once: pages are run two at a time, so that the first are soon done.

Python runs one thread at a time: if a hundred pages are run at once, each takes a hundred times as long.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

LONGEST = 1.0  # seconds that a page waits for those before it: beside one that computes for long it is run, too
_turns = BoundedSemaphore(2)


@contextmanager
def in_turn(turns: BoundedSemaphore = _turns, longest: float = LONGEST) -> Iterator[None]:
    """Wait for one of the turns to run a page, though not for long, and have it while the block runs."""
    mine = turns.acquire(timeout=longest)
    try:
        yield
    finally:
        if mine:
            turns.release()
