"""The workers of a cluster that a head leads, and what it asks them."""

import math
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpcore.runs.ray_pool.cluster import Cluster, Shape
from dpcore.runs.record import Run

EVERY = 0.1  # seconds between two questions for news to one worker
MARK = "ray/"  # begins the name of every worker here


@dataclass(eq=False)
class Worker:
    """A worker of the cluster, with what it does and what it was asked last."""

    name: str
    handle: Any
    shape: Shape | None  # None: of an earlier head, it gets no other run
    born: float  # when this head first knew of it
    asking: str = ""
    question: Any = None
    run: Run | None = None
    after: int | None = 0  # events that the store has; None where it has to be asked
    silent_since: float | None = None  # since the first question that it has not answered
    ready: bool = False
    since: float = 0.0  # since when it starts, or waits
    heard: float = 0.0  # when it answered last, or was first known of
    began: float = 0.0  # when its run did, as far as this head has seen it
    ask_from: float = -math.inf
    beaten: float = -math.inf
    cancelled: float | None = None

    def __post_init__(self) -> None:
        self.since = self.heard = self.began = self.born


class Roster:
    """All workers that a head leads: they start, wait for a run, or have one."""

    def __init__(self, cluster: Cluster, clock: Callable[[], float] = time.monotonic) -> None:
        self.cluster, self.clock = cluster, clock
        self.workers: list[Worker] = []

    @property
    def waiting(self) -> list[Worker]:
        """Those that have warmed up and have no run."""
        return [worker for worker in self.workers if worker.ready and not worker.run]

    def start(self, shape: Shape, train: str) -> None:
        """Have a new worker start: it answers the first question once it has warmed up."""
        name = MARK + secrets.token_hex(8)
        worker = Worker(name, self.cluster.start(name, shape, train), shape, self.clock())
        self.workers.append(worker)
        self.ask(worker, "hello")

    def find(self, name: str, run: Run) -> bool:
        """Lead a worker that an earlier head gave a run; whether it lives."""
        handle = self.cluster.find(name)
        if handle:
            found = Worker(name, handle, None, self.clock(), run=run, after=run.sequence, ready=True)
            self.workers.append(found)
        return bool(handle)

    def ask(self, worker: Worker, method: str, *values: Any) -> None:
        """Put a question to a worker, which then has no other one."""
        now = self.clock()
        worker.asking, worker.question = method, self.cluster.ask(worker.handle, method, *values)
        worker.ask_from = now + EVERY
        worker.silent_since = now if worker.silent_since is None else worker.silent_since

    def end(self, worker: Worker) -> None:
        """End a worker at once."""
        self.workers.remove(worker)
        self.cluster.end(worker.handle)
