"""The routes that the server answers beside the pages: the events of runs as they happen, and the teacher's board.

    GET /board                             whether the teacher paused the queue, and which run is shown to all
    GET /files/<stamp>/<name>              what browsers load (`files.py`)
    GET /previews/<token>?field=K&text=V   a chart for a value that a slider passes (`previews.py`)
    GET /runs/<id>/events?after=N          one run
    GET /runs/<id>+<id>/events?after=N+M   up to MAX_RUNS_FOLLOWED at once: a browser keeps six connections to a server

Events are a stream of server-sent events (`dpcore/runs/feed.py`). A reader that comes back says by `after` what it has.
Of a request nothing but ids and counts is read.
Each page of a classroom asks for the board every few seconds (`pages/parts/components/board.js`) and is drawn again
once it has changed.
"""

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import lru_cache

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from dpcore.runs.feed import Feeds, RunFeed, messages
from dpcore.runs.pool import ensure_pool
from dpcore.runs.record import StoreError
from dpcore.runs.store import PAUSED, Store
from pages.parts.serving import files
from pages.parts.serving.previews import PREVIEWS

MAX_RUNS_FOLLOWED = 32  # in one connection, as in runs.js: a page of the table of runs and the charts beside it
MAX_READERS = 1000  # connections at once
ID = re.compile(r"[0-9a-z]{1,32}")
COUNT = re.compile(r"[0-9]{1,12}")
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # nobody between may keep or collect it
BOARD_ADDRESS = "/board"
PROJECTED = "projected"  # the name on the store's board, beside PAUSED, of the run that is shown to all
BOARD_SECONDS = 1.0  # for which an answer is kept: the store is asked once, however many ask here

_feeds: dict[Store, Feeds] = {}
_readers: set[object] = set()


async def run_events(request: Request) -> Response:
    """The events of the runs that the path names, as they happen."""
    if len(_readers) >= MAX_READERS:
        return PlainTextResponse("Too many readers; try again later.", 503, {"Retry-After": "10"})
    try:
        wanted = asked_for(request)
        store = (await asyncio.to_thread(ensure_pool)).store  # the first call opens a file and starts a process
    except ValueError as error:
        return PlainTextResponse(str(error), 400)
    except StoreError as error:
        return PlainTextResponse(str(error), 503)
    feeds = _feeds.setdefault(store, Feeds(store))
    return EventStream(counted([(feeds.of(run), after) for run, after in wanted]))


class EventStream(StreamingResponse):
    """Messages until they end or the reader goes; then what reads for it ends at once.

    Left to the garbage collector, whichever thread that runs in, its tasks were destroyed half done, and twice the
    interpreter crashed after that.
    """

    def __init__(self, messages: AsyncGenerator[bytes, None]) -> None:
        super().__init__(messages, headers=HEADERS, media_type="text/event-stream")
        self._messages = messages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, as Starlette calls it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._messages.aclose()


def asked_for(request: Request) -> list[tuple[str, int]]:
    """Ids of runs, and of each the number of the event that the reader has; ValueError says what is wrong."""
    runs = request.path_params["runs"].split("+")
    if len(runs) > MAX_RUNS_FOLLOWED or len(set(runs)) < len(runs) or not all(map(ID.fullmatch, runs)):
        raise ValueError(
            f"Expected the path to name up to {MAX_RUNS_FOLLOWED} runs by their ids, each once, with + between."
        )
    counts = request.query_params.get("after", "+".join("0" * len(runs))).replace(" ", "+").split("+")
    if len(counts) != len(runs) or not all(map(COUNT.fullmatch, counts)):
        raise ValueError("Expected after to be the number of an event for each run, with + between.")
    return list(zip(runs, map(int, counts), strict=True))


async def counted(feeds: Sequence[tuple[RunFeed, int]]) -> AsyncGenerator[bytes, None]:
    """The messages, with their reader counted while it reads."""
    reader = object()
    _readers.add(reader)
    try:
        async with aclosing(messages(feeds)) as pieces:
            async for piece in pieces:
                yield piece
    finally:
        _readers.discard(reader)


def on_board(store: Store) -> dict[str, str]:
    """The teacher's notes at present; "" where there is none."""
    return {name: store.board(name) or "" for name in (PAUSED, PROJECTED)}


async def board(request: Request) -> Response:
    """The teacher's notes, as JSON."""
    try:
        text = await asyncio.to_thread(lambda: _board_in(ensure_pool().store, int(time.monotonic() / BOARD_SECONDS)))
    except StoreError:  # the page says what is wrong with it
        return PlainTextResponse("The run store cannot be used.", 503)
    return Response(text, media_type="application/json", headers={"Cache-Control": "no-store"})


@lru_cache(maxsize=8)
def _board_in(store: Store, period: int) -> str:
    """The notes as they were first asked for in a period of `BOARD_SECONDS`."""
    return json.dumps(on_board(store))


ROUTES = [Route("/runs/{runs}/events", run_events), files.FILES, PREVIEWS, Route(BOARD_ADDRESS, board)]


def routes() -> list[Route]:
    """The routes, for the server of this process, which from now on answers them."""
    files.serving = True
    return ROUTES
