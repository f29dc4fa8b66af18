"""What the head of a cluster does with many workers: events a second that it writes down, and how
late.

    python benchmarks/ray_head.py [--workers 10 100 1000] [--seconds 20]

Simulated: no Ray and no training, but the head's own loop and a real store. The workers are made
up, and their news are at hand as soon as they are due. With "as many as it takes" each always has
another event; else each has one at the rate that is named, and the lag is from then until the event
is in the store. What Ray adds is not in it. Prints a table.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import dpcore  # noqa: E402
from dpcore.runs.ray_pool.node import Hello, Job, Said, Shape  # noqa: E402
from dpcore.runs.ray_pool.streams import Streams  # noqa: E402
from dpcore.runs.store import Store  # noqa: E402
from dpcore.training.config import RunConfig  # noqa: E402
from dpcore.training.events import Stepped  # noqa: E402

RATES: dict[str, float | None] = {
    "as many as it takes": None,
    "1 event/s each": 1.0,
    "2 events/s each": 2.0,
}


@dataclass(eq=False)
class Stream:
    """A task that is made up."""

    since: float = 0.0  # when it began
    said: int = 0


class Feed:
    """A cluster that is made up: news are there as soon as they are due, and never end."""

    def __init__(self, rate: float | None) -> None:
        self.rate = rate

    def start(self, job: Job, train: str, shape: Shape) -> Stream:
        return Stream(time.time())

    def ready(self, streams: Sequence[Stream], within: float) -> Sequence[Stream]:
        if self.rate is not None:  # Ray waits until all have something to say
            time.sleep(within)
        now = time.time()
        return [stream for stream in streams if self.rate is None or self._due(stream) <= now]

    def take(self, stream: Stream) -> Hello | Said:
        due = self._due(stream)
        stream.said += 1
        if stream.said == 1:
            return Hello(dpcore.__version__, "")
        return Said(Stepped(1, 0.1, due, 0.5, (1.0, 2.0, 3.0, 4.0, 5.0), 100.0))

    def _due(self, stream: Stream) -> float:
        """The time of its next event."""
        return time.time() if self.rate is None else stream.since + stream.said / self.rate

    def end(self, stream: Stream) -> None: ...

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
        for _ in range(workers):
            store.submit(RunConfig(seed=1))
        streams = Streams(store, Feed(rate), "", 1, 1.0)
        while any(run.sequence == 0 for run in store.runs()):
            streams.round()
        lags.clear()
        begun, processor = time.perf_counter(), time.process_time()
        while time.perf_counter() - begun < seconds:
            streams.round()
        took = time.perf_counter() - begun
        lags.sort()
        for run in store.runs():
            assert [number for number, _ in store.bodies(run.id)] == list(
                range(1, run.sequence + 1)
            )
    lag, late, cores = (
        statistics.median(lags),
        lags[int(0.95 * len(lags))],
        (time.process_time() - processor) / took,
    )
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
