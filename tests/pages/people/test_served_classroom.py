"""The server itself, started: who reaches it, whom it refuses, and what a stranger gets from it."""

import http.client
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from dpcore.runs.limits import SHARED
from dpcore.runs.teacher_key import TEACHER
from tests.e2e.server import ROOT, Server, answering, free_port

UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Protocol": "streamlit",
}


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A classroom as `streamlit run app.py` serves it, with no address named."""
    home, port = tmp_path_factory.mktemp("room"), free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SHARED, "1")
        patch.delenv("STREAMLIT_SERVER_ADDRESS", raising=False)
        with answering(command, port, home, ROOT) as server:
            yield server


def asked(
    server: Server, path: str, method: str = "GET", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """The status, headers and body of an answer; of a header's name - is written as _."""
    connection = http.client.HTTPConnection(
        urlsplit(server.url).hostname or "", port_of(server), timeout=30
    )
    try:
        connection.request(
            method, path, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )
        answer = connection.getresponse()
        return answer.status, dict(answer.headers), b"" if answer.status == 101 else answer.read()
    finally:
        connection.close()


def port_of(server: Server) -> int:
    return int(server.url.rpartition(":")[2])


def listening(port: int) -> set[str]:
    """The addresses at which something listens on a port, as the kernel writes them."""
    lines = [
        line
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
    ]
    ends = [line.split()[1].split(":") for line in lines if line.split()[3] == "0A"]
    return {address for address, number in ends if int(number, 16) == port}


@pytest.mark.long
def test_only_this_machine_reaches_it(room: Server):
    assert listening(port_of(room)) == {socket.inet_aton("127.0.0.1")[::-1].hex().upper()}


def test_its_terminal_says_the_teachers_key_once(room: Server):
    key = (room.home / TEACHER).read_text().split()[0]
    assert (room.home.parent / "server.log").read_text().count(key) == 1


def test_another_sites_page_opens_no_connection(room: Server):
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1"]:
        assert asked(room, "/_stcore/stream", **UPGRADE, Origin=origin)[0] == 403, origin
    # A page of its own does.
    assert asked(room, "/_stcore/stream", **UPGRADE, Origin=room.url)[0] == 101


def test_an_upload_without_the_pages_token_is_refused(room: Server):
    assert asked(room, "/_stcore/upload_file/a/b", "PUT")[0] == 403
    assert asked(room, "/_stcore/upload_file/a/b", "DELETE")[0] == 403


def test_a_program_cannot_drive_the_pages_by_streamlits_own_interface(room: Server):
    for path in ("/_stcore/agent/interact", "/_stcore/agent/mcp"):
        status, _, body = asked(room, path, "POST", Content_Type="application/json")
        assert status in (400, 403)
        assert b"server.enableAgentApi" in body


def test_no_file_can_be_had_by_a_path(room: Server):
    for path in (
        "/../cookie.key",
        "/%2e%2e/cookie.key",
        "/files/../../cookie.key",
        "//etc/passwd",
        "/app.py",
        "/dpcore",
        "/static/../../../app.py",
        "/component/x/../../app.py",
        "/media/../../app.py",
        "/pages/runs.py",
        "/.streamlit/config.toml",
        "/app/static/x",
        "/_stcore/bidi-components/x/%2e%2e/%2e%2e/app.py",
    ):
        status, headers, body = asked(room, path)
        assert status in (400, 404) or headers["content-type"].startswith("text/html"), (
            path
        )  # the page that all addresses have
        assert b"import " not in body, path
        assert b"root:" not in body, path
