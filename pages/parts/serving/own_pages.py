"""Middleware before all pages and routes, against pages of other sites in a reader's browser.

    Host of another site            refused: its page made its own name lead here
    WebSocket of another origin     refused, whatever the port: it would command the pages
    every answer                    `frame-ancestors 'none'`: no page lays ours under its clicks

Starlette's `TrustedHostMiddleware` compares Host with a fixed list. A server that listens to all
networks does not know its addresses beforehand. And of the versions that Streamlit accepts, many
cut `[::1]:8501` at the first colon.
"""

import sys
from collections.abc import Collection

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpcore.runs.host_names import LOCAL, canonical, host_of, public_names

REFUSED = 403
POLICY_VIOLATION = 1008  # why a WebSocket is closed; where it was not open yet, the status is 403
REFUSAL = (
    "This server does not answer to the host name in the address. If the name is the server's own, "
    "start the server with --public-name NAME, or with DPCORE_PUBLIC_NAME=NAME.\n"
)
UNFRAMED = "frame-ancestors 'none'"


class OwnPagesOnly:
    """Answers requests to the `hosts` alone, and to the address at which the request arrived.

    Nobody can make an address lead elsewhere, unlike a name. So a page that calls this server by
    the address at which the request arrived came from that address, too.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            own = self._is_called_by_own_host(scope)
            app = self._app if own else PlainTextResponse(REFUSAL, REFUSED)
            await app(scope, receive, _unframed(send))
        elif scope["type"] == "websocket" and not self._may_connect(scope):
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        else:
            await self._app(scope, receive, send)

    def _may_connect(self, scope: Scope) -> bool:
        return self._is_called_by_own_host(scope) and not foreign(Headers(scope=scope))

    def _is_called_by_own_host(self, scope: Scope) -> bool:
        headers = Headers(scope=scope).getlist("host")
        if len(headers) != 1:
            return False
        host = host_of(headers[0])
        arrived = scope.get("server")  # None or a path behind a Unix socket
        return host in self._hosts or bool(arrived and host == canonical(arrived[0]))


def foreign(headers: Headers) -> bool:
    """True if another site's page opens the connection, perhaps with its reader's cookie.

    Streamlit checks that too, but waits for the network to learn this machine's addresses, and
    allows all ports.
    """
    origin = headers.get("origin")
    if origin is None:  # no browser
        return False
    host = headers.get("host")
    allowed = {each.strip().rstrip("/") for each in st.get_option("server.corsAllowedOrigins")}
    return origin not in {f"http://{host}", f"https://{host}", *allowed}


def _unframed(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).append("Content-Security-Policy", UNFRAMED)
        await send(message)

    return sending


def own_pages_only() -> Middleware:
    """The middleware for the server of this process, with the hosts that its settings name.

    If the public name is none, the terminal says so, and the server does not answer to it.
    """
    named = [*LOCAL, st.get_option("server.address"), st.get_option("browser.serverAddress")]
    try:
        named += public_names()
    except ValueError as error:
        print(error, file=sys.stderr, flush=True)
    return Middleware(OwnPagesOnly, hosts={canonical(each) for each in named if each})
