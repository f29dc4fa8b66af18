"""A cluster in this process: real tasks, asked by plain calls, that can be held or killed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpcore.runs.ray_pool.node import Hello, Job, Shape, work
from dpcore.runs.ray_pool.streams import Gone
from tests.runs.by_hand import Clock


@dataclass(eq=False)
class Stream:
    """A task, with what it was given and how much it has said."""

    job: Job
    shape: Shape
    said: Any
    count: int = 0
    alive: bool = True


class FakeCluster:
    """So many places for tasks of one CPU each; a stream is held once it has said `held` things."""

    def __init__(self, places: int = 1, gpus: int = 0, held: int | None = None) -> None:
        self.places, self.gpus, self.held, self.clock = places, gpus, held, Clock()
        self.streams: list[Stream] = []
        self.version: str | None = None  # of the program on all nodes, if it is another one

    @property
    def living(self) -> list[Stream]:
        return [stream for stream in self.streams if stream.alive]

    def start(self, job: Job, train: str, shape: Shape) -> Any:
        self.streams.append(Stream(job, shape, work(job, train, shape)))
        return self.streams[-1]

    def ready(self, streams: Sequence[Any], within: float) -> Sequence[Any]:
        return [stream for stream in streams if not stream.alive or stream.count != self.held]

    def take(self, stream: Any) -> Any:
        if not stream.alive:
            raise Gone("its node is gone")
        said, stream.count = next(stream.said), stream.count + 1
        return (
            said._replace(version=self.version)
            if self.version and isinstance(said, Hello)
            else said
        )

    def end(self, stream: Any) -> None:
        stream.alive = False
        stream.said.close()

    def room(self, shape: Shape) -> int:
        return self.places - len(self.living)

    def fits(self, shape: Shape) -> bool:
        return bool(self.places)

    def has_gpus(self) -> bool:
        return bool(self.gpus)
