"""Threads that each keep one core busy: a step is cut into few large pieces of work instead of many small ones."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from threading import Barrier
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch uses one thread in the calling thread."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


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
        with one_thread() if self._helpers else nullcontext():
            yield

    def map(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """The result of each piece of work, in order; a free core takes the next piece. Call it in `working`."""
        if not self._helpers or len(items) < 2:
            return [work(item) for item in items]
        left, results = iter(enumerate(items)), {}

        def share() -> None:
            for i, item in left:  # a step of this iterator is one of the interpreter: no piece is taken twice
                results[i] = work(item)

        helpers = [self._helpers.submit(share) for _ in range(min(self.count, len(items)) - 1)]
        share()
        for helper in helpers:
            helper.result()
        return [results[i] for i in range(len(items))]


def _alone(everyone: Barrier) -> None:
    torch.get_num_threads()  # a thread takes the number in force at its first question, whatever it was told before
    torch.set_num_threads(1)
    everyone.wait()
