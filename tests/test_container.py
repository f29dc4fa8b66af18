"""The container file, built and started; skipped where there is no container engine."""

import shutil
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

from tests.e2e.server import free_port

ROOT = Path(__file__).parents[1]
IMAGE = "explorer-under-test"


def container_engine() -> str | None:
    """The first container engine of this machine that can be used."""
    for name in ("podman", "docker"):
        if shutil.which(name):
            done = subprocess.run([name, "info"], capture_output=True, check=False)
            if done.returncode == 0:
                return name
    return None


@pytest.mark.long
@pytest.mark.container
@pytest.mark.timeout(3600)
def test_the_container_is_built_and_serves_a_classroom() -> None:
    engine = container_engine()
    if engine is None:
        pytest.skip("there is no container engine")
    file = str(ROOT / "Containerfile")
    subprocess.run([engine, "build", "-t", IMAGE, "-f", file, str(ROOT)], check=True)
    port = free_port()
    command = [engine, "run", "--rm", "-d", "--init", "-p", f"127.0.0.1:{port}:8501", IMAGE]
    started = subprocess.run(command, check=True, capture_output=True, text=True)
    container = started.stdout.strip()
    try:
        assert "dpcore_visitor" in cookie_of(f"http://127.0.0.1:{port}/_stcore/health")
        logs = [engine, "logs", container]
        said = subprocess.run(logs, check=True, capture_output=True, text=True)
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
