"""Around every page: places to run it."""

import threading

import pytest

from pages.parts.layout import throttle

FOREVER = 600.0  # seconds; what would wait so long never ends here


def test_a_page_waits_until_another_one_is_done():
    places, asked, done = threading.BoundedSemaphore(1), threading.Event(), []

    def page() -> None:
        asked.set()
        with throttle(places, FOREVER):
            done.append("second")

    other = threading.Thread(target=page)
    with throttle(places, FOREVER):
        other.start()
        asked.wait()
        done.append("first")
    other.join()
    assert done == ["first", "second"]


def test_a_page_does_not_wait_for_a_slow_one_for_long_and_gives_back_only_its_own_place():
    places = threading.BoundedSemaphore(1)  # which raises where more is given back than was taken
    with throttle(places, 0.0), throttle(places, 0.0):
        pass
    assert places.acquire(blocking=False)


def test_a_page_that_fails_gives_its_place_back():
    places = threading.BoundedSemaphore(1)
    with pytest.raises(ValueError, match="broken"), throttle(places, 0.0):
        raise ValueError("broken")
    assert places.acquire(blocking=False)
