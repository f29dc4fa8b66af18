"""A Ray cluster on this machine: each node is a raylet with its processes, in a process group of its own."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[3]
DOUBLES = (Path(__file__).parents[1], Path(__file__).parent)
RAY = Path(sys.executable).with_name("ray")
# a node that is gone is found out in two seconds
HEALTH = '{"health_check_initial_delay_ms": 500, "health_check_period_ms": 500, "health_check_failure_threshold": 4}'


class Nodes:
    """A cluster whose first node, which has so many CPUs for work, is there once it is made.

    Doubles that are held go on where the file `gate` is there.
    """

    def __init__(self, cpus: int = 0) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ry"))  # short: a socket's path has at most 107 characters
        self.gate = self.folder / "gate"
        self._started: list[int] = []
        self.working: list[int] = []
        port, client = free_ports(2)
        self.head = self._start(
            "--head",
            f"--port={port}",
            f"--ray-client-server-port={client}",
            f"--num-cpus={cpus}",
            "--include-dashboard=false",
            f"--temp-dir={self.folder}",
            f"--system-config={HEALTH}",
        )
        self.address = (self.folder / "ray_current_cluster").read_text()

    def add(self) -> None:
        """Start a node that works, with one CPU; two that start at the same time get in each other's way."""
        self.working.append(self._start(f"--address={self.address}", "--num-cpus=1"))

    def kill(self, node: int) -> None:
        """End all processes of a node at once, as a power cut does."""
        for pid in processes_of(node):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.working = [each for each in self.working if each != node]

    def close(self) -> None:
        """End everything, and wait until it has ended."""
        for node in reversed(self._started):
            self.kill(node)
        deadline = time.monotonic() + 120
        while any(processes_of(node) for node in self._started):
            assert time.monotonic() < deadline, "a process of Ray would not end"
            time.sleep(0.05)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, *options: str) -> int:
        common = [
            "--min-worker-port=0",
            "--max-worker-port=0",
            "--object-store-memory=80000000",
            "--disable-usage-stats",
        ]
        path = os.pathsep.join(map(str, (ROOT, *DOUBLES)))
        environment = {**os.environ, "PYTHONPATH": path, "RAY_TMPDIR": str(self.folder), "TMPDIR": str(self.folder)}
        environment["DOUBLES_GATE"] = str(self.gate)
        environment["RAY_raylet_start_wait_time_s"] = "120"  # the machine may be busy with other tests
        with open(self.folder / "start.log", "ab") as log:
            process = subprocess.Popen(
                [RAY, "start", *options, *common],
                env=environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._started.append(process.pid)
        if process.wait(150):
            said = (self.folder / "start.log").read_text()
            self.close()
            raise RuntimeError(said)
        return process.pid

    def busy(self) -> list[int]:
        """The nodes that have a worker."""
        return [node for node in self.working if any(map(is_worker, processes_of(node)))]


def is_worker(pid: int) -> bool:
    """Whether a process does runs, as Ray names it."""
    try:
        return b"NodeWorker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def processes_of(session: int) -> list[int]:
    """The live processes of a session: those of a node, and the workers that it has started."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, _, _, number = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            if int(number) == session and state != "Z":
                found.append(int(entry.name))
    return found


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens at."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def heads(home: Path) -> list[int]:
    """The live processes that speak with a cluster for a home."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if b"dpcore.runs.ray_pool.head" in words and str(home).encode() in words:
                found.append(int(entry.name))
    return found
