"""axe finds nothing on our pages that it does not find on a bare page of Streamlit's own widgets.

All its rules of every impact run, those too that it leaves out by default. Each page stands beside the bare one, in the
same theme and at the same width, with finished runs, and with everything opened that can be opened.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache

import pytest

from pages.parts.shell.menu import PAGES
from tests.e2e.server import PATIENCE, ROOT, STILL, Server, serving

pytest.importorskip("playwright")
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, expect

from tests.e2e.test_layout import settled

Found = dict[tuple[str, str], str]  # rule and the widget around -> an element that breaks it
SIZES = ((1440, 900), (1024, 768), (390, 844))
THEMES = ("light", "dark")
LESSON, PRESENT = "?lesson=clipping", "train?present=1"
EVERY = [(page.address, size, theme) for page in PAGES for size in SIZES for theme in THEMES]
EVERY += [(LESSON, SIZES[0], "light"), (PRESENT, SIZES[1], "dark"), (PRESENT, SIZES[2], "light")]
CASES = [pytest.param(*case, id=f"{case[0]}-{case[1][0]}-{case[2]}") for case in EVERY]
HEIGHT = """() => Math.max(...[...document.querySelectorAll("[data-testid=stMain], [data-testid=stColumn]")]
    .map(each => each.scrollHeight + 100))"""  # of the page, and of a column that scrolls by itself
SCROLLS = """() => [...document.querySelectorAll("[data-testid=stMain], [data-testid=stColumn]")]
    .some(each => each.scrollHeight > each.clientHeight && getComputedStyle(each).overflowY !== "visible")"""
TO_THE_TOP = """() => document.querySelectorAll("[data-testid=stMain], [data-testid=stColumn]")
    .forEach(each => each.scrollTo(0, 0))"""
FILLED = """() => [...document.querySelectorAll("[data-testid=stDataFrame]")]
    .every(each => each.querySelector("[role=gridcell]"))"""
BROKEN = """async () => {
    const rules = Object.fromEntries(axe.getRules().map(({ruleId}) => [ruleId, {enabled: true}]));
    const {violations} = await axe.run(document, {rules, resultTypes: ["violations"]});
    const around = element => {  // the two innermost of Streamlit's parts; how much room is in these is chance:
        const whole = element?.closest("[data-testid=stMultiSelect], [data-testid=stDataFrame]");
        if (whole) return whole.dataset.testid;
        const found = [];
        for (let each = element; each && found.length < 2; each = each.parentElement) {
            if (each.dataset?.testid?.startsWith("st")) found.push(each.dataset.testid);
        }
        return found.join(" in ");
    };
    return violations.flatMap(({id, nodes}) => nodes.map(({target, html, failureSummary}) =>
        [id, around(document.querySelector(target[0])), `${html.slice(0, 200)} ${failureSummary}`]));
}"""


@pytest.fixture(scope="module")
def bare(browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[tuple[int, int], str], Found]]:
    """What axe finds on the bare page, at a size and in a theme."""
    script = ROOT / "tests" / "e2e" / "bare_page.py"
    with serving(tmp_path_factory.mktemp("bare"), str(script)) as server:
        yield lru_cache(lambda size, theme: broken(browser, server.url, size, theme))


def broken(browser, address: str, size: tuple[int, int], theme: str) -> Found:
    """What axe finds at an address."""
    shown = {"viewport": {"width": size[0], "height": size[1]}, "color_scheme": theme}
    context = browser.new_context(**shown, reduced_motion="reduce")  # what is only half faded in has no contrast yet
    context.set_default_timeout(PATIENCE)
    tab = context.new_page()
    tab.goto(address)
    settled(tab)
    open_everything(tab)
    tab.wait_for_function(FILLED)
    tab.evaluate(AXE_SCRIPT)
    found: Found = {}
    for rule, around, element in tab.evaluate(BROKEN):
        found[rule, around] = element
    context.close()
    return found


def open_everything(page: Page) -> None:
    """Open every expander, and let the page be as high as what it shows: axe passes over what is out of sight."""
    shut = page.locator("details:not([open]) > summary:visible")
    for _ in range(3 * shut.count()):  # an answer that was under way may shut one again
        if not shut.count():
            break
        shut.first.click()
        page.wait_for_timeout(300)  # opening one draws the page anew
        page.wait_for_selector(STILL)
    expect(shut).to_have_count(0)
    page.mouse.move(0, 0)  # what the pointer rests on has other colours
    size = page.viewport_size
    assert size
    for _ in range(3):  # what is drawn anew for a larger window may be higher than before
        page.set_viewport_size({"width": size["width"], "height": page.evaluate(HEIGHT) + 20})
        settled(page)
        if not page.evaluate(SCROLLS):
            break
    page.evaluate(TO_THE_TOP)  # what stuck to the window's edge is back in its place


@pytest.mark.parametrize(("state", "size", "theme"), CASES)
def test_axe_finds_nothing_that_a_bare_page_does_not_have(
    browser, app: Server, shown_here: str, bare, state: str, size: tuple[int, int], theme: str
):
    ours = broken(browser, f"{app.url}/{state}{'&' if '?' in state else '?'}{shown_here}", size, theme)
    beside = bare(size, theme)
    assert beside, "every rule runs: a bare page breaks some"
    stricter = {(f"{rule}-enhanced", around) for rule, around in beside}  # of what the bare page breaks already
    own = {each: element for each, element in ours.items() if each not in {*beside, *stricter}}
    assert [f"{rule} in {around}: {element}" for (rule, around), element in own.items()] == []
