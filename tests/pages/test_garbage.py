"""What modules hold is set aside; what pages leave is still collected."""

import gc
import sys
import types
import weakref
from collections.abc import Iterator

import pytest

from pages.parts.shell import garbage
from pages.parts.shell.garbage import set_modules_aside


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
