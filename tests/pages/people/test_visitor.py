"""The cookie by which a browser is known, who uses a page by it, and how often a key may be guessed."""

import re
from types import SimpleNamespace

import pytest
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string

from dpcore.runs.access import SHARED, User
from pages.parts.people import visitor
from pages.parts.people.attempts import EACH, WITHIN, Attempts
from pages.parts.people.cookie import header_of, name_of, new_cookie, owner_of
from pages.parts.people.visitor import current_user, handshake

KEY, OTHER = b"k" * 32, b"o" * 32


def forged() -> list[str]:
    cookie = new_cookie(KEY)
    visitor, signature = cookie.split(".")
    owner = owner_of(cookie, KEY)
    return [
        "", ".", "x", visitor, f"{visitor}.", f".{signature}", f"{visitor}.{'0' * 64}", f"{'0' * 32}.{signature}",
        cookie[:-1], cookie + "0", cookie.upper(), f" {cookie}", f"{cookie}\n", "a" * 10_000, f"{cookie};{cookie}",
        f"{owner}.{signature}", f"{owner}.{owner}{owner}", "٣" * 32 + "." + "٣" * 64, "\udcff", "../../etc/passwd",
        new_cookie(OTHER),
    ]  # fmt: skip


def test_a_forged_a_cut_or_a_foreign_cookie_is_nobodys():
    for value in forged():
        assert owner_of(value, KEY) == "", value


def test_a_cookie_stands_for_the_same_owner_every_time_and_each_for_another():
    cookies = [new_cookie(KEY) for _ in range(50)]
    owners = [owner_of(each, KEY) for each in cookies]
    assert [owner_of(each, KEY) for each in cookies] == owners
    assert len({*owners}) == 50
    assert all(re.fullmatch("[0-9a-f]{32}", each) for each in owners)


def test_an_owner_is_no_part_of_the_cookie():
    cookie = new_cookie(KEY)
    assert owner_of(cookie, KEY) not in cookie
    assert cookie.split(".")[0] not in owner_of(cookie, KEY)


def test_no_script_reads_it_and_no_other_sites_request_carries_it():
    plain = header_of(KEY, secure=False)
    assert plain.startswith(f"{name_of(KEY)}=")
    assert plain.endswith("; HttpOnly; SameSite=Lax")
    assert "Domain" not in plain
    assert header_of(KEY, secure=True).endswith("; HttpOnly; SameSite=Lax; Secure")


def test_without_the_switch_one_person_uses_the_server_and_no_cookie_is_read(monkeypatch):
    for value in ["", "0", " 0 "]:
        monkeypatch.setenv(SHARED, value)
        monkeypatch.setattr(visitor, "handshake", lambda: pytest.fail("read"))
        assert current_user() == User(), value


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


def test_the_token_is_the_second_of_the_protocols(monkeypatch):
    for protocols, token in [("streamlit, t, s", "t"), ("streamlit,t", "t"), ("streamlit", ""), ("", ""), (",,", "")]:
        context = SimpleNamespace(
            cookies={"a": "b"}, headers={"Sec-Websocket-Protocol": protocols} if protocols else {}
        )
        monkeypatch.setattr(visitor.st, "context", context)
        assert handshake() == ({"a": "b"}, token), (protocols, token)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_after_five_attempts_an_address_waits_a_minute():
    clock = Clock()
    attempts = Attempts(clock=clock)
    assert [attempts.another("a") for _ in range(EACH + 2)] == [True] * EACH + [False] * 2
    assert attempts.another("b")
    clock.now += WITHIN - 0.1
    assert not attempts.another("a")
    clock.now += 0.1
    assert attempts.another("a")
