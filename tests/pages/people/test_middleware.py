"""What stands before the app of a classroom: each browser gets one cookie, and other sites' pages get nowhere."""

from starlette.applications import Starlette
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route, WebSocketRoute

from dpcore.runs.access import SHARED
from dpcore.runs.keys import CHOSEN, TEACHER
from pages.parts.people.cookie import name_of, new_cookie, owner_of
from pages.parts.people.middleware import Visitors, middleware
from pages.parts.people.uploads import Uploads
from tests.pages.people.asking import asked, opened

KEY = b"k" * 32
KEPT = {"Cache-Control": "public, max-age=31536000, immutable"}
HOST = ("Host", "class.example:8501")


async def _page(_):
    return HTMLResponse("<p>page", headers=KEPT)


async def _core(_):
    return PlainTextResponse("ok")


async def _file(_):
    return PlainTextResponse("file", headers=KEPT)


async def _stream(socket):
    await socket.accept()
    await socket.close()


APP = Visitors(
    Starlette(
        routes=[
            Route("/", _page),
            Route("/_stcore/health", _core),
            Route("/files/x", _file),
            WebSocketRoute("/_stcore/stream", _stream),
        ]
    ),
    KEY,
)


def given(answer) -> str:
    """The value of the cookie that an answer sets; "" where it sets none."""
    return answer.all("set-cookie")[0].partition("=")[2].partition(";")[0] if answer.all("set-cookie") else ""


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
    "short": "x", "long": "a" * 10_000, "quote": '"', "separators": "=;=;", "bytes": "\xff\xfe",
    "foreign": new_cookie(b"another server's"),
}  # fmt: skip


def test_a_cookie_that_is_none_is_replaced_and_no_error():
    for value in NONE.values():
        answer = asked(APP, "/", [("Cookie", f"{name_of(KEY)}={value}")])
        assert answer.status == 200, value
        assert owner_of(given(answer), KEY), value


def test_by_https_the_cookie_goes_by_https_alone():
    for scheme, forwarded, secure in (
        ("http", "", False), ("https", "", True), ("http", "https", True), ("http", "HTTPS, http", True),
        ("http", "http, https", False), ("http", "nonsense", False),
    ):  # fmt: skip
        answer = asked(APP, "/", [("X-Forwarded-Proto", forwarded)] if forwarded else [], scheme=scheme)
        assert answer.all("set-cookie")[0].endswith("; Secure") == secure, (scheme, forwarded, secure)


def test_another_sites_page_opens_no_connection():
    for origin in (
        "http://evil.example", "http://class.example:8502", "http://class.example:8501.evil.example", "null",
        "http://localhost:8501", "x" * 10_000, "",
    ):  # fmt: skip
        assert opened(APP, [HOST, ("Origin", origin)]) == [{"type": "websocket.close", "code": 1008}], origin


def test_a_page_of_this_server_does_and_so_does_a_program():
    for origin in ["http://class.example:8501", "https://class.example:8501", None]:
        sent = opened(APP, [HOST, *([("Origin", origin)] if origin else [])])
        assert sent[0]["type"] == "websocket.accept", origin


def test_alone_there_is_nothing_before_the_app(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv(SHARED, raising=False)
    assert middleware() == []
    assert not (tmp_path / "home").exists()
    assert capsys.readouterr() == ("", "")


def test_the_first_start_of_a_classroom_tells_the_teachers_key_and_later_ones_where_it_is(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path))
    monkeypatch.setenv(SHARED, "1")
    monkeypatch.delenv(CHOSEN, raising=False)
    assert [each.cls for each in middleware()] == [Visitors, Uploads]
    key = (tmp_path / TEACHER).read_text().strip()
    assert key in capsys.readouterr().err
    assert len(middleware()) == 2
    later = capsys.readouterr().err
    assert str(tmp_path / TEACHER) in later
    assert key not in later
    monkeypatch.setenv(CHOSEN, "a chosen key")
    middleware()
    assert capsys.readouterr().err == f"Classroom: the teacher's key is that of {CHOSEN}.\n"


def test_where_no_key_can_be_kept_the_terminal_says_why_and_nobody_is_known(monkeypatch, tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "file"))
    monkeypatch.setenv(SHARED, "1")
    assert [each.cls for each in middleware()] == [Uploads]
    assert "nobody can be known here" in capsys.readouterr().err
