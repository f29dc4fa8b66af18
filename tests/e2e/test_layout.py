"""Every page of the menu in a browser, opened on a narrow screen and resized: nothing runs out of it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dpcore.privacy.accountants import ACCOUNTANTS
from pages.parts.shell.menu import PAGES
from tests.e2e.server import PATIENCE, STILL, Server

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

SIZES = ((1366, 768), (1024, 768), (390, 844))
NARROW, WIDE = SIZES[-1], SIZES[0]
RESIZED = (SIZES[1], WIDE, NARROW)  # after it was opened narrow: what has grown has to shrink again
CASES = [
    pytest.param(each, marks=[] if each == PAGES[0] else pytest.mark.long, id=Path(each.file).stem) for each in PAGES
]
SHORTEST = 100  # pixels of a slider that a hand can still set
DRAWN = ".js-plotly-plot .main-svg, [data-testid=stAlert]"
OUTSIDE = """() => {
    const width = document.documentElement.clientWidth;
    const shown = document.querySelectorAll('button, input, [data-testid=stSelectbox], table');
    const scrolls = e => e.closest('[role=region], [data-testid=stMultiSelectTagsContainer]');  // by themselves
    return [...shown].filter(e => e.getClientRects().length && !scrolls(e) && e.getBoundingClientRect().right > width)
        .map(e => `${e.tagName} ${e.innerText.slice(0, 40)}`);
}"""
SLIDERS = "() => [...document.querySelectorAll('input[type=range]')].map(e => e.getBoundingClientRect().width)"


AT_REST = """() => {
    const parts = document.querySelectorAll("h1, h2, button, input, table, iframe, .main-svg");
    const places = [...parts].map(e => Object.values(e.getBoundingClientRect().toJSON()).map(Math.round));
    const now = `${innerWidth} ${innerHeight} ${places}`;
    window.looks = window.looks?.[0] === now ? [now, window.looks[1] + 1] : [now, 0];
    return window.looks[1] >= 3;
}"""


def settled(page: Page) -> None:
    """Wait until the script has run and the charts are drawn."""
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator(DRAWN).first).to_be_visible()
    page.wait_for_selector(STILL, timeout=PATIENCE)


def resized(page: Page, size: tuple[int, int]) -> None:
    """Give the window another size, and wait until the page is drawn for it and nothing moves."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    settled(page)
    page.wait_for_function(AT_REST, polling=100)


def too_wide(page: Page, has_controls: bool) -> list[str]:
    """What runs out of the window, and sliders that are too short for a hand."""
    if has_controls:  # which the browser may draw after the script has ended; a page without any is never looked at
        page.wait_for_function(f"() => ({SLIDERS})().some(width => width)", polling=100)
    sliders = [each for each in page.evaluate(SLIDERS) if each]  # those of shut expanders have no width
    return page.evaluate(OUTSIDE) + [f"slider of {each} pixels" for each in sliders if each < SHORTEST]


@pytest.mark.parametrize("entry", CASES)
def test_every_control_is_inside_the_page_and_every_slider_can_be_set(browser, shown_here: Callable[[str], str], entry):
    context = browser.new_context(viewport={"width": NARROW[0], "height": NARROW[1]})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(shown_here(entry.address))
    settled(page)
    found = {"as opened": too_wide(page, entry.has_controls)}
    for size in RESIZED:
        resized(page, size)
        found[str(size)] = too_wide(page, entry.has_controls)
    assert not any(found.values()), found
    context.close()


def test_a_row_of_the_table_tells_what_its_numbers_are_on_a_narrow_screen(page: Page, app: Server):
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto(app.url)
    cell = page.locator("table.verdicts td[data-label=Epsilon]").first
    expect(cell).to_be_visible()
    told = cell.evaluate("e => getComputedStyle(e, '::before').content")
    assert "Epsilon" in told or "data-label" in told


@pytest.mark.parametrize("address", ["", "tradeoff?view=delta"])
def test_every_accountant_can_be_chosen_without_scrolling_its_row(page: Page, app: Server, address: str):
    page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    page.goto(f"{app.url}/{address}")
    settled(page)
    row = page.locator(".st-key-accountants [data-testid=stButtonGroup]")
    choices = row.locator("button:not(label button, [data-testid=stWidgetLabel] button)")  # nor that of their help
    expect(choices).to_have_count(len(ACCOUNTANTS) - 1)  # the band is always there
    ends = [each.bounding_box() for each in [row, *choices.all()]]
    right, *pills = [box["x"] + box["width"] for box in ends if box]
    assert max(pills) <= right
