"""The store's directory fills up, is moved away, replaced or closed to writers while runs train in it."""

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from dpcore.runs.record import StoreError
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from tests.runs.faults.afterwards import wrongs
from tests.runs.faults.killing import serving

Eventually = Callable[..., None]
Wait = Callable[[], None]


@pytest.mark.long
def test_a_directory_that_is_away_for_a_while_costs_no_run_anything(
    store: Store, home: Path, runs: list[str], under_way: Wait, all_ended: Wait, eventually: Eventually
) -> None:
    with serving(home) as server:
        under_way()
        away = home.rename(home.parent / "away")
        eventually(lambda: "runs.sqlite3" in server.trouble)
        assert not home.exists()  # nobody begins another store in its place
        with pytest.raises(StoreError, match="to be a file in a writable directory"):
            store.runs()
        away.rename(home)
        all_ended()
    assert wrongs(store, runs) == []


@pytest.mark.long
def test_a_directory_that_is_replaced_gets_nothing_of_the_old_runs_and_the_old_one_goes_on_elsewhere(
    store: Store, home: Path, runs: list[str], under_way: Wait, eventually: Eventually
) -> None:
    with serving(home) as server:
        under_way()
        away = home.rename(home.parent / "away")
        with Store(home) as other:
            fresh = other.submit(RunConfig())
            eventually(lambda: "replaced while in use; start the program again" in server.trouble)
            assert [run.id for run in other.runs()] == [fresh]
            assert other.tail(fresh) == []
    with Store(away) as old, serving(away):
        eventually(lambda: not any(old.run(run).active for run in runs), within=60)
        assert wrongs(old, runs) == []
    shutil.rmtree(home)
    away.rename(home)


@pytest.mark.long
def test_a_disk_that_is_full_for_a_while_costs_no_run_anything_and_nobody_is_taken_for_dead(
    small_disk: Path, store: Store, runs: list[str], under_way: Wait, all_ended: Wait, eventually: Eventually
) -> None:
    with serving(small_disk, stale=4) as server:
        under_way()
        worker = store.run(runs[0]).worker
        fill(small_disk / "other")
        with pytest.raises(StoreError, match="room left"):
            store.post("too long", "x" * 10_000)
        said = store.tail(runs[0])
        eventually(lambda: "room left" in server.trouble)
        time.sleep(6)
        (small_disk / "other").unlink()
        eventually(lambda: not store.run(runs[0]).active, within=60)
        assert store.run(runs[0]).worker == worker
        assert store.tail(runs[0])[: len(said)] == said
        all_ended()
    assert wrongs(store, runs) == []


@pytest.fixture
def small_disk(home: Path) -> Iterator[Path]:
    """The home on a disk of its own, of one MiB."""
    home.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "none", str(home)], check=True)
    try:
        yield home
    finally:
        subprocess.run(["umount", "--lazy", str(home)], check=True)


def fill(file: Path) -> None:
    """Take what room is left."""
    with open(file, "wb", buffering=0) as out, suppress(OSError):
        while True:
            out.write(b"x" * 512)
