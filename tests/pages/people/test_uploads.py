"""How much one session may upload where several share the server."""

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.parts.people import uploads
from pages.parts.people.uploads import BYTES, FILES, SESSIONS, Uploads
from tests.pages.people.asking import asked

MEGABYTE = 2**20


async def _answer(request: Request) -> Response:
    return Response(status_code=int(request.headers.get("answer", "204")))


@pytest.fixture
def app() -> Uploads:
    """An app that takes every file in, or answers what it is told to."""
    return Uploads(
        Starlette(routes=[Route("/_stcore/upload_file/{session}/{file}", _answer, methods=["PUT", "DELETE"])])
    )


def put(app: Uploads, file: object, size: object = 10, session: str = "a", answer: int = 204) -> int:
    headers = [("Content-Length", str(size)), ("answer", str(answer))] if size is not None else []
    return asked(app, f"/_stcore/upload_file/{session}/{file}", headers, method="PUT").status


def taken_away(app: Uploads, file: object, answer: int = 204) -> int:
    return asked(app, f"/_stcore/upload_file/a/{file}", [("answer", str(answer))], method="DELETE").status


def test_a_session_uploads_so_many_files_and_another_as_many(app: Uploads):
    assert [put(app, number) for number in range(FILES + 2)] == [204] * FILES + [413] * 2
    assert put(app, 0, session="b") == 204


def test_a_session_uploads_so_many_bytes(app: Uploads):
    assert put(app, "first", BYTES - MEGABYTE) == 204
    assert put(app, "second", MEGABYTE + 1) == 413
    assert put(app, "third", MEGABYTE) == 204
    assert put(app, "fourth", 1) == 413


def test_what_was_taken_away_or_never_taken_in_does_not_count(app: Uploads):
    assert put(app, "refused", BYTES, answer=403) == 403
    assert put(app, "first", BYTES) == 204
    assert taken_away(app, "first", answer=403) == 403
    assert put(app, "second") == 413
    assert taken_away(app, "first") == 204
    assert put(app, "second", BYTES) == 204


def test_one_file_is_not_sent_twice_at_once(app: Uploads):
    assert [put(app, "same"), put(app, "same")] == [204, 413]


@pytest.mark.parametrize("size", [None, "", "-1", "many", "9" * 30])
def test_a_request_that_does_not_say_its_size_counts_as_the_largest(app: Uploads, size: str | None, monkeypatch):
    monkeypatch.setattr(uploads.st, "get_option", lambda name: 16)
    most = BYTES // (17 * MEGABYTE)
    assert [put(app, number, size) for number in range(most + 1)] == [204] * most + [413]


def test_only_so_many_sessions_are_remembered(app: Uploads):
    for number in range(SESSIONS + 5):
        put(app, "x", session=str(number))
    assert len(app._held) == SESSIONS
    assert put(app, "x", session=str(SESSIONS)) == 413
