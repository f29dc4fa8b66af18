"""A worker process, seen from the pool that started it."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import dpcore
from dpcore.runs.kinds import TRAINING
from dpcore.runs.record import worker_name
from dpcore.runs.slots import Slots


class Worker:
    """A process that this pool started, in a process group of its own; `born` is when, by the clock of the pool."""

    def __init__(self, home: Path, log: IO[bytes], train: str, slots: Slots, born: float) -> None:
        command = [sys.executable, "-P", "-m", "dpcore.runs.worker", "--home", str(home)]
        command += ["--parent", str(os.getpid()), "--train", train, *slots.arguments]
        if train == TRAINING.work:  # another function need not end after one step
            command.append("--warm-up")
        root = str(Path(dpcore.__file__).parents[1])
        path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "PYTHONPATH": path, **slots.environment},
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
