"""Workers for what waits: started as far as the cluster has a place, given a run once they wait, ended where idle."""

import math

import dpcore
from dpcore.runs.ray_pool.cluster import Shape, shapes_of
from dpcore.runs.ray_pool.job import job_of
from dpcore.runs.ray_pool.roster import Roster, Worker
from dpcore.runs.record import Run, Status, device_path
from dpcore.runs.store import Store

IDLE = 60.0  # seconds that a worker may wait for a run: it keeps its place from others
AT_ONCE = 16  # workers that may be starting, and that get a run in one round
NEW = 2.0  # seconds until what the cluster says it has free counts a new worker
LONGEST_WAIT = 60.0  # seconds between attempts where workers do not start
NO_LIMIT = 2**31  # of runs at once: the cluster has its own


class Staffing:
    """Sees to it that what waits in a store finds workers. `trouble` says what keeps runs from starting."""

    def __init__(self, store: Store, roster: Roster, train: str, cpus: int, gpus: float) -> None:
        self._store, self._roster, self._train, self._cpus, self._gpus = store, roster, train, cpus, gpus
        self.trouble: str | None = None
        self._shapes: list[Shape] = []
        self._failures, self._not_before = 0, -math.inf

    def assign(self) -> None:
        """Claim for workers that wait: so a run has its place on the cluster before it leaves the queue."""
        none_for, given = set(), 0
        for worker in [worker for worker in self._roster.waiting if worker.question is None]:
            shape = worker.shape
            if given == AT_ONCE or shape is None or shape not in self._shapes or shape in none_for:
                continue
            run = self._store.claim(worker.name, NO_LIMIT, shape.devices)
            if run is None:
                none_for.add(shape)
            else:
                worker.run, worker.after, worker.began = run, run.sequence, self._roster.clock()
                self._roster.ask(worker, "work", job_of(self._store, run), worker.name)
                given += 1

    def adjust(self) -> None:
        """Start workers for what waits, as far as the cluster has a place for them; end those that wait for nothing."""
        now, waiting = self._roster.clock(), self._store.runs(Status.QUEUED, kind=None)
        if waiting:
            self._shapes = shapes_of(self._roster.cluster.has_gpus(), self._cpus, self._gpus)
        wanted = {shape: sum(_is_for(shape, run) for run in waiting) for shape in self._shapes}
        for shape, count in wanted.items():
            free = sum(worker.shape == shape and not worker.run for worker in self._roster.workers)
            if count > free and now > self._not_before:
                self._start(shape, count - free)
        for worker in self._roster.waiting:
            if now - worker.since > IDLE and not (worker.shape and wanted.get(worker.shape)):
                self._roster.end(worker)
        if not waiting and not self._failures:
            self.trouble = None

    def _start(self, shape: Shape, most: int) -> None:
        cluster = self._roster.cluster
        if not cluster.fits(shape):
            self.trouble = f"No node of the Ray cluster has {shape}, which a run takes. Runs stay queued."
            return
        if not self._failures:
            self.trouble = None
        starting = [worker for worker in self._roster.workers if not worker.ready]
        new = sum(self._roster.clock() - worker.since < NEW for worker in starting)
        for _ in range(min(most, cluster.room(shape) - new, AT_ONCE - len(starting))):
            self._roster.start(shape, self._train)

    def welcome(self, worker: Worker, hello: dict[str, str]) -> None:
        """Take a worker that has warmed up, if it has this program."""
        here, there = dpcore.__version__, hello["version"]
        if here != there:
            self._roster.end(worker)
            self.note_failure(f"Expected dpcore {here} on every node, but {hello['node']} has {there}.")
            return
        worker.ready, worker.since = True, self._roster.clock()
        self._failures, self.trouble = 0, None
        if hello["device"] and worker.shape and "auto" in (worker.shape.devices or ("auto",)):
            device_path(self._store.home).write_text(hello["device"], encoding="utf-8")

    def note_failure(self, trouble: str) -> None:
        """Have no worker started for a while, longer from failure to failure."""
        self._failures += 1
        self._not_before = self._roster.clock() + min(2.0**self._failures, LONGEST_WAIT)
        self.trouble = trouble


def _is_for(shape: Shape, run: Run) -> bool:
    return not shape.devices or run.settings.get("device", "cpu") in shape.devices
