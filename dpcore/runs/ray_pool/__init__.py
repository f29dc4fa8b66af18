"""Runs on a Ray cluster, behind the interface of the local pool: a process of its own, the head, speaks with it."""

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
CONNECT = 30.0  # seconds that the cluster has to take the head as one of its own
SILENT = 120.0  # seconds without a line from the head after which it is ended: Ray waits a minute for a lost cluster
AGAIN = 2.0  # seconds until the next head where one has ended
INTERVAL = 0.2  # seconds between two looks at it


def pool_here(store: Store) -> "RayPool":
    """A pool as the environment says: DPCORE_RAY_ADDRESS, or RAY_ADDRESS, and what a run takes. Errors: StoreError."""
    address = os.environ.get("DPCORE_RAY_ADDRESS") or os.environ.get("RAY_ADDRESS") or "auto"
    return RayPool(store, address, _share("DPCORE_RAY_CPUS", int), _share("DPCORE_RAY_GPUS", float))


def _share(name: str, kind: Callable[[str], Share]) -> Share:
    text = os.environ.get(name) or "1"
    with suppress(ValueError):
        if 0 < (value := kind(text)) < math.inf:
            return value
    raise StoreError(f"Expected {name}={text!r} to be a {'whole ' if kind is int else ''}number above 0.")


class RayPool(PoolThread):
    """Has the runs of `store` done by a Ray cluster, as many at once as it has room for; the others queue.

    While there is `trouble`, nothing is done on this machine instead. To close it ends the head, and with it its tasks:
    their runs are queued again, and go on from their checkpoints. `address` is host:port of the cluster, or "auto"
    for the one that this machine is part of. Each run takes `cpus` threads, and where the cluster has GPUs and it asks
    for one, `gpus` of a GPU. `train` names the function that trains. What the head is silent is measured by `clock`.
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
        """Start a head and heed what it says, until it ends or is to end."""
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
                    head.kill()  # it waits for Ray, and hears nothing
            finally:
                _end(head)

    def _listen(self, lines: IO[bytes]) -> str | None:
        """Heed the lines of the head; what to say once there is none any more, or None where it has said why."""
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
                f"Expected the Ray cluster at {self.address} to answer within {CONNECT:g} s. Runs stay queued until it "
                "does; docs/cluster.md says how to start one."
            )
        return f"The process that speaks with the Ray cluster has ended; {self.log} says why. It is started again."


def _end(head: subprocess.Popen[bytes]) -> None:
    """Ask the head to end; where it does not within seconds, as where it waits for Ray, end it."""
    head.send_signal(signal.SIGTERM)
    try:
        head.wait(5.0)
    except subprocess.TimeoutExpired:
        os.killpg(head.pid, signal.SIGKILL)
