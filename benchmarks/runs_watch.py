"""Many sessions that follow two live runs in the lab and move a slider, and what that costs the
runs and the server.
"""

import asyncio
import os
import random
import re
import statistics
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np

from benchmarks.logged_training import log_of
from benchmarks.page_opener import opened
from benchmarks.runs import processor_time
from benchmarks.runs_in_browsers import (
    CHART,
    EVERY,
    SLIDER,
    browsing,
    grown_and_answered,
    watched,
)
from benchmarks.slider_mover import Mover
from dpcore.runs.limits import Limits, write
from dpcore.runs.pool import Pool
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Stepped
from tests.e2e.server import Server, serving

ID = re.compile(rb"^id: (\w+)\.(\d+)\r?$", re.MULTILINE)
TICK = 0.005  # seconds between two looks at the store, which say when an event was there
EPOCHS = 1_000  # more than there is time for
AT_ONCE = 5  # sessions that open the page at the same time
SAMPLES = 20  # of memory
MAX_WAIT = 60.0  # seconds for the last events to come
LONGEST_ALONE = 60.0  # seconds of a quiet stretch
LATEST = {  # ms
    "event to session, ms": 500,
    "event to picture, ms": 500,
    "slider to chart, ms": 1500,
    "key to chart in browsers, ms": 1500,
}
Seen = dict[tuple[str, int], float]  # (run, number of an event) -> when


class Load(NamedTuple):
    """How many, for how long."""

    viewers: int = 100
    browsers: int = 3
    servers: int = 1
    seconds: float = 300.0
    # Seconds after all pages are open, in which curves are computed for the first time.
    warm_up: float = 20.0
    still: bool = False  # whether sessions move nothing


class Session:
    """One session, and what it got."""

    def __init__(self, url: str, runs: Sequence[str]) -> None:
        self.url, self.runs = url, runs
        self.query = "&".join(f"run={run}" for run in runs)
        self.seen: list[tuple[tuple[str, int], float]] = []  # run and number of an event, when
        self.mover = Mover(SLIDER, CHART)
        self.drawn_after, self.reruns = 0.0, 0

    async def take_part(
        self, door: asyncio.Semaphore, begun: asyncio.Barrier, after: dict[str, int], still: bool
    ):
        """Open the lab with the runs, follow them, and move the slider every now and then."""
        async with AsyncExitStack() as stack:
            async with door:
                page = await stack.enter_async_context(
                    opened(self.url, "", self.query, self.mover.take)
                )
            await begun.wait()
            self.drawn_after = page.drawn_after
            following = asyncio.create_task(self.follow(after))
            try:
                if still:
                    await following
                await asyncio.sleep(random.uniform(0, EVERY))
                while True:
                    due = time.monotonic() + EVERY
                    await self.mover.move(page.socket, self.url, self.query)
                    await asyncio.sleep(max(due - time.monotonic(), 0))
            finally:
                following.cancel()
                self.reruns = page.reruns

    async def follow(self, after: dict[str, int]) -> None:
        """Follow the runs from behind these events, and write down what comes when."""
        parts = urlsplit(self.url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        last = "+".join(str(after[run]) for run in self.runs)
        try:
            path = f"/runs/{'+'.join(self.runs)}/events?after={last}"
            writer.write(f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
            while line := await reader.readline():
                if match := ID.match(line):
                    self.seen.append(((match[1].decode(), int(match[2])), time.time()))
        finally:
            writer.close()


@dataclass
class Watched:
    """What was seen while all watched."""

    sessions: list[Session]
    there: Seen = field(default_factory=dict)
    warm: float = 0.0  # when all had warmed up
    late_in_browsers: list[float] = field(default_factory=list)  # ms from the store to the frame
    keys_in_browsers: list[float] = field(default_factory=list)  # ms from a key to the frame
    held: list[list[float]] = field(default_factory=list)  # MiB of each server, over the time
    share: float = 0.0  # of a core that the servers used
    asking: float = 0.0  # cores that the sessions and the browsers themselves used
    paces: list[float] = field(default_factory=list)  # steps per second of each run


@contextmanager
def two_runs(home: Path) -> Iterator[tuple[Store, list[str]]]:
    """Two runs that train for real, by a pool of this process, and write down what they say;
    cancelled afterwards.
    """
    os.environ["OMP_NUM_THREADS"] = "1"
    home.mkdir(parents=True, exist_ok=True)
    write(home, Limits(cpu_slots=2))
    with Store(home) as store, Pool(store, "benchmarks.logged_training:train"):
        ids = [store.submit(RunConfig(model="mlp", epochs=EPOCHS, batch=64)) for _ in range(2)]
        try:
            while min(store.run(run).sequence for run in ids) < 3:
                if not all(store.run(run).active for run in ids):
                    raise RuntimeError("The runs did not begin.")
                time.sleep(0.2)
            yield store, ids
        finally:
            for run in ids:
                store.cancel(run)
            while store.runs(Status.RUNNING):
                time.sleep(0.1)


async def watch(servers: Sequence[Server], store: Store, runs: list[str], load: Load) -> Watched:
    """What all got, and what the servers held and used meanwhile; the sessions are dealt out to the
    servers.
    """
    places = [servers[number % len(servers)].url for number in range(load.viewers)]
    got = Watched([Session(url, runs) for url in places])
    addresses = [
        f"{url}/?{'&'.join(f'run={run}' for run in runs)}" for url in places[: load.browsers]
    ]
    door, begun = asyncio.Semaphore(AT_ONCE), asyncio.Barrier(load.viewers + 1)
    # Of each run the last event that nobody needs, once all pages are open.
    after: dict[str, int] = {}
    async with browsing(addresses) as tabs, asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(each.take_part(door, begun, after, load.still))
            for each in got.sessions
        ]
        while begun.n_waiting < load.viewers:
            await asyncio.sleep(0.1)
        after.update({run: store.run(run).sequence for run in runs})
        noting = group.create_task(note_times(store, runs, dict(after), got.there))
        await begun.wait()
        tasks += [group.create_task(watched(page)) for page in tabs]
        await asyncio.sleep(load.warm_up)
        got.warm = time.monotonic()
        await sampled(servers, load, got)
        got.paces = paces(store, runs, after)
        noting.cancel()
        await on_their_way(got)
        for page in tabs:
            late, answers = await grown_and_answered(page, store, runs, got.there)
            got.late_in_browsers += late
            got.keys_in_browsers += answers
        for task in tasks:
            task.cancel()
    return got


async def on_their_way(got: Watched) -> None:
    """Wait until every session has what is there, for at most MAX_WAIT seconds: what is late is not
    lost.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(MAX_WAIT):
            while any(
                got.there.keys() - {event for event, _ in each.seen} for each in got.sessions
            ):
                await asyncio.sleep(1)


async def sampled(servers: Sequence[Server], load: Load, got: Watched) -> None:
    """Note what the servers hold and use over the time."""
    used, asked = sum(processor_time(server.pid) for server in servers), of_those_who_ask()
    got.held.append([memory(server.pid) for server in servers])
    for _ in range(SAMPLES):
        await asyncio.sleep(load.seconds / SAMPLES)
        got.held.append([memory(server.pid) for server in servers])
    got.share = (sum(processor_time(server.pid) for server in servers) - used) / load.seconds
    got.asking = (of_those_who_ask() - asked) / load.seconds


async def note_times(store: Store, runs: list[str], after: dict[str, int], there: Seen) -> None:
    """Write down when each event is in the store."""
    while True:
        for run in runs:
            for number, _ in store.bodies(run, after[run]):
                there[run, number] = time.time()
                after[run] = number
        await asyncio.sleep(TICK)


def memory(pid: int) -> float:
    """MiB that the process holds."""
    return int(re.findall(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[0]) / 1024


def paces(store: Store, runs: list[str], after: dict[str, int]) -> list[float]:
    """The median steps per second of each run behind an event."""
    return [
        statistics.median(
            event.steps_per_second
            for event in store.events(run, after[run])
            if isinstance(event, Stepped)
        )
        for run in runs
    ]


def alone(store: Store, runs: list[str], seconds: float) -> list[float]:
    """The steps per second of each run while nobody watches."""
    begun = {run: store.run(run).sequence for run in runs}
    time.sleep(seconds)
    return paces(store, runs, begun)


def warm_up(url: str) -> None:
    """Have the server begin its pool, as the first visitor does: any request for a run needs the
    store.
    """
    with suppress(urllib.error.HTTPError):  # there is no such run
        urllib.request.urlopen(f"{url}/runs/none/events", timeout=30).close()


def of_those_who_ask() -> float:
    """Seconds that the sessions, which are this process, and the browsers have computed, apart from
    the servers.
    """
    times = processor_time(os.getpid())
    for each in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            if re.match("chrom|node", (each / "comm").read_text()):
                times += processor_time(int(each.name))
    return times


def logs_agree(store: Store, runs: Sequence[str]) -> bool:
    """Whether the store has what each worker's own log says it said, event by event."""
    for run in runs:
        stored = [body for _, body in store.bodies(run)]
        with open(log_of(store.home, run), encoding="utf-8") as log:
            said = [line.rstrip("\n") for line in log]
        # The last one may have been said to nobody.
        if stored != said[: len(stored)] or len(said) > len(stored) + 1:
            return False
    return True


def measured(load: Load) -> dict[str, Any]:
    """The figures, from a quiet stretch before, the load, and a quiet stretch after."""
    with (
        tempfile.TemporaryDirectory() as folder,
        two_runs(Path(folder) / "state") as (store, runs),
        ExitStack() as stack,
    ):
        servers = [stack.enter_context(serving(Path(folder))) for _ in range(load.servers)]
        for server in servers:
            warm_up(server.url)
        before = alone(store, runs, min(load.seconds / 5, LONGEST_ALONE))
        got = asyncio.run(watch(servers, store, runs, load))
        after = alone(store, runs, min(load.seconds / 5, LONGEST_ALONE))
        agree = logs_agree(store, runs)
    undisturbed = [(a + b) / 2 for a, b in zip(before, after, strict=True)]
    return figures_of(got, load) | {
        "workers' logs agree": agree,
        "steps/s alone": [round(each, 1) for each in undisturbed],
        "steps/s watched": [round(each, 1) for each in got.paces],
        "slowed by, %": round(100 * (1 - sum(got.paces) / sum(undisturbed)), 1),
        "load": round(os.getloadavg()[1], 1),
    }


def figures_of(got: Watched, load: Load) -> dict[str, Any]:
    """What the sessions got; times as median, 95th percentile and worst, in ms."""
    late = [
        1e3 * (when - got.there[event])
        for each in got.sessions
        for event, when in each.seen
        if event in got.there
    ]
    events = [[event for event, _ in each.seen] for each in got.sessions]
    moves = [move for each in got.sessions for move in each.mover.moves]
    held = [sum(each) for each in got.held]
    return {
        "sessions, browsers, servers": [load.viewers, load.browsers, load.servers],
        "seconds": load.seconds,
        "page open, ms": summary([1e3 * each.drawn_after for each in got.sessions]),
        "events, received": [len(got.there), len(late)],
        "reruns asked for": sum(each.reruns for each in got.sessions),
        "lost": sum(len(got.there.keys() - set(each)) for each in events),
        "doubled": sum(len(each) - len(set(each)) for each in events),
        "event to session, ms": summary(late),
        "event to picture, ms": summary(got.late_in_browsers),
        "slider to chart, ms": summary(
            [1e3 * move.chart for move in moves if move.begun > got.warm]
        ),
        "the same in the first moves, ms": summary(
            [1e3 * move.chart for move in moves if move.begun <= got.warm]
        ),
        "key to chart in browsers, ms": summary(got.keys_in_browsers),
        "slider to whole page, ms": summary(
            [1e3 * move.page for move in moves if move.begun > got.warm]
        ),
        "MiB of each server": [
            [round(each) for each in got.held[0]],
            [round(each) for each in got.held[-1]],
        ],
        "memory grew by, %": round(
            100 * (statistics.median(held[-3:]) / statistics.median(held[:3]) - 1), 1
        ),
        "servers, cores": round(got.share, 2),
        "sessions and browsers, cores": round(got.asking, 2),
    }


def summary(times: Sequence[float]) -> list[int]:
    """Median, 95th percentile and worst, as whole numbers; nothing of nothing."""
    return (
        [round(float(each)) for each in np.quantile(times, [0.5, 0.95, 1.0])] if len(times) else []
    )


def missed(figures: dict[str, Any]) -> list[str]:
    """The targets of the watched runs that are missed; of times the 95th percentile counts."""
    late = [name for name, most in LATEST.items() if figures[name] and figures[name][1] > most]
    wrong = [name for name in ("reruns asked for", "lost", "doubled") if figures[name]]
    slow = ["slowed by, %"] if figures["slowed by, %"] > 20 else []
    return [
        *late,
        *wrong,
        *slow,
        *([] if figures["workers' logs agree"] else ["workers' logs agree"]),
    ]
