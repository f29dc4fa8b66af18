"""A process that appends events to a run as fast as it can, as a worker never does; it needs nothing but the store."""

import time
from pathlib import Path
from typing import Any

from dpcore.runs.store import Store
from dpcore.training.events import Stepped

STEPPED = Stepped(1, 0.1, 1.0, 0.5, (1.0, 2.0, 3.0, 4.0, 5.0), 10.0)


def appended(home: Path, run: str, seconds: float, start: Any, counts: Any) -> None:
    """Append to a run for so many seconds, and tell how often."""
    with Store(home) as store:
        start.wait()
        count, deadline = 0, time.monotonic() + seconds
        while time.monotonic() < deadline:
            store.append(run, STEPPED)
            count += 1
        counts.put(count)
