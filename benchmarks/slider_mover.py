"""A page whose slider is moved, without a browser: its chart is asked for, and then the page, as
its modules do.
"""

import asyncio
import json
import random
import time
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection

REST = 0.12  # seconds that the hand rests before the page is asked (`slider.js`)
PATIENCE = 120.0  # seconds for a chart or a page


class Move(NamedTuple):
    """When a move began, and what it took, in seconds."""

    begun: float
    chart: float
    page: float  # to the page's last message, from when it was asked


class Mover:
    """One slider of an open page, and the chart that follows it."""

    def __init__(self, slider: str, chart: str) -> None:
        self._slider, self._chart = slider, chart
        self._id, self._stops, self._preview, self._number = "", [""], "", int(time.time() * 1000)
        self._hash = ""  # of the page's script
        self._drawn, self._finished = asyncio.Event(), asyncio.Event()
        self.moves: list[Move] = []

    def take(self, message: ForwardMsg) -> None:
        """Note what the page says of the two."""
        kind = message.WhichOneof("type")
        if kind == "navigation":
            self._hash = message.navigation.page_script_hash
        elif kind == "script_finished":
            self._finished.set()
        elif kind == "delta":
            self._take_element(message.delta.new_element)

    def _take_element(self, element: Element) -> None:
        if element.WhichOneof("type") == "exception":
            raise RuntimeError(f"The page has failed: {element.exception.message}")
        component = element.bidi_component
        data = json.loads(component.json or "{}")
        if component.component_name == "slider" and data["field"] == self._slider:
            self._id, self._stops = component.id, data["stops"]
        if component.component_name == "live_chart" and self._chart in component.id:
            self._preview = data["preview"]
            self._drawn.set()

    async def move(self, socket: ClientConnection, url: str, query: str) -> None:
        """Move the slider to another stop, and wait for the chart and the page."""
        text, begun = random.choice(self._stops), time.monotonic()
        self._drawn.clear()
        self._finished.clear()
        previewed = await self._ask_for_chart(url, text)
        chart = time.monotonic() - begun
        if previewed:
            await asyncio.sleep(REST)
        asked = time.monotonic()
        await socket.send(self._message(query, text))
        if not previewed:  # only the page itself can draw it
            await asyncio.wait_for(self._drawn.wait(), PATIENCE)
            chart = time.monotonic() - begun
        await asyncio.wait_for(self._finished.wait(), PATIENCE)
        self.moves.append(Move(begun, chart, time.monotonic() - asked))

    async def _ask_for_chart(self, url: str, text: str) -> bool:
        """Whether the server answers with the chart for this stop."""
        if not self._preview:
            return False
        parts = urlsplit(url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        try:
            path = f"{self._preview}?{urlencode({'field': self._slider, 'text': text})}"
            writer.write(
                f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n".encode()
            )
            return (await asyncio.wait_for(reader.read(), PATIENCE)).startswith(b"HTTP/1.1 200")
        finally:
            writer.close()

    def _message(self, query: str, text: str) -> bytes:
        self._number += 1
        asked = BackMsg()
        asked.rerun_script.query_string = query
        # Without it another page is meant, without these widgets.
        asked.rerun_script.page_script_hash = self._hash
        state = asked.rerun_script.widget_states.widgets.add(
            id=f"$$STREAMLIT_INTERNAL_KEY_{self._id}__events"
        )
        state.json_trigger_value = json.dumps([{"event": "moved", "value": [text, self._number]}])
        return asked.SerializeToString()
