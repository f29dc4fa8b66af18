"""The pool of a Ray cluster, with the interface of the local one; a process of its own, the head, talks to Ray."""

import json
import math
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO, TypeVar

from dpcore import check
from dpcore.runs.kinds import TRAINING
from dpcore.runs.record import StoreError
from dpcore.runs.store import Store
from dpcore.runs.supervision import PoolThread, process_environment

Share = TypeVar("Share", int, float)
CONNECT = 30.0  # seconds in which the cluster must accept the head
SILENT = 120.0  # seconds without a line after which the head is killed: Ray waits a minute for a lost cluster
AGAIN = 2.0  # seconds from the end of a head to the next
INTERVAL = 0.2  # seconds between two looks at the head


def pool_here(store: Store) -> "RayPool":
    """The pool that the environment names: DPCORE_RAY_ADDRESS or RAY_ADDRESS, and a run's share. Errors: StoreError."""
    address = os.environ.get("DPCORE_RAY_ADDRESS") or os.environ.get("RAY_ADDRESS") or "auto"
    return RayPool(store, address, _share("DPCORE_RAY_CPUS", int), _share("DPCORE_RAY_GPUS", float))


def _share(name: str, kind: Callable[[str], Share]) -> Share:
    text = os.environ.get(name) or "1"
    with suppress(ValueError):
        if 0 < (value := kind(text)) < math.inf:
            return value
    raise StoreError(f"Set {name} to a {'whole ' if kind is int else ''}number above 0, not {text!r}.")


class RayPool(PoolThread):
    """Do the runs of `store` on a Ray cluster, as many at once as it has room for; the others wait.

    During `trouble` no run moves to this machine. Closing the pool ends the head and its tasks: their runs are queued
    again and continue from their checkpoints. `address` is host:port, or "auto" for this machine's cluster. Each run
    takes `cpus` threads, and `gpus` of a GPU if it asks for one and there is one. `train` names the function that
    trains, and `clock` measures the silence of the head.
    """

    def __init__(
        self,
        store: Store,
        address: str,
        cpus: int = 1,
        gpus: float = 1.0,
        train: str = TRAINING.work,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        check.whole(1, cpus=cpus)
        check.positive(gpus=gpus)
        super().__init__(store, "dpcore-ray-pool")
        self.address, self._clock = address, clock
        self._command = [sys.executable, "-P", "-m", "dpcore.runs.ray_pool.head", "--home", str(store.home)]
        self._command += ["--parent", str(os.getpid()), "--address", address, "--train", train]
        self._command += ["--cpus", str(cpus), "--gpus", str(gpus)]

    def _serve(self) -> None:
        while not self._stop.is_set():
            try:
                with open(self.log, "ab") as log:
                    self._follow(log)
            except OSError as error:
                self.trouble = str(error)
            self._stop.wait(AGAIN)

    def _follow(self, log: IO[bytes]) -> None:
        """Start a head and read its lines until it ends or must end."""
        with subprocess.Popen(
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            env=process_environment(),
            start_new_session=True,
        ) as head:
            assert head.stdout is not None
            try:
                said = self._listen(head.stdout)
                if said is not None:
                    self.trouble = said
                    head.kill()  # it waits for Ray and ignores signals
            finally:
                _end(head)

    def _listen(self, lines: IO[bytes]) -> str | None:
        """Read the lines of the head; the trouble at their end, or None if the head reported it itself."""
        heard, rest, connecting, told = self._clock(), b"", False, False
        with selectors.DefaultSelector() as selector:
            selector.register(lines, selectors.EVENT_READ)
            while not self._stop.is_set():
                if selector.select(INTERVAL):
                    text = os.read(lines.fileno(), 2**16)
                    if not text:
                        break
                    *whole, rest = (rest + text).split(b"\n")
                    for line in whole:
                        values = json.loads(line)
                        connecting, told = values["connecting"], values["trouble"] is not None
                        heard = self._clock()
                        if not connecting:
                            self.trouble = values["trouble"]
                if self._clock() - heard > (CONNECT if connecting else SILENT):
                    break
            else:
                return None
        if told:
            return None
        if connecting:
            return (
                f"The Ray cluster at {self.address} did not answer within {CONNECT:g} s. Runs stay queued until it "
                "does; docs/cluster.md says how to start one."
            )
        return f"The process that talks to the Ray cluster ended; {self.log} says why. It starts again."


def _end(head: subprocess.Popen[bytes]) -> None:
    """Ask the head to end, and kill it after some seconds."""
    head.send_signal(signal.SIGTERM)
    try:
        head.wait(5.0)
    except subprocess.TimeoutExpired:
        os.killpg(head.pid, signal.SIGKILL)
