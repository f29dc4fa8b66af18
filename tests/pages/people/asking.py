"""One request to an app, as a server hands it over."""

import asyncio
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote, unquote

from starlette.types import ASGIApp

from tests.loop_of_its_own import awaited


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: list[tuple[str, str]]
    body: str

    def all(self, name: str) -> list[str]:
        """Every header of this name."""
        return [value for key, value in self.headers if key == name]


def asked(
    app: ASGIApp,
    path: str,
    headers: Iterable[tuple[str, str]] = (),
    *,
    method: str = "GET",
    scheme: str = "http",
    arrived: str = "127.0.0.1",
) -> Answer:
    """The answer to a request for a path as a browser writes it, percent signs and all.

    `arrived` is the server's address at which the request comes in.
    """
    sent: list[dict] = []

    async def receive() -> dict:
        await asyncio.sleep(30)
        return {"type": "http.disconnect"}

    async def send(message) -> None:
        sent.append(message)

    bare, _, query = path.partition("?")
    scope = {
        "type": "http",
        "method": method,
        "path": unquote(bare),
        "raw_path": quote(bare, safe="/%").encode(),
        "root_path": "",
        "query_string": quote(query, safe="=&%").encode(),
        "scheme": scheme,
        "http_version": "1.1",
        "headers": [
            (name.lower().encode(), value.encode("latin-1", "replace")) for name, value in headers
        ],
        "server": (arrived, 80),
        "client": ("127.0.0.1", 1),
    }

    async def ask() -> None:
        await asyncio.wait_for(app(scope, receive, send), 20)

    awaited(ask())
    found = [
        (name.decode("latin-1"), value.decode("latin-1")) for name, value in sent[0]["headers"]
    ]
    return Answer(
        sent[0]["status"], found, b"".join(each.get("body", b"") for each in sent[1:]).decode()
    )


def opened(app: ASGIApp, headers: Iterable[tuple[str, str]] = ()) -> list[dict]:
    """What an app says to a connection that a page wants to open."""
    sent: list[dict] = []

    async def receive() -> dict:
        return {"type": "websocket.connect"}

    async def send(message) -> None:
        sent.append(message)

    scope = {
        "type": "websocket",
        "path": "/_stcore/stream",
        "raw_path": b"/_stcore/stream",
        "root_path": "",
        "query_string": b"",
        "scheme": "ws",
        "http_version": "1.1",
        "subprotocols": [],
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers],
        "server": ("127.0.0.1", 80),
        "client": ("127.0.0.1", 1),
    }
    awaited(app(scope, receive, send))
    return sent
