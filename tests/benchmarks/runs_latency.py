"""How soon a submitted run speaks: seconds from submit to the first events, and the lag of later ones.

    python tests/benchmarks/runs_latency.py [--repeat 5] [--model cnn mlp]

Real engine, bundled sample, warm standby; the reader polls every 2 ms. Prints a table, then one JSON object.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from dpcore.runs.pool import Pool  # noqa: E402
from dpcore.runs.record import Status  # noqa: E402
from dpcore.runs.store import Store  # noqa: E402
from dpcore.training.config import RunConfig  # noqa: E402
from dpcore.training.events import Evaluated, Event, Started, Stepped  # noqa: E402

TICK = 0.002
Figures = dict[str, float]


def cpu_time(pid: int) -> float:
    """Processor seconds that the process has used."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def until_warm(pool: Pool) -> None:
    """Wait until the one waiting worker has stopped importing and warming up."""
    while len(pool.workers) != 1 or pool.workers[0].busy_since is not None:
        time.sleep(0.1)
    pid, used = pool.workers[0].process.pid, -1.0
    while cpu_time(pid) - used > 0.05:
        used = cpu_time(pid)
        time.sleep(1)


def first_events(store: Store, config: RunConfig) -> dict[type[Event], float]:
    """Seconds from submit until each kind of event could be read; the run is then cancelled."""
    begun, after, first = time.perf_counter(), 0, {}
    run = store.submit(config)
    while Evaluated not in first:
        for sequence, event in store.tail(run, after):
            after = sequence
            first.setdefault(type(event), time.perf_counter() - begun)
        time.sleep(TICK)
    begun = time.perf_counter()
    store.cancel(run)
    while store.run(run).active:
        time.sleep(TICK)
    first[Status] = time.perf_counter() - begun
    return first


def starts(model: str, repeat: int) -> Figures:
    """Medians over some runs of one model."""
    with tempfile.TemporaryDirectory() as home, Store(home) as store, Pool(store) as pool:
        measured = []
        for seed in range(repeat):
            until_warm(pool)
            measured.append(first_events(store, RunConfig(model=model, epochs=100, seed=seed)))
        until_warm(pool)
    names = {Started: "started", Stepped: "stepped", Evaluated: "evaluated", Status: "cancel"}
    figures = {f"{model} {name}": statistics.median(each[kind] for each in measured) for kind, name in names.items()}
    return figures | {f"{model} evaluated, worst": max(each[Evaluated] for each in measured)}


def lags() -> Figures:
    """Seconds from an event to its being readable, with a double that stamps its events."""
    path = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT / "tests" / "runs"), path]))
    with (
        tempfile.TemporaryDirectory() as home,
        Store(home) as store,
        Pool(store, train="train_doubles:one_second") as pool,
    ):
        until_warm(pool)
        run, after, seen = store.submit(RunConfig()), 0, []
        while store.run(run).active:
            for sequence, event in store.tail(run, after):
                after = sequence
                if isinstance(event, Stepped):
                    seen.append(time.time() - event.loss)
            time.sleep(TICK)
        until_warm(pool)
    return {"event lag": statistics.median(seen), "event lag, worst": max(seen)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--model", nargs="+", default=["cnn", "mlp"])
    options = parser.parse_args()
    figures = lags()
    for model in options.model:
        figures |= starts(model, options.repeat)
    for name, seconds in figures.items():
        print(f"{name:24} {seconds * 1e3:10.3f} ms")
    print(json.dumps({"unit": "s", "cores": os.cpu_count(), "load": os.getloadavg()[0], "figures": figures}))


if __name__ == "__main__":
    main()
