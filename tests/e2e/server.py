"""The app on a free port of this machine, with a home of its own, ended by its process id."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
# The page when its script has ended.
STILL = "[data-testid=stApp][data-test-script-state=notRunning]"
PATIENCE = 120_000  # ms that anything may take that is waited for, on a busy machine


@dataclass(frozen=True)
class Server:
    """Where the app answers, and which process it is."""

    url: str
    pid: int
    home: Path  # of its runs


@contextmanager
def serving(home: Path, script: str = "app.py") -> Iterator[Server]:
    """The app while the block runs; its training workers end with it."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.address", "127.0.0.1"]
    command += ["--server.port", str(port), "--server.headless", "true"]
    with answering(command, port, home, ROOT) as server:
        yield server


@contextmanager
def answering(
    command: list[str], port: int, home: Path, folder: Path, address: str = "127.0.0.1"
) -> Iterator[Server]:
    """The server that a command starts in the folder, at an address, while the block runs."""
    log, state = home / "server.log", home / "state"
    with log.open("wb") as out:
        environment = {**os.environ, "DPCORE_HOME": str(state)}
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=out, stderr=subprocess.STDOUT
        )
    try:
        _wait(f"http://{address}:{port}/_stcore/health", process, log)
        yield Server(f"http://{address}:{port}", process.pid, state)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            if process.poll() is not None:
                break
            time.sleep(0.1)
    raise RuntimeError(f"The app did not start:\n{log.read_text()}")
