"""A store of very many runs and events: how soon the page of runs has its table, and what is live
its news.
"""

import json
import logging
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from dpcore.runs import pool
from dpcore.runs.record import body_of, row_of
from dpcore.runs.run_table import ORDERS, Wanted, found
from dpcore.runs.store import Store
from dpcore.runs.store_file import insert
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Finished, Started, Stepped
from dpcore.training.plan import plan

ROOT = Path(__file__).parents[1]
CONFIG = RunConfig(batch=256, epochs=20.0)
STEPPED = Stepped(1, 0.1, 1.0, 0.5, (1.0, 2.0, 3.0, 4.0, 5.0), 10.0)


def filled(store: Store, runs: int, events: int) -> str:
    """Write so many runs, of so many events each; the id of the last one, which is live."""
    ids = sorted(store.new_id() for _ in range(runs))
    said = [
        body_of(
            Started(CONFIG.examples, plan(CONFIG).steps, CONFIG.q, "cpu", 26010, "book-keeping")
        )
    ]
    for step in range(1, events - 1):
        test = Evaluated(step, step * CONFIG.q, 0.5, 1.0, (0.5,) * 10)
        said.append(body_of(test if step % 2 else replace(STEPPED, step=step)))
    with store.writing() as db:
        for number, run in enumerate(ids):
            row = row_of(
                run,
                replace(CONFIG, sigma=0.5 + number % 40 / 10, seed=number),
                f"run {number}",
                None,
                None,
                1,
            )
            row |= {
                "owner": f"owner {number % 100}",
                "status": "finished",
                "started": row["created"] - number,
            }
            row |= {
                "ended": row["created"],
                "tags": json.dumps([f"tag {number % 20}"]),
                "worker": "elsewhere:1",
            }
            insert(db, row)
            last = body_of(Finished(plan(CONFIG).steps, 4.0, number % 1000 / 1000))
            bodies = enumerate([*said, last], 1)
            db.executemany(
                "INSERT INTO events VALUES (?, ?, ?)",
                ((run, place, body) for place, body in bodies),
            )
    live = store.submit(CONFIG, "live", worker="elsewhere:2")
    for _ in range(events):
        store.append(live, STEPPED)
    return live


def ms_of(call: Callable[[], object], repeat: int = 5) -> float:
    """Median milliseconds of a call."""
    times = []
    for _ in range(repeat):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return round(1e3 * statistics.median(times), 2)


def ms_of_page(store: Store, **query: str) -> float:
    """Of the page of runs at this address, once it knows all of its epsilons, of this store; nobody
    works.
    """
    from streamlit.testing.v1 import AppTest

    from pages.parts.runs.listing import LEFT

    logging.disable(logging.WARNING)  # Streamlit misses its server in every line
    with patch.object(pool, "ensure_pool", lambda: SimpleNamespace(store=store, trouble=None)):
        page = AppTest.from_file(ROOT / "pages" / "runs.py", default_timeout=600)
        for name, value in query.items():
            page.query_params[name] = value
        while not page.run().exception and page.session_state[LEFT]:
            pass
        if page.exception:
            raise RuntimeError(page.exception[0].value)
        return ms_of(page.run)


def appended(home: Path, run: str, seconds: float, start: Any, counts: Any) -> None:
    """Append to a run for so many seconds, and tell how often."""
    with Store(home) as store:
        start.wait()
        count, deadline = 0, time.monotonic() + seconds
        while time.monotonic() < deadline:
            store.append(run, STEPPED)
            count += 1
        counts.put(count)


def append_rate(store: Store, writers: int, seconds: float) -> float:
    """Events a second that so many processes append, each to a run of its own."""
    context = multiprocessing.get_context("spawn")
    start, counts = context.Barrier(writers), context.Queue()
    runs = [store.submit(CONFIG, worker=f"elsewhere:{each}") for each in range(writers)]
    processes = [
        context.Process(target=appended, args=(store.home, run, seconds, start, counts))
        for run in runs
    ]
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
        with Store(home) as store:
            live = filled(store, runs, events // runs)
        opening = ms_of(lambda: Store(home).close())
        with Store(home) as store:
            last = store.run(live).sequence
            tables = {f"by {order}": Wanted() for order in ORDERS}
            tables |= {"with a text": Wanted(text="run 77"), "of a tag": Wanted(tag="tag 7")}
            return {
                "runs, events": [runs, events // runs * runs],
                "MiB": round(store.path.stat().st_size / 2**20),
                "opening, ms": opening,
                "page of runs, ms": ms_of_page(store),
                "page of runs by epsilon, ms": ms_of_page(store, sort="epsilon"),
                "tables, ms": {
                    name: ms_of(
                        lambda name=name, wanted=wanted: found(
                            store, wanted, *name.split("by ")[1:]
                        ),
                        3,
                    )
                    for name, wanted in tables.items()
                },
                "ten events of a live run, ms": ms_of(lambda: store.events(live, last - 10), 300),
                "none new of a live run, ms": ms_of(lambda: store.events(live, last), 300),
                "events a second, one writer": append_rate(store, 1, seconds),
                "events a second, eight writers": append_rate(store, 8, seconds),
            }


def missed(figures: dict[str, Any]) -> list[str]:
    """The targets that are missed."""
    most = {
        "page of runs, ms": 1000,
        "page of runs by epsilon, ms": 1000,
        "ten events of a live run, ms": 5,
    }
    late = [name for name, limit in most.items() if figures[name] > limit]
    late += ["tables, ms"] if max(figures["tables, ms"].values()) > 1000 else []
    return late + [
        name for name, value in figures.items() if name.startswith("events a") and value < 2000
    ]
