"""A callback is done as a whole, whatever the browser asks for meanwhile."""

import threading
from typing import Any

import pytest
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.testing.v1 import AppTest

from pages.parts.controls import callbacks
from pages.parts.controls.callbacks import whole


def queue_and_show() -> None:
    """As a click does that queues a run and shows it; in between the browser asks for the page anew."""
    st.session_state["queued"] = st.session_state.get("queued", 0) + 1
    context = get_script_run_ctx()
    assert context
    assert context.script_requests
    context.script_requests.request_rerun(RerunData(widget_states=None))
    st.session_state["shown"] = st.session_state.get("shown", 0) + 1


def page(whole: bool) -> None:
    import streamlit as st

    from tests.pages import test_callbacks

    callback = test_callbacks.queue_and_show
    st.button("Start", on_click=test_callbacks.whole(callback) if whole else callback)
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


def seen_by_two_clicks(monkeypatch: pytest.MonkeyPatch, sessions: tuple[str, str]) -> list[list[str]]:
    """What each of two callbacks read before it wrote, the second begun while the first was between the two."""
    state, seen, reading, asked = list[str](), list[list[str]](), threading.Event(), threading.Event()
    contexts, turn_of = threading.local(), callbacks._turn_of
    monkeypatch.setattr(callbacks, "get_script_run_ctx", lambda **_: contexts.mine)
    monkeypatch.setattr(callbacks, "_turn_of", lambda session: Turn(turn_of(session), asked))

    @whole
    def show(name: str) -> None:
        before = list(state)
        seen.append(before)
        (reading if name == "a" else asked).set()
        asked.wait(60)
        state[:] = [*before, name]

    def click(name: str, session: str) -> None:
        contexts.mine = Context(session)
        show(name)

    first, second = (threading.Thread(target=click, args=each) for each in zip("ab", sessions, strict=True))
    first.start()
    reading.wait()
    second.start()
    first.join()
    second.join()
    return seen


def test_the_callback_of_the_next_click_waits_for_the_one_before_it(monkeypatch: pytest.MonkeyPatch):
    assert seen_by_two_clicks(monkeypatch, ("me", "me")) == [[], ["a"]]


def test_nobody_waits_for_the_clicks_of_others(monkeypatch: pytest.MonkeyPatch):
    assert seen_by_two_clicks(monkeypatch, ("me", "you")) == [[], []]


def fails() -> None:
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    from tests.pages import test_callbacks

    try:
        test_callbacks.whole({}.__getitem__)("nothing")
    except KeyError:
        context = get_script_run_ctx()
        assert context
        st.text(f"looks: {'on_scriptrunner_yield' not in vars(context.script_requests)}")


def test_streamlit_looks_for_requests_again_after_a_callback_that_raised():
    assert AppTest.from_function(fails).run().text[0].value == "looks: True"


def test_it_is_the_callback_where_no_browser_is():
    assert whole(lambda left, right: left - right)(3, right=1) == 2
