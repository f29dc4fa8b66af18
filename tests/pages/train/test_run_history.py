"""What a page knows of a run is a value: whatever other sessions read or append, it stays as it was
when asked for.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Finished, Stepped
from pages.parts.train.run_history import history_of
from tests.pages.train_page import CLASSES, CONFIG, recorded

READERS = 4
EVENTS = 120


def test_each_event_is_read_once(tmp_path: Path):
    with Store(tmp_path) as store:
        run = store.submit(RunConfig())
        store.claim("test:1")
        store.append(run, Stepped(5, 0.1, 2.0, 0.5, (1.0,) * 5, 10.0))
        assert history_of(store, run).step == 5
        store.append(run, Evaluated(7, 0.2, 0.5, 1.0, (0.5,) * 10))
        known = history_of(store, run)
        assert (known.step, known.sequence, len(known.stepped), len(known.evaluated)) == (
            7,
            2,
            1,
            1,
        )
        assert history_of(store, run) is known


def test_sessions_that_read_at_once_each_see_every_event_once_and_in_order(store: Store):
    run = recorded(store, CONFIG, 10)
    begun, seen = threading.Barrier(READERS + 1), history_of(store, run).sequence

    def write() -> None:
        begun.wait()
        for step in range(11, 11 + EVENTS):
            store.append(run, Evaluated(step, step * CONFIG.q, 0.5, 1.0, CLASSES))
        store.append(run, Finished(11 + EVENTS, 1.0, 0.5))

    def read() -> list[tuple[int, list[int]]]:
        begun.wait()
        looks = []
        while not looks or looks[-1][0] < seen + EVENTS + 1:
            history = history_of(store, run)
            looks.append((history.sequence, [each.step for each in history.evaluated]))
        return looks

    with ThreadPoolExecutor(READERS + 1) as threads:
        writing, readers = threads.submit(write), [threads.submit(read) for _ in range(READERS)]
        writing.result()
        found = [each.result() for each in readers]
    for looks in found:
        assert [sequence for sequence, _ in looks] == sorted(sequence for sequence, _ in looks)
        for sequence, steps in looks:
            assert steps == list(range(10, 10 + len(steps)))  # none left out, none twice
            assert len(steps) == min(sequence - seen, EVENTS) + 1
