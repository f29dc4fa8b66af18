"""A cluster in this process: real workers, asked by plain calls, that can be killed or cut off."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpcore.runs.ray_pool.cluster import Gone, NoAnswer, Shape
from dpcore.runs.ray_pool.node import NodeWorker
from tests.runs.by_hand import Clock


@dataclass(eq=False)
class Question:
    """A call that has been made."""

    worker: NodeWorker
    answer: Any


class Worker(NodeWorker):
    """One that unlocks its home only once the thread of its run has ended: then another may remove it."""

    def _do(self, *run: Any) -> None:
        try:
            super()._do(*run)
        finally:
            if self._ended.is_set():
                self._alive.close()


class FakeCluster:
    """So many places for workers of one CPU each, all on one clock."""

    def __init__(self, places: int = 1, gpus: int = 0) -> None:
        self.places, self.gpus, self.clock = places, gpus, Clock()
        self.living: dict[str, Worker] = {}
        self.cut: set[NodeWorker] = set()  # they do what they are asked, but nobody hears of it
        self.asked: list[tuple[str, Any]] = []
        self.shapes: list[Shape] = []

    def start(self, name: str, shape: Shape, train: str) -> Any:
        self.shapes.append(shape)
        leave = lambda _: self.living.pop(name, None)  # noqa: E731
        self.living[name] = Worker(train, shape.cpus, shape.gpus, leave, self.clock)
        return self.living[name]

    def find(self, name: str) -> Any | None:
        return self.living.get(name)

    def ask(self, worker: Any, method: str, *values: Any) -> Any:
        if worker not in self.living.values():
            return Question(worker, None)
        self.asked.append((method, values))
        return Question(worker, getattr(worker, method)(*values))

    def answered(self, questions: Sequence[Any], within: float) -> Sequence[Any]:
        return [question for question in questions if question.worker not in self.cut]

    def answer(self, question: Any) -> Any:
        if question.worker not in self.living.values():
            raise Gone("its node is gone")
        return question.answer

    def end(self, worker: Any) -> None:
        for name in [name for name, each in self.living.items() if each is worker]:
            del self.living[name]
            worker._ended.set()
            if worker._store and worker._store.run(worker._run).active:
                worker.cancel(worker._run)  # its thread must not go on for the rest of the tests
            else:
                worker._alive.close()

    def room(self, shape: Shape) -> int:
        return self.places - len(self.living)

    def fits(self, shape: Shape) -> bool:
        return bool(self.places)

    def has_gpus(self) -> bool:
        return bool(self.gpus)


class Unreliable(FakeCluster):
    """Every second answer to a question for news is lost on its way."""

    def __init__(self, places: int = 1) -> None:
        super().__init__(places)
        self._lost = False

    def answer(self, question: Any) -> Any:
        answer = super().answer(question)
        self._lost = not self._lost
        if self._lost and answer is not None and not isinstance(answer, dict):
            raise NoAnswer("the network is down")
        return answer
