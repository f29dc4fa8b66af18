"""Processes that serve a store, and somebody who kills them and their workers at random moments."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from tests.runs.live_workers import processes

ROOT = Path(__file__).parents[3]
SERVER = """
import os, sys, time
from dpcore.runs import pool
from dpcore.runs.limits import Limits, write
from dpcore.runs.store import Store
pool.SPARE = 0.1
home, train, slots, stale = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
with Store(home) as store:
    write(store.home, Limits(cpu_slots=slots))
    with pool.Pool(store, train, stale=stale) as serving:
        print("serving", flush=True)
        while os.getppid() == int(sys.argv[5]):
            time.sleep(0.2)
            print(serving.trouble or "", flush=True)
"""


class Server:
    """A process that holds a pool, as a server of pages does; it ends with the process that started
    it.
    """

    def __init__(self, home: Path, train: str, slots: int = 1, stale: float = 15.0) -> None:
        self._log = home.parent / "server.log"
        work = train if ":" in train else f"tests.runs.faults.stepping:{train}"
        words = [str(home), work, str(slots), str(stale), str(os.getpid())]
        with open(self._log, "ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", SERVER, *words], cwd=ROOT, stdout=log, stderr=log
            )

    def kill(self) -> None:
        """End it as a power cut does."""
        self.process.kill()
        self.process.wait()

    @property
    def trouble(self) -> str:
        """What it says last of what keeps runs from being done."""
        return self._log.read_text(encoding="utf-8").rpartition("\n")[0].rpartition("\n")[2]


@contextmanager
def serving(
    home: Path, train: str = "train", slots: int = 1, stale: float = 15.0
) -> Iterator[Server]:
    """Such a process while the block runs; it and the workers of the home are ended then."""
    server = Server(home, train, slots, stale)
    try:
        yield server
    finally:
        server.kill()
        kill_workers(home)


def kill_workers(home: Path) -> None:
    """End every worker of the home."""
    for pid in processes(home):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


class Killed:
    """How many processes were killed."""

    def __init__(self) -> None:
        self.workers = self.servers = 0


def until_done(
    store: Store,
    start: Callable[[], Server],
    random_: random.Random,
    *,
    servers: int,
    most: int,
    within: float,
) -> Killed:
    """Kill workers and servers until every run has ended, or so many seconds are over; how many
    were killed.

    Between two kills the runs say up to `most` events, so that however slow the machine is they get
    further.
    """
    live, killed, deadline = [start() for _ in range(servers)], Killed(), time.monotonic() + within
    try:
        while _gets_further(store, random_.randrange(most), deadline):
            time.sleep(random_.uniform(0, 0.1))
            if random_.random() < 0.3:
                live.pop(random_.randrange(servers)).kill()
                live.append(start())
                killed.servers += 1
            elif pids := processes(store.home):
                with suppress(ProcessLookupError):
                    os.kill(random_.choice(pids), signal.SIGKILL)
                    killed.workers += 1
    finally:
        for server in live:
            server.kill()
        kill_workers(store.home)
    return killed


def _gets_further(store: Store, events: int, deadline: float) -> bool:
    """Wait until so many events more are there; False where all runs have ended first, or time is
    up.
    """
    wanted = _said(store) + events
    while time.monotonic() < deadline and store.runs(Status.QUEUED, Status.RUNNING, kind=None):
        if _said(store) >= wanted:
            return True
        time.sleep(0.02)
    return False


def _said(store: Store) -> int:
    with store.reading() as db:
        return db.execute("SELECT COUNT(*) FROM events").fetchone()[0]
