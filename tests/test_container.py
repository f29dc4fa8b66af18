"""The container file, built and started where there is a container engine."""

import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

from tests.e2e.server import free_port

ROOT = Path(__file__).parents[1]
IMAGE = "explorer-under-test"


def engines() -> list[str]:
    """The container engines of this machine that answer."""
    found = []
    for name in ("podman", "docker"):
        try:
            if not subprocess.run([name, "info"], capture_output=True, timeout=60).returncode:
                found.append(name)
        except (FileNotFoundError, subprocess.TimeoutExpired):
            continue
    return found


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_where_there_is_an_engine_it_is_built_and_serves_a_classroom() -> None:
    for engine in engines()[:1]:
        subprocess.run([engine, "build", "-t", IMAGE, "-f", str(ROOT / "Containerfile"), str(ROOT)], check=True)
        port = free_port()
        command = [engine, "run", "--rm", "-d", "--init", "-p", f"127.0.0.1:{port}:8501", IMAGE]
        container = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        try:
            assert "dpcore_visitor" in cookie_of(f"http://127.0.0.1:{port}/_stcore/health")
            said = subprocess.run([engine, "logs", container], check=True, capture_output=True, text=True)
            assert "the teacher's key" in said.stdout + said.stderr
        finally:
            subprocess.run([engine, "stop", container], check=True, capture_output=True)


def test_every_path_that_it_copies_is_there_and_let_through() -> None:
    lines = (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines()
    copied = {line.split()[1] for line in lines if line.startswith("COPY")}
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert copied == {each[1:] for each in ignored if each.startswith("!")}
    assert all((ROOT / each).exists() for each in copied)


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
