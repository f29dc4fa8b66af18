"""Coroutines in tests, each in an event loop of its own, whatever else this process has done."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def awaited(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns or raises.

    It runs in a thread of its own: the browser tests leave a running loop in the thread of the
    tests, beside which asyncio starts no second one.
    """
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, coroutine).result()
