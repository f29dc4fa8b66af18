"""A Ray cluster of one node on this machine: a raylet with its processes, in its own session."""

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
RAY = Path(sys.executable).with_name("ray")


class Node:
    """The node, with one CPU for work, is there once it is made.

    Doubles that are held go on once `gate` is there.
    """

    def __init__(self) -> None:
        # Short: a socket's path has at most 107 characters.
        self.folder = Path(tempfile.mkdtemp(prefix="ry"))
        self.gate = self.folder / "gate"
        port, client = free_ports(2)
        command = [
            RAY, "start", "--head", f"--port={port}", f"--ray-client-server-port={client}",
            "--num-cpus=1",
            "--include-dashboard=false", f"--temp-dir={self.folder}",
            "--min-worker-port=0", "--max-worker-port=0",
            "--object-store-memory=80000000", "--disable-usage-stats",
        ]  # fmt: skip
        path = os.pathsep.join(map(str, (ROOT, Path(__file__).parent)))
        environment = {
            **os.environ,
            "PYTHONPATH": path,
            "RAY_TMPDIR": str(self.folder),
            "TMPDIR": str(self.folder),
        }
        environment["DOUBLES_GATE"] = str(self.gate)
        # The machine may be busy with other tests.
        environment["RAY_raylet_start_wait_time_s"] = "120"
        with open(self.folder / "start.log", "ab") as log:
            process = subprocess.Popen(
                command,
                env=environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._session = process.pid
        if process.wait(150):
            said = (self.folder / "start.log").read_text()
            self.close()
            raise RuntimeError(said)
        self.address = (self.folder / "ray_current_cluster").read_text()

    def kill_workers(self) -> None:
        """End the processes that do runs, as Ray names them."""
        for pid in self._processes():
            with suppress(OSError):
                if b"ray::work" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        """End everything, and wait until it has ended."""
        deadline = time.monotonic() + 120
        while pids := self._processes():
            assert time.monotonic() < deadline, "a process of Ray would not end"
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _processes(self) -> list[int]:
        """The live processes of the node's session: its own, and those of its workers."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                state, _, _, session = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
                if int(session) == self._session and state != "Z":
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
