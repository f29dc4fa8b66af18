"""A page whose slider is moved, without a browser: its chart is asked for, and then the page, as its modules do."""

import asyncio
import json
import random
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection

REST = 0.12  # seconds that the hand rests before the page is asked (`slider.js`)
PATIENCE = 120.0  # seconds for a chart or a page


@dataclass
class Moved:
    """What it took, in seconds."""

    chart: list[float] = field(default_factory=list)
    page: list[float] = field(default_factory=list)  # to the page's last message
    previewed: int = 0  # charts that came by themselves, before the page


class Mover:
    """One slider of an open page, and the chart that follows it."""

    def __init__(self, slider: str, chart: str) -> None:
        self._slider, self._chart = slider, chart
        self._id, self._stops, self._preview, self._number = "", [""], "", int(time.time() * 1000)
        self._hash = ""  # of the page's script
        self._drawn, self._finished = asyncio.Event(), asyncio.Event()
        self.moved = Moved()

    def take(self, message: ForwardMsg) -> None:
        """Note what the page says of the two."""
        kind = message.WhichOneof("type")
        if kind == "navigation":
            self._hash = message.navigation.page_script_hash
        if kind == "script_finished":
            self._finished.set()
        if kind != "delta":
            return
        if message.delta.new_element.WhichOneof("type") == "exception":
            raise RuntimeError(f"The page has failed: {message.delta.new_element.exception.message}")
        component = message.delta.new_element.bidi_component
        if component.component_name == "stop_slider":
            data = json.loads(component.json)
            if data["field"] == self._slider:
                self._id, self._stops = component.id, data["stops"]
        elif component.component_name == "live_chart" and self._chart in component.id:
            self._preview = json.loads(component.json)["preview"]
            self._drawn.set()

    async def move(self, socket: ClientConnection, url: str, page: str, query: str, address: str) -> None:
        """Move the slider to another stop, and wait for the chart and the page."""
        text, begun = random.choice(self._stops), time.monotonic()
        moved = self.moved  # as it was when the move began
        self._drawn.clear()
        self._finished.clear()
        previewed = await self._ask_for_chart(url, text, address)
        if previewed:
            moved.chart.append(time.monotonic() - begun)
            moved.previewed += 1
            await asyncio.sleep(REST)
        asked = time.monotonic()
        await socket.send(self._message(page, query, text))
        if not previewed:
            await asyncio.wait_for(self._drawn.wait(), PATIENCE)
            moved.chart.append(time.monotonic() - begun)
        await asyncio.wait_for(self._finished.wait(), PATIENCE)
        moved.page.append(time.monotonic() - asked)

    async def _ask_for_chart(self, url: str, text: str, address: str) -> bool:
        """Whether the server answers with the chart for this stop."""
        if not self._preview:
            return False
        parts = urlsplit(url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port, local_addr=(address, 0))
        try:
            path = f"{self._preview}?{urlencode({'field': self._slider, 'text': text})}"
            writer.write(f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n".encode())
            await writer.drain()
            return (await asyncio.wait_for(reader.read(), PATIENCE)).startswith(b"HTTP/1.1 200")
        finally:
            writer.close()

    def _message(self, page: str, query: str, text: str) -> bytes:
        self._number += 1
        asked = BackMsg()
        asked.rerun_script.page_name, asked.rerun_script.query_string = page, query
        asked.rerun_script.page_script_hash = self._hash  # without it another page is meant, without these widgets
        state = asked.rerun_script.widget_states.widgets.add(id=f"$$STREAMLIT_INTERNAL_KEY_{self._id}__events")
        sent: list[dict[str, Any]] = [{"event": "moved", "value": [text, self._number]}]
        state.json_trigger_value = json.dumps(sent)
        return asked.SerializeToString()
