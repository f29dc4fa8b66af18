"""What a browser asks for when a page is opened is there."""

from collections.abc import Callable

import pytest

from pages.parts.shell.menu import PAGES
from tests.e2e.looks import opened
from tests.e2e.server import Server

pytest.importorskip("playwright")
from playwright.sync_api import Page


@pytest.mark.parametrize("address", ["", "tradeoff", "papers"])
def test_a_page_asks_for_nothing_that_is_not_there_and_its_console_stays_empty(
    tab: Page, app: Server, address: str
):
    assert address in [page.address for page in PAGES]
    missing, said = [], []
    tab.on(
        "response",
        lambda response: missing.append(response.url) if response.status >= 400 else None,
    )
    tab.on(
        "console", lambda message: said.append(message.text) if message.type == "error" else None
    )
    opened(tab, f"{app.url}/{address}")
    assert (missing, said) == ([], [])


def test_the_lab_asks_for_every_script_before_the_server_has_drawn_anything(
    in_context: Callable[..., Page], app: Server
):
    page, asked = in_context(), []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append("connected"))
    opened(page, app.url)
    later = asked[asked.index("connected") :]
    assert [url for url in later if url.endswith(".js")] == []
