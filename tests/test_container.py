"""The container file, built and started where there is a container engine."""

import shutil
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

from tests.e2e.server import free_port

ROOT = Path(__file__).parents[1]
IMAGE = "explorer-under-test"


def answers(engine: str) -> bool:
    """Whether this machine has the container engine, and it can be used."""
    return (
        bool(shutil.which(engine))
        and not subprocess.run([engine, "info"], capture_output=True).returncode
    )


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_where_there_is_an_engine_it_is_built_and_serves_a_classroom() -> None:
    for engine in [name for name in ("podman", "docker") if answers(name)][:1]:
        subprocess.run(
            [engine, "build", "-t", IMAGE, "-f", str(ROOT / "Containerfile"), str(ROOT)], check=True
        )
        port = free_port()
        command = [engine, "run", "--rm", "-d", "--init", "-p", f"127.0.0.1:{port}:8501", IMAGE]
        container = subprocess.run(
            command, check=True, capture_output=True, text=True
        ).stdout.strip()
        try:
            assert "dpcore_visitor" in cookie_of(f"http://127.0.0.1:{port}/_stcore/health")
            said = subprocess.run(
                [engine, "logs", container], check=True, capture_output=True, text=True
            )
            assert "the teacher's key" in said.stdout + said.stderr
        finally:
            subprocess.run([engine, "stop", container], check=True, capture_output=True)


def cookie_of(url: str) -> str:
    """What a server wants to be remembered by, once it answers."""
    deadline = time.monotonic() + 120
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return answer.headers.get_all("Set-Cookie")[-1]
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)
