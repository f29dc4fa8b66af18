"""A queue that was paused in a classroom can be let go on where the server has no classroom any
more.
"""

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.runs.limits import NOT_TEACHER, SHARED
from dpcore.runs.store import PAUSED, Store
from tests.pages.people.conftest import Class
from tests.pages.runs_page import opened
from tests.pages.train_page import press

LABEL = "Continue the queue"


def offered(page: AppTest) -> bool:
    return LABEL in {each.label for each in page.button}


@pytest.fixture
def paused(store: Store) -> Store:
    store.post(PAUSED, "1")
    return store


def test_who_is_alone_lets_a_paused_queue_go_on(paused: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(SHARED, raising=False)
    page = opened()
    assert any("The queue is paused" in each.value for each in page.markdown)
    page = press(page, LABEL)
    assert not paused.board(PAUSED)
    assert not offered(page)


def test_in_a_classroom_the_teacher_alone_does(room: Class, paused: Store):
    room.turn_of(room.visitor())
    assert not offered(opened())
    room.turn_of(room.visitor(teacher=True))
    page = opened()
    room.turn_of(room.visitor())
    page = press(page, LABEL)
    assert [each.value for each in page.error] == [NOT_TEACHER]
    assert paused.board(PAUSED)
    room.turn_of(room.visitor(teacher=True))
    press(opened(), LABEL)
    assert not paused.board(PAUSED)


def test_while_the_queue_goes_on_there_is_no_button(store: Store):
    assert not offered(opened())
