"""Where the columns have no room beside each other they go below each other, and nothing runs out of the page."""

import pytest

from tests.e2e.server import Server

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

PAGES = ("/", "/tradeoff", "/calibrate?by=rdp", "/train")
SHORTEST = 120  # pixels of a slider that a hand can still set
OUTSIDE = """() => {
    const width = document.documentElement.clientWidth;
    const shown = document.querySelectorAll('button, input, [data-testid=stSlider], [data-testid=stSelectbox], table');
    const scrolls = e => e.closest('[role=region]');
    return [...shown].filter(e => e.getClientRects().length && !scrolls(e) && e.getBoundingClientRect().right > width)
        .map(e => `${e.tagName} ${e.innerText.slice(0, 40)}`);
}"""
SLIDERS = "() => [...document.querySelectorAll('[data-testid=stSlider]')].map(e => e.getBoundingClientRect().width)"


@pytest.mark.parametrize("width", [1400, 1000, 420])
@pytest.mark.parametrize("path", PAGES)
def test_every_control_is_inside_the_page_and_every_slider_can_be_set(page: Page, app: Server, path: str, width: int):
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(app.url + path)
    expect(page.locator("[data-testid=stSlider]:visible").first).to_be_visible(timeout=60_000)
    expect(page.locator(".js-plotly-plot .main-svg, [data-testid=stAlert]").first).to_be_visible(timeout=60_000)
    assert page.evaluate(OUTSIDE) == []
    sliders = [each for each in page.evaluate(SLIDERS) if each]  # those of shut expanders have no width
    assert sliders
    assert min(sliders) >= SHORTEST


def test_a_row_of_the_table_tells_what_its_numbers_are_on_a_narrow_screen(page: Page, app: Server):
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto(app.url)
    cell = page.locator("table.verdicts td[data-label=Epsilon]").first
    expect(cell).to_be_visible(timeout=60_000)
    told = cell.evaluate("e => getComputedStyle(e, '::before').content")
    assert "Epsilon" in told or "data-label" in told
