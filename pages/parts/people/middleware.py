"""What stands before the app where several people share it: it gives browsers their cookie, and refuses other sites."""

import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpcore.runs.access import shared
from dpcore.runs.keys import CHOSEN, TEACHER, cookie_key, teacher_key
from dpcore.runs.record import state_directory
from pages.parts.people.cookie import header_of, name_of, owner_of
from pages.parts.people.uploads import Uploads

CORE = "/_stcore/"  # what a page asks for before it opens its connection


class Visitors:
    """Gives a browser that is not known yet its cookie, with the first page it loads.

    Only with that, and with what a page asks for at its beginning: neither may be kept by caches, so nobody gets
    another's cookie, and what a page loads at the same time does not bring a second one.
    """

    def __init__(self, app: ASGIApp, key: bytes) -> None:
        self._app, self._key = app, key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, as Starlette calls it."""
        if scope["type"] == "websocket" and foreign(Headers(scope=scope)):
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "http" and not self._knows(Headers(scope=scope)):
            await self._app(scope, receive, self._giving(scope, send))
        else:
            await self._app(scope, receive, send)

    def _knows(self, headers: Headers) -> bool:
        return bool(owner_of(cookie_parser(headers.get("cookie", "")).get(name_of(self._key), ""), self._key))

    def _giving(self, scope: Scope, send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if scope["path"].startswith(CORE) or headers.get("content-type", "").startswith("text/html"):
                    headers.append("Set-Cookie", header_of(self._key, secure=by_https(scope)))
                    headers["Cache-Control"] = "no-store"
            await send(message)

        return sending


def by_https(scope: Scope) -> bool:
    """Whether the browser asked by https: here, or the proxy before this server."""
    forwarded = Headers(scope=scope).get("x-forwarded-proto", "")
    return scope.get("scheme") == "https" or forwarded.split(",")[0].strip().lower() == "https"


def foreign(headers: Headers) -> bool:
    """Whether another site's page wants to open a connection, with its reader's cookie perhaps.

    Streamlit asks the same, but waits for the network to learn this machine's addresses, and for all of its ports.
    """
    origin = headers.get("origin")
    allowed = {each.strip().rstrip("/") for each in st.get_option("server.corsAllowedOrigins")}
    return origin is not None and urlsplit(origin).netloc != headers.get("host") and origin not in allowed


def middleware() -> list[Middleware]:
    """What the app needs before it: nothing where one person uses it. At the first start it tells the teacher's key.

    Where the keys cannot be kept the terminal says why, and the pages know nobody: everybody can look, and no more.
    """
    if not shared():
        return []
    home, bounded = state_directory(), Middleware(Uploads)
    try:
        key = cookie_key(home)
        tell_teacher(home)
    except (OSError, ValueError) as error:
        print(f"Classroom: nobody can be known here. {error}", file=sys.stderr, flush=True)
        return [bounded]
    return [Middleware(Visitors, key=key), bounded]


def tell_teacher(home: Path) -> None:
    """Say the teacher's key where it was made just now, else where it is."""
    key, made = teacher_key(home)
    where = CHOSEN if os.environ.get(CHOSEN, "").strip() else home / TEACHER
    told = f"the teacher's key, said this once, is {key}. It is kept in" if made else "the teacher's key is that of"
    print(f"Classroom: {told} {where}.", file=sys.stderr, flush=True)
