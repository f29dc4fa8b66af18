"""A clock that tests move, a pool whose rounds they lead, and runs that were worked on: no process
is started.

The pool's workers do as they are told.
"""

import signal
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

from dpcore.runs import supervision
from dpcore.runs.pool import Pool
from dpcore.runs.record import Run, Status, checkpoint_path, row_of
from dpcore.runs.store import Store, add_run
from dpcore.runs.sweeps import named_runs
from dpcore.runs.worker_process import Slots
from dpcore.training.checkpoint_header import Label, write_label
from dpcore.training.config import RunConfig
from dpcore.training.events import Finished, Started, Stepped
from dpcore.training.plan import Plan


class Clock:
    """Seconds that pass only where a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def go_on(self, seconds: float) -> None:
        self.now += seconds


class Hired:
    """A worker that notes which signals it gets; it ends where a test ends it, or by SIGKILL."""

    def __init__(self, name: str, slots: Slots, born: float) -> None:
        self.name, self.slots, self.born = name, slots, born
        self.busy_since: float | None = None
        self.dismissed = False
        self.signals: list[signal.Signals] = []
        self.process = SimpleNamespace(
            returncode=None, poll=lambda: self.process.returncode, wait=lambda: None
        )

    def ends(self, status: int) -> None:
        self.process.returncode = status

    def kill(self, number: signal.Signals) -> None:
        self.signals.append(number)
        if number == signal.SIGKILL:
            self.ends(-number)

    def dismiss(self) -> None:
        self.dismissed = True
        self.kill(signal.SIGTERM)


class PoolByHand(Pool):
    """A pool on a `Clock`; `hired` are all workers that it has ever had."""

    def __init__(self, store: Store, **options: Any) -> None:
        self.clock, self.hired = Clock(), []
        super().__init__(store, clock=self.clock, hire=self._hires, **options)

    def _hires(self, home: Path, log: IO[bytes], train: str, slots: Slots, born: float) -> Any:
        self.hired.append(Hired(f"node:{len(self.hired)}", slots, born))
        return self.hired[-1]

    def is_dead(self, name: str) -> bool:
        return any(
            worker.name == name and worker.process.returncode is not None for worker in self.hired
        )

    @property
    def waiting(self) -> list[Slots]:
        """The slots of the workers that wait for a run."""
        return [
            worker.slots
            for worker in self.workers
            if worker.busy_since is None and not worker.dismissed
        ]

    def after(self, seconds: float, *, silent: bool = False) -> None:
        """Let time pass, have all that runs give a sign of life, then lead a round."""
        self.clock.go_on(seconds)
        for run in [] if silent else self.store.runs(Status.RUNNING, kind=None):
            self.store.beat(run.id)
        self.round()

    def claims(self, run: str | None = None) -> tuple[Hired, Run]:
        """Have a waiting worker claim the next run, which the pool then sees."""
        self.after(60.0)
        worker = next(
            each for each in self.workers if each.busy_since is None and not each.dismissed
        )
        claimed = self.store.claim(worker.name, worker.slots.count, worker.slots.devices)
        assert claimed is not None
        assert run in (None, claimed.id)
        self.round()
        return worker, claimed  # type: ignore[return-value]

    def close(self) -> None:
        """As `Pool.close`, where no thread serves."""
        self._thread.run = lambda: None  # type: ignore[method-assign]
        self._thread.start()
        super().close()


def by_hand(store: Store, monkeypatch: Any, **options: Any) -> PoolByHand:
    """Such a pool, which has led its first round; whether one of its workers is dead is known by
    that worker.
    """
    pool = PoolByHand(store, **options)
    monkeypatch.setattr(supervision, "is_dead", pool.is_dead)
    pool.round()
    return pool


def worked_on(store: Store, run: str, status: Status | None = Status.LOST, done: int = 40) -> str:
    """The run after it was claimed where it waited, has released so many steps and then ended, or
    runs still.
    """
    if store.run(run).status is Status.QUEUED:
        store.claim("here:1")
    config, steps = store.run(run).config, store.run(run).plan.steps
    if not store.run(run).sequence:
        store.append(
            run, Started(config.examples, steps, config.q, "cpu", 9, "", (("threads", "2"),))
        )
    store.append(run, Stepped(done, 1.0, 1.0, 0.5, (0.1,) * 5, 20.0))
    if status is Status.FINISHED:
        store.append(run, Finished(steps, 1.0, 0.5))
    if status:
        store.end(run, status)
    return run


def save(store: Store, run: str, step: int) -> Path:
    """Leave a checkpoint of the run after so many steps."""
    path = checkpoint_path(store.home, run)
    path.parent.mkdir(exist_ok=True)
    with open(path, "wb") as file:
        write_label(file, Label(step, store.run(run).config.chosen(), {}, "", ""))
        file.write(b"the state")
    return path


def submit_sweep(
    store: Store, configs: Sequence[RunConfig], axes: Sequence[str], name: str = "", owner: str = ""
) -> str:
    """Queue the runs of a sweep; its id."""
    sweep = store.new_id()
    named = named_runs(configs, axes, name)
    rows = [row_of(store.new_id(), *each, owner=owner, sweep=sweep) for each in named]
    with store.writing() as db:
        for row in rows:
            add_run(db, row)
    return sweep


def handed(store: Store, config: RunConfig, planned: Plan, worker: str | None = None) -> str:
    """A run with a plan of its own, which waits or is this worker's."""
    row = row_of(store.new_id(), config, "", worker, planned)
    with store.writing() as db:
        add_run(db, row)
    return row["id"]
