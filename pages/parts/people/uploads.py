"""How much a browser may upload where several share the server: of each session so many files, and so many bytes."""

import re
from collections import OrderedDict

import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PATH = re.compile("/_stcore/upload_file/([^/]+)/([^/]+)")  # the session, and a file of it
FILES, BYTES = 50, 64 * 2**20  # of one session
SESSIONS = 1000  # with files that are remembered, those that began to upload last
DONE = 204  # what Streamlit answers where it has taken a file in, or away
TOO_MUCH = f"This page has uploaded {FILES} files or {BYTES // 2**20} MB: load it again."


class Uploads:
    """Refuses a file beyond what its session may hold, before any of it is read.

    Streamlit bounds the size of one file, and keeps each until its page takes it away or the session has ended.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._held: OrderedDict[str, dict[str, int]] = OrderedDict()  # session -> file -> bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, as Starlette calls it."""
        found = PATH.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if found is None or scope["method"] not in ("PUT", "DELETE"):
            await self._app(scope, receive, send)
            return
        session, file = found.groups()
        putting = scope["method"] == "PUT"
        if putting and not self._noted(session, file, _size(Headers(scope=scope))):
            await PlainTextResponse(TOO_MUCH, 413)(scope, receive, send)
            return
        done = False

        async def sending(message: Message) -> None:
            nonlocal done
            done = done or message.get("status") == DONE
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            if done != putting:  # a file that was refused, or one that was taken away
                self._forget(session, file)

    def _noted(self, session: str, file: str, size: int) -> bool:
        """Whether the session may hold this file too; then it counts, from its first byte on."""
        held = self._held.setdefault(session, {})
        free = file not in held and len(held) < FILES and sum(held.values()) + size <= BYTES
        if free:
            held[file] = size
        while len(self._held) > SESSIONS:
            self._held.popitem(last=False)
        return free

    def _forget(self, session: str, file: str) -> None:
        held = self._held.get(session, {})
        held.pop(file, None)
        if not held:
            self._held.pop(session, None)


def _size(headers: Headers) -> int:
    """The bytes that a request says it brings; of one that does not say, as many as it may."""
    said = headers.get("content-length", "")
    return int(said) if said.isdecimal() and len(said) < 20 else (st.get_option("server.maxUploadSize") + 1) * 2**20
