"""A class that moves its sliders at once: pages are run a few at a time, so that the first are soon done."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

AT_ONCE = max(2, os.cpu_count() or 1)
PATIENCE = 0.5  # seconds until a page is run anyway: another may take long to compute
_turns = threading.BoundedSemaphore(AT_ONCE)


@contextmanager
def in_turn() -> Iterator[None]:
    """Wait for a turn, and have it while the block runs.

    All at once, a hundred runs of a page share one interpreter: each takes a hundred times as long, and the charts that
    are drawn while a slider moves wait with them.
    """
    taken = _turns.acquire(timeout=PATIENCE)
    try:
        yield
    finally:
        if taken:
            _turns.release()
