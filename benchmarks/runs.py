"""How much the runs bear: many who watch and ask, many runs, workers that are killed; and how soon
a run speaks.

    python -m benchmarks.runs watch [--viewers 100] [--browsers 3] [--servers 1] [--seconds
    300] [--still 0] python -m benchmarks.runs memory [--minutes 15] [--viewers 20] python -m
    benchmarks.runs store [--runs 10000] [--events 5000000] [--seconds 5] python -m
    benchmarks.runs faults [--runs 200] [--servers 2] python -m benchmarks.runs latency
    [--repeat 5]

`watch`: sessions by Streamlit's own protocol, and a few in Chromium, have the lab open, follow two
runs that train for real, and move the slider of sigma every ten seconds, or nothing if they are
still; they are dealt out to the servers. `memory`: as `watch`, for long. `store`: a store of many
runs and events. `faults`: workers and servers are killed at random moments while they run a double
whose every number follows from the secret seed; each run must finish exactly once, and say what an
undisturbed one says. `latency`: real training with a warm standby. Prints a table, then one JSON
object. Status 1 where a target is missed.
"""

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # where it is started as a file

from benchmarks.counts import repeats
from dpcore.runs.pool import Pool
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Event, Started

GROWTH = 5.0  # % that a server's memory may grow
TICK = 0.002  # seconds between two looks at the store
Found = tuple[dict[str, Any], list[str]]  # figures, and the names of those that miss their targets


def watch(options: argparse.Namespace) -> Found:
    """Many sessions."""
    from benchmarks import runs_watch

    how_many = options.viewers, options.browsers, options.servers, options.seconds
    figures = runs_watch.measured(runs_watch.Load(*how_many, still=bool(options.still)))
    return figures, runs_watch.missed(figures)


def memory(options: argparse.Namespace) -> Found:
    """The same sessions for long."""
    from benchmarks import runs_watch

    load = runs_watch.Load(options.viewers, 0, 1, 60 * options.minutes, options.warm_up)
    figures = runs_watch.measured(load)
    name = "memory grew by, %"
    return figures, [name] if figures[name] > GROWTH else []


def store(options: argparse.Namespace) -> Found:
    """Many runs and events."""
    from benchmarks import runs_store

    figures = runs_store.measured(options.runs, options.events, options.seconds)
    return figures, runs_store.missed(figures)


def faults(options: argparse.Namespace) -> Found:
    """Many kills."""
    from tests.runs.faults.afterwards import note_endings, wrongs
    from tests.runs.faults.killing import Server, until_done

    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "home") as store:
        note_endings(store)
        runs = [
            store.submit(RunConfig(seed=None if number % 2 else number))
            for number in range(options.runs)
        ]
        start = partial(Server, store.home, "train", options.slots)
        begun, chance = time.monotonic(), random.Random(options.seed)
        limits = {"servers": options.servers, "most": options.most, "within": options.within}
        killed = until_done(store, start, chance, **limits)
        seconds, wrong = time.monotonic() - begun, wrongs(store, runs)
    figures = {
        "runs": len(runs),
        "seconds": round(seconds),
        "killed": [killed.workers, killed.servers],
    }
    return figures | {"wrong": len(wrong), "the first of them": wrong[:3]}, (
        ["wrong"] if wrong else []
    )


def latency(options: argparse.Namespace) -> Found:
    """Milliseconds from submitting a run to its first event and its first accuracy, and from
    cancelling to its end.
    """
    figures: dict[str, Any] = {}
    for model in ("cnn", "mlp"):
        with tempfile.TemporaryDirectory() as home, Store(home) as store, Pool(store) as pool:
            found = []
            for seed in range(options.repeat):
                until_warm(pool)
                found.append(first_events(store, RunConfig(model=model, epochs=100, seed=seed)))
            until_warm(pool)
        for kind in (Started, Evaluated, Status):
            figures[f"{model} {kind.__name__}, ms"] = round(
                1e3 * statistics.median(each[kind] for each in found)
            )
    return figures, []


def until_warm(pool: Pool) -> None:
    """Wait until the one waiting worker has stopped importing and warming up."""
    while len(pool.workers) != 1 or pool.workers[0].busy_since is not None:
        time.sleep(0.1)
    pid, used = pool.workers[0].process.pid, -1.0
    while processor_time(pid) - used > 0.05:
        used = processor_time(pid)
        time.sleep(1)


def processor_time(pid: int) -> float:
    """Seconds that the process has computed."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def first_events(store: Store, config: RunConfig) -> dict[type[Event] | type[Status], float]:
    """Seconds from submit until each kind of event could be read; the run is then cancelled, and
    its end timed too.
    """
    begun, after, first = time.perf_counter(), 0, {}
    run = store.submit(config)
    while Evaluated not in first:
        for event in store.events(run, after):
            after += 1
            first.setdefault(type(event), time.perf_counter() - begun)
        time.sleep(TICK)
    begun = time.perf_counter()
    store.cancel(run)
    while store.run(run).active:
        time.sleep(TICK)
    first[Status] = time.perf_counter() - begun
    return first


PARTS = {"watch": watch, "memory": memory, "store": store, "faults": faults, "latency": latency}
OPTIONS: dict[str, dict[str, float]] = {  # of each part, with their values where none is given
    "watch": {"viewers": 100, "browsers": 3, "servers": 1, "seconds": 300.0, "still": 0},
    "memory": {"minutes": 15.0, "viewers": 20, "warm_up": 120.0},
    "store": {"runs": 10_000, "events": 5_000_000, "seconds": 5.0},
    "faults": {"runs": 200, "servers": 2, "slots": 2, "most": 60, "seed": 1, "within": 3600.0},
    "latency": {"repeat": 5},
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = parser.add_subparsers(dest="part", required=True)
    for name, options in OPTIONS.items():
        part = parts.add_parser(name)
        for option, value in options.items():
            kind = repeats if option == "repeat" else type(value)
            part.add_argument(f"--{option.replace('_', '-')}", type=kind, default=value)
    options = parser.parse_args()
    figures, wrong = PARTS[options.part](options)
    for name, value in figures.items():
        print(f"{name:32} {value}{'   MISSED' if name in wrong else ''}")
    print(json.dumps(figures))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
