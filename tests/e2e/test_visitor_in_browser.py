"""What a first-time visitor gets, in a browser: words that explain themselves, a lesson by keyboard, large type."""

import re

import pytest

from pages.parts.explain.lessons import LESSONS
from tests.e2e.server import PATIENCE, STILL, Server
from tests.e2e.test_layout import SIZES, WIDE, resized, settled

pytest.importorskip("playwright")
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from tests.e2e.test_axe import HEIGHT, in_theme

OPEN = "[popover]:popover-open"
OF_COLOURS = ("color-contrast", "link-in-text-block")
COLOURS = {"runOnly": {"type": "rule", "values": OF_COLOURS}}
BUT_COLOURS = {"rules": {rule: {"enabled": False} for rule in OF_COLOURS}}


def opened(page: Page, url: str) -> Page:
    page.goto(url)
    settled(page)
    return page


def panel(page: Page) -> Locator:
    return page.locator(".st-key-lesson_panel")


def epsilon_word(page: Page) -> Locator:
    """The word epsilon in the sentence that says what is on the screen."""
    return page.locator(".on-screen .term button").first


def test_a_word_explains_itself_by_keyboard(page: Page, app: Server):
    opened(page, app.url)
    epsilon_word(page).focus()
    page.keyboard.press("Enter")
    told = page.locator(OPEN)
    expect(told).to_contain_text("How much the result may depend on any one example")
    page.keyboard.press("Escape")
    expect(told).to_have_count(0)
    expect(epsilon_word(page)).to_be_focused()


def test_a_word_explains_itself_under_the_pointer_and_stays_there_while_it_is_read(page: Page, app: Server):
    opened(page, app.url)
    told = page.locator(".on-screen .term [popover]").first
    expect(told).to_be_hidden()
    epsilon_word(page).hover()
    expect(told).to_be_visible()
    told.hover()
    expect(told).to_be_visible()
    page.mouse.move(1, 1)
    expect(told).to_be_hidden()


def test_a_word_explains_itself_by_touch_within_the_screen(browser, app: Server):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    context.set_default_timeout(PATIENCE)
    page = opened(context.new_page(), app.url)
    for word in page.locator(".on-screen .term button").all():
        word.tap()
        box = page.locator(OPEN).bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        page.keyboard.press("Escape")
        expect(page.locator(OPEN)).to_have_count(0)
    context.close()


def test_a_lesson_is_driven_by_keyboard_and_its_link_opens_the_same_step(page: Page, app: Server):
    lesson = LESSONS["more_steps"]
    opened(page, app.url)
    page.get_by_role("button", name="Lessons").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name=lesson.title).focus()
    page.keyboard.press("Enter")
    sigma, epochs = (page.get_by_role("textbox", name=re.compile(name)) for name in ("sigma, exact", "Epochs, exact"))
    for step in range(1, lesson.length):
        expect(panel(page)).to_contain_text(f"step {step} of {lesson.length}")
        scene = lesson.scene(step)
        expect(epochs).to_have_value(f"{scene.epochs:g}")
        expect(sigma).to_have_value(f"{scene.sigma:g}")
        panel(page).get_by_role("button", name="Next").focus()
        page.keyboard.press("Enter")
    page.wait_for_url(re.compile(f"step={lesson.length}"))
    panel(page).get_by_role("radio").first.focus()
    for key, answer in zip(("Space", "ArrowDown", "ArrowDown"), lesson.question.answers, strict=True):
        page.keyboard.press(key)
        expect(panel(page).get_by_test_id("stAlert")).to_contain_text("Right." if answer.right() else "Not so.")
    shared = opened(page.context.new_page(), page.url)
    expect(panel(shared)).to_contain_text(f"step {lesson.length} of {lesson.length}")
    panel(page).get_by_role("button", name="Reset").click()
    expect(panel(page)).to_have_count(0)
    page.wait_for_function("() => !location.search.includes('lesson')")


def test_presenting_fills_the_screen_with_large_type_and_stops_again(page: Page, app: Server):
    opened(page, app.url)
    button = page.get_by_role("button", name="Present")
    size = "() => parseFloat(getComputedStyle(document.querySelector('.on-screen').parentElement).fontSize)"
    before = page.evaluate(size)
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    page.wait_for_function("() => document.fullscreenElement !== null")
    page.wait_for_url(re.compile("present=1"))
    assert page.evaluate(size) >= 18 > before
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    page.wait_for_function("() => document.fullscreenElement === null")


def barriers(page: Page, options: dict) -> dict[str, list[str]]:
    """What axe finds on the whole page, rule by rule."""
    size = page.viewport_size
    assert size
    resized(page, (size["width"], page.evaluate(HEIGHT) + 20))
    violations = Axe().run(page, options={"resultTypes": ["violations"], **options}).response["violations"]
    return {each["id"]: [node["html"] for node in each["nodes"]] for each in violations}


def test_axe_finds_no_barrier_with_a_lesson_open(page: Page, app: Server):
    lesson = LESSONS["sampling"]
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    opened(page, f"{app.url}/?lesson={lesson.name}&step={lesson.length}")
    panel(page).get_by_role("radio").first.check(force=True)
    expect(panel(page).get_by_test_id("stAlert")).to_be_visible()
    page.wait_for_selector(STILL)
    page.locator("details.promise summary").first.click()
    assert barriers(page, {}) == {}
    in_theme(page, "light")
    assert barriers(page, COLOURS) == {}
    for size in SIZES[1:]:
        resized(page, size)
        assert barriers(page, BUT_COLOURS) == {}
