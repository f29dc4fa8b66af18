"""Around every page: turns to run it, garbage that modules hold, and threads of matrix products."""

import gc
import json
import os
import subprocess
import sys
import threading
import types
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from pages.parts.shell import garbage
from pages.parts.shell.garbage import set_modules_aside
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


@pytest.fixture
def unfrozen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(garbage, "_known", [0])
    yield
    gc.unfreeze()


class Kept:
    """Something that refers to itself, so that only the collector ends it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.mark.usefixtures("unfrozen")
def test_it_is_done_again_only_where_modules_have_come() -> None:
    set_modules_aside()
    first = gc.get_freeze_count()
    assert first > 10_000
    later = Kept()
    set_modules_aside()
    assert any(each is later for each in gc.get_objects())  # not set aside
    sys.modules["one_more_module"] = types.ModuleType("one_more_module")
    try:
        set_modules_aside()
    finally:
        del sys.modules["one_more_module"]
    assert not any(each is later for each in gc.get_objects())


@pytest.mark.usefixtures("unfrozen")
def test_what_comes_later_is_collected() -> None:
    set_modules_aside()
    left = weakref.ref(Kept())
    gc.collect()
    assert left() is None


ROOT = Path(__file__).parents[2]


CORES = len(os.sched_getaffinity(0))


ASK = """
import json, numpy, scipy.linalg, threadpoolctl
print(json.dumps([library["num_threads"] for library in threadpoolctl.threadpool_info()]))
"""


LIMITED = f"""
import subprocess, sys
from pages.parts.shell.threads import one_thread_for_products
one_thread_for_products()
{ASK}
subprocess.run([sys.executable, "-c", {ASK!r}], check=True)
"""


def threads(code: str, **environment: str) -> list[list[int]]:
    """What each process of the code says of its libraries' threads."""
    plain = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=plain | environment, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_pages_products_take_one_thread_and_a_workers_as_many_as_ever():
    (usual,) = threads(ASK)
    own, workers = threads(LIMITED)
    assert set(own) == {1}
    assert workers == usual
    assert max(usual) == CORES
