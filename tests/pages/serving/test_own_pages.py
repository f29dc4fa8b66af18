"""Whom a server answers: its own hosts and its own pages alone, with one user or many."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute

from dpcore.runs.host_names import LOCAL, PUBLIC_NAME, canonical, names_in
from dpcore.runs.limits import SHARED
from pages.parts.serving import own_pages
from pages.parts.serving.own_pages import UNFRAMED, OwnPagesOnly, own_pages_only
from tests.e2e.server import ROOT, Server, answering, free_port
from tests.pages.people.asking import asked, opened
from tests.pages.people.test_served_classroom import UPGRADE, port_of
from tests.pages.people.test_served_classroom import asked as got

CLASS = "class.example:8501"
ACCEPTED, CLOSED = {"type": "websocket.accept"}, {"type": "websocket.close", "code": 1008}
PATHS = (
    "/", "/runs", "/_stcore/health", "/runs/abc/events", "/previews/x", "/files/x/y", "/no/file.js",
)  # fmt: skip


async def _page(_):
    return PlainTextResponse("page", headers={"Content-Security-Policy": "img-src 'self'"})


async def _stream(socket):
    await socket.accept()
    await socket.close()


ROUTES = [Route("/", _page), WebSocketRoute("/_stcore/stream", _stream)]
APP = OwnPagesOnly(Starlette(routes=ROUTES), [*LOCAL, "class.example"])
NOT_OURS = (
    "evil.example", "evil.example:8501", "169.254.169.254", "10.0.0.7:8501", "", "[::2]:8501",
    "127.0.0.1.nip.example", "localhost.evil.example", "xlocalhost", "localhost@evil.example",
    "::1", "[::1",
    "evil.example@localhost", "evil.example/localhost", "127.1", "0x7f000001", "www.class.example",
    "class.example:8501,evil.example", "x" * 10_000,
)  # fmt: skip
OURS = "localhost", "LocalHost:8501", "127.0.0.1:1", "[::1]", "[::1]:8501", "[0:0::1]:80", CLASS
ORIGINS = (
    "http://evil.example", "http://class.example:8502", "http://class.example:8501.evil.example",
    "", "null", "http://localhost:8501", "x" * 10_000, "http://[", "http://user@class.example:8501",
    "app://class.example:8501", "class.example:8501", "http://class.example",
)  # fmt: skip


def answer_to(host: str, arrived: str = "127.0.0.1"):
    return asked(APP, "/", [("Host", host)], arrived=arrived)


def connection_from(origin: str | None, host: str = CLASS) -> dict:
    """What a page's browser, or a program without an origin, hears first of its connection."""
    origins = [] if origin is None else [("Origin", origin)]
    first = opened(APP, [("Host", host), *origins])[0]
    return {name: first[name] for name in ("type", "code") if name in first}


def test_only_the_servers_own_hosts_are_answered_and_the_refusal_says_the_way_out():
    for host in NOT_OURS:
        refused = answer_to(host)
        assert refused.status == 403, host
        assert "DPCORE_PUBLIC_NAME" in refused.body, host
        assert connection_from(None, host) == CLOSED, host
    for host in OURS:
        assert answer_to(host).status == 200, host
        assert connection_from(None, host) == ACCEPTED, host


def test_no_host_and_two_hosts_are_refused():
    assert asked(APP, "/").status == 403
    for second in (CLASS, "evil.example"):
        assert asked(APP, "/", [("Host", CLASS), ("Host", second)]).status == 403, second


def test_the_address_at_which_a_request_arrives_is_the_servers_own():
    for arrived, host in (
        ("192.168.7.9", "192.168.7.9:8501"), ("::ffff:192.168.7.9", "192.168.7.9:8501"),
        ("2001:db8::7", "[2001:DB8:0::7]:8501"), ("fe80::7%eth0", "[fe80::7]"),
    ):  # fmt: skip
        assert answer_to(host, arrived).status == 200, arrived
        assert answer_to("evil.example:8501", arrived).status == 403, arrived
        assert answer_to("192.168.7.8", arrived).status == 403, arrived


def test_another_sites_page_opens_no_connection():
    for origin in ORIGINS:
        assert connection_from(origin) == CLOSED, origin


def test_a_page_of_this_server_does_and_a_program_and_a_page_that_the_settings_allow(monkeypatch):
    for origin in (f"http://{CLASS}", f"https://{CLASS}", None):
        assert connection_from(origin) == ACCEPTED, origin
    monkeypatch.setattr(own_pages.st, "get_option", lambda _: ["https://portal.example/ "])
    assert connection_from("https://portal.example") == ACCEPTED


def test_no_page_may_frame_an_answer_whatever_else_the_answer_says():
    for host, said in ((CLASS, ["img-src 'self'", UNFRAMED]), ("evil.example", [UNFRAMED])):
        assert asked(APP, "/", [("Host", host)]).all("content-security-policy") == said, host


def test_a_public_name_is_a_host_and_nothing_else():
    assert names_in("Class.Example,10.0.0.7, ::1") == ("class.example", "10.0.0.7", "::1")
    for text in (
        "https://class.example", "class.example:8501", "class.example/", "*", "*.example", "", " ",
        "a,", "a b", ".", "-", "[::1]", "a\nb", "é.example", "class.example.",
    ):  # fmt: skip
        with pytest.raises(ValueError, match="to be the host in the server's address"):
            names_in(text)


def test_the_hosts_are_those_that_settings_and_environment_name(monkeypatch, capsys):
    settings = {"server.address": "192.168.7.9", "browser.serverAddress": "Portal.Example"}
    monkeypatch.setattr(st, "get_option", settings.get)
    monkeypatch.setenv(PUBLIC_NAME, "class.example, laptop")
    named = {"192.168.7.9", "portal.example", "class.example", "laptop"}
    assert own_pages_only().kwargs["hosts"] == {*LOCAL, *named}
    monkeypatch.setenv(PUBLIC_NAME, "*")
    assert own_pages_only().kwargs["hosts"] == {*LOCAL, "192.168.7.9", "portal.example"}
    assert "Expected the public name '*'" in capsys.readouterr().err
    assert all(canonical(each) == each for each in LOCAL)


@pytest.fixture(scope="module", params=["", "1"], ids=["alone", "shared"])
def server(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app as `streamlit run app.py` serves it, for one person and for a class."""
    home, port = tmp_path_factory.mktemp("home"), free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SHARED, request.param)
        for name in (PUBLIC_NAME, "STREAMLIT_SERVER_ADDRESS", "STREAMLIT_BROWSER_SERVER_ADDRESS"):
            patch.delenv(name, raising=False)
        with answering(command, port, home, ROOT) as served:
            yield served


def connected(server: Server, origin: str, **headers: str) -> int:
    """The status of the answer to a page that opens its connection; 101 if it is open."""
    return got(server, "/_stcore/stream", **UPGRADE, Origin=origin, **headers)[0]


def test_the_served_app_is_nothing_to_a_name_that_leads_to_this_machine(server: Server):
    port = port_of(server)
    for host in (f"evil.example:{port}", "evil.example", "169.254.169.254", ""):
        for path in PATHS:
            status, _, body = got(server, path, Host=host)
            assert status == 403, (host, path)
            assert body.startswith(b"This server does not answer to the host name"), (host, path)
        assert connected(server, f"http://{host}", Host=host) == 403, host
        assert got(server, "/_stcore/upload_file/a/b", "PUT", Host=host)[0] == 403, host


def test_the_served_app_takes_no_connection_of_a_page_of_another_port(server: Server):
    for origin in (
        "http://127.0.0.1:9999", "http://localhost:9999", "https://127.0.0.1", "http://0.0.0.0:1",
        "http://evil.example", "null",
    ):  # fmt: skip
        assert connected(server, origin) == 403, origin
    for host in ("localhost", "127.0.0.1", "[::1]"):
        own = f"{host}:{port_of(server)}"
        assert connected(server, f"http://{own}", Host=own) == 101, host
        assert got(server, "/", Host=own)[0] == 200, host


def test_the_served_app_lets_no_page_frame_any_answer(server: Server):
    for path in PATHS:
        for headers in ({}, {"Host": "evil.example"}):
            answer = got(server, path, **headers)[1]
            assert answer.get("content-security-policy") == UNFRAMED, (path, headers)


def test_a_class_reaches_the_server_by_its_address_and_its_public_name(tmp_path, monkeypatch):
    address, port = "127.0.0.2", free_port()
    command = [sys.executable, "-m", "dpcore", "app", "--shared", "--host", address]
    command += ["--port", str(port), "--public-name", "Class.Example,laptop"]
    monkeypatch.setenv(PUBLIC_NAME, "")
    with answering(command, port, tmp_path, ROOT, address) as room:
        for host in (f"{address}:{port}", "class.example", f"laptop:{port}"):
            assert got(room, "/", Host=host)[0] == 200, host
            assert connected(room, f"https://{host}", Host=host) == 101, host
        for host in (f"evil.example:{port}", "127.0.0.3", "example"):
            assert got(room, "/", Host=host)[0] == 403, host
            assert connected(room, f"http://{host}", Host=host) == 403, host
