"""Undocumented parts of Streamlit that the pages use, of 1.67, which requirements-app.txt pins.

In the browser `components/frame.js` stands in for `history.pushState`, the sliders read
`data-test-script-state`, and the style sheet names elements by `data-testid`.
"""

import re
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from pathlib import Path
from socket import IPPROTO_TCP, TCP_NODELAY, socket
from threading import Lock, RLock
from typing import ParamSpec, TypeVar
from weakref import WeakValueDictionary

import streamlit
import uvicorn
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.web.server.starlette.starlette_app_utils import validate_xsrf_token
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

P = ParamSpec("P")
R = TypeVar("R")
# The beginning of the addresses that a page asks for before it opens its connection.
FIRST_REQUESTS = "/_stcore/"
# The folder of the page's address, in which the scripts lie, too.
SERVER = (
    '<script>window.__streamlit = {BACKEND_BASE_URL: new URL(".",'
    " window.location.href).href};</script>"
)
STATIC = Path(streamlit.__file__).parent / "static"
SCRIPTS = STATIC / "static" / "js"
LOADED = re.compile(r"/js/([\w.-]+\.js)")  # by the page itself
IMPORTED = re.compile(r"(?:from|import) ?[\"`]\./([\w.-]+\.js)[\"`]")  # by a script
XSRF_COOKIE = XSRF_COOKIE_NAME
LATE = ("pandas", "streamlit.emojis")  # imported with the first chart or component, and icon
# Streamlit calls it to see whether the browser has asked for something newer.
LOOK = "on_scriptrunner_yield"
_adding = Lock()
# Session id -> held by the callback whose turn it is.
_turns: WeakValueDictionary[str, RLock] = WeakValueDictionary()


def is_own_token(token: str, cookie: str | None) -> bool:
    """True if this server gave the token of a connection to the browser with this XSRF cookie."""
    return validate_xsrf_token(token, cookie)


def main_script() -> str:
    """The name of the file that the server was told to run; "" where no server runs this."""
    context = get_script_run_ctx()
    return Path(context.main_script_path).name if context else ""


def page_of_scripts() -> str:
    """The page that Streamlit's server answers with for every address, which loads its scripts.

    It tells them where the server is: else they ask below the address of the page first, and are
    answered twice that nothing is there.
    """
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    head, opening, rest = page.partition("<head>")
    return f"{head}{opening}{SERVER}{rest}"


def scripts_of(elements: Sequence[str]) -> list[str]:
    """The addresses of the scripts that draw these elements, and of all that those load.

    A browser else asks for them one after the other, once the server has sent the first element of
    its kind.
    """
    own = set(LOADED.findall(page_of_scripts()))
    names = [next(SCRIPTS.glob(f"{each}.*.js")).name for each in elements]
    for name in names:  # which grow
        text = (SCRIPTS / name).read_text(encoding="utf-8")
        names += [each for each in IMPORTED.findall(text) if each not in {*own, *names}]
    return [f"./static/js/{name}" for name in dict.fromkeys(names)]


def load_early() -> None:
    """Import what Streamlit else imports while the first visitor of a fresh server waits: 0.6 s."""
    for name in LATE:
        import_module(name)


def send_at_once() -> None:
    """Let the server of this process send each answer at once; before it starts to listen.

    Streamlit makes its socket without naming TCP, so asyncio does not set TCP_NODELAY. Head and
    body of a file are two packets, and the second one waited for the browser to acknowledge the
    first: 40 ms for each of a hundred files. Connections inherit the option from their socket.
    """
    start = uvicorn.Server.startup

    async def startup(self: uvicorn.Server, sockets: list[socket] | None = None) -> None:
        for each in sockets or ():
            each.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
        await start(self, sockets)

    uvicorn.Server.startup = startup


def page_asked_for() -> str:
    """The name of the page in the address; "" for the first, and where no server runs this."""
    context = get_script_run_ctx()
    if context is None:
        return ""
    return context.pages_manager.intended_page_name or ""


def restoring() -> bool:
    """True if the reader went back or forward in the history: then the address comes first."""
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and context.is_history_navigation


def restore_address() -> None:
    """Give the widgets all of the address that the reader went back to.

    Streamlit takes out what the page that was left has a widget of the same name for.
    """
    context = get_script_run_ctx()
    if context is None:
        return
    with context.session_state.query_params() as address:
        address.set_initial_query_params(context.query_string)
        address.populate_from_query_string(context.query_string)
        for key in address:
            widget = address.get_binding_for_param(key)
            if widget:
                address.unbind_widget(widget.widget_id)  # until it is drawn
        address.update({key: address.get_all(key) for key in address})


def uninterrupted(callback: Callable[P, R]) -> Callable[P, R]:
    """The callback, run to its end before Streamlit answers a newer request of the browser.

    Streamlit looks for one whenever the session's state is touched, inside of callbacks too, and
    leaves what it finds running. The second click of a double click could so come between queueing
    a run and showing it. Nor does Streamlit wait for a callback: it answers the next click in a
    thread of its own, where the callback of that click would read a state that the one before it is
    about to change, and the later of the two would undo what the other had shown.
    """

    @wraps(callback)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        context = get_script_run_ctx(suppress_warning=True)
        if context is None or context.script_requests is None:  # there is no browser
            return callback(*args, **kwargs)
        requests = context.script_requests
        if LOOK in vars(requests):  # another callback calls this one
            return callback(*args, **kwargs)
        with _turn_of(context.session_id):
            setattr(requests, LOOK, _nothing_newer)
            try:
                return callback(*args, **kwargs)
            finally:
                delattr(requests, LOOK)

    return run


def _nothing_newer() -> None:
    return None


def _turn_of(session: str) -> RLock:
    with _adding:
        return _turns.setdefault(session, RLock())
