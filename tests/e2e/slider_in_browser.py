"""The slider of sigma in a browser, with the field beside it and the chart that follows it."""

import pytest

from tests.e2e.server import STILL, Server

pytest.importorskip("playwright")
from playwright.sync_api import Locator, Page, expect

SLIDER = ".st-key-sigma_slider input[type=range]"
LINE = ".st-key-attack_chart .scatterlayer .trace:last-child path.js-line"


def opened(page: Page, app: Server, query: str = "sigma=2") -> Locator:
    """The slider of sigma on a page that stands still."""
    page.goto(f"{app.url}/tradeoff?{query}")
    expect(page.locator(LINE)).to_be_attached()
    page.wait_for_selector(STILL)
    return page.locator(SLIDER)


def field(page: Page) -> Locator:
    """The exact field of sigma."""
    return page.get_by_role("textbox", name="Noise multiplier sigma, exact")
