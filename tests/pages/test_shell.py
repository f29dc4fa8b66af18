"""Around every page: turns to run it."""

import threading

import pytest

from pages.parts.shell.turns import in_turn

FOREVER = 600.0  # seconds; what would wait so long never ends here


def test_a_page_waits_until_another_one_is_done():
    turns, asked, done = threading.BoundedSemaphore(1), threading.Event(), []

    def page() -> None:
        asked.set()
        with in_turn(turns, FOREVER):
            done.append("second")

    other = threading.Thread(target=page)
    with in_turn(turns, FOREVER):
        other.start()
        asked.wait()
        done.append("first")
    other.join()
    assert done == ["first", "second"]


def test_a_page_does_not_wait_for_one_that_computes_for_long_and_gives_back_only_a_turn_of_its_own():
    turns = threading.BoundedSemaphore(1)  # which raises where more is given back than was taken
    with in_turn(turns, 0.0), in_turn(turns, 0.0):
        pass
    assert turns.acquire(blocking=False)


def test_a_page_that_fails_gives_its_turn_back():
    turns = threading.BoundedSemaphore(1)
    with pytest.raises(ValueError, match="broken"), in_turn(turns, 0.0):
        raise ValueError("broken")
    assert turns.acquire(blocking=False)
