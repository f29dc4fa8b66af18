"""Median times, for the benchmarks that compare two ways of doing the same work."""

import statistics
import time
from collections.abc import Callable
from typing import Any


def milliseconds(work: Callable[[], Any], repeat: int, before: Callable[[], Any] | None = None) -> tuple[float, Any]:
    """Median time of `work`, and what it returned last; `before` empties caches each time, and is not timed."""
    times, result = [], None
    for _ in range(repeat):
        if before:
            before()
        start = time.perf_counter()
        result = work()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times), result
