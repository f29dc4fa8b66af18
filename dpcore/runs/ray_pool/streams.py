"""Runs as tasks of a cluster: claim them when there is room, and record their events."""

import math
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dpcore
from dpcore.runs.lifecycle import Status
from dpcore.runs.limits import overdue
from dpcore.runs.ray_pool.node import Ended, Gone, Hello, Said, Shape, job_of, put
from dpcore.runs.record import Run, checkpoint_path, note_device
from dpcore.runs.store import Store
from dpcore.runs.supervision import Heartbeats, recover_if_dead
from dpcore.runs.worker import longest_here
from dpcore.training.events import Started

if TYPE_CHECKING:
    from dpcore.runs.ray_pool.ray_cluster import RayCluster

MARK = "ray/"  # begins the names of these workers
WITHIN_SECONDS = 0.05  # for which a round waits for news
LOOK_SECONDS = 0.2  # between two looks at the store
BEAT_SECONDS = 3.0  # between two heartbeats of a run
NEW_SECONDS = 2.0  # until the free resources of the cluster reflect a new task
PLACE_SECONDS = 120.0  # for which a claimed run may wait for its place
MAX_WAIT_SECONDS = 60.0  # between attempts to start tasks
ITEMS_AT_ONCE = 100  # of one stream in a round
NO_LIMIT = 2**31  # runs at once: the cluster has its own limit


def shapes_of(has_gpus: bool, cpus: int, gpus: float) -> list[Shape]:
    """The shapes of tasks: with GPUs in the cluster, runs that may take one get a share of one.

    >>> [str(shape) for shape in shapes_of(True, 2, 0.25)]
    ['2 CPU and 0.25 GPU', '2 CPU']
    """
    if not has_gpus:
        return [Shape(cpus, 0.0, ())]
    return [Shape(cpus, gpus, ("auto", "cuda")), Shape(cpus, 0.0, ("cpu", "mps"))]


@dataclass(eq=False)
class RunTask:
    """A run on the cluster."""

    run: Run
    name: str
    stream: Any
    born: float
    beaten: float
    placed: float | None = None  # when it began, as far as known
    heard: Any = None  # its last message until the store has it


class Streams:
    """The runs of a store on a cluster. `trouble` says why none can start."""

    def __init__(
        self,
        store: Store,
        cluster: "RayCluster",
        train: str,
        cpus: int,
        gpus: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._store = store
        self._cluster = cluster
        self._train = train
        self._cpus = cpus
        self._gpus = gpus
        self._clock = clock
        self._pause = pause
        self._strangers = Heartbeats(store, clock=clock)
        self._looked = -math.inf  # time of the last look at the store
        self._failures = 0  # tasks in a row that ended without a run
        self._not_before = -math.inf  # when to try again
        self.tasks: list[RunTask] = []
        self.trouble: str | None = None

    def round(self) -> None:
        """Record the news, look after running tasks, and start those that find a place."""
        if not self.tasks:
            self._pause(WITHIN_SECONDS)
        asked = {task.stream: task for task in self.tasks}
        ready = self._cluster.ready(list(asked), WITHIN_SECONDS)
        for stream, task in asked.items():
            if task.heard or stream in ready:
                self._hear(task)
        if self._clock() - self._looked > LOOK_SECONDS:
            self._attend()
            self._begin()
            self._looked = self._clock()

    def close(self) -> None:
        """End all tasks; their runs are queued again."""
        for task in list(self.tasks):
            self._lose(task, "The process that talks to the Ray cluster was told to end.")

    def _hear(self, task: RunTask) -> None:
        for _ in range(ITEMS_AT_ONCE):
            try:
                said = task.heard = task.heard or self._cluster.take(task.stream)
            except Gone as error:
                self._lose(task, f"Its worker {task.name} is gone: {error}")
                if task.placed is None:
                    self._note_failure(
                        f"Workers on the Ray cluster end without taking a run. {error}"
                    )
                return
            match said:
                case Hello():
                    self._welcome(task, said)
                case Said():
                    self._record(task, said)
                case Ended():
                    self._end(task, said.status, said.error)
            task.heard = None
            if task not in self.tasks or not self._cluster.ready([task.stream], 0.0):
                return

    def _welcome(self, task: RunTask, hello: Hello) -> None:
        here = dpcore.__version__
        there = hello.version
        if here != there:
            self._lose(task, "")
            self._note_failure(
                f"Expected dpcore {here} on every node, but {hello.node} has {there}."
            )
        else:
            task.placed = self._clock()
            self._failures = 0
            self.trouble = None

    def _record(self, task: RunTask, said: Said) -> None:
        run = task.run.id
        if said.checkpoint and not self._store.stopping(run, task.name):
            put(said.checkpoint, checkpoint_path(self._store.home, run))
        if isinstance(said.event, Started) and task.run.settings.get("device") == "auto":
            note_device(self._store.home, said.event.device)
        stop = self._store.append(run, said.event, task.name)
        task.heard = None  # not to be recorded twice, whatever fails from here on
        if stop:
            self._end(task, Status.CANCELLED)
        task.beaten = self._clock()

    def _end(self, task: RunTask, status: Status, error: str | None = None) -> None:
        """Note the end of a run, unless another worker has it now, and drop its task."""
        self._store.end(task.run.id, status, error, task.name)
        self._drop(task)

    def _drop(self, task: RunTask) -> None:
        self.tasks.remove(task)
        self._cluster.end(task.stream)

    def _lose(self, task: RunTask, reason: str) -> None:
        """Drop a task and queue its run again: an attempt only if the run had begun."""
        self._drop(task)
        if task.placed is None or not reason:
            self._store.give_back(task.run)
        run = self._store.run(task.run.id)
        if run.worker == task.name:
            self._store.recover(run, reason)

    def _attend(self) -> None:
        """Cancel, end overdue runs, and queue again the runs that no task does."""
        tasks = {task.name: task for task in self.tasks}
        running = set()  # names of the workers of running runs
        for run in self._store.runs(Status.RUNNING, kind=None):
            name = run.worker or ""
            running.add(name)
            if name in tasks:
                self._attend_to(tasks[name], run)
            elif name.startswith(MARK):
                self._store.recover(run, f"Its worker {name} is gone.")  # with its head
            else:
                self._strangers.recover_silent(run)
                recover_if_dead(self._store, run)
        for task in list(self.tasks):
            if task.name not in running:  # lost to another worker, or deleted
                self._drop(task)

    def _attend_to(self, task: RunTask, run: Run) -> None:
        now = self._clock()
        longest = longest_here(self._store.home)
        if run.cancelling:
            self._end(task, Status.CANCELLED)
        elif task.placed is None and now - task.born > PLACE_SECONDS:
            self._lose(task, "It found no place on the cluster.")
        elif task.placed is not None and now - task.placed > longest:
            self._end(task, Status.FAILED, overdue(longest))
        elif now - task.beaten > BEAT_SECONDS:
            task.beaten = now
            self._store.beat(run.id, task.name)

    def _begin(self) -> None:
        """Claim runs that fit; the others keep their place in the queue."""
        waiting = self._store.runs(Status.QUEUED, kind=None)
        if not waiting and not self._failures:
            self.trouble = None
        if not waiting or self._clock() < self._not_before:
            return
        asked = {run.settings.get("device", "cpu") for run in waiting}
        for shape in shapes_of(self._cluster.has_gpus(), self._cpus, self._gpus):
            nobody_asks = shape.devices and asked.isdisjoint(shape.devices)
            if nobody_asks:
                continue
            if not self._cluster.fits(shape):
                self.trouble = (
                    f"No node of the Ray cluster has {shape}, which a run takes. Runs stay queued."
                )
                continue
            new = sum(self._clock() - task.born < NEW_SECONDS for task in self.tasks)
            for _ in range(self._cluster.room(shape) - new):
                name = MARK + secrets.token_hex(8)
                run = self._store.claim(name, NO_LIMIT, shape.devices)
                if run is None:
                    break
                stream = self._cluster.start(job_of(self._store, run), self._train, shape)
                now = self._clock()
                self.tasks.append(RunTask(run, name, stream, born=now, beaten=now))

    def _note_failure(self, trouble: str) -> None:
        """Start no task for a while, longer after each failure."""
        self._failures += 1
        self._not_before = self._clock() + min(2.0**self._failures, MAX_WAIT_SECONDS)
        self.trouble = trouble
