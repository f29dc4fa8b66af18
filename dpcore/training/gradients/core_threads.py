"""Threads that each keep one core busy with a few large pieces of work, not many small ones."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Barrier
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread in the calling thread."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Cores:
    """The calling thread and helpers, together as many as torch would use, each with one torch
    thread.

    Torch's own threads wait for one another after every operation and block their cores meanwhile.
    On a busy machine each wait lasts until the last thread gets a core; with whole shares of a
    batch there is one wait.
    """

    def __init__(self, count: int | None = None) -> None:
        self.count = count or torch.get_num_threads()
        self._helpers = ThreadPoolExecutor(self.count - 1, "core") if self.count > 1 else None
        if self._helpers:
            before = torch.get_num_threads()
            everyone = Barrier(self.count - 1)
            list(self._helpers.map(_alone, [everyone] * (self.count - 1)))
            torch.set_num_threads(before)  # a number per thread; new threads take the last one set

    def working(self) -> AbstractContextManager[None]:
        """Let torch use one thread in the calling thread too, so the helpers keep their cores."""
        return one_thread() if self._helpers else nullcontext()

    def map(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """The result of each piece of work, in order; a free core takes the next piece.

        Call it in `working`.
        """
        if not self._helpers or len(items) < 2:
            return [work(item) for item in items]
        left = iter(enumerate(items))
        results = {}

        def share() -> None:
            for i, item in left:  # the iterator's step is atomic, so no piece is taken twice
                results[i] = work(item)

        helpers = [self._helpers.submit(share) for _ in range(min(self.count, len(items)) - 1)]
        share()
        for helper in helpers:
            helper.result()
        return [results[i] for i in range(len(items))]


def _alone(everyone: Barrier) -> None:
    # A thread's first call takes the global number, and would undo an earlier set.
    torch.get_num_threads()
    torch.set_num_threads(1)
    everyone.wait()
