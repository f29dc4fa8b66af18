"""How the workers of this machine share its devices: which runs each takes, and what of the device it has."""

import os
from dataclasses import dataclass

from dpcore.runs.limits import Limits

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
