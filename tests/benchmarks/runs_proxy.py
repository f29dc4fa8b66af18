"""A proxy before several servers: who comes from a new address gets the next server, and stays with it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import cycle
from urllib.parse import urlsplit

PIECE = 65536


@asynccontextmanager
async def proxied(servers: Sequence[str]) -> AsyncIterator[str]:
    """The address of a proxy before the servers; of a single server its own."""
    if len(servers) == 1:
        yield servers[0]
        return
    turn, places = cycle(servers), dict[str, str]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = writer.get_extra_info("peername")[0]
        parts = urlsplit(places.setdefault(client, next(turn)))
        there, back = await asyncio.open_connection(parts.hostname, parts.port)
        await asyncio.gather(passed_on(reader, back), passed_on(there, writer))

    proxy = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
    finally:
        proxy.close()  # what is open ends with the loop


async def passed_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Hand on what comes until one side ends."""
    with suppress(OSError):
        while piece := await reader.read(PIECE):
            writer.write(piece)
            await writer.drain()
    writer.close()
