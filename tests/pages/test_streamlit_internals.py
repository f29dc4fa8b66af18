"""What the pages use of Streamlit's insides does what they need of it; a callback is done as a
whole.
"""

import asyncio
import socket
import subprocess
import sys
import threading
import tomllib
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
import uvicorn
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string
from streamlit.web.server.starlette.starlette_routes import BASE_ROUTE_CORE

from pages.parts.shell import streamlit_internals as internals
from pages.parts.shell.streamlit_internals import send_at_once, uninterrupted

ROOT = Path(__file__).parents[2]


def said_by(script: Any) -> list[str]:
    """The texts of a script that is run as a page."""
    app = AppTest.from_function(script).run()
    assert not app.exception
    return [each.value for each in app.text]


def test_the_release_that_they_were_written_for_is_the_one_that_is_installed():
    assert st.__version__.startswith("1.67.")
    assert "streamlit>=1.67,<1.68" in (ROOT / "requirements-app.txt").read_text().splitlines()


def test_every_setting_of_ours_is_one_of_streamlits():
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    for section in set(settings) - {"theme"}:
        for name in settings[section]:
            st.get_option(f"{section}.{name}")  # raises where there is none


def test_a_token_counts_only_beside_the_cookie_that_came_with_it():
    token, other = generate_xsrf_token_string(), generate_xsrf_token_string()
    for given, cookie, own in (
        (token, token, True),
        (token, other, False),
        ("", token, False),
        (token, None, False),
        ("x", "x", False),
    ):
        assert internals.is_own_token(given, cookie) == own, (given, cookie)
    assert internals.XSRF_COOKIE == "_streamlit_xsrf"
    assert f"/{BASE_ROUTE_CORE}/" == internals.FIRST_REQUESTS


def names() -> None:
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    from pages.parts.shell import streamlit_internals as internals

    context = get_script_run_ctx()
    assert context
    st.text(internals.page_asked_for())
    context.pages_manager.set_script_intent("", "nosuchpage")
    context.main_script_path = "/somewhere/app.py"
    st.text(internals.page_asked_for())
    st.text(internals.main_script())


def test_the_page_asked_for_and_the_script_started_have_names_where_a_server_runs_it():
    assert (internals.page_asked_for(), internals.main_script()) == ("", "")
    assert said_by(names) == ["", "nosuchpage", "app.py"]


def gone_back() -> None:
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    from pages.parts.shell import streamlit_internals as internals

    context = get_script_run_ctx()
    assert context
    st.text(internals.restoring())
    st.text_input("A", key="a", bind="query-params")
    context.is_history_navigation, context.query_string = True, "a=before&b=1"
    st.text(internals.restoring())
    internals.restore_address()
    st.text(st.query_params.to_dict())
    with context.session_state.query_params() as address:
        st.text(address.get_binding_for_param("a"))


def test_who_goes_back_gets_the_whole_address_and_no_widget_holds_a_part_of_it():
    assert not internals.restoring()
    assert said_by(gone_back) == ["False", "True", "{'a': 'before', 'b': '1'}", "None"]


def queue_and_show() -> None:
    """As a click does that queues a run and shows it; in between the browser asks for the page
    anew.
    """
    st.session_state["queued"] = st.session_state.get("queued", 0) + 1
    context = get_script_run_ctx()
    assert context
    assert context.script_requests
    context.script_requests.request_rerun(RerunData(widget_states=None))
    st.session_state["shown"] = st.session_state.get("shown", 0) + 1


def page(whole: bool) -> None:
    import streamlit as st

    from tests.pages import test_streamlit_internals

    callback = test_streamlit_internals.queue_and_show
    st.button(
        "Start", on_click=test_streamlit_internals.uninterrupted(callback) if whole else callback
    )
    st.text(f"{st.session_state.get('queued', 0)} queued, {st.session_state.get('shown', 0)} shown")


def pressed(*, whole: bool) -> str:
    app = AppTest.from_function(page, kwargs={"whole": whole}).run()
    app.button[0].click().run()
    return app.text[0].value


def test_a_request_that_comes_in_between_waits_for_the_end_of_a_whole_callback():
    assert pressed(whole=True) == "1 queued, 1 shown"


def test_without_that_it_breaks_the_callback_off():
    assert pressed(whole=False) == "1 queued, 0 shown"


class Requests:
    """Stands for what a thread that answers a click looks at for newer requests."""


class Context:
    """Stands for what Streamlit knows of the thread that answers a click."""

    def __init__(self, session: str):
        self.session_id = session
        self.script_requests = Requests()


class Turn:
    """The turn of a session, which tells whoever has it that another one waits for it."""

    def __init__(self, lock: Any, asked: threading.Event):
        self.lock, self.asked = lock, asked

    def __enter__(self) -> None:
        if not self.lock.acquire(blocking=False):
            self.asked.set()
            self.lock.acquire()

    def __exit__(self, *_: object) -> None:
        self.lock.release()


def seen_by_two_clicks(
    monkeypatch: pytest.MonkeyPatch, sessions: tuple[str, str]
) -> list[list[str]]:
    """What each of two callbacks read before it wrote, the second begun while the first was between
    the two.
    """
    state, seen, reading, asked = (
        list[str](),
        list[list[str]](),
        threading.Event(),
        threading.Event(),
    )
    contexts, turn_of = threading.local(), internals._turn_of
    monkeypatch.setattr(internals, "get_script_run_ctx", lambda **_: contexts.mine)
    monkeypatch.setattr(internals, "_turn_of", lambda session: Turn(turn_of(session), asked))

    @uninterrupted
    def show(name: str) -> None:
        before = list(state)
        seen.append(before)
        (reading if name == "a" else asked).set()
        asked.wait(60)
        state[:] = [*before, name]

    def click(name: str, session: str) -> None:
        contexts.mine = Context(session)
        show(name)

    first, second = (
        threading.Thread(target=click, args=each) for each in zip("ab", sessions, strict=True)
    )
    first.start()
    reading.wait()
    second.start()
    first.join()
    second.join()
    return seen


def test_the_callback_of_the_next_click_waits_for_the_one_before_it(
    monkeypatch: pytest.MonkeyPatch,
):
    assert seen_by_two_clicks(monkeypatch, ("me", "me")) == [[], ["a"]]


def test_nobody_waits_for_the_clicks_of_others(monkeypatch: pytest.MonkeyPatch):
    assert seen_by_two_clicks(monkeypatch, ("me", "you")) == [[], []]


def fails() -> None:
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    from tests.pages import test_streamlit_internals

    try:
        test_streamlit_internals.uninterrupted({}.__getitem__)("nothing")
    except KeyError:
        context = get_script_run_ctx()
        assert context
        st.text(f"looks: {'on_scriptrunner_yield' not in vars(context.script_requests)}")


def test_streamlit_looks_for_requests_again_after_a_callback_that_raised():
    assert AppTest.from_function(fails).run().text[0].value == "looks: True"


def test_it_is_the_callback_where_no_browser_is():
    assert uninterrupted(lambda left, right: left - right)(3, right=1) == 2


def test_what_the_server_sends_waits_for_no_acknowledgement(monkeypatch: pytest.MonkeyPatch):
    begun = []

    async def startup(server: uvicorn.Server, sockets: list[socket.socket] | None = None) -> None:
        begun.append(sockets)

    monkeypatch.setattr(uvicorn.Server, "startup", startup)
    send_at_once()
    with socket.socket() as listening, socket.socket() as browser:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        asyncio.run(uvicorn.Server(uvicorn.Config("app:app")).startup([listening]))
        browser.connect(listening.getsockname())
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    assert begun == [[listening]]


def test_the_first_page_of_a_fresh_server_waits_for_no_import_of_streamlits():
    script = "import app, sys; print({'pandas', 'streamlit.emojis'} <= {*sys.modules})"
    asked = [sys.executable, "-c", script]
    ended = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "True"
