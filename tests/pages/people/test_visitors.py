"""Visitors: the cookie by which a browser is known, and who uses a page by it."""

import re
from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string

from dpcore.runs.limits import SHARED, User
from dpcore.runs.teacher_key import TEACHER
from pages.parts import visitors
from pages.parts.serving.own_pages import OwnPagesOnly
from pages.parts.visitors import (
    Visitors,
    current_user,
    handshake,
    header_of,
    middleware,
    name_of,
    new_cookie,
    owner_of,
)
from tests.pages.people.asking import asked

KEY, OTHER = b"k" * 32, b"o" * 32
KEPT = {"Cache-Control": "public, max-age=31536000, immutable"}


async def _page(_):
    return HTMLResponse("<p>page", headers=KEPT)


async def _core(_):
    return PlainTextResponse("ok")


async def _file(_):
    return PlainTextResponse("file", headers=KEPT)


APP = Visitors(
    Starlette(
        routes=[
            Route("/", _page),
            Route("/_stcore/health", _core),
            Route("/files/x", _file),
        ]
    ),
    KEY,
)


def given(answer) -> str:
    """The value of the cookie that an answer sets; "" where it sets none."""
    return (
        answer.all("set-cookie")[0].partition("=")[2].partition(";")[0]
        if answer.all("set-cookie")
        else ""
    )


def test_a_browser_that_is_not_known_gets_a_cookie_that_is_kept_nowhere_else():
    for path in ["/", "/_stcore/health"]:
        answer = asked(APP, path)
        assert owner_of(given(answer), KEY), path
        assert answer.all("cache-control") == ["no-store"], path
        assert given(asked(APP, path)) != given(answer), path


def test_a_browser_that_is_known_gets_no_other_one():
    answer = asked(APP, "/", [("Cookie", f"other=1; {name_of(KEY)}={given(asked(APP, '/'))}")])
    assert answer.all("set-cookie") == []
    assert answer.all("cache-control") == [KEPT["Cache-Control"]]


def test_what_caches_may_keep_brings_no_cookie():
    assert asked(APP, "/files/x").all("set-cookie") == []


NONE = {
    "short": "x",
    "long": "a" * 10_000,
    "quote": '"',
    "separators": "=;=;",
    "bytes": "\xff\xfe",
    "foreign": new_cookie(b"another server's"),
}


def test_a_cookie_that_is_none_is_replaced_and_no_error():
    for value in NONE.values():
        answer = asked(APP, "/", [("Cookie", f"{name_of(KEY)}={value}")])
        assert answer.status == 200, value
        assert owner_of(given(answer), KEY), value


def test_by_https_the_cookie_goes_by_https_alone():
    for scheme, forwarded, secure in (
        ("http", "", False),
        ("https", "", True),
        ("http", "https", True),
        ("http", "HTTPS, http", True),
        ("http", "http, https", False),
        ("http", "nonsense", False),
    ):
        answer = asked(
            APP, "/", [("X-Forwarded-Proto", forwarded)] if forwarded else [], scheme=scheme
        )
        assert answer.all("set-cookie")[0].endswith("; Secure") == secure, (
            scheme,
            forwarded,
            secure,
        )


def test_alone_nothing_is_made_before_the_app_and_no_visitor_is_told_apart(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv(SHARED, raising=False)
    assert [each.cls for each in middleware()] == [OwnPagesOnly]
    assert not (tmp_path / "home").exists()
    assert capsys.readouterr() == ("", "")


def test_the_first_start_of_a_classroom_tells_the_teachers_key_and_later_ones_where_it_is(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path))
    monkeypatch.setenv(SHARED, "1")
    assert [each.cls for each in middleware()] == [OwnPagesOnly, Visitors]
    key = (tmp_path / TEACHER).read_text().split()[0]
    assert key in capsys.readouterr().err
    assert len(middleware()) == 2
    later = capsys.readouterr().err
    assert str(tmp_path / TEACHER) in later
    assert key not in later


def test_where_no_key_can_be_kept_the_terminal_says_why_and_nobody_is_known(
    monkeypatch, tmp_path, capsys
):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "file"))
    monkeypatch.setenv(SHARED, "1")
    assert [each.cls for each in middleware()] == [OwnPagesOnly]
    assert "the server cannot recognize anybody" in capsys.readouterr().err


def forged() -> list[str]:
    cookie = new_cookie(KEY)
    visitor, signature = cookie.split(".")
    owner = owner_of(cookie, KEY)
    return [
        "",
        ".",
        "x",
        visitor,
        f"{visitor}.",
        f".{signature}",
        f"{visitor}.{'0' * 64}",
        f"{'0' * 32}.{signature}",
        cookie[:-1],
        cookie + "0",
        cookie.upper(),
        f" {cookie}",
        f"{cookie}=.",
        "a" * 10_000,
        f"{cookie};{cookie}",
        f"{owner}.{signature}",
        f"{owner}.{owner}{owner}",
        "٣" * 32 + "." + "٣" * 64,
        "\udcff",
        "../../etc/passwd",
        f"{visitor[:-1]}.{visitor[-1]}{signature}",
        f"{visitor}.{signature[::-1]}",
        new_cookie(OTHER),
    ]


def test_a_forged_a_cut_or_a_foreign_cookie_is_nobodys():
    for value in forged():
        assert owner_of(value, KEY) == "", value


def test_a_cookie_stands_for_the_same_owner_every_time_and_each_for_another():
    cookies = [new_cookie(KEY) for _ in range(50)]
    owners = [owner_of(each, KEY) for each in cookies]
    assert [owner_of(each, KEY) for each in cookies] == owners
    assert len({*owners}) == 50
    assert all(re.fullmatch("[0-9a-f]{32}", each) for each in owners)


def test_an_owner_is_no_part_of_the_cookie():
    cookie = new_cookie(KEY)
    assert owner_of(cookie, KEY) not in cookie
    assert cookie.split(".")[0] not in owner_of(cookie, KEY)


def test_no_script_reads_it_and_no_other_sites_request_carries_it():
    plain = header_of(KEY, secure=False)
    assert plain.startswith(f"{name_of(KEY)}=")
    assert plain.endswith("; HttpOnly; SameSite=Lax")
    assert "Domain" not in plain
    assert header_of(KEY, secure=True).endswith("; HttpOnly; SameSite=Lax; Secure")


def test_without_the_switch_one_person_uses_the_server_and_no_cookie_is_read(monkeypatch):
    for value in ["", "0", " 0 "]:
        monkeypatch.setenv(SHARED, value)
        monkeypatch.setattr(visitors, "handshake", lambda: pytest.fail("read"))
        assert current_user() == User(), value


def test_a_browser_is_who_its_cookie_says(room):
    ann, bob = room.visitor(), room.visitor()
    room.turn_of(ann)
    assert current_user() == User(ann.owner, shared=True)
    room.turn_of(bob)
    assert current_user() == User(bob.owner, shared=True)


def test_a_connection_without_the_pages_token_is_nobody(room):
    for token in [generate_xsrf_token_string(), "x", "2|x|y|z", "2|" + "0" * 10_000]:
        room.sends(room.visitor().cookie, token=token)
        assert current_user() == User(shared=True), token


def test_who_gave_the_key_is_the_teacher(room):
    teacher = room.visitor(teacher=True)
    room.turn_of(teacher)
    assert current_user() == User(teacher.owner, teacher=True, shared=True)


def test_the_token_is_the_second_of_the_protocols(monkeypatch):
    for protocols, token in [
        ("streamlit, t, s", "t"),
        ("streamlit,t", "t"),
        ("streamlit", ""),
        ("", ""),
        (",,", ""),
    ]:
        context = SimpleNamespace(
            cookies={"a": "b"}, headers={"Sec-Websocket-Protocol": protocols} if protocols else {}
        )
        monkeypatch.setattr(visitors.st, "context", context)
        assert handshake() == ({"a": "b"}, token), (protocols, token)
