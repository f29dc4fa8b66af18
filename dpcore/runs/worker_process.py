"""Worker processes as their pool sees them, and their shares of this machine's devices."""

import os
import signal
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from dpcore.runs.kinds import TRAINING
from dpcore.runs.limits import Limits
from dpcore.runs.record import worker_name
from dpcore.runs.supervision import start_process

FOR_RUNS = 0.9  # of a GPU's memory: each process takes some beside its tensors


@dataclass(frozen=True)
class Slots:
    """The number of runs at once, among those that ask for one of the devices.

    If no device is named, all runs count.
    """

    count: int = 1
    devices: tuple[str, ...] = ()
    memory: float | None = None  # the part of the GPU's memory for each run; None: all that is free
    threads: int | None = None  # for each run; None: as many as torch takes

    def takes(self, device: str) -> bool:
        """True if a run that asks for this device may have such a slot."""
        return not self.devices or device in self.devices


def slots_of(limits: Limits, device: str) -> tuple[Slots, ...]:
    """The slots of a machine with this default device, "" while no worker has noted it.

    >>> [slots.devices for slots in slots_of(Limits(), "cuda")]
    [('auto', 'cuda'), ('cpu', 'mps')]
    >>> slots_of(Limits(), "cpu") == (Slots(),)
    True
    """
    kind = device.partition(":")[0]
    cpu = limits.cpu_slots
    # a run alone has all cores: the number of threads enters its random streams, and older runs had
    # them all
    threads = max(1, cores() // cpu) if cpu > 1 else None
    if kind == "cuda":
        cuda = limits.cuda_slots
        memory = FOR_RUNS / cuda if cuda > 1 else None
        on_gpu = Slots(cuda, ("auto", "cuda"), memory)
        return on_gpu, Slots(cpu, ("cpu", "mps"), threads=threads)
    if kind == "mps":
        on_gpu = Slots(limits.mps_slots, ("auto", "mps"))
        return on_gpu, Slots(cpu, ("cpu", "cuda"), threads=threads)
    return (Slots(cpu, threads=threads),)


def cores() -> int:
    """The number of threads of all workers together: OMP_NUM_THREADS, else one for each core."""
    with suppress(ValueError):
        threads = int(os.environ.get("OMP_NUM_THREADS", ""))
        if threads > 0:
            return threads
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Worker:
    """A process that the pool started in its own process group, at `born` by the pool's clock."""

    def __init__(self, home: Path, log: IO[bytes], train: str, slots: Slots, born: float) -> None:
        options = asdict(slots) | {"train": train}
        options["warm_up"] = train == TRAINING.work  # another function need not end after one step
        threads = {"OMP_NUM_THREADS": str(slots.threads)} if slots.threads else {}
        self.process = start_process("dpcore.runs.worker", home, options, log, environment=threads)
        self.name = worker_name(self.process.pid)
        self.slots = slots
        self.born = born
        self.busy_since: float | None = None  # when the pool first saw its run
        self.dismissed = False  # told to end: the slots have changed

    def kill(self, number: signal.Signals) -> None:
        """Signal the whole process group, unless the worker has ended."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, number)

    def dismiss(self) -> None:
        """Tell it to end; a run that it has just claimed is queued again."""
        self.dismissed = True
        self.kill(signal.SIGTERM)
