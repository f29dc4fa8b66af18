"""What it costs to watch: many readers follow two live runs by the stream of their events.

    python tests/benchmarks/watching.py [--readers 100] [--seconds 60]

The app is served as users start it. One run trains in its pool, one by the command line, both for real. For the first
half of the time nobody reads, then the readers do, half of them each run. Prints how late an event reaches a reader
after the store has it (median, 95th percentile, worst), events lost or doubled, the steps per second of both runs
without and with readers, and the server's memory before and after; then one JSON object.
"""

import argparse
import asyncio
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from dpcore.runs.record import Status  # noqa: E402
from dpcore.runs.store import Store  # noqa: E402
from dpcore.training.config import RunConfig  # noqa: E402
from dpcore.training.events import Stepped  # noqa: E402
from tests.e2e.server import serving  # noqa: E402

ID = re.compile(rb"^id: (\w+)\.(\d+)\r?$", re.MULTILINE)
TICK = 0.005  # seconds between two looks at the store, which say when an event was there
EPOCHS = 1_000  # more than there is time for
Seen = dict[tuple[str, int], float]  # (run, number of an event) -> when


async def read(url: str, run: str, after: int, seen: list[tuple[str, int, float]]) -> None:
    """Follow a run as one reader does, over a connection of its own."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        writer.write(f"GET /runs/{run}/events?after={after} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
        await writer.drain()
        while line := await reader.readline():
            if match := ID.match(line):
                seen.append((match[1].decode(), int(match[2]), time.time()))
    finally:
        writer.close()


async def note_times(store: Store, runs: list[str], after: dict[str, int], there: Seen) -> None:
    """Write down when each event is in the store."""
    while True:
        for run in runs:
            for number, _ in store.bodies(run, after[run]):
                there[run, number] = time.time()
                after[run] = number
        await asyncio.sleep(TICK)


async def watch(url: str, store: Store, runs: list[str], readers: int, seconds: float) -> tuple[Seen, list]:
    """When each event was in the store, and when each reader had it."""
    begun = {run: store.run(run).sequence for run in runs}
    there: Seen = {}
    noting = asyncio.create_task(note_times(store, runs, dict(begun), there))
    seen: list[list[tuple[str, int, float]]] = [[] for _ in range(readers)]
    following = [
        asyncio.create_task(read(url, runs[i % len(runs)], begun[runs[i % len(runs)]], seen[i])) for i in range(readers)
    ]
    await asyncio.sleep(seconds)
    noting.cancel()
    await asyncio.sleep(1)  # what was there then is on its way
    for each in following:
        each.cancel()
    return there, seen


def memory(pid: int) -> float:
    """MiB that the process holds."""
    return int(re.findall(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[0]) / 1024


def paces(store: Store, runs: list[str], after: dict[str, int]) -> list[float]:
    """The median steps per second of each run behind an event."""
    return [
        statistics.median(
            event.steps_per_second for _, event in store.tail(run, after[run]) if isinstance(event, Stepped)
        )
        for run in runs
    ]


def two_runs(store: Store, home: Path) -> tuple[list[str], subprocess.Popen[bytes]]:
    """One run that the app's pool trains, one of the command line; their ids, once both train."""
    settings = ["--model", "mlp", "--epochs", str(EPOCHS), "--batch", "64"]
    command = [sys.executable, "-m", "dpcore", "train", *settings, "--json"]
    environment = {**os.environ, "DPCORE_HOME": str(home), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    store.submit(RunConfig(model="mlp", epochs=EPOCHS, batch=64))
    deadline = time.monotonic() + 120
    while len(training := [run for run in store.runs(Status.RUNNING) if run.sequence > 2]) < 2:
        if time.monotonic() > deadline or process.poll() is not None:
            raise RuntimeError("The runs did not begin.")
        time.sleep(0.2)
    return [run.id for run in training], process


def measured(readers: int, seconds: float) -> dict[str, object]:
    """The figures."""
    folder = Path(tempfile.mkdtemp())
    with serving(folder) as server:
        store = Store(server.home)
        warm_up(server.url)
        runs, process = two_runs(store, server.home)
        try:
            before = {run: store.run(run).sequence for run in runs}
            time.sleep(seconds / 2)
            alone, held = paces(store, runs, before), memory(server.pid)
            middle = {run: store.run(run).sequence for run in runs}
            there, seen = asyncio.run(watch(server.url, store, runs, readers, seconds / 2))
            watched, holds = paces(store, runs, middle), memory(server.pid)
        finally:
            for run in runs:
                store.cancel(run)
            process.terminate()
            process.wait(20)
    late = [1e3 * (when - there[run, number]) for each in seen for run, number, when in each if (run, number) in there]
    expected = [{key for key in there if key[0] == run} for run in runs]
    lost = sum(len(expected[i % len(runs)] - {each[:2] for each in got}) for i, got in enumerate(seen))
    doubled = sum(len(got) - len({each[:2] for each in got}) for got in seen)
    return {
        "readers": readers, "events": len(there), "received": len(late), "lost": lost, "doubled": doubled,
        "late, median ms": statistics.median(late), "late, p95 ms": statistics.quantiles(late, n=20)[-1],
        "late, worst ms": max(late), "steps/s alone": alone, "steps/s watched": watched,
        "server MiB": [held, holds],
    }  # fmt: skip


def warm_up(url: str) -> None:
    """Have the server begin its pool, as the first visitor does: any request for a run needs the store."""
    with contextlib.suppress(urllib.error.HTTPError):  # there is no such run
        urllib.request.urlopen(f"{url}/runs/none/events", timeout=30).close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--readers", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60.0)
    arguments = parser.parse_args()
    figures = measured(arguments.readers, arguments.seconds)
    for name, value in figures.items():
        print(f"{name:18} {value}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
