"""What the head of a cluster does with many workers: events a second that it writes down, and how late.

    python tests/benchmarks/ray_head.py [--workers 10 100 1000] [--seconds 20]

Simulated: no Ray and no training, but the head's own loop and a real store. The workers are numbers here, whose news
are at hand when they are asked for. With "as many as it takes" each has ten new events whenever it is asked; else each
has an event at the rate that is named, and the lag is from then until the event is in the store. What Ray adds is not
in it. Prints a table.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from dpcore.runs.ray_pool.cluster import Shape  # noqa: E402
from dpcore.runs.ray_pool.crew import Crew  # noqa: E402
from dpcore.runs.ray_pool.job import News  # noqa: E402
from dpcore.runs.ray_pool.roster import MARK  # noqa: E402
from dpcore.runs.record import Status, body_of  # noqa: E402
from dpcore.runs.store import Store  # noqa: E402
from dpcore.training.config import RunConfig  # noqa: E402
from dpcore.training.events import Stepped  # noqa: E402

AT_ONCE = 10  # events in an answer where there is no end of them
RATES: dict[str, float | None] = {"as many as it takes": None, "1 event/s each": 1.0, "2 events/s each": 2.0}


class Feed:
    """A cluster that is made up: every question has its answer at once, and news never end."""

    def __init__(self, rate: float | None) -> None:
        self.rate, self.begun = rate, {}

    def start(self, name: str, shape: Shape, train: str) -> str:
        return name

    def find(self, name: str) -> str:
        return name

    def ask(self, worker: str, method: str, *values: Any) -> Callable[[], Any]:
        return partial(self._answer, worker, method, *values)

    def answered(self, questions: Sequence[Any], within: float) -> Sequence[Any]:
        return questions

    def answer(self, question: Any) -> Any:
        return question()

    def _answer(self, worker: str, method: str, *values: Any) -> Any:
        return self.news(worker, values[1]) if method == "news" else None

    def news(self, worker: str, after: int) -> News:
        now = time.time()
        begun = self.begun.setdefault(worker, now)
        due = after + AT_ONCE if self.rate is None else int((now - begun) * self.rate)
        times = [now if self.rate is None else begun + number / self.rate for number in range(after + 1, due + 1)]
        bodies = [body_of(Stepped(1, 0.1, at, 0.5, (1.0, 2.0, 3.0, 4.0, 5.0), 100.0)) for at in times]
        return News(bodies, None, Status.RUNNING, None)

    def end(self, worker: str) -> None: ...

    def room(self, shape: Shape) -> int:
        return 2**31

    def fits(self, shape: Shape) -> bool:
        return True

    def has_gpus(self) -> bool:
        return False


def measured(workers: int, rate: float | None, seconds: float) -> str:
    """The figures of a head with so many workers, as cells of the table."""
    lags: list[float] = []
    with tempfile.TemporaryDirectory() as home, Store(home) as store:
        append = store.append

        def timed(run: str, event: Any, worker: str | None = None) -> bool:
            stop = append(run, event, worker)
            lags.append(time.time() - event.loss)
            return stop

        store.append = timed  # type: ignore[method-assign]
        for number in range(workers):
            store.submit(RunConfig(seed=1), worker=f"{MARK}{number}")
        crew = Crew(store, Feed(rate), "", 1, 1.0)
        while any(run.sequence == 0 for run in store.runs()):
            crew.round()
        lags.clear()
        begun, processor = time.perf_counter(), time.process_time()
        while time.perf_counter() - begun < seconds:
            crew.round()
        took = time.perf_counter() - begun
        lags.sort()
        for run in store.runs():
            assert [number for number, _ in store.bodies(run.id)] == list(range(1, run.sequence + 1))
    lag, late, cores = statistics.median(lags), lags[int(0.95 * len(lags))], (time.process_time() - processor) / took
    return f"{len(lags) / took:9.0f} {1e3 * lag:8.0f} {1e3 * late:8.0f} {cores:6.2f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    print(f"{'workers':>7}  {'offered':22} {'events/s':>9} {'lag ms':>8} {'95 %':>8} {'cores':>6}")
    for workers in options.workers:
        for name, rate in RATES.items():
            print(f"{workers:7}  {name:22} {measured(workers, rate, options.seconds)}", flush=True)


if __name__ == "__main__":
    main()
