"""A store of very many runs and events: how soon the page of runs has its table, and what is live its news."""

import json
import logging
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from streamlit.testing.v1 import AppTest

from dpcore.runs import pool
from dpcore.runs.record import Run, body_of
from dpcore.runs.rows import insert, row_of
from dpcore.runs.run_table import ORDERS, Wanted, counted, ended, found, owners_of, sweeps_of, tags_of
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Finished, Started
from dpcore.training.plan import plan
from pages.parts.runs.listing import LEFT
from tests.benchmarks.appending import STEPPED, appended

ROOT = Path(__file__).parents[2]
CONFIG = RunConfig(batch=256, epochs=20.0)


def filled(store: Store, runs: int, events: int) -> str:
    """Write so many runs, of so many events each; the id of the last one, which is live."""
    ids = sorted(store.new_id() for _ in range(runs))
    said = [body_of(Started(CONFIG.examples, plan(CONFIG).steps, CONFIG.q, "cpu", 26010, "book-keeping"))]
    for step in range(1, events - 1):
        test = Evaluated(step, step * CONFIG.q, 0.5, 1.0, (0.5,) * 10)
        said.append(body_of(test if step % 2 else replace(STEPPED, step=step)))
    with store.writing() as db:
        for number, run in enumerate(ids):
            row = row_of(
                run, replace(CONFIG, sigma=0.5 + number % 40 / 10, seed=number), f"run {number}", None, None, 1
            )
            row |= {"owner": f"owner {number % 100}", "status": "finished", "started": row["created"] - number}
            row |= {"ended": row["created"], "tags": json.dumps([f"tag {number % 20}"]), "worker": "elsewhere:1"}
            insert(db, row)
            last = body_of(Finished(plan(CONFIG).steps, 4.0, number % 1000 / 1000))
            bodies = enumerate([*said, last], 1)
            db.executemany("INSERT INTO events VALUES (?, ?, ?)", ((run, place, body) for place, body in bodies))
    live = store.submit(CONFIG, "live", worker="elsewhere:2")
    for _ in range(events):
        store.append(live, STEPPED)
    return live


def seconds_of(call: Callable[[], object], repeat: int = 5) -> float:
    """Median seconds of a call."""
    times = []
    for _ in range(repeat):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


@contextmanager
def page_of(store: Store, **query: str) -> Iterator[AppTest]:
    """The page of runs at this address, drawn until it knows all of its epsilons, of this store; nobody works."""
    logging.disable(logging.WARNING)  # Streamlit misses its server in every line
    with patch.object(pool, "ensure_pool", lambda: SimpleNamespace(store=store, trouble=None)):
        page = AppTest.from_file(ROOT / "pages" / "runs.py", default_timeout=600)
        for name, value in query.items():
            page.query_params[name] = value
        while not page.run().exception and page.session_state[LEFT]:
            pass
        if page.exception:
            raise RuntimeError(page.exception[0].value)
        yield page


def queries(store: Store) -> dict[str, float]:
    """Milliseconds of what the page asks of the store."""
    everything = Wanted()
    asked = {f"by {order}": lambda order=order: found(store, everything, order) for order in ORDERS}
    asked |= {
        "with a text": lambda: found(store, Wanted(text="run 77")),
        "of a tag": lambda: found(store, Wanted(tag="tag 7")),
        "of an owner": lambda: found(store, Wanted(owner="owner 7")),
        "the last page": lambda: found(store, everything, descending=False, limit=25, offset=9_975),
        "tags, owners, sweeps, statuses": lambda: [each(store) for each in (tags_of, owners_of, sweeps_of, counted)],
        "500 ended runs": lambda: ended(store, everything, 500),
    }
    return {name: round(1e3 * seconds_of(call, 3), 1) for name, call in asked.items()}


def append_rate(store: Store, writers: int, seconds: float) -> float:
    """Events a second that so many processes append, each to a run of its own."""
    context = multiprocessing.get_context("spawn")
    start, counts = context.Barrier(writers), context.Queue()
    runs = [store.submit(CONFIG, worker=f"elsewhere:{each}") for each in range(writers)]
    processes = [context.Process(target=appended, args=(store.home, run, seconds, start, counts)) for run in runs]
    for process in processes:
        process.start()
    total = sum(counts.get(timeout=120 + seconds) for _ in processes)
    for process in processes:
        process.join()
    if sum(store.run(run).sequence for run in runs) != total:
        raise RuntimeError("The store has not as many events as were appended.")
    return round(total / seconds)


def measured(runs: int, events: int, seconds: float) -> dict[str, Any]:
    """The figures; times in ms."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        begun = time.monotonic()
        with Store(home) as store:
            live = filled(store, runs, events // runs)
        made = time.monotonic() - begun
        opening = seconds_of(lambda: Store(home).close())
        with Store(home) as store:
            count: Run = store.run(live)
            with page_of(store) as page:
                drawn = seconds_of(page.run)
            with page_of(store, sort="epsilon") as page:
                by_epsilon = seconds_of(page.run)
            figures = {
                "runs, events": [runs, events // runs * runs],
                "made in, s": round(made, 1),
                "MiB": round(store.path.stat().st_size / 2**20),
                "opening, ms": round(1e3 * opening, 1),
                "page of runs, ms": round(1e3 * drawn),
                "page of runs by epsilon, ms": round(1e3 * by_epsilon),
                "queries, ms": queries(store),
                "ten events of a live run, ms": round(
                    1e3 * seconds_of(lambda: store.tail(live, count.sequence - 10), 300), 2
                ),
                "none new of a live run, ms": round(1e3 * seconds_of(lambda: store.tail(live, count.sequence), 300), 2),
                "events a second, one writer": append_rate(store, 1, seconds),
                "events a second, eight writers": append_rate(store, 8, seconds),
            }
    return figures


def missed(figures: dict[str, Any]) -> list[str]:
    """The targets that are missed."""
    targets = {
        "page of runs, ms": figures["page of runs, ms"] <= 1000,
        "page of runs by epsilon, ms": figures["page of runs by epsilon, ms"] <= 1000,
        "queries, ms": max(figures["queries, ms"].values()) <= 1000,
        "ten events of a live run, ms": figures["ten events of a live run, ms"] <= 5,
        "events a second, one writer": figures["events a second, one writer"] >= 2000,
        "events a second, eight writers": figures["events a second, eight writers"] >= 2000,
    }
    return [name for name, met in targets.items() if not met]
