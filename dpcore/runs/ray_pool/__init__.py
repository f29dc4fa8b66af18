"""The pool of a Ray cluster, with the interface of the local one.

A process of its own, the head, talks to Ray.
"""

import json
import math
import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from typing import IO, TypeVar

from dpcore.runs.kinds import TRAINING
from dpcore.runs.record import StoreError
from dpcore.runs.store import Store
from dpcore.runs.supervision import PoolThread, start_process
from dpcore.whole_file import private

Share = TypeVar("Share", int, float)
HEAD = "dpcore.runs.ray_pool.head"  # the module of the process that talks to Ray
CONNECTING = "connecting"  # what a head says until the cluster has accepted it
AGAIN = 2.0  # seconds from the end of a head to the next
SILENT = (
    "The Ray cluster at {address} did not answer in time. Runs stay queued until it does;"
    " docs/cluster.md says how to start one."
)
ENDED = "The process that talks to the Ray cluster ended; {log} says why. It starts again."


def pool_here(store: Store) -> "RayPool":
    """The pool that the environment names: DPCORE_RAY_ADDRESS or RAY_ADDRESS, and a run's share.

    Errors: StoreError.
    """
    address = os.environ.get("DPCORE_RAY_ADDRESS") or os.environ.get("RAY_ADDRESS") or "auto"
    cpus = _share("DPCORE_RAY_CPUS", int)
    gpus = _share("DPCORE_RAY_GPUS", float)
    return RayPool(store, address, cpus, gpus)


def _share(name: str, kind: Callable[[str], Share]) -> Share:
    text = os.environ.get(name) or "1"
    with suppress(ValueError):
        value = kind(text)
        if 0 < value < math.inf:
            return value
    number = "whole number" if kind is int else "number"
    raise StoreError(f"Set {name} to a {number} above 0, not {text!r}.")


class RayPool(PoolThread):
    """Do the runs of `store` on a Ray cluster, as many at once as it has room for; the others wait.

    During `trouble` no run moves to this machine. Closing the pool ends the head and its tasks:
    their runs are queued again and continue from their checkpoints. `address` is host:port, or
    "auto" for this machine's cluster. Each run takes `cpus` threads, and `gpus` of a GPU if it asks
    for one and there is one. `train` names the function that trains.
    """

    def __init__(
        self,
        store: Store,
        address: str,
        cpus: int = 1,
        gpus: float = 1.0,
        train: str = TRAINING.work,
    ) -> None:
        super().__init__(store, "dpcore-ray-pool")
        self.address = address
        self._head: subprocess.Popen[bytes] | None = None
        self._options = {"address": address, "train": train, "cpus": cpus, "gpus": gpus}

    def close(self) -> None:
        """Ask the head to end, and kill it after some seconds."""
        self._stop.set()
        if self._head:
            self._head.terminate()
            try:
                self._head.wait(5.0)
            except subprocess.TimeoutExpired:
                os.killpg(self._head.pid, signal.SIGKILL)
        super().close()

    def _serve(self) -> None:
        while not self._stop.is_set():
            try:
                with open(self.log, "ab", opener=private) as log:
                    self._follow(log)
            except OSError as error:
                self.trouble = str(error)
            self._stop.wait(AGAIN)

    def _follow(self, log: IO[bytes]) -> None:
        """Start a head, and take its lines until it ends."""
        said: str | None = None
        with start_process(
            HEAD, self.store.home, self._options, log, output=subprocess.PIPE
        ) as self._head:
            if self._stop.is_set():  # `close` has not seen it
                self._head.terminate()
            for line in self._head.stdout or ():
                said = json.loads(line)
                if said != CONNECTING:
                    self.trouble = said
        if self._stop.is_set():
            return
        if said == CONNECTING:
            self.trouble = SILENT.format(address=self.address)
        elif said is None:
            self.trouble = ENDED.format(log=self.log)
