"""Who uses a page: asked of the connection each time, and never an error."""

from types import SimpleNamespace

import pytest
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string

from dpcore.runs.access import SHARED, User
from dpcore.runs.keys import COOKIES
from pages.parts.people import visitor
from pages.parts.people.visitor import current_user, handshake, may_change
from tests.pages.train_page import CONFIG


def test_without_the_switch_one_person_uses_the_server_and_no_cookie_is_read(monkeypatch):
    for value in ["", "0", " 0 "]:
        monkeypatch.setenv(SHARED, value)
        monkeypatch.setattr(visitor, "handshake", lambda: pytest.fail("read"))
        assert current_user() == User(), value


def test_with_anything_else_it_is_shared(room, monkeypatch):
    for value in ["1", "true", "yes", "nonsense"]:
        monkeypatch.setenv(SHARED, value)
        room.turn_of(room.visitor())
        assert current_user().shared, value


def test_a_browser_is_who_its_cookie_says(room):
    ann, bob = room.visitor(), room.visitor()
    room.turn_of(ann)
    assert current_user() == User(ann.owner, shared=True)
    room.turn_of(bob)
    assert current_user() == User(bob.owner, shared=True)


def test_a_connection_without_the_pages_token_is_nobody(room):
    for token in [generate_xsrf_token_string(), "x", "2|x|y|z", "2|" + "0" * 10_000]:
        room.sends(room.visitor().cookie, token=token)
        assert current_user() == User(shared=True), token


def test_who_gave_the_key_is_the_teacher(room):
    teacher = room.visitor(teacher=True)
    room.turn_of(teacher)
    assert current_user() == User(teacher.owner, teacher=True, shared=True)


def test_where_the_key_is_lost_everybody_can_look(room, store):
    room.turn_of(room.visitor())
    (room.home / COOKIES).write_text("nonsense")
    assert current_user() == User(shared=True)


def test_a_run_is_asked_about_at_the_moment(room, store):
    ann, bob = room.visitor(), room.visitor()
    run = store.run(store.submit(CONFIG, owner=ann.owner))
    room.turn_of(ann)
    assert may_change(run)
    room.turn_of(bob)
    assert not may_change(run)


def test_the_token_is_the_second_of_the_protocols(monkeypatch):
    for protocols, token in [("streamlit, t, s", "t"), ("streamlit,t", "t"), ("streamlit", ""), ("", ""), (",,", "")]:
        context = SimpleNamespace(
            cookies={"a": "b"}, headers={"Sec-Websocket-Protocol": protocols} if protocols else {}
        )
        monkeypatch.setattr(visitor.st, "context", context)
        assert handshake() == ({"a": "b"}, token), (protocols, token)
