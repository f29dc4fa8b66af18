"""A page of the app opened as a browser opens it, without one: Streamlit's own messages over a
websocket.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

PATIENCE = 900  # seconds for a page to be drawn: a hundred are opened while two runs train


@dataclass
class Opened:
    """What a page has cost so far."""

    socket: ClientConnection
    drawn_after: float = 0.0  # seconds to the whole page
    reruns: int = 0  # that the page asked its browser for


@asynccontextmanager
async def opened(
    url: str, page: str, query: str, take: Callable[[ForwardMsg], None] = lambda message: None
) -> AsyncIterator[Opened]:
    """The page, drawn, and kept open as long as the block runs; what it asks to be run again is run
    again.

    `take` is given each message.
    """
    address = url.replace("http", "ws", 1) + "/_stcore/stream"
    patient = {"open_timeout": PATIENCE, "ping_interval": None, "max_size": None}
    async with connect(address, subprotocols=["streamlit"], **patient) as socket:  # type: ignore[arg-type]
        seen, began, drawn = Opened(socket), time.monotonic(), asyncio.Event()

        async def ask(fragment: str = "") -> None:
            asked = BackMsg()
            asked.rerun_script.page_name, asked.rerun_script.query_string = page, query
            asked.rerun_script.fragment_id, asked.rerun_script.is_auto_rerun = (
                fragment,
                bool(fragment),
            )
            await socket.send(asked.SerializeToString())

        async def again_and_again(fragment: str, interval: float) -> None:
            while True:
                await asyncio.sleep(interval)
                seen.reruns += 1
                await ask(fragment)

        async def listen() -> None:
            async for content in socket:
                message = ForwardMsg.FromString(
                    content if isinstance(content, bytes) else content.encode()
                )
                take(message)
                kind = message.WhichOneof("type")
                if kind == "script_finished":
                    drawn.set()
                elif kind == "auto_rerun":
                    again = again_and_again(
                        message.auto_rerun.fragment_id, message.auto_rerun.interval
                    )
                    tasks.append(asyncio.create_task(again))

        tasks = [asyncio.create_task(listen())]
        try:
            await ask()
            await asyncio.wait_for(drawn.wait(), PATIENCE)
            seen.drawn_after = time.monotonic() - began
            yield seen
        finally:
            for task in tasks:
                task.cancel()
