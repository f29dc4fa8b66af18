"""Worker processes, seen from the pool that starts them, and how they share the devices of this machine."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from dpcore.runs.kinds import TRAINING
from dpcore.runs.limits import Limits
from dpcore.runs.record import worker_name
from dpcore.runs.supervision import process_environment

FOR_RUNS = 0.9  # of a GPU's memory: each process that uses it takes some beside what its tensors do


@dataclass(frozen=True)
class Slots:
    """So many runs at once, of those that ask for one of the devices; of all runs where none is named."""

    count: int = 1
    devices: tuple[str, ...] = ()
    memory: float | None = None  # the part of the GPU's memory that each run has; None: what it finds
    threads: int | None = None  # that each run has; None: as many as torch takes by itself

    @property
    def arguments(self) -> list[str]:
        """What a worker process is told of it."""
        said = ["--slots", str(self.count)]
        if self.devices:
            said += ["--devices", ",".join(self.devices)]
        if self.memory is not None:
            said += ["--memory", repr(self.memory)]
        return said

    @property
    def environment(self) -> dict[str, str]:
        """What a worker process finds in its environment."""
        return {} if self.threads is None else {"OMP_NUM_THREADS": str(self.threads)}


def slots_of(limits: Limits, device: str) -> tuple[Slots, ...]:
    """The slots of a machine whose runs train on this device where they name none; "" where no worker has told yet.

    >>> [slots.devices for slots in slots_of(Limits(), "cuda")], slots_of(Limits(), "cpu") == (Slots(),)
    ([('auto', 'cuda'), ('cpu', 'mps')], True)
    """
    kind, cpu = device.partition(":")[0], limits.cpu_slots
    # a run alone has all cores, as it had before there were limits: the number of threads enters its random streams
    threads = max(1, cores() // cpu) if cpu > 1 else None
    if kind == "cuda":
        cuda = limits.cuda_slots
        memory = FOR_RUNS / cuda if cuda > 1 else None
        return Slots(cuda, ("auto", "cuda"), memory), Slots(cpu, ("cpu", "mps"), threads=threads)
    if kind == "mps":
        return Slots(limits.mps_slots, ("auto", "mps")), Slots(cpu, ("cpu", "cuda"), threads=threads)
    return (Slots(cpu, threads=threads),)


def cores() -> int:
    """How many threads all workers together may have: as many as the environment says, or as there are cores."""
    try:
        said = int(os.environ.get("OMP_NUM_THREADS", ""))
    except ValueError:
        said = 0
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return said if said > 0 else here


class Worker:
    """A process that this pool started, in a process group of its own; `born` is when, by the clock of the pool."""

    def __init__(self, home: Path, log: IO[bytes], train: str, slots: Slots, born: float) -> None:
        command = [sys.executable, "-P", "-m", "dpcore.runs.worker", "--home", str(home)]
        command += ["--parent", str(os.getpid()), "--train", train, *slots.arguments]
        if train == TRAINING.work:  # another function need not end after one step
            command.append("--warm-up")
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=process_environment() | slots.environment,
            start_new_session=True,
        )
        self.name = worker_name(self.process.pid)
        self.slots = slots
        self.born = born
        self.busy_since: float | None = None  # when its run was first seen
        self.dismissed = False  # told to end, as it waits for runs that others take by now

    def kill(self, number: signal.Signals) -> None:
        """Signal the whole process group, unless the worker has ended."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, number)

    def dismiss(self) -> None:
        """Tell it to end; a run that it has claimed just now is queued again."""
        self.dismissed = True
        self.kill(signal.SIGTERM)
