"""Another process holds the database: who trains waits, who reads is served, and nobody is taken for dead."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dpcore.runs.store import Store
from tests.runs.faults.afterwards import wrongs
from tests.runs.faults.killing import serving
from tests.runs.holding import held

Wait = Callable[[], None]


@pytest.mark.long
def test_a_run_outlives_a_database_that_is_held_for_thirty_seconds(
    store: Store, home: Path, runs: list[str], under_way: Wait, all_ended: Wait
) -> None:
    with serving(home):
        under_way()
        with held(store.path, 30) as holder:
            worker = store.run(runs[0]).worker
            said = store.tail(runs[0])
            assert holder.wait(60) == 0
        assert store.run(runs[0]).worker == worker  # it was silent, for it could not speak, and is not dead
        assert store.tail(runs[0])[: len(said)] == said
        all_ended()
    assert store.run(runs[0]).worker == worker
    assert wrongs(store, runs) == []
