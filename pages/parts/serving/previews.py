"""Charts drawn for the value that a slider passes, before the page is run again.

    GET /previews/<token>?field=<key>&text=<value>

A page says for each of its charts how it is drawn where one field has another value, and its
browser learns a token by which to ask. The answer is what `live_chart` shows (a figure and what
grows in it), or nothing (204) where only the page itself can say what is to be seen: values that do
not go together, a setting that takes long. A token is known to one page alone and lasts as long as
its session; an answer changes nothing here.
"""

import asyncio
import json
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from weakref import WeakValueDictionary

import streamlit as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

Drawn = dict[str, Any]  # the part of `live_chart`'s data that changes with the value
# Of a field's key and its text; ValueError or None where it cannot.
Draw = Callable[[str, str], Drawn | None]
MAX_CHARS = 100  # characters of a key and of a text: fields hold fewer
MAX_DRAWINGS = 2  # drawn at a time, for all readers: more would only wait for each other


class Preview:
    """The present drawing of one chart on one reader's page."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(16)
        self.draw: Draw | None = None
        self.busy = False


_previews: WeakValueDictionary[str, Preview] = WeakValueDictionary()
_drawing = ThreadPoolExecutor(MAX_DRAWINGS, thread_name_prefix="preview")


def address_of(key: str, draw: Draw | None) -> str:
    """The address of this chart's previews in this session; "" where `draw` is None."""
    preview: Preview = st.session_state.setdefault(f"{key}_preview", Preview())
    preview.draw = draw
    _previews[preview.token] = preview
    return f"/previews/{preview.token}" if draw else ""


async def answer(request: Request) -> Response:
    """One chart for one value."""
    preview = _previews.get(request.path_params["token"])
    if preview is None or preview.draw is None:
        return PlainTextResponse("There is no such chart.", 404)
    field = request.query_params.get("field", "")
    text = request.query_params.get("text", "")
    if len(field) > MAX_CHARS or len(text) > MAX_CHARS:
        sentence = f"Expected field and text to have at most {MAX_CHARS} characters."
        return PlainTextResponse(sentence, 400)
    if preview.busy:
        return PlainTextResponse("One value at a time.", 429)
    preview.busy = True
    try:
        loop = asyncio.get_running_loop()
        body = await loop.run_in_executor(_drawing, drawn, preview.draw, field, text)
    finally:
        preview.busy = False
    if not body:
        return Response(status_code=204)
    return Response(body, media_type="application/json")


def drawn(draw: Draw, field: str, text: str) -> bytes:
    """The chart as JSON; empty where it cannot be drawn for this value."""
    try:
        found = draw(field, text)
    except (ValueError, RuntimeError):  # the page itself says what is wrong
        return b""
    return json.dumps(found).encode() if found else b""


PREVIEWS = Route("/previews/{token}", answer)
