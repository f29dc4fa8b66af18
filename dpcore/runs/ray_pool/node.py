"""The part of a run on its node: a Ray task that yields the events of the job."""

import os
import shutil
import socket
import tempfile
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple

import dpcore
from dpcore.runs.lifecycle import Status
from dpcore.runs.record import Run, checkpoint_path
from dpcore.runs.resume import job_events
from dpcore.runs.store import Store
from dpcore.runs.supervision import locked
from dpcore.runs.worker import ended_by, take_part
from dpcore.runs.worker_process import FOR_RUNS
from dpcore.training.events import Checkpointed, Unsaved
from dpcore.whole_file import whole_file

MAX_CHECKPOINT_BYTES = 256 * 2**20  # of a checkpoint that travels

PREFIX = "dpcore-node-"  # of the folder of a run


class Shape(NamedTuple):
    """The share of a node for each run that asks for one of these devices."""

    cpus: int
    gpus: float
    devices: tuple[str, ...]  # empty: any device

    def __str__(self) -> str:
        if not self.gpus:
            return f"{self.cpus} CPU"
        return f"{self.cpus} CPU and {self.gpus:g} GPU"


@dataclass(frozen=True)
class Job:
    """A claimed run with all that it needs; its secret seed too, so it goes to one node only."""

    run: Run
    seed: int | None = field(repr=False)
    said: Sequence[Any]  # its events until now
    checkpoint: bytes | None = field(repr=False)


class Hello(NamedTuple):
    """The first message of a node: a run has its place there."""

    version: str
    node: str


class Said(NamedTuple):
    """An event, with the bytes of its checkpoint if it announces one."""

    event: Any
    checkpoint: bytes | None = None


class Ended(NamedTuple):
    """The last message of a node."""

    status: Status
    error: str | None = None


class Gone(Exception):
    """The task ended without a message; the text says why."""


def job_of(store: Store, run: Run) -> Job:
    """All that a node needs to do or continue a claimed run."""
    said = store.events(run.id)
    return Job(run, store.secret(run.id), said, _bytes_of(checkpoint_path(store.home, run.id)))


def work(job: Job, train: str, shape: Shape) -> Generator[Hello | Said | Ended, None, None]:
    """Do a run in this process, which does no other; the node holds its state until it ends."""
    os.environ["OMP_NUM_THREADS"] = str(shape.cpus)  # before torch is loaded
    if not shape.gpus:
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    yield Hello(dpcore.__version__, socket.gethostname())
    remove_left_behind(Path(tempfile.gettempdir()))
    home = Path(tempfile.mkdtemp(prefix=PREFIX))
    alive = locked(home / "alive")
    file = checkpoint_path(home, job.run.id)
    try:
        if job.checkpoint:
            put(job.checkpoint, file)
        if 0 < shape.gpus < 1:  # other runs use it too
            take_part(FOR_RUNS * shape.gpus)
        for event in job_events(home, job.run, job.seed, job.said, resolve_name(train)):
            if isinstance(event, Checkpointed):
                yield _with_checkpoint(event, file)
            else:
                yield Said(event)
        ended = Ended(Status.FINISHED)
    except Exception as error:  # it ends this run only, and the page shows its traceback
        ended = Ended(*ended_by(error))
    finally:
        shutil.rmtree(home, ignore_errors=True)
        alive.close()
    yield ended  # after the cleaning: the head ends this process then


def remove_left_behind(folder: Path) -> None:
    """Remove the checkpoints that killed tasks left behind."""
    for place in folder.glob(f"{PREFIX}*"):
        with suppress(OSError):  # of another user, or of a live task
            locked(place / "alive", "r+b").close()
            shutil.rmtree(place, ignore_errors=True)


def put(checkpoint: bytes, path: Path) -> None:
    with whole_file(path) as file:
        file.write(checkpoint)


def _with_checkpoint(event: Checkpointed, file: Path) -> Said:
    checkpoint = _bytes_of(file)
    if checkpoint:
        return Said(event, checkpoint)
    most = MAX_CHECKPOINT_BYTES // 2**20
    return Said(Unsaved(event.step, f"it has more than {most} MB, too many to leave its node"))


def _bytes_of(file: Path) -> bytes | None:
    """The checkpoint, if there is one and it is small enough to travel."""
    try:
        if file.stat().st_size > MAX_CHECKPOINT_BYTES:
            return None
        return file.read_bytes()
    except FileNotFoundError:
        return None
