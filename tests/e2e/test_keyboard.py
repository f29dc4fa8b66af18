"""Every page by keyboard alone: Tab reaches each control in order, its place is seen, and nothing
holds on to it.
"""

import re
from collections.abc import Callable, Iterator
from urllib.parse import parse_qs, urlsplit

import pytest

from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from pages.parts.explain.lessons import LESSONS
from pages.parts.shell.menu import PAGES
from tests.e2e.looks import complete, opened
from tests.e2e.server import Server

pytest.importorskip("playwright")
from playwright.sync_api import Locator, Page, expect

# Times that Tab is pressed on one page: papers have a hundred numbers with four links each.
MOST = 600
SHORT = ("",)
ADDRESSES = [
    pytest.param(address, marks=[] if address in SHORT else pytest.mark.long)
    for address in (*(page.address for page in PAGES), "?lesson=clipping")
]
STILL_STYLES = "*, *::before, *::after {transition: none !important; animation: none !important}"
PREPARE = """() => {
    const parts = element => {  // where a ring may be drawn: the element and close around it
        const found = [];
        for (let each = element; each && found.length < 4; each = each.parentElement)
            found.push(each);
        return found;
    };
    const look = element => parts(element).map(each => ['', '::before', '::after'].map(pseudo => {
        const style = getComputedStyle(each, pseudo || null);
        return [style.outline, style.boxShadow, style.border, style.backgroundColor, style.color,
            style.textDecorationLine].join('|');
    })).join('#');
    const shown = element => element.checkVisibility({visibilityProperty: true})
        && element.getClientRects().length;
    const named = element => `${element.tagName} ${element.getAttribute('aria-label') ?? ''} `
        + `${(element.innerText || element.value || '').slice(0, 40)} ${element.className}`
            .slice(0, 120);
    const COMPOSITE = '[role=radiogroup], [role=group], [role=toolbar], [role=grid], '
        + '[role=tablist], '
        + '[data-testid=stSelectbox], [data-testid=stMultiSelect], [data-testid=stDataFrame]';
    window.walk = {stops: [], dim: []};
    walk.note = () => {  // after a Tab: the focus, and if it can be seen; null behind the last
        const before = walk.stops.at(-1), now = document.activeElement;
        if (before && look(before) === walk.look && before.type !== 'range')
            walk.dim.push(named(before));
        if (!now || now === document.body || walk.stops.includes(now)) return null;
        walk.stops.push(now);
        walk.look = look(now);
        return now.type === 'range' ? 'slider' : 'stop';
    };
    walk.missed = () => [...document.querySelectorAll(
        'a[href], button, input, select, textarea, summary, [tabindex]')]
        .filter(e => shown(e) && !e.disabled && !e.closest('[inert], [aria-hidden=true]')
            && !walk.stops.includes(e))
        .filter(e => e.matches('a, button, input, select, textarea, summary') || e.tabIndex >= 0)
        .filter(e => !walk.stops.some(stop => e.contains(stop) || stop.contains(e)))
        .filter(e => !walk.stops.some(stop => e.closest(COMPOSITE)?.contains(stop)))
        .map(named);
    walk.disorder = () => walk.stops.slice(1)
        .filter((e, i) => !(walk.stops[i].compareDocumentPosition(e) &
            Node.DOCUMENT_POSITION_FOLLOWING)).map(named);
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
    tab: Page, shown_here: Callable[[str], str], address: str
):
    opened(tab, shown_here(address))
    # They scroll.
    tab.evaluate(
        "() => document.querySelectorAll('.live-numbers').forEach(e => { e.open = true; })"
    )
    assert walked(complete(tab)) > 20
    for found in ("walk.missed()", "walk.disorder()", "walk.dim"):
        assert tab.evaluate(f"() => {found}") == [], found


@pytest.mark.long
def test_the_menu_of_a_chart_opens_its_numbers_by_the_keys_and_takes_no_line_when_they_are_shut(
    tab: Page, app: Server
):
    opened(tab, f"{app.url}/tradeoff?sigma=2")
    more, menu = tab.locator(".live-more"), tab.locator(".live-menu")
    expect(more).to_have_accessible_name("Numbers and pictures: Trade-off function")
    expect(tab.locator(".live-numbers")).to_be_hidden()
    more.focus()
    tab.keyboard.press("Enter")
    expect(menu).to_be_visible()
    tab.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    expect(more).to_be_focused()
    for key in ("Enter", "Tab", "Enter"):
        tab.keyboard.press(key)
    expect(tab.get_by_role("region", name="Numbers: Trade-off function")).to_be_focused()
    for key in ("Shift+Tab", "Enter"):
        tab.keyboard.press(key)
    expect(tab.locator(".live-numbers")).to_be_hidden()
    expect(more).to_be_focused()


def tabbed_to(page: Page, wanted: Locator) -> None:
    """Press Tab until this has the focus."""
    expect(wanted).to_be_enabled()
    for _ in range(MOST):
        if wanted.evaluate("e => e === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab does not lead to {wanted}.")


@pytest.fixture
def started(app: Server) -> Iterator[None]:
    """The runs that a test starts are cancelled at its end."""
    with Store(app.home) as store:
        before = {run.id for run in store.runs()}
        yield
        for run in store.runs():
            if run.id not in before:
                store.cancel(run.id)


@pytest.mark.long
@pytest.mark.usefixtures("started")
def test_the_journey_from_sigma_to_a_run_and_its_end_needs_no_mouse(page: Page, app: Server):
    opened(page, f"{app.url}/?epochs=300&features=pixels&model=mlp")
    tabbed_to(page, page.get_by_role("slider", name=re.compile("sigma")))
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"sigma="))
    tabbed_to(complete(page), page.locator(".st-key-train button"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"run=\w+"))
    run = parse_qs(urlsplit(page.url).query)["run"][0]
    cancel = page.locator(f".st-key-cancel_{run} button:visible")  # a hidden copy is for phones
    tabbed_to(page, cancel)
    page.keyboard.press("Enter")
    expect(cancel).to_have_count(0)
    with Store(app.home) as store:
        assert store.run(run).cancelling


@pytest.mark.long
@pytest.mark.usefixtures("started")
def test_a_run_of_another_tab_is_cancelled_after_a_question_which_keeps_the_focus_and_gives_it_back(
    page: Page, app: Server
):
    with Store(app.home) as store:
        run = store.submit(RunConfig(epochs=300.0, model="mlp"))  # not by this tab
        opened(page, f"{app.url}/runs?one={run}")
        cancel, dialog = page.locator(f".st-key-cancel_{run} button"), page.get_by_role("dialog")
        tabbed_to(page, cancel)
        page.keyboard.press("Enter")
        expect(dialog).to_contain_text("was not started in this tab")
        expect(dialog.get_by_role("button", name="Let it run")).to_be_visible()
        focus_inside = (
            "e => e.contains(document.activeElement) || document.activeElement === document.body"
        )
        for _ in range(8):  # around, more than once
            page.keyboard.press("Tab")
            assert dialog.evaluate(focus_inside)
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        expect(cancel).to_be_focused()
        assert not store.run(run).cancelling
        complete(page)
        page.keyboard.press("Enter")
        dialog.get_by_role("button", name="Cancel this run").click()
        expect(dialog).to_have_count(0)
        expect(cancel).to_have_count(0)
        assert store.run(run).cancelling


@pytest.mark.long
def test_a_lesson_is_driven_by_keyboard_and_its_link_opens_the_same_step(page: Page, app: Server):
    lesson, panel = LESSONS["more_steps"], ".st-key-lesson_panel"
    opened(page, app.url)
    page.get_by_role("button", name="Lessons").press("Enter")
    page.get_by_role("button", name=lesson.title).press("Enter")
    sigma, epochs = (
        page.get_by_role("textbox", name=re.compile(name))
        for name in ("sigma, exact", "Epochs, exact")
    )
    for step in range(1, lesson.length):
        expect(page.locator(panel)).to_contain_text(f"step {step} of {lesson.length}")
        scene = lesson.scene(step)
        expect(epochs).to_have_value(f"{scene.epochs:g}")
        expect(sigma).to_have_value(f"{scene.sigma:g}")
        page.locator(panel).get_by_role("button", name="Next").press("Enter")
        # It is drawn before it is placed again.
        expect(page.locator(".answers i").first).to_be_visible()
    page.wait_for_url(re.compile(f"step={lesson.length}"))
    page.locator(panel).get_by_role("radio").first.focus()
    for key, answer in zip(("Space", "ArrowDown", "ArrowDown"), lesson.answers, strict=True):
        page.keyboard.press(key)
        told = "Right." if lesson.is_right(answer) else "Not so."
        expect(page.locator(panel).get_by_test_id("stAlert")).to_contain_text(told)
    shared = opened(page.context.new_page(), page.url)
    expect(shared.locator(panel)).to_contain_text(f"step {lesson.length} of {lesson.length}")
    page.locator(panel).get_by_role("button", name="Close").click()
    expect(sigma).to_have_value("4")
    expect(page.get_by_text("This is drawn once")).to_have_count(0)
    expect(page.locator(panel)).to_have_count(0)
    page.wait_for_function("() => !location.search.includes('lesson')")


@pytest.mark.long
def test_a_word_explains_itself_by_keyboard_under_the_pointer_and_by_touch(
    page: Page, app: Server, in_context
):
    shown = "[popover]:popover-open"
    word = opened(page, app.url).locator(".on-screen .term button").first  # epsilon
    word.press("Enter")
    expect(page.locator(shown)).to_contain_text("How much the result may depend on any one example")
    page.keyboard.press("Escape")
    expect(page.locator(shown)).to_have_count(0)
    expect(word).to_be_focused()
    told = page.locator(".on-screen .term [popover]").first
    for each in (word, told):  # it stays while it is read
        each.hover()
        expect(told).to_be_visible()
    page.mouse.move(1, 1)
    expect(told).to_be_hidden()

    phone = opened(in_context(390, 844, has_touch=True, is_mobile=True), app.url)
    phone.get_by_text("Show the numbers and the rest").tap()
    expect(phone.locator(".on-screen")).to_be_visible()
    for each in phone.locator(".on-screen .term button").all():
        each.tap()
        box = phone.locator(shown).bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        phone.keyboard.press("Escape")
        expect(phone.locator(shown)).to_have_count(0)


@pytest.mark.long
def test_presenting_fills_the_screen_with_large_type_and_stops_again(page: Page, app: Server):
    button = opened(page, app.url).get_by_role("button", name=re.compile("Present|Leave"))
    size = (
        "() =>"
        " parseFloat(getComputedStyle(document.querySelector('.on-screen').parentElement).fontSize)"
    )
    before = page.evaluate(size)
    button.click()
    expect(button).to_have_text("✕ Leave")
    page.wait_for_function("() => document.fullscreenElement !== null")
    page.wait_for_url(re.compile("present=1"))
    assert page.evaluate(size) >= 18 > before
    button.click()
    expect(button).to_have_text("Present")
    page.wait_for_function("() => document.fullscreenElement === null")
