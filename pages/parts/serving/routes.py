"""The routes that the server answers beside the pages: events of runs, files and previews.

    GET /tradeoff, /runs, ...              the page that loads Streamlit's scripts
    GET /files/<stamp>/<name>              what browsers load (`files.py`)
    GET /previews/<token>?field=K&text=V   a chart for a value that a slider passes (`previews.py`)
    GET /runs/<id>/events?after=N          one run
    GET /runs/<id>+<id>/events?after=N+M   up to MAX_RUNS_FOLLOWED at once

`first_paint.py` answers at /, `former_page.py` at the address of a former page. A browser keeps six
connections to a server, which is why runs share one.

Events are a stream of server-sent events (`dpcore/runs/feed.py`). A reader that comes back says by
`after` what it has. Of a request nothing but ids and counts is read.
"""

import asyncio
import re
from collections.abc import AsyncGenerator

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from dpcore.runs.feed import feed_of, messages
from dpcore.runs.pool import ensure_pool
from dpcore.runs.record import StoreError
from pages.parts.serving import files
from pages.parts.serving.previews import PREVIEWS
from pages.parts.shell.menu import PAGES, page_at
from pages.parts.shell.page_of_style import styled_page

# In one connection, as in runs.js: a page of the table of runs and the charts beside it.
MAX_RUNS_FOLLOWED = 32
MAX_READERS = 1000  # connections at once
ID = re.compile(r"[0-9a-z]{1,32}")
COUNT = re.compile(r"[0-9]{1,12}")
# Nobody between may keep or collect it.
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class CountedReaders:
    """The application behind the route of events, which answers at most MAX_READERS at once.

    A request is a reader from its arrival on. Counted later, all requests of a moment would be let
    in while each of them waits for the store.
    """

    def __init__(self) -> None:
        self.count = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, as Starlette calls it."""
        if self.count >= MAX_READERS:
            sentence = "Too many readers; try again later."
            answer = PlainTextResponse(sentence, 503, {"Retry-After": "10"})
            await answer(scope, receive, send)
            return
        self.count += 1
        try:
            answer = await run_events(Request(scope, receive))
            await answer(scope, receive, send)
        finally:
            self.count -= 1


async def run_events(request: Request) -> Response:
    """The events of the runs that the path names, as they happen."""
    try:
        wanted = asked_for(request)
        # The first call opens a file and starts a process.
        pool = await asyncio.to_thread(ensure_pool)
    except ValueError as error:
        return PlainTextResponse(str(error), 400)
    except StoreError as error:
        return PlainTextResponse(str(error), 503)
    feeds = [(feed_of(pool.store, run), after) for run, after in wanted]
    return EventStream(messages(feeds))


class EventStream(StreamingResponse):
    """Messages until they end or the reader goes; then what reads for it ends at once.

    Left to the garbage collector, whichever thread that runs in, its tasks were destroyed half
    done, and twice the interpreter crashed after that.
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
    """Ids of runs, each with the number of the last event that the reader has.

    Errors: ValueError says what is wrong.
    """
    runs = request.path_params["runs"].split("+")
    repeated = len(set(runs)) < len(runs)
    if len(runs) > MAX_RUNS_FOLLOWED or repeated or not all(map(ID.fullmatch, runs)):
        raise ValueError(
            f"Expected the path to name up to {MAX_RUNS_FOLLOWED} runs by their ids, each once,"
            " with + between."
        )
    none_yet = "+".join("0" * len(runs))
    after = request.query_params.get("after", none_yet)
    counts = after.replace(" ", "+").split("+")
    if len(counts) != len(runs) or not all(map(COUNT.fullmatch, counts)):
        raise ValueError(
            "Expected after to be the number of an event for each run, with + between."
        )
    return list(zip(runs, map(int, counts), strict=True))


async def scripts(request: Request) -> Response:
    """The page that loads Streamlit's scripts, which draw the page of the address."""
    page = page_at(request.url.path.rpartition("/")[2])
    return HTMLResponse(styled_page(page), headers={"Cache-Control": "no-cache"})


PAGES_BY_ADDRESS = [Route(f"/{page.address}", scripts) for page in PAGES if page.address]
READERS = CountedReaders()
EVENTS = Route("/runs/{runs}/events", READERS, methods=["GET"])
ROUTES = [EVENTS, files.FILES, PREVIEWS, *PAGES_BY_ADDRESS]


def routes() -> list[Route]:
    """The routes, for the server of this process, which from now on answers them."""
    files.serving = True
    return ROUTES
