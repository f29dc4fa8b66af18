"""Who uses a page, and what they may do: asked anew at the moment at which something is changed."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.web.server.starlette.starlette_app_utils import validate_xsrf_token
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

from dpcore.runs import access
from dpcore.runs.access import User, shared
from dpcore.runs.keys import cookie_key
from dpcore.runs.record import Run, state_directory
from dpcore.runs.teachers import is_teacher
from pages.parts.people.cookie import name_of, owner_of


def current_user() -> User:
    """Who asks: where several people share the server, whom the cookie of the browser's connection says.

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
    own = validate_xsrf_token(token, cookies.get(XSRF_COOKIE_NAME))
    owner = owner_of(cookies.get(name_of(key), ""), key) if own else ""
    return User(owner, teacher=is_teacher(home, owner), shared=True)


def may_change(run: Run) -> bool:
    """Whether who uses this page may cancel, rename, tag, annotate, resume or delete the run."""
    return access.may_change(current_user(), run)


def handshake() -> tuple[Mapping[str, str], str]:
    """What the browser sent as it opened its connection: its cookies, and its token, second among the protocols."""
    protocols = st.context.headers.get("Sec-Websocket-Protocol", "").split(",")
    return st.context.cookies, protocols[1].strip() if len(protocols) > 1 else ""


def address() -> str:
    """Where the browser's connection comes from; behind a proxy on this machine, where the proxy says."""
    return st.context.ip_address or "this machine"


@cache
def _key(home: Path) -> bytes:
    return cookie_key(home)
