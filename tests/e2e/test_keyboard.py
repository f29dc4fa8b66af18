"""Every page by keyboard alone: Tab reaches each control in order, its place is seen, and nothing holds on to it."""

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest

from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from pages.parts.shell.menu import PAGES
from tests.e2e.server import PATIENCE, STILL, Server

pytest.importorskip("playwright")
from playwright.sync_api import Locator, Page, expect

from tests.e2e.test_layout import settled

MOST = 600  # times that Tab is pressed on one page: papers have a hundred numbers with four links each
JOURNEYS = ("",)
ADDRESSES = [
    pytest.param(address, marks=[] if address in JOURNEYS else pytest.mark.long)
    for address in (*(page.address for page in PAGES), "?lesson=clipping")
]
STILL_STYLES = "*, *::before, *::after {transition: none !important; animation: none !important}"
PREPARE = """() => {
    const parts = element => {  // where a ring may be drawn: the element and what is drawn close around it
        const found = [];
        for (let each = element; each && found.length < 4; each = each.parentElement) found.push(each);
        return found;
    };
    const look = element => parts(element).map(each => ['', '::before', '::after'].map(pseudo => {
        const style = getComputedStyle(each, pseudo || null);
        return [style.outline, style.boxShadow, style.border, style.backgroundColor, style.color,
            style.textDecorationLine].join('|');
    })).join('#');
    const shown = element => element.checkVisibility({visibilityProperty: true}) && element.getClientRects().length;
    const named = element => `${element.tagName} ${element.getAttribute('aria-label') ?? ''} `
        + `${(element.innerText || element.value || '').slice(0, 40)} ${element.className}`.slice(0, 120);
    const COMPOSITE = '[role=radiogroup], [role=group], [role=toolbar], [role=grid], [role=tablist], '
        + '[data-testid=stSelectbox], [data-testid=stMultiSelect], [data-testid=stDataFrame]';
    window.walk = {stops: [], dim: []};
    walk.note = () => {  // after a Tab: what has the focus, and whether that can be seen; null behind the last
        const before = walk.stops.at(-1), now = document.activeElement;
        if (before && look(before) === walk.look && before.type !== 'range') walk.dim.push(named(before));
        if (!now || now === document.body || walk.stops.includes(now)) return null;
        walk.stops.push(now);
        walk.look = look(now);
        return now.type === 'range' ? 'slider' : 'stop';
    };
    walk.missed = () => [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')]
        .filter(e => shown(e) && !e.disabled && !e.closest('[inert], [aria-hidden=true]') && !walk.stops.includes(e))
        .filter(e => e.matches('a, button, input, select, textarea, summary') || e.tabIndex >= 0)
        .filter(e => !walk.stops.some(stop => e.contains(stop) || stop.contains(e)))
        .filter(e => !walk.stops.some(stop => e.closest(COMPOSITE)?.contains(stop)))
        .map(named);
    walk.disorder = () => walk.stops.slice(1)
        .filter((e, i) => !(walk.stops[i].compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING)).map(named);
}"""


def walked(page: Page) -> int:
    """Tab through the whole page; how many stops there were."""
    page.add_style_tag(content=STILL_STYLES)
    page.evaluate(PREPARE)
    for count in range(MOST):
        page.keyboard.press("Tab")
        if page.evaluate("() => walk.note()") is None:
            return count
    pytest.fail(f"{MOST} times Tab did not lead out of the page.")


@pytest.mark.parametrize("address", ADDRESSES)
def test_tab_reaches_every_control_in_order_and_one_sees_where_one_is(
    page: Page, shown_here: Callable[[str], str], address: str
):
    page.goto(shown_here(address))
    settled(page)
    page.evaluate("() => document.querySelectorAll('.live-numbers').forEach(e => { e.open = true; })")  # they scroll
    assert walked(page) > 20
    assert page.evaluate("() => walk.missed()") == []
    assert page.evaluate("() => walk.disorder()") == []
    assert page.evaluate("() => walk.dim") == []


def tabbed_to(page: Page, wanted: Locator) -> None:
    """Press Tab until this has the focus."""
    expect(wanted).to_be_enabled()
    for _ in range(MOST):
        if wanted.evaluate("e => e === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab does not lead to {wanted}.")


@pytest.fixture
def started(app: Server):
    """The runs that a test starts are cancelled at its end."""
    with Store(app.home) as store:
        before = {run.id for run in store.runs()}
        yield
        for run in store.runs():
            if run.id not in before:
                store.cancel(run.id)


@pytest.mark.usefixtures("started")
def test_the_journey_from_sigma_to_a_run_and_its_end_needs_no_mouse(page: Page, app: Server):
    page.goto(f"{app.url}/?epochs=300&features=pixels&model=mlp")
    settled(page)
    slider = page.get_by_role("slider", name=re.compile("sigma"))
    tabbed_to(page, slider)
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"sigma="))
    page.wait_for_selector(STILL, timeout=PATIENCE)
    tabbed_to(page, page.locator(".st-key-train button"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"run=\w+"))
    run = parse_qs(urlsplit(page.url).query)["run"][0]
    cancel = page.locator(f".st-key-cancel_{run} button")
    tabbed_to(page, cancel)
    page.keyboard.press("Enter")
    expect(cancel).to_have_count(0)
    with Store(app.home) as store:
        assert store.run(run).cancelling


@pytest.mark.usefixtures("started")
def test_a_dialog_keeps_the_focus_closes_with_escape_and_gives_it_back(page: Page, app: Server):
    with Store(app.home) as store:
        run = store.submit(RunConfig(epochs=300.0, model="mlp"))  # not by this tab
    page.goto(f"{app.url}/train?run={run}")
    settled(page)
    cancel = page.locator(f".st-key-cancel_{run} button")
    tabbed_to(page, cancel)
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    expect(dialog.get_by_role("button", name="Let it run")).to_be_visible()
    for _ in range(8):  # around, more than once
        page.keyboard.press("Tab")
        assert dialog.evaluate("e => e.contains(document.activeElement) || document.activeElement === document.body")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(cancel).to_be_focused()
