"""Pages are run a few at a time, in their order, but none waits for one that takes long, and none keeps its turn."""

import threading
import time

import pytest

from pages.parts.shell import turns as module
from pages.parts.shell.turns import Turns

FOREVER = 600.0  # seconds; what would wait so long never ends here


def waiting(turns: Turns, number: int) -> None:
    """Return once so many wait for a turn."""
    while len(turns._waiting) < number:
        time.sleep(0.001)


def test_pages_are_run_in_the_order_in_which_they_were_asked_for() -> None:
    turns, order = Turns(1, FOREVER), []

    def page(number: int) -> None:
        with turns.one():
            order.append(number)

    others = [threading.Thread(target=page, args=(number,)) for number in range(5)]
    with turns.one():
        for number, other in enumerate(others):
            other.start()
            waiting(turns, number + 1)
        order.append(-1)
    for other in others:
        other.join()
    assert order == [-1, 0, 1, 2, 3, 4]


def test_so_many_run_at_once_and_no_more() -> None:
    turns, most = Turns(3, FOREVER), []
    running: set[int] = set()

    def page(number: int) -> None:
        with turns.one():
            running.add(number)
            time.sleep(0.01)
            most.append(len(running))
            running.remove(number)

    others = [threading.Thread(target=page, args=(number,)) for number in range(12)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert max(most) == 3
    assert len(most) == 12


def test_a_page_does_not_wait_for_one_that_computes_for_long() -> None:
    turns = Turns(1, 0.01)
    with turns.one(), turns.one(), turns.one():  # each begins when the one before has had its time
        assert len(turns._since) == 3
    assert not turns._since


def test_a_page_that_fails_gives_its_turn_back() -> None:
    turns = Turns(1, FOREVER)
    with pytest.raises(ValueError, match="broken"), turns.one():
        raise ValueError("broken")
    with turns.one():
        pass


def test_a_page_that_is_given_up_while_it_waits_lets_the_next_one_have_the_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turns, done = Turns(1, FOREVER), threading.Event()

    def broken_off(*_: object) -> None:
        raise KeyboardInterrupt

    def page() -> None:
        with turns.one():
            done.set()

    with turns.one():
        with monkeypatch.context() as patch:
            patch.setattr(threading.Condition, "wait", broken_off)
            with pytest.raises(KeyboardInterrupt), turns.one():
                pass
        other = threading.Thread(target=page)
        other.start()
        waiting(turns, 1)
    other.join()
    assert done.is_set()


def test_a_page_waits_for_what_is_urgent_but_not_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "URGENT", FOREVER)
    turns, done = Turns(), threading.Event()

    def page() -> None:
        with turns.one():
            done.set()

    other = threading.Thread(target=page)
    with turns.urgent():
        with turns.urgent():
            other.start()
            waiting(turns, 1)
        assert not done.wait(0.05)
    other.join()
    assert done.is_set()
    monkeypatch.setattr(module, "URGENT", 0.01)
    with turns.urgent(), turns.one():
        pass
