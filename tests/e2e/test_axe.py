"""axe finds nothing on our pages that it does not find on a bare page of Streamlit's own widgets.

All its rules of every impact run, those too that it leaves out by default. Each page stands beside the bare one, in the
same theme and at the same width, with finished runs, and with everything opened that can be opened. It is opened once:
colours do not depend on the width, and are looked at in both themes; the rest does not depend on the theme, and is
looked at wide and narrow. (A tablet shows the columns of the one or of the other.)
"""

from collections.abc import Callable, Iterator
from functools import cache

import pytest

from pages.parts.shell.menu import PAGES
from tests.e2e.server import PATIENCE, ROOT, STILL, serving

pytest.importorskip("playwright")
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, expect

from tests.e2e.test_layout import resized, settled

Found = dict[tuple[str, str], str]  # rule and the widget around -> an element that breaks it
Looked = dict[str, Found]  # at each of the looks
OPENED = (1440, 900)
LOOKS = {  # in this order: size, theme and rules
    "as opened": (OPENED, "dark", "all"),
    "light": (OPENED, "light", "colours"),
    "on a phone": ((390, 844), "light", "but colours"),
}
STATES = [(page.address, tuple(LOOKS)) for page in PAGES]
STATES += [
    ("?lesson=clipping", ("as opened",)),
    ("?sampler=shuffle", ("as opened", "light")),
    ("train?present=1", ("as opened", "on a phone")),
]
CLAIM = "claim_epsilon=0.83&claim_delta=1e-5&claim_q=.01&claim_sigma=4&claim_steps=10000"
STATES += [(f"check?{CLAIM}", ("as opened", "light", "on a phone"))]
HEIGHT = """() => Math.max(...[...document.querySelectorAll("[data-testid=stMain], [data-testid=stColumn]")]
    .map(each => each.scrollHeight + 100))"""  # of the page, and of a column that scrolls by itself
SCROLLS = """() => [...document.querySelectorAll("[data-testid=stMain], [data-testid=stColumn]")]
    .some(each => each.scrollHeight > each.clientHeight && getComputedStyle(each).overflowY !== "visible")"""
TO_THE_TOP = """() => document.querySelectorAll("[data-testid=stMain], [data-testid=stColumn]")
    .forEach(each => each.scrollTo(0, 0))"""
FILLED = """() => [...document.querySelectorAll("[data-testid=stDataFrame]")]
    .every(each => each.querySelector("[role=gridcell]"))"""
IS_DARK = """() => getComputedStyle(document.querySelector("[data-testid=stApp]")).backgroundColor
    .match(/[0-9]+/g).slice(0, 3).every(each => each < 128)"""
BROKEN = """async which => {
    const named = tags => axe.getRules(tags).map(({ruleId}) => ruleId);
    const colours = named(["cat.color"]);
    const values = {all: named(), colours, "but colours": named().filter(each => !colours.includes(each))}[which];
    const {violations} = await axe.run(document, {runOnly: {type: "rule", values}, resultTypes: ["violations"]});
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
def bare(browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Looked]]:
    """What axe finds on the bare page, at each of the looks."""
    script = ROOT / "tests" / "e2e" / "bare_page.py"
    with serving(tmp_path_factory.mktemp("bare"), str(script)) as server:
        yield cache(lambda: looked(browser, server.url))


def looked(browser, address: str, looks: tuple[str, ...] = tuple(LOOKS)) -> Looked:
    """What axe finds at an address, look by look."""
    (width, height), theme, _ = LOOKS["as opened"]
    shown = {"viewport": {"width": width, "height": height}, "color_scheme": theme}
    context = browser.new_context(**shown, reduced_motion="reduce")  # what is only half faded in has no contrast yet
    context.set_default_timeout(PATIENCE)
    tab = context.new_page()
    tab.goto(address)
    settled(tab)
    tab.evaluate(AXE_SCRIPT)
    found = {look: broken(tab, *LOOKS[look]) for look in looks}
    context.close()
    return found


def broken(page: Page, size: tuple[int, int], theme: str, rules: str) -> Found:
    """What axe finds on a page at this size and in this theme."""
    in_theme(page, theme)
    resized(page, size)
    open_everything(page)
    page.wait_for_function(FILLED)
    return {(rule, around): element for rule, around, element in page.evaluate(BROKEN, rules)}


def in_theme(page: Page, theme: str) -> None:
    """Let the browser prefer this theme, and wait until the page has followed."""
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    page.wait_for_function(f"() => ({IS_DARK})() === {'true' if theme == 'dark' else 'false'}")


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


@pytest.mark.parametrize(("state", "looks"), STATES, ids=[state for state, _ in STATES])
def test_axe_finds_nothing_that_a_bare_page_does_not_have(
    browser, shown_here: Callable[[str], str], bare, state: str, looks: tuple[str, ...]
):
    ours = looked(browser, shown_here(state), looks)
    own = []
    for look, found in ours.items():
        beside = bare()[look]
        assert beside, "every rule runs: a bare page breaks some"
        allowed = {*beside, *((f"{rule}-enhanced", around) for rule, around in beside)}  # stricter than what it breaks
        own += [
            f"{look}: {rule} in {where}: {it}" for (rule, where), it in found.items() if (rule, where) not in allowed
        ]
    assert own == []
