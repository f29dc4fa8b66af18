"""Threads that each keep one core busy: a step is cut into few large pieces of work instead of many small ones."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")


class Cores:
    """As many threads as torch would use, inside of which torch uses one.

    Torch itself waits for its threads after every operation. On a machine that has other work, each wait lasts until
    the slowest thread was let in: sharing out whole pieces of a batch waits once a step.
    """

    def __init__(self, count: int | None = None) -> None:
        self.count = count or torch.get_num_threads()
        self._pool = ThreadPoolExecutor(self.count, "core") if self.count > 1 else None
        if self._pool:
            before, everyone = torch.get_num_threads(), Barrier(self.count)
            list(self._pool.map(_alone, [everyone] * self.count))
            torch.set_num_threads(before)  # each thread has its own number; new threads take the last one set

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """The result of each piece of work, in order."""
        return list(self._pool.map(work, items) if self._pool else map(work, items))


def _alone(everyone: Barrier) -> None:
    torch.get_num_threads()  # a thread takes the number in force at its first question, whatever it was told before
    torch.set_num_threads(1)
    everyone.wait()
