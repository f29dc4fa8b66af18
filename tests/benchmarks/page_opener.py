"""A page of the app opened as a browser opens it, without one: Streamlit's own messages over a websocket."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

PATIENCE = 900  # seconds for a page to be drawn: a hundred are opened while two runs train


@dataclass
class Opened:
    """What a page has cost so far."""

    socket: ClientConnection | None = None
    drawn_after: float = 0.0  # seconds to the whole page
    messages: int = 0
    reruns: int = 0  # that the page asked its browser for
    waiting: list[asyncio.Task[None]] = field(default_factory=list)


@asynccontextmanager
async def opened(
    url: str,
    page: str,
    query: str,
    client: str = "127.0.0.1",
    take: Callable[[ForwardMsg], None] = lambda message: None,
) -> AsyncIterator[Opened]:
    """The page, drawn, and kept open as long as the block runs; what it asks to be run again is run again.

    `client` is the address that it is opened from, `take` is given each message.
    """
    address = url.replace("http", "ws", 1) + "/_stcore/stream"
    patient = {"open_timeout": PATIENCE, "ping_interval": None, "max_size": None, "local_addr": (client, 0)}
    async with connect(address, subprotocols=["streamlit"], **patient) as socket:  # type: ignore[arg-type]
        seen, began = Opened(socket), time.monotonic()
        drawn = asyncio.Event()
        await ask(socket, page, query)
        listening = asyncio.create_task(listen(socket, seen, drawn, page, query, take))
        try:
            await asyncio.wait_for(drawn.wait(), PATIENCE)
            seen.drawn_after = time.monotonic() - began
            yield seen
        finally:
            for task in (listening, *seen.waiting):
                task.cancel()


async def ask(socket: ClientConnection, page: str, query: str, fragment: str = "") -> None:
    """Ask for the page, or for a part of it."""
    asked = BackMsg()
    asked.rerun_script.page_name, asked.rerun_script.query_string = page, query
    asked.rerun_script.fragment_id, asked.rerun_script.is_auto_rerun = fragment, bool(fragment)
    await socket.send(asked.SerializeToString())


async def listen(
    socket: ClientConnection,
    seen: Opened,
    drawn: asyncio.Event,
    page: str,
    query: str,
    take: Callable[[ForwardMsg], None],
) -> None:
    """Read what the page says."""
    async for content in socket:
        message = ForwardMsg.FromString(content if isinstance(content, bytes) else content.encode())
        seen.messages += 1
        take(message)
        kind = message.WhichOneof("type")
        if kind == "script_finished":
            drawn.set()
        elif kind == "auto_rerun":
            again = again_and_again(socket, seen, page, query, message.auto_rerun)
            seen.waiting.append(asyncio.create_task(again))


async def again_and_again(socket: ClientConnection, seen: Opened, page: str, query: str, asked) -> None:
    """Run a part of the page again in its interval, as a browser does."""
    while True:
        await asyncio.sleep(asked.interval)
        seen.reruns += 1
        await ask(socket, page, query, asked.fragment_id)
