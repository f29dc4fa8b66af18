"""The lab as a newcomer uses it: what they need is in sight, and four clicks take them from a slider to a link."""

import re

import pytest

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from tests.e2e.server import Server
from tests.pages.train_page import CONFIG, recorded

pytest.importorskip("playwright")
from playwright.sync_api import Locator, Page, expect

TRAINING = 240_000  # ms that a short run and its start may take on a busy machine
SETTLED = 2_500  # ms after which the field has what the slider was moved to
CHART = ".st-key-epsilon_chart"
LABELS = f"{CHART} .annotation-text"
SIGMA = "Noise multiplier sigma, exact"
LARGER_AND_LEAST = ((1440, 900), (1366, 768), (901, 768))
SCROLLED = "() => document.querySelector('[data-testid=stMain]').scrollTop"


def opened(page: Page, app: Server, address: str, width: int, height: int) -> Page:
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{app.url}/{address}")
    expect(page.locator(LABELS).first).to_be_visible()
    return page


def inside(page: Page, what: Locator) -> bool:
    """Whether all of it is on the screen."""
    size, box = page.viewport_size, None
    for _ in range(20):  # a label is a new element each time its chart is drawn
        if box := what.bounding_box():
            break
        page.wait_for_timeout(50)
    assert box
    assert size
    return box["y"] >= 0 and box["x"] >= 0 and box["y"] + box["height"] <= size["height"]


def slide(page: Page, key: str) -> None:
    """One click on the slider of sigma, and a key."""
    page.get_by_role("slider", name="Noise multiplier sigma").click()
    page.keyboard.press(key)
    page.wait_for_timeout(SETTLED)


def test_from_a_slider_to_a_link_in_four_clicks_without_scrolling(page: Page, app: Server, browser):
    opened(page, app, "", 1366, 768)
    field = page.get_by_role("textbox", name=SIGMA)
    slide(page, "ArrowLeft")  # the first click
    expect(field).not_to_have_value("1.23")
    first = field.input_value()
    train = page.locator(".st-key-train button")
    expect(train).to_be_enabled()
    assert re.search(r"epsilon ≤ [\d.]+", train.inner_text())
    for each in (train, field, page.locator(CHART), page.get_by_role("combobox", name=re.compile("Optimizer"))):
        assert inside(page, each)
    train.click()  # the second
    page.wait_for_url(re.compile("run="))
    expect(page.locator(LABELS).filter(has_text="% private")).to_be_visible(timeout=TRAINING)  # it has begun to learn
    slide(page, "End")  # the third: the run's curves stay as a ghost
    ghost = page.locator(LABELS).filter(has_text=f"sigma {first}")
    expect(ghost.first).to_be_visible()
    expect(page.get_by_text("epsilon is certified to lie between")).to_be_visible()
    told = page.locator("figure.odds figcaption")
    expect(told).to_contain_text("of 100")
    for each in (page.locator(LABELS).filter(has_text="✓").first, told, ghost.first):  # verdict, odds and ghost
        assert inside(page, each)
    assert page.evaluate(SCROLLED) == 0
    with_link = browser.new_context(viewport={"width": 1366, "height": 768})  # the fourth copies the address
    try:
        other = with_link.new_page()
        other.goto(page.url)
        expect(other.get_by_role("textbox", name=SIGMA)).to_have_value(field.input_value())
        expect(other.locator(LABELS).filter(has_text=f"sigma {first}").first).to_be_visible()
    finally:
        with_link.close()
    with Store(app.home) as store:
        for run in store.runs():
            if run.active:
                store.cancel(run.id)


@pytest.mark.parametrize(("width", "height"), [(1024, 768), *LARGER_AND_LEAST])
def test_sigma_the_button_and_the_chart_share_the_screen(page: Page, app: Server, width: int, height: int):
    opened(page, app, "", width, height)
    chart = page.locator(CHART).bounding_box()
    assert chart
    assert chart["y"] + 0.75 * chart["height"] < height
    assert inside(page, page.get_by_role("textbox", name=SIGMA))
    assert inside(page, page.locator(".st-key-train button"))


def test_what_a_first_visitor_needs_is_above_the_fold(page: Page, app: Server):
    opened(page, app, "", 1366, 768)
    for key in ("train", "optimizer", "epsilon_chart", "tradeoff_chart", "choices", "pin_this"):
        assert inside(page, page.locator(f".st-key-{key}")), key


@pytest.mark.parametrize(("width", "height"), [(800, 900), (390, 844)])
def test_below_900_pixels_the_chart_stays_in_sight_while_the_controls_scroll(
    page: Page, app: Server, width: int, height: int
):
    opened(page, app, "", width, height)
    clipping = page.get_by_role("textbox", name="Clipping norm C, exact")
    clipping.scroll_into_view_if_needed()
    page.mouse.move(width / 2, height - 40)
    page.mouse.wheel(0, 120)
    page.wait_for_timeout(500)
    chart = page.locator(CHART).bounding_box()
    assert page.evaluate(SCROLLED) > 100
    assert chart
    assert 0 <= chart["y"] < height / 3
    sight, title = page.locator(".st-key-in_sight").bounding_box(), page.locator(f"{CHART} .xtitle").bounding_box()
    assert sight
    assert title
    assert title["y"] + title["height"] <= sight["y"] + sight["height"]
    box = clipping.bounding_box()
    assert box
    assert chart["y"] < box["y"] < height


def test_start_stays_in_sight_however_far_the_settings_scroll(page: Page, app: Server):
    page.set_viewport_size({"width": 1366, "height": 768})
    page.goto(f"{app.url}/train")
    start = page.get_by_role("button", name="Start private run")
    expect(start).to_be_enabled()
    page.locator(".st-key-form summary").first.click()
    runs = page.get_by_role("textbox", name="Runs, exact")
    expect(runs).to_be_visible()
    page.wait_for_timeout(1_000)  # the expander opens slowly, and the browser holds on to what was in sight
    runs.scroll_into_view_if_needed()
    assert inside(page, runs)
    assert inside(page, start)


def test_a_step_is_shown_slowly_and_stands_still_where_that_is_asked_for(browser, app: Server):
    with Store(app.home) as store:
        run = recorded(store, CONFIG, 70, Status.FINISHED)
    context = browser.new_context(viewport={"width": 1366, "height": 768}, reduced_motion="reduce")
    try:
        page = opened(context.new_page(), app, f"?run={run}", 1366, 768)
        page.get_by_text("Show a step").click()
        stages = page.locator(".step-shown > li")
        expect(stages).to_have_count(4)
        assert stages.nth(3).evaluate("e => getComputedStyle(e).animationName") == "none"
        expect(stages.nth(1)).to_contain_text("One gradient an example")
    finally:
        context.close()
