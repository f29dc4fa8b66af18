"""What `dpcore app` becomes: a server that nobody else reaches, unless it is told otherwise."""

import socket
import sys
import tomllib
from pathlib import Path

import pytest

from dpcore.__main__ import main
from dpcore.commands import app
from dpcore.runs.export.imported_events import MAX_BYTES
from dpcore.runs.host_names import PUBLIC_NAME
from dpcore.runs.limits import SHARED
from dpcore.runs.teacher_key import TEACHER, teacher_key

CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SHARED, "")  # and taken back, whatever the command sets


@pytest.fixture
def port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def became(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> list[str]:
    """The command line that the process becomes."""
    lines: list[list[str]] = []
    monkeypatch.setattr(app.os, "execv", lambda file, line: lines.append(line))
    assert not main(["app", *arguments])
    return lines[0]


def test_only_this_machine_reaches_it_unless_told_otherwise(monkeypatch, port, capsys):
    line = became(monkeypatch, "--port", port)
    assert line[-4:] == ["--server.address", "127.0.0.1", "--server.port", port]
    assert line[0] == sys.executable
    assert not app.os.environ[SHARED]
    assert capsys.readouterr().err == ""


def test_the_settings_of_the_pages_keep_every_protection_and_take_no_larger_file_than_a_run():
    server = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["server"]
    assert server["address"] == "127.0.0.1"
    assert not {"enableCORS", "enableXsrfProtection", "enableAgentApi", "corsAllowedOrigins"} & set(
        server
    )
    assert server["maxUploadSize"] * 2**20 == MAX_BYTES


def test_told_to_listen_to_others_it_says_what_they_can_do_unless_it_is_a_classroom(
    monkeypatch, port, capsys
):
    line = became(monkeypatch, "--port", port, "--host", "0.0.0.0")
    assert "0.0.0.0" in line
    assert "may change every run" in capsys.readouterr().err
    became(monkeypatch, "--port", port, "--host", "0.0.0.0", "--shared")
    assert app.os.environ[SHARED] == "1"
    assert capsys.readouterr().err == ""


def test_a_public_name_reaches_the_server_and_what_is_none_is_bad_input(monkeypatch, port, capsys):
    monkeypatch.setenv(PUBLIC_NAME, "")
    became(monkeypatch, "--port", port, "--public-name", "Class.Example, laptop")
    assert app.os.environ[PUBLIC_NAME] == "class.example,laptop"
    monkeypatch.setattr(app.os, "execv", lambda *_: pytest.fail("started"))
    for name in ("https://class.example", "class.example:8501", "*", "", "a,"):
        assert main(["app", "--port", port, "--public-name", name]) == 2, name
        assert len(capsys.readouterr().err.splitlines()) == 1
    monkeypatch.setenv(PUBLIC_NAME, "*")
    assert main(["app", "--port", port]) == 2


def test_a_new_teachers_key_is_made_by_the_server(monkeypatch, port, tmp_path):
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path))
    old, _ = teacher_key(tmp_path)
    became(monkeypatch, "--port", port, "--shared", "--teacher")
    assert not (tmp_path / TEACHER).exists()
    assert teacher_key(tmp_path)[0] != old


def test_an_address_that_is_not_this_machines_is_bad_input(monkeypatch, capsys, port):
    monkeypatch.setattr(app.os, "execv", lambda *_: pytest.fail("started"))
    for host in ("nowhere.invalid", "unix:///run/app.sock", "", "192.0.2.1", "x" * 10_000, "a b"):
        assert main(["app", "--port", port, "--host", host]) == 2, host
        assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_teachers_key_without_a_classroom_is_bad_input(port):
    assert main(["app", "--port", port, "--teacher"]) == 2
