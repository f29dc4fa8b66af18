"""What a browser shows around every page: its name, its style from the start, menu and projector."""

import json

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.looks import complete, opened
from tests.e2e.server import Server

pytestmark = pytest.mark.long

# Where the page's title stands and how large it is, each time that this changes.
TITLES = """() => {
    window.titles = [];
    const look = () => {
        const title = document.querySelector("[data-testid=stMain] h1");
        if (title) {
            const { left, top } = title.getBoundingClientRect();
            const seen = [left, top, getComputedStyle(title).fontSize].map(String).join();
            if (window.titles.at(-1) !== seen) window.titles.push(seen);
        }
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}"""
SHUT = "document.querySelector('[data-testid=stSidebar]')?.dataset.collapsed !== 'false'"
LABELS = """() => Math.min(...[...document.querySelectorAll(".live-plot text")]
    .filter(each => each.textContent.trim()).map(each => parseFloat(getComputedStyle(each).fontSize)))"""

RIGHTMOST = """() => Math.max(...[...document.querySelectorAll("[data-testid=stColumn]")]
    .map(each => each.getBoundingClientRect().right))"""

# A text more in a chart, and where it lies: the browser needs the styles of all that has changed.
CHANGE = """() => {
    const chart = document.querySelector(".live-plot .main-svg");
    const text = document.createElementNS(chart.namespaceURI, "text");
    chart.append(text);
    text.getBBox();
    text.remove();
}"""
MOST = 100  # elements of a page of two thousand


@pytest.mark.parametrize("address", ["", "calibrate"])
def test_a_change_within_a_chart_styles_little_else_anew(page: Page, app: Server, address: str):
    opened(page, f"{app.url}/{address}")
    expect(page.locator(".live-plot .main-svg").first).to_be_visible()
    browser = page.context.browser
    assert browser
    browser.start_tracing(page=page, categories=["devtools.timeline"])
    page.evaluate(CHANGE)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    styled = [each["args"] for each in events if each["name"] == "UpdateLayoutTree"]
    counts = [each["elementCount"] for each in styled if "elementCount" in each]
    assert counts
    assert max(counts) < MOST


@pytest.mark.parametrize("address", ["runs", "calibrate", "check", "check?present=1"])
def test_a_page_is_never_drawn_without_its_style(page: Page, app: Server, address: str):
    page.add_init_script(f"({TITLES})()")
    opened(page, f"{app.url}/{address}")
    assert len(page.evaluate("titles")) == 1


def test_the_tab_names_the_page_and_the_site(page: Page, app: Server):
    opened(page, f"{app.url}/runs")
    expect(page).to_have_title("Runs · dpcore: private deep learning, explored")
    page.get_by_test_id("stTopNavLink").filter(has_text="Audit").click()
    expect(page).to_have_title("Audit · dpcore: private deep learning, explored")
    name = "getComputedStyle(document.querySelector('.stAppToolbar'), '::before').content"
    assert page.evaluate(name) == '"dpcore"'


def test_a_phones_menu_closes_after_a_choice_and_stays_closed(in_context, app: Server):
    phone = opened(in_context(390, 844, has_touch=True, is_mobile=True), f"{app.url}/runs")
    phone.get_by_test_id("stExpandSidebarButton").click()
    phone.get_by_role("link", name="Check a claim").click()
    phone.wait_for_url("**/check*")
    phone.wait_for_function(f"() => {SHUT}")
    complete(phone).get_by_test_id("stExpandSidebarButton").click()
    phone.wait_for_function(f"() => !({SHUT})")
    phone.reload()
    assert complete(phone).evaluate(SHUT)


def test_presenting_shows_the_answer_in_large_type_and_the_controls_in_a_drawer(
    in_context, app: Server
):
    wide = opened(in_context(1920, 1080), f"{app.url}/tradeoff?present=1")
    controls = wide.locator(".st-key-sigma_number")
    expect(controls).to_be_hidden()
    expect(wide.locator(".live-plot .main-svg").first).to_be_visible()
    assert wide.evaluate(LABELS) >= 28
    assert wide.evaluate(RIGHTMOST) <= 1920
    assert wide.locator(".live-plot").bounding_box()["height"] > 0.6 * 1080
    wide.locator(".st-key-drawer label").click()
    expect(controls).to_be_visible()
    wide.locator(".st-key-drawer label").click()
    expect(controls).to_be_hidden()


@pytest.mark.parametrize(
    ("address", "answers"),
    [("tradeoff", ["switch", "first_words", "people"]), ("calibrate", ["use_place", "people"])],
)
def test_on_a_phone_the_answer_comes_before_the_controls(
    address: str, answers: list[str], in_context, app: Server
):
    phone = opened(in_context(390, 844, has_touch=True, is_mobile=True), f"{app.url}/{address}")
    controls = phone.locator(".st-key-n_number").bounding_box()
    for key in answers:
        box = phone.locator(f".st-key-{key}").bounding_box()
        assert box["y"] + box["height"] <= controls["y"], key
