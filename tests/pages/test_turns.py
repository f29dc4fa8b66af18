"""Pages are run a few at a time, but none waits for long, and none keeps its turn."""

import threading
import time

import pytest

from pages.parts.shell import turns
from pages.parts.shell.turns import in_turn


@pytest.fixture(autouse=True)
def one_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_turns", threading.BoundedSemaphore(1))


def test_a_page_waits_for_the_one_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "PATIENCE", 60.0)
    began, order = threading.Event(), []

    def page() -> None:
        began.set()
        with in_turn():
            order.append("second")

    second = threading.Thread(target=page)
    with in_turn():
        second.start()
        began.wait()
        time.sleep(0.05)
        order.append("first")
    second.join()
    assert order == ["first", "second"]


def test_a_page_does_not_wait_long_for_one_that_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "PATIENCE", 0.01)
    with in_turn(), in_turn():
        pass
    monkeypatch.setattr(turns, "PATIENCE", 60.0)
    with in_turn():  # both are over, and one turn was taken: it is free again
        pass


def test_a_page_that_fails_gives_its_turn_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "PATIENCE", 60.0)
    with pytest.raises(ValueError, match="broken"), in_turn():
        raise ValueError("broken")
    with in_turn():
        pass
