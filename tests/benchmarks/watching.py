"""What it costs to watch: many viewers have the train page open and follow two live runs.

    python tests/benchmarks/watching.py [--viewers 100] [--seconds 300]

The app is served as users start it. One run trains in its pool, one by the command line, both for real. Each viewer
opens the page by Streamlit's own messages, keeps it open, answers what it asks for, and follows both runs over one
connection, as the page's charts do. Before and after, for a fifth of the time each, nobody watches. Prints how long the
page took to open, how often it asked to be run again, how late an event reaches a viewer after the store has it
(median, 95th percentile, worst), events lost or doubled, the steps per second of both runs without and with viewers,
and the server's memory and processor time; then one JSON object. Status 1 where a target is missed.
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
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from dpcore.runs.record import Status  # noqa: E402
from dpcore.runs.store import Store  # noqa: E402
from dpcore.training.config import RunConfig  # noqa: E402
from dpcore.training.events import Stepped  # noqa: E402
from tests.benchmarks.page_opener import Opened, opened  # noqa: E402
from tests.e2e.server import Server, serving  # noqa: E402

ID = re.compile(rb"^id: (\w+)\.(\d+)\r?$", re.MULTILINE)
TICK = 0.005  # seconds between two looks at the store, which say when an event was there
EPOCHS = 1_000  # more than there is time for
AT_ONCE = 5  # viewers that open the page at the same time
SAMPLES = 10  # of memory
GROWTH = 16.0  # MiB that memory may grow while the same viewers watch
Seen = dict[tuple[str, int], float]  # (run, number of an event) -> when


@dataclass
class Viewer:
    """What one viewer got: the page, and of which run event number what came when."""

    page: Opened = field(default_factory=Opened)
    seen: list[tuple[str, int, float]] = field(default_factory=list)


@dataclass(frozen=True)
class Watched:
    """What was seen while all watched."""

    there: Seen
    viewers: list[Viewer]
    held: list[float]  # MiB of the server, over the time
    share: float  # of a core that the server used
    paces: list[float]  # steps per second of each run


async def view(
    url: str, runs: list[str], after: dict[str, int], viewer: Viewer, door: asyncio.Semaphore, begun: asyncio.Barrier
) -> None:
    """Open the page and follow its runs as one viewer does, over a connection of its own."""
    async with AsyncExitStack() as stack:
        async with door:
            viewer.page = await stack.enter_async_context(opened(url, "train", "&".join(f"run={run}" for run in runs)))
        await begun.wait()
        await followed(url, runs, after, viewer.seen)


async def followed(
    url: str, runs: list[str], after: dict[str, int], seen: list[tuple[str, int, float]], address: str = "127.0.0.1"
) -> None:
    """Follow the runs from `address`, and write down what comes when."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, local_addr=(address, 0))
    last = "+".join(str(after[run]) for run in runs)
    try:
        path = f"/runs/{'+'.join(runs)}/events?after={last}"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
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


async def watch(server: Server, store: Store, runs: list[str], count: int, seconds: float) -> Watched:
    """What the viewers got, and what the server held and used meanwhile."""
    viewers = [Viewer() for _ in range(count)]
    door, begun = asyncio.Semaphore(AT_ONCE), asyncio.Barrier(count + 1)
    after: dict[str, int] = {}  # of each run the last event that nobody needs, once all pages are open
    viewing = [asyncio.create_task(view(server.url, runs, after, each, door, begun)) for each in viewers]
    while begun.n_waiting < count:
        await asyncio.sleep(0.1)
        for each in viewing:
            if each.done():
                each.result()
    after.update({run: store.run(run).sequence for run in runs})
    there: Seen = {}
    noting = asyncio.create_task(note_times(store, runs, dict(after), there))
    first, held, used = dict(after), [memory(server.pid)], processor_time(server.pid)
    await begun.wait()
    for _ in range(SAMPLES):
        await asyncio.sleep(seconds / SAMPLES)
        held.append(memory(server.pid))
    noting.cancel()
    share = (processor_time(server.pid) - used) / seconds
    pace = paces(store, runs, first)
    await asyncio.sleep(1)  # what was there then is on its way
    for each in viewing:
        each.cancel()
    await asyncio.gather(*viewing, return_exceptions=True)
    return Watched(there, viewers, held, share, pace)


def memory(pid: int) -> float:
    """MiB that the process holds."""
    return int(re.findall(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[0]) / 1024


def processor_time(pid: int) -> float:
    """Seconds that the process has computed."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


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


def measured(count: int, seconds: float) -> dict[str, object]:
    """The figures."""
    with serving(Path(tempfile.mkdtemp())) as server:
        store = Store(server.home)
        warm_up(server.url)
        runs, process = two_runs(store, server.home)
        try:
            before = alone(store, runs, seconds / 5)
            watched = asyncio.run(watch(server, store, runs, count, seconds))
            after = alone(store, runs, seconds / 5)
        finally:
            for run in runs:
                store.cancel(run)
            process.terminate()
            process.wait(20)
    undisturbed = [(a + b) / 2 for a, b in zip(before, after, strict=True)]
    return figures_of(watched, seconds) | {
        "steps/s alone": [round(each, 1) for each in undisturbed],
        "steps/s watched": [round(each, 1) for each in watched.paces],
        "slowed by, %": round(100 * (1 - sum(watched.paces) / sum(undisturbed)), 1),
        "load": round(os.getloadavg()[1], 1),
    }


def alone(store: Store, runs: list[str], seconds: float) -> list[float]:
    """The steps per second of each run while nobody watches."""
    begun = {run: store.run(run).sequence for run in runs}
    time.sleep(seconds)
    return paces(store, runs, begun)


def figures_of(watched: Watched, seconds: float) -> dict[str, object]:
    """What the viewers got."""
    there, viewers = watched.there, watched.viewers
    late = [
        1e3 * (when - there[run, number])
        for each in viewers
        for run, number, when in each.seen
        if (run, number) in there
    ]
    got = [[(run, number) for run, number, _ in each.seen] for each in viewers]
    opening = sorted(each.page.drawn_after for each in viewers)
    return {
        "viewers": len(viewers), "seconds": seconds, "page open, median s": round(statistics.median(opening), 2),
        "page open, worst s": round(opening[-1], 2),
        "reruns asked for": sum(each.page.reruns for each in viewers),
        "events": len(there), "received": len(late),
        "lost": sum(len(there.keys() - set(each)) for each in got),
        "doubled": sum(len(each) - len(set(each)) for each in got),
        "late, median ms": round(statistics.median(late)), "late, p95 ms": round(statistics.quantiles(late, n=20)[-1]),
        "late, worst ms": round(max(late)),
        "server MiB": [round(each) for each in watched.held],
        "server, cores": round(watched.share, 2),
    }  # fmt: skip


def missed(figures: dict[str, Any]) -> list[str]:
    """The targets that are missed."""
    targets = {
        "late, p95 ms": figures["late, p95 ms"] <= 500,
        "lost": figures["lost"] == 0,
        "doubled": figures["doubled"] == 0,
        "reruns asked for": figures["reruns asked for"] == 0,
        "slowed by, %": figures["slowed by, %"] <= 20,
        "server MiB": figures["server MiB"][-1] <= figures["server MiB"][0] + GROWTH,
    }
    return [name for name, met in targets.items() if not met]


def warm_up(url: str) -> None:
    """Have the server begin its pool, as the first visitor does: any request for a run needs the store."""
    with contextlib.suppress(urllib.error.HTTPError):  # there is no such run
        urllib.request.urlopen(f"{url}/runs/none/events", timeout=30).close()


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--viewers", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=300.0)
    arguments = parser.parse_args()
    figures = measured(arguments.viewers, arguments.seconds)
    wrong = missed(figures)
    for name, value in figures.items():
        print(f"{name:20} {value}{'   MISSED' if name in wrong else ''}")
    print(json.dumps(figures))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
