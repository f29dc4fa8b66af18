"""Every page of the menu in a browser, at three sizes in both themes: nothing runs out of it."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from dpcore.privacy.accountants import ACCOUNTANTS
from pages.parts.shell.menu import PAGES
from tests.e2e.server import PATIENCE, STILL, Server

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

SIZES = ((1366, 768), (1024, 768), (390, 844))
THEMES = ("light", "dark")
JOURNEYS = {(PAGES[0], SIZES[-1], "light")}
CASES = [
    pytest.param((page, size, theme), marks=pytest.mark.journey if (page, size, theme) in JOURNEYS else [])
    for page in PAGES
    for size in SIZES
    for theme in THEMES
]
SHORTEST = 100  # pixels of a slider that a hand can still set
HAS_CONTROLS = {page.address: page.has_controls for page in PAGES}
DRAWN = ".js-plotly-plot .main-svg, [data-testid=stAlert]"
OUTSIDE = """() => {
    const width = document.documentElement.clientWidth;
    const shown = document.querySelectorAll('button, input, [data-testid=stSelectbox], table');
    const scrolls = e => e.closest('[role=region], [data-testid=stMultiSelectTagsContainer]');  // by themselves
    return [...shown].filter(e => e.getClientRects().length && !scrolls(e) && e.getBoundingClientRect().right > width)
        .map(e => `${e.tagName} ${e.innerText.slice(0, 40)}`);
}"""
SLIDERS = "() => [...document.querySelectorAll('input[type=range]')].map(e => e.getBoundingClientRect().width)"


def settled(page: Page) -> None:
    """Wait until the script has run and the charts are drawn."""
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator(DRAWN).first).to_be_visible()
    page.wait_for_selector(STILL, timeout=PATIENCE)


def named(case: tuple) -> str:
    page, (width, _), theme = case
    return f"{Path(page.file).stem}-{width}-{theme}"


@pytest.fixture(
    scope="module",
    params=CASES,
    ids=named,
)
def shown(browser, app: Server, shown_here: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page as it opens; the one that shows runs has some."""
    page, (width, height), theme = request.param
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
    tab = context.new_page()
    tab.goto(f"{app.url}/{page.address}?{shown_here}")
    settled(tab)
    yield tab
    context.close()


def test_every_control_is_inside_the_page_and_every_slider_can_be_set(shown: Page):
    assert shown.evaluate(OUTSIDE) == []
    sliders = [each for each in shown.evaluate(SLIDERS) if each]  # those of shut expanders have no width
    assert sliders or not HAS_CONTROLS[urlsplit(shown.url).path.strip("/")]
    assert min(sliders, default=SHORTEST) >= SHORTEST


def test_a_row_of_the_table_tells_what_its_numbers_are_on_a_narrow_screen(page: Page, app: Server):
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto(app.url)
    cell = page.locator("table.verdicts td[data-label=Epsilon]").first
    expect(cell).to_be_visible()
    told = cell.evaluate("e => getComputedStyle(e, '::before').content")
    assert "Epsilon" in told or "data-label" in told


@pytest.mark.parametrize("address", ["", "tradeoff?view=delta"])
def test_every_accountant_can_be_chosen_without_scrolling_its_row(page: Page, app: Server, address: str):
    page.set_viewport_size({"width": SIZES[0][0], "height": SIZES[0][1]})
    page.goto(f"{app.url}/{address}")
    settled(page)
    row = page.locator(".st-key-accountants [data-testid=stButtonGroup]")
    choices = row.locator("button:not(label button, [data-testid=stWidgetLabel] button)")  # nor that of their help
    expect(choices).to_have_count(len(ACCOUNTANTS) - 1)  # the band is always there
    ends = [each.bounding_box() for each in [row, *choices.all()]]
    right, *pills = [box["x"] + box["width"] for box in ends if box]
    assert max(pills) <= right
