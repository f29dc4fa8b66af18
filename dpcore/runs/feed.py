"""The events of runs as server-sent events, read from the store and encoded once for all readers.

Format: https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from functools import lru_cache

from dpcore.runs.expected import REPORTS, Pace, start_of
from dpcore.runs.holding import steps_granted
from dpcore.runs.in_words import state_of, steps_of
from dpcore.runs.lifecycle import Status
from dpcore.runs.record import Run, StoreError, UnknownRun
from dpcore.runs.store import Store

LOOK_SECONDS = 0.1  # between two looks at the store
# At a training that tells each number when it has it.
FOLLOWED_LOOK_SECONDS = 0.03
NEAR_PLACES = 6  # at the head of the queue
FAR_LOOK_SECONDS = 1.0  # between two looks at a run behind them, whose only news is its place
QUIET_SECONDS = 15.0  # without an event, until a reader hears that the connection lives
KEEP_ALIVE = b":\n\n"
# Kept; with more runs read at once, a late reader of a run makes it be looked at twice.
MAX_FEEDS = 256


class RunFeed:
    """The events of one run. Its methods belong to one event loop; other threads wait for the disk.

    Events have the id <run>.<number>, with the number in the store, so a reader who returns says
    what it has. Messages without an id name the run: `status` at every change, `end` after the last
    event, `unknown` where there is no such run, and `problem` if the store fails. `pause` waits
    between two looks at the store.
    """

    def __init__(
        self, store: Store, run: str, pause: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        self._store = store
        self._run = run
        self._pause = pause
        self.events: list[bytes] = []
        self.status = b""
        self.ended = False
        self.failed = False  # because of the store, or because it has no such run
        self._followed = False
        self.readers: set[asyncio.Event] = set()
        self._looking: asyncio.Task[None] | None = None
        self._pace: Pace | None = None

    def join(self, news: asyncio.Event) -> None:
        """Add a reader; a feed that has failed looks again, for the store may be back.

        So does one of a followed run that has ended, whose program may have gone on with it.
        """
        self.readers.add(news)
        if self.failed or (self.ended and self._followed):
            self.status = b""
            self.ended = False
            self.failed = False

    def since(self, after: int, status: bytes) -> list[bytes]:
        """The messages for a reader with this status and the events up to number `after`.

        The feed begins to look for more.
        """
        if not self.ended and (self._looking is None or self._looking.done()):
            self._looking = asyncio.get_running_loop().create_task(self._look_while_read())
        pieces = self.events[after:]
        if self.status != status:
            pieces.append(self.status)
        if self.ended:
            pieces.append(message("end", {"run": self._run}))
        return pieces

    async def _look_while_read(self) -> None:
        while self.readers and not self.ended:
            try:
                run, status, bodies = await asyncio.to_thread(self._look, len(self.events))
            except StoreError as error:
                self._fail("problem", str(error))
                return
            except UnknownRun:
                words = f"Expected run={self._run!r} to be the id of a run on this machine."
                self._fail("unknown", words)
                return
            self._followed = run.followed
            self._take(message("status", status), bodies, ended=not run.active)
            if not self.ended:
                near = (run.position or 0) <= NEAR_PLACES
                look = LOOK_SECONDS if near else FAR_LOOK_SECONDS
                await self._pause(FOLLOWED_LOOK_SECONDS if run.followed else look)

    def _fail(self, name: str, words: str) -> None:
        self.failed = True
        self._take(message(name, {"run": self._run, "problem": words}), [], ended=True)

    def _look(self, after: int) -> tuple[Run, dict[str, object], list[tuple[int, str]]]:
        run = self._store.run(self._run)  # before the events, so that an ended run has all of them
        starts = start_of(self._store, run.id) if run.position else ""
        bodies = self._store.bodies(self._run, after)
        running = run.status is Status.RUNNING
        held = running and steps_granted(self._store, run.id) is not None
        self._pace = self._pace or Pace(steps_of(run))  # a plan takes long to read
        reports = [body for _, body in bodies if body.startswith('{"event": "stepped"')][-REPORTS:]
        paces = [json.loads(body)["steps_per_second"] for body in reports]
        pace = self._pace.after(getattr(run.last, "step", 0), paces, going=running and not held)
        state = state_of(run, self._pace.steps, starts, pace, held=held)
        return run, {"run": run.id, **state}, bodies

    def _take(self, status: bytes, bodies: list[tuple[int, str]], *, ended: bool) -> None:
        if not bodies and status == self.status and ended == self.ended:
            return
        for number, body in bodies:
            self.events.append(f"id: {self._run}.{number}\ndata: {body}\n\n".encode())
        self.status = status
        self.ended = ended
        for news in self.readers:
            news.set()


# Of a store and a run: one for all who read it, and lately read it.
feed_of = lru_cache(MAX_FEEDS)(RunFeed)


async def happened(news: asyncio.Event) -> bool:
    """Wait for news; return False after a long silence."""
    try:
        # Wait_for of Python 3.11 can swallow that its task is cancelled.
        async with asyncio.timeout(QUIET_SECONDS):
            await news.wait()
    except TimeoutError:
        return False
    return True


async def messages(wanted: Sequence[tuple[RunFeed, int]]) -> AsyncGenerator[bytes, None]:
    """The messages of several runs, each after its event number, until all have ended.

    A slow reader gets all news in one piece, so nothing piles up for it.
    """
    news = asyncio.Event()
    had = {}  # feed -> number of the last event, and status, that the reader has
    for feed, after in wanted:
        had[feed] = (after, b"")
        feed.join(news)
    try:
        while had:
            news.clear()
            pieces = []
            for feed, (after, status) in list(had.items()):
                pieces += feed.since(after, status)
                had[feed] = (max(after, len(feed.events)), feed.status)
                if feed.ended:
                    del had[feed]
            if pieces:
                yield b"".join(pieces)
            elif not await happened(news):
                yield KEEP_ALIVE
    finally:
        for feed, _ in wanted:
            feed.readers.discard(news)


def message(name: str, content: dict[str, object]) -> bytes:
    """A message without a number.

    >>> message("end", {"run": "x"})
    b'event: end\\ndata: {"run": "x"}\\n\\n'
    """
    return f"event: {name}\ndata: {json.dumps(content)}\n\n".encode()
