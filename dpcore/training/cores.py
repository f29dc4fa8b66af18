"""Threads that each keep one core busy: a step is cut into few large pieces of work instead of many small ones."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")


class Cores:
    """The calling thread and helpers, as many together as torch would use, and torch uses one in each.

    Torch's own threads wait for one another after every operation, and waiting they keep their cores from others. Where
    the machine has other work, each wait lasts until the last thread was let in: whole shares of a batch wait once.
    """

    def __init__(self, count: int | None = None) -> None:
        self.count = count or torch.get_num_threads()
        self._helpers = ThreadPoolExecutor(self.count - 1, "core") if self.count > 1 else None
        if self._helpers:
            before, everyone = torch.get_num_threads(), Barrier(self.count - 1)
            list(self._helpers.map(_alone, [everyone] * (self.count - 1)))
            torch.set_num_threads(before)  # each thread has its own number; new threads take the last one set

    @contextmanager
    def working(self) -> Iterator[None]:
        """Torch uses one thread in the calling thread too, so that its own threads take no core from the helpers."""
        if not self._helpers:
            yield
            return
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(before)

    def map(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """The result of each piece of work, in order; every core takes every count-th piece. Call it in `working`."""

        def share(core: int) -> list[Result]:
            return [work(item) for item in items[core :: self.count]]

        helpers = [self._helpers.submit(share, core) for core in range(1, self.count)] if self._helpers else []
        shares = [share(0), *(helper.result() for helper in helpers)]
        return [shares[i % self.count][i // self.count] for i in range(len(items))]

    def later(self, work: Callable[[Item], object], items: Sequence[Item]) -> Callable[[], object]:
        """Let the helpers work while the calling thread goes on: what is given back waits until all is done.

        Without helpers it does the work.
        """
        if not self._helpers:
            return lambda: [work(item) for item in items]
        pieces = [self._helpers.submit(work, item) for item in items]
        return lambda: [piece.result() for piece in pieces]


def _alone(everyone: Barrier) -> None:
    torch.get_num_threads()  # a thread takes the number in force at its first question, whatever it was told before
    torch.set_num_threads(1)
    everyone.wait()
