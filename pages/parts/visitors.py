"""The visitors of a shared server: each browser gets a cookie, from which a page knows its user.

The cookie is a random id of 128 bits, signed with a key of this server. Runs note a digest of the
id, which reveals no cookie. The user is looked up at the moment of each change.
"""

import hashlib
import secrets
import sys
from collections.abc import Mapping
from functools import cache

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
from pages.parts.serving.own_pages import own_pages_only
from pages.parts.shell.streamlit_internals import FIRST_REQUESTS, XSRF_COOKIE, is_own_token

COOKIE_SECONDS = 365 * 24 * 3600
_key = cache(cookie_key)


def name_of(key: bytes) -> str:
    """The name of the cookies of a server with this key; servers on one machine differ in it.

    >>> name_of(b"key")
    'dpcore_visitor_2c70e12b'
    """
    return f"dpcore_visitor_{hashlib.sha256(key).hexdigest()[:8]}"


def new_cookie(key: bytes) -> str:
    return _signer(key).sign(secrets.token_hex(16)).decode()


def owner_of(value: str, key: bytes) -> str:
    """The owner behind a cookie value; empty if it was not signed with this key.

    >>> cookie = new_cookie(b"key")
    >>> len(owner_of(cookie, b"key")), owner_of(cookie, b"other"), owner_of("nonsense", b"key")
    (32, '', '')
    """
    try:
        visitor = _signer(key).unsign(value)
    except (BadSignature, UnicodeError):
        return ""
    return hashlib.sha256(b"owner " + visitor).hexdigest()[:32]


def header_of(key: bytes, *, secure: bool) -> str:
    """The header Set-Cookie with a new cookie, hidden from scripts and other sites' requests."""
    attributes = f"Path=/; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Lax"
    if secure:
        attributes += "; Secure"
    return f"{name_of(key)}={new_cookie(key)}; {attributes}"


def _signer(key: bytes) -> Signer:
    return Signer(key, salt="visitor", key_derivation="hmac", digest_method=hashlib.sha256)


def current_user() -> User:
    """The present user: on a shared server, the owner of the cookie of the browser's connection.

    A connection counts only with the token that this server gave the page, which another site
    cannot read.
    """
    if not shared():
        return User()
    home = state_directory()
    cookies, token = handshake()
    try:
        key = _key(home)
    except (OSError, ValueError):  # reported in the terminal
        return User(shared=True)
    owner = ""
    if is_own_token(token, cookies.get(XSRF_COOKIE)):
        owner = owner_of(cookies.get(name_of(key), ""), key)
    return User(owner, teacher=is_teacher(home, owner), shared=True)


def may_change(run: Run) -> bool:
    """True if the present user may cancel, rename, tag, annotate, resume or delete the run."""
    return limits.may_change(current_user(), run)


def handshake() -> tuple[Mapping[str, str], str]:
    """The cookies of the browser's connection, and its token, the second of the protocols."""
    protocols = st.context.headers.get("Sec-Websocket-Protocol", "").split(",")
    token = protocols[1].strip() if len(protocols) > 1 else ""
    return st.context.cookies, token


class Visitors:
    """Middleware that gives a new browser its cookie with the first page.

    Only pages and their first requests carry it. Caches may not keep those, so nobody gets
    another's cookie, and parallel requests bring no second one.
    """

    def __init__(self, app: ASGIApp, key: bytes) -> None:
        self._app = app
        self._key = key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._knows(Headers(scope=scope)):
            await self._app(scope, receive, self._giving(scope, send))
        else:
            await self._app(scope, receive, send)

    def _knows(self, headers: Headers) -> bool:
        cookies = cookie_parser(headers.get("cookie", ""))
        return owner_of(cookies.get(name_of(self._key), ""), self._key) != ""

    def _giving(self, scope: Scope, send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                is_page = headers.get("content-type", "").startswith("text/html")
                if is_page or scope["path"].startswith(FIRST_REQUESTS):
                    headers.append("Set-Cookie", header_of(self._key, secure=by_https(scope)))
                    headers["Cache-Control"] = "no-store"
            await send(message)

        return sending


def by_https(scope: Scope) -> bool:
    """True if the browser used https to reach this server or its proxy."""
    forwarded = Headers(scope=scope).get("x-forwarded-proto", "")
    return scope.get("scheme") == "https" or forwarded.split(",")[0].strip().lower() == "https"


def middleware() -> list[Middleware]:
    """The middleware of the server of this process.

    A shared server prints the teacher's key at its first start. If the keys cannot be kept, the
    terminal says why, and everybody can only look.
    """
    if not shared():
        return [own_pages_only()]
    home = state_directory()
    try:
        key = cookie_key(home)
        teacher, made = teacher_key(home)
    except (OSError, ValueError) as error:
        _say_in_terminal(f"the server cannot recognize anybody. {error}")
        return [own_pages_only()]
    if made:
        place = f"the teacher's key, shown only once, is {teacher}. It is kept in"
    else:
        place = "the teacher's key is in"
    _say_in_terminal(f"{place} {home / TEACHER}.")
    return [own_pages_only(), Middleware(Visitors, key=key)]


def _say_in_terminal(sentence: str) -> None:
    print(f"Classroom: {sentence}", file=sys.stderr, flush=True)
