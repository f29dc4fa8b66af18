"""The visitors of a shared server: each browser gets a cookie, by which a page knows who uses it.

The cookie is a random id of 128 bits, signed with a key of this server. Runs note a digest of the id: who reads them
learns no cookie. Who asks is looked up at the moment at which something is changed.
"""

import hashlib
import secrets
import sys
from collections.abc import Mapping
from functools import cache
from urllib.parse import urlsplit

import streamlit as st
from itsdangerous import BadSignature, Signer
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpcore.runs import limits
from dpcore.runs.limits import User, shared
from dpcore.runs.record import Run, state_directory
from dpcore.runs.teacher_key import TEACHER, cookie_key, is_teacher, teacher_key
from pages.parts.shell.streamlit_internals import FIRST_REQUESTS, XSRF_COOKIE, is_own_token

COOKIE_SECONDS = 365 * 24 * 3600
_key = cache(cookie_key)


def name_of(key: bytes) -> str:
    """The name of the cookies of a server with this key: two servers of one machine do not take each other's away.

    >>> name_of(b"key")
    'dpcore_visitor_2c70e12b'
    """
    return f"dpcore_visitor_{hashlib.sha256(key).hexdigest()[:8]}"


def new_cookie(key: bytes) -> str:
    """The value of a cookie that nobody has yet."""
    return _signer(key).sign(secrets.token_hex(16)).decode()


def owner_of(value: str, key: bytes) -> str:
    """The owner that a cookie's value stands for; empty for one that was not signed with this key.

    >>> owner_of("nonsense", b"key"), len(owner_of(new_cookie(b"key"), b"key")), owner_of(new_cookie(b"key"), b"other")
    ('', 32, '')
    """
    try:
        visitor = _signer(key).unsign(value)
    except (BadSignature, UnicodeError):
        return ""
    return hashlib.sha256(b"owner " + visitor).hexdigest()[:32]


def header_of(key: bytes, *, secure: bool) -> str:
    """The header Set-Cookie with a new cookie: no script reads it, and no other site's request carries it."""
    attributes = f"Path=/; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Lax{'; Secure' if secure else ''}"
    return f"{name_of(key)}={new_cookie(key)}; {attributes}"


def _signer(key: bytes) -> Signer:
    return Signer(key, salt="visitor", key_derivation="hmac", digest_method=hashlib.sha256)


def current_user() -> User:
    """The user who asks: where several people share the server, the one of the cookie of the browser's connection.

    A connection counts only if it carries the token that this server gave the page, which another site cannot read.
    """
    if not shared():
        return User()
    home = state_directory()
    cookies, token = handshake()
    try:
        key = _key(home)
    except (OSError, ValueError):  # the server has said so in its terminal
        return User(shared=True)
    owner = owner_of(cookies.get(name_of(key), ""), key) if is_own_token(token, cookies.get(XSRF_COOKIE)) else ""
    return User(owner, teacher=is_teacher(home, owner), shared=True)


def may_change(run: Run) -> bool:
    """Whether who uses this page may cancel, rename, tag, annotate, resume or delete the run."""
    return limits.may_change(current_user(), run)


def handshake() -> tuple[Mapping[str, str], str]:
    """The cookies of the browser as it opened its connection, and its token, second among the protocols."""
    protocols = st.context.headers.get("Sec-Websocket-Protocol", "").split(",")
    return st.context.cookies, protocols[1].strip() if len(protocols) > 1 else ""


class Visitors:
    """Gives a browser that is not known yet its cookie, with the first page it loads.

    Only with that, and with what a page asks for at its beginning: neither may be kept by caches, so nobody gets
    another's cookie, and what a page loads at the same time does not bring a second one.
    """

    def __init__(self, app: ASGIApp, key: bytes) -> None:
        self._app, self._key = app, key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, as Starlette calls it."""
        headers = Headers(scope=scope) if scope["type"] in ("http", "websocket") else Headers()
        if scope["type"] == "websocket" and foreign(headers):
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "http" and not self._knows(headers):
            await self._app(scope, receive, self._giving(scope, send))
        else:
            await self._app(scope, receive, send)

    def _knows(self, headers: Headers) -> bool:
        return bool(owner_of(cookie_parser(headers.get("cookie", "")).get(name_of(self._key), ""), self._key))

    def _giving(self, scope: Scope, send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if scope["path"].startswith(FIRST_REQUESTS) or headers.get("content-type", "").startswith("text/html"):
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
    """The layer before the app, none where one person uses it. At the first start it tells the teacher's key.

    Where the keys cannot be kept the terminal says why, and the pages know nobody: everybody can look, and no more.
    """
    if not shared():
        return []
    home = state_directory()
    try:
        key = cookie_key(home)
        teacher, made = teacher_key(home)
    except (OSError, ValueError) as error:
        print(f"Classroom: nobody can be known here. {error}", file=sys.stderr, flush=True)
        return []
    told = f"the teacher's key, said this once, is {teacher}. It is kept in" if made else "the teacher's key is that of"
    print(f"Classroom: {told} {home / TEACHER}.", file=sys.stderr, flush=True)
    return [Middleware(Visitors, key=key)]
