"""What readers see of a store in trouble: the pages are drawn with a sentence, and come back with
the store.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.runs import pool, store_file
from dpcore.runs.record import Status, StoreError
from dpcore.runs.store import Store
from tests.pages.train_page import CONFIG, opened_at, press, recorded
from tests.runs.live_workers import held

PAGES = Path(__file__).parents[3] / "pages"
ALONE = "Train without privacy"
Fault = Callable[[Store], None]


@pytest.fixture
def run(store: Store, monkeypatch: pytest.MonkeyPatch) -> str:
    """A run that trains, in the store that the pages have open."""
    monkeypatch.setattr(pool, "ensure_pool", lambda *_: SimpleNamespace(store=store, trouble=None))
    return recorded(store, CONFIG, 40)


def said(page: AppTest) -> str:
    assert not page.exception
    return " ".join(each.value for kind in ("error", "warning", "info") for each in page.get(kind))


def remove(store: Store) -> None:
    shutil.rmtree(store.home)


def replace(store: Store) -> None:
    store.home.rename(store.home.parent / "away")
    Store(store.home).close()


def damage(store: Store) -> None:
    with store.reading() as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("PRAGMA cache_size = 0")
    content = bytearray(store.path.read_bytes())
    content[4096:] = b"nonsense" * ((len(content) - 4096) // 8)
    with open(store.path, "r+b") as file:  # the same file, as a broken disk leaves it
        file.write(content)


TROUBLES = {
    remove: "to be a file in a writable directory",
    replace: "start the program again",
    damage: "to be a",
}


@pytest.mark.long
@pytest.mark.parametrize("page", ["runs.py", "lab.py"])
@pytest.mark.parametrize("fault", TROUBLES, ids=lambda fault: fault.__name__)
def test_a_page_whose_store_is_gone_says_so_in_a_sentence(
    store: Store, run: str, page: str, fault: Fault
) -> None:
    shown = opened_at(PAGES / page, run)
    assert said(shown) == said(shown.run())
    fault(store)
    assert TROUBLES[fault] in said(shown.run())
    assert TROUBLES[fault] in said(opened_at(PAGES / page, run))


def close_to_writers(store: Store) -> None:
    with store.reading() as db:
        db.execute("PRAGMA query_only = 1")


def leave_no_room(store: Store) -> None:
    with store.reading() as db:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match="room left"):
        submit_for_ever(store)


def submit_for_ever(store: Store) -> None:
    while True:
        store.submit(CONFIG)


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [(close_to_writers, "to be writable"), (leave_no_room, "room left")],
    ids=["closed", "full"],
)
def test_a_run_that_cannot_be_kept_is_not_begun_and_the_page_says_why(
    store: Store, run: str, fault: Fault, sentence: str
) -> None:
    page = opened_at(PAGES / "lab.py", run)
    fault(store)
    before = store.runs()
    assert sentence in said(press(page, ALONE))
    assert store.runs() == before


def test_pages_are_drawn_while_another_process_holds_the_store_and_say_what_cannot_be_done(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_file, "BUSY", 0.2)
    with Store(home) as store:
        monkeypatch.setattr(
            pool, "ensure_pool", lambda *_: SimpleNamespace(store=store, trouble=None)
        )
        run = recorded(store, CONFIG, 40)
        with held(store.path, 60):
            assert said(opened_at(PAGES / "runs.py", run)) == ""
            page = opened_at(PAGES / "lab.py", run)
            assert "to be free within" in said(press(page, ALONE))
        assert len(store.runs()) == 1
        press(page, ALONE)
        assert len(store.runs(Status.QUEUED)) == 1
