"""What the teacher of a classroom says to everybody: whether the queue is paused, and which run is shown to all.

    GET /board

Each page of a classroom asks for it every few seconds (`pages/parts/components/board.js`) and is drawn again once it
has changed. The store is asked once a second, however many ask here.
"""

import asyncio
import json
import time

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from dpcore.runs.pool import ensure_pool
from dpcore.runs.record import StoreError
from dpcore.runs.store import Store

PAUSED, PROJECTED = "paused", "projected"  # names on the store's board
ADDRESS = "/board"
KEPT = 1.0  # seconds

_answers: dict[Store, tuple[float, str]] = {}  # what each store said last, and when


def on_board(store: Store) -> dict[str, str]:
    """What is said at present; "" where nothing is."""
    return {name: store.board(name) or "" for name in (PAUSED, PROJECTED)}


async def board(request: Request) -> Response:
    """What is said, as JSON."""
    try:
        text = await asyncio.to_thread(_lately_said)
    except StoreError:  # the page says what is wrong with it
        return PlainTextResponse("The run store cannot be used.", 503)
    return Response(text, media_type="application/json", headers={"Cache-Control": "no-store"})


def _lately_said() -> str:
    store = ensure_pool().store
    at, text = _answers.get(store, (-KEPT, ""))
    if time.monotonic() - at >= KEPT:
        text = json.dumps(on_board(store))
        _answers[store] = time.monotonic(), text
    return text


BOARD = Route(ADDRESS, board)
