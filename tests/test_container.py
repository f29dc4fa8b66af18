"""The container file: a small lint wherever the tests run, and built and started where there is a container engine."""

import json
import re
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

from tests.e2e.server import free_port

ROOT = Path(__file__).parents[1]
FILE = ROOT / "Containerfile"
IMAGE = "explorer-under-test"
LINES = [line for line in FILE.read_text(encoding="utf-8").splitlines() if line.strip() and not line.startswith("#")]
STEPS = [tuple(line.split(maxsplit=1)) for line in LINES]


def arguments(step: str) -> list[str]:
    return [rest for name, rest in STEPS if name == step]


def test_it_begins_with_one_image_of_a_chosen_version():
    (image,) = arguments("FROM")
    assert re.fullmatch(r"python:3\.\d+-slim(@sha256:[0-9a-f]{64})?", image)
    assert STEPS[0][0] == "FROM"


def test_every_step_is_one_that_engines_know_and_stands_on_one_line():
    known = {"FROM", "RUN", "WORKDIR", "COPY", "ENV", "VOLUME", "USER", "EXPOSE", "HEALTHCHECK", "CMD"}
    assert {name for name, _ in STEPS} == known
    assert not any(line.endswith("\\") for line in LINES)


def test_it_copies_only_what_is_there_and_all_that_the_app_needs():
    copied = [each.split()[0] for each in arguments("COPY")]
    assert sorted(copied) == sorted([".streamlit", "app.py", "dpcore", "pages", "requirements.txt"])
    assert all((ROOT / each).exists() for each in copied)
    assert all(each.split()[1].startswith("./") for each in arguments("COPY"))
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert sorted(each[1:] for each in ignored if each.startswith("!")) == sorted(copied)


def test_it_runs_without_rights_and_says_how_it_is():
    users = [place for place, (name, _) in enumerate(STEPS) if name == "USER"]
    assert arguments("USER") == ["explorer"]
    assert users[0] < next(place for place, (name, _) in enumerate(STEPS) if name == "CMD")
    assert "useradd" in arguments("RUN")[0]
    assert arguments("EXPOSE") == ["8501"]
    (check,) = arguments("HEALTHCHECK")
    assert "/_stcore/health" in check


def test_its_command_is_a_classroom_that_others_reach():
    command = json.loads(arguments("CMD")[0])
    assert command == ["python", "-m", "dpcore", "app", "--shared", "--host", "0.0.0.0"]


def test_it_names_no_other_source_and_holds_no_secret():
    text = " ".join(LINES)
    assert set(re.findall(r"https?://[^/'\"]+", text)) == {"http://127.0.0.1:8501"}
    assert not re.search("--index-url|--trusted-host|KEY=|PASSWORD|TOKEN", text)


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
def test_where_there_is_an_engine_it_is_built_and_serves_a_classroom():
    for engine in engines()[:1]:
        subprocess.run([engine, "build", "-t", IMAGE, "-f", str(FILE), str(ROOT)], check=True)
        port = free_port()
        command = [engine, "run", "--rm", "-d", "--init", "-p", f"127.0.0.1:{port}:8501", IMAGE]
        container = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        try:
            assert "dpcore_visitor" in cookie_of(f"http://127.0.0.1:{port}/_stcore/health")
            said = subprocess.run([engine, "logs", container], check=True, capture_output=True, text=True)
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
