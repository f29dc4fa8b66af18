"""Sliders in a browser: the page follows a hand and a field, is never asked for too much, and may
answer late.
"""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from dpcore.written_number import FORMS
from tests.e2e.looks import Wire, box, complete, drag, go_to, moves_of
from tests.e2e.looks import opened as opened_at
from tests.e2e.server import STILL, Server

pytest.importorskip("playwright")
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.long

SLIDER = ".st-key-sigma_slider input[type=range]"
LINE = ".st-key-attack_chart .scatterlayer .trace:last-child path.js-line"
STEP = "input => { input.stepUp(); input.dispatchEvent(new Event('input', {bubbles: true})); }"
MOVED = b'"moved"'  # in what a slider sends
LATE = 12_000  # ms, more than any of the slider's own times


def opened(page: Page, app: Server, query: str = "sigma=2") -> Locator:
    """The slider of sigma on a page that stands still."""
    return opened_at(page, f"{app.url}/tradeoff?{query}").locator(SLIDER)


def field(page: Page) -> Locator:
    """The exact field of sigma."""
    return page.get_by_role("textbox", name="Noise multiplier sigma, exact")


def previews_of(page: Page) -> list[str]:
    """The stops for which charts are asked for, in their order."""
    asked: list[str] = []
    note = lambda request: asked.extend(parse_qs(urlsplit(request.url).query)["text"])  # noqa: E731
    page.on("request", lambda request: note(request) if "/previews/" in request.url else None)
    return asked


def follows(page: Page, slider: Locator) -> str:
    """The slider's value, once the field and the address have it and the page stands still."""
    last = slider.get_attribute("aria-valuetext") or ""
    expect(field(page)).to_have_value(last)
    page.wait_for_url(re.compile(f"sigma={re.escape(last)}(&|$)"))
    complete(page)
    expect(slider).to_have_attribute("aria-valuetext", last)
    return last


def twenty_stops(slider: Locator) -> None:
    slider.focus()
    slider.evaluate(f"input => {{ for (let stop = 0; stop < 20; stop++) ({STEP})(input); }}")


def test_of_twenty_stops_passed_at_once_the_chart_asks_for_two_and_the_page_for_the_last(
    page: Page, app: Server
):
    sent, previews = moves_of(page), previews_of(page)
    slider = opened(page, app)
    twenty_stops(slider)
    last = follows(page, slider)
    assert previews == ["2.2", last]
    assert [value for value, _ in sent] == [last]

    page.route("**/previews/**", lambda route: route.abort())  # from now on no chart follows
    slider.press("Home")
    first = follows(page, slider)
    page.route("**/previews/**", lambda route: route.fulfill(status=204))
    before = len(sent)
    twenty_stops(slider)
    last = follows(page, slider)
    assert last != first
    assert sent[-1][0] == last
    assert len(sent) <= before + 2


def test_the_chart_is_there_before_the_page_is_asked_and_is_what_the_page_draws(
    page: Page, app: Server
):
    slider = opened(page, app)
    before = page.locator(LINE).get_attribute("d") or ""
    page.locator(".st-key-attack_chart .main-svg").first.evaluate("svg => { window.first = svg; }")
    page.evaluate("""() => document.addEventListener("slider-settled", () => {
        window.settled = document.querySelector("[data-testid=stApp]").dataset.testScriptState;
    })""")
    slider.focus()
    slider.evaluate(STEP)
    expect(page.locator(LINE)).not_to_have_attribute("d", before)
    ahead = page.locator(LINE).get_attribute("d") or ""
    page.wait_for_function("() => window.settled")
    assert follows(page, slider) == "2.2"
    assert page.locator(LINE).get_attribute("d") == ahead
    svg = page.locator(".st-key-attack_chart .main-svg").first
    assert svg.evaluate("svg => svg === window.first")  # it is drawn anew without being taken away
    page.reload()
    expect(page.locator(LINE)).to_have_attribute("d", ahead)


def test_quick_drags_keys_and_what_is_pressed_right_after_a_move_all_count(page: Page, app: Server):
    slider = opened(page, app)
    for share in (0.8, 0.4):
        drag(page, slider, share)
    follows(page, slider)  # the second
    for key, value in (
        ("Home", "0.3"),
        ("ArrowUp", "0.32"),
        ("PageUp", None),
        ("End", "100"),
        ("ArrowLeft", "95"),
    ):
        slider.press(key)
        assert follows(page, slider) == (value or follows(page, slider)), key
    slider.press("Home")
    for _ in range(10):  # faster than the page answers
        slider.press("ArrowRight")
    assert follows(page, slider) == "0.5"
    slider.evaluate(STEP)
    page.get_by_role("button", name="Pin this setting").click()
    assert follows(page, slider) == "0.55"
    page.wait_for_url(re.compile(r"pin="))


def test_a_finger_on_the_slider_sets_it(in_context, app: Server):
    page = in_context(390, 844, has_touch=True, is_mobile=True)
    slider = opened(page, app)
    slider.scroll_into_view_if_needed()
    slider.tap(position={"x": 0.8 * box(slider)["width"], "y": 10})
    assert float(follows(page, slider)) > 5


def test_a_link_a_typed_number_nonsense_and_another_page_set_the_slider(page: Page, app: Server):
    slider = opened(page, app, "sigma=3.14159")
    expect(slider).to_have_attribute("aria-valuetext", "3.14159")
    field(page).fill("7.77")
    field(page).press("Enter")
    expect(slider).to_have_attribute("aria-valuetext", "7.77")
    slider.press("ArrowRight")
    expect(field(page)).to_have_value("8")
    complete(page)
    field(page).fill("lots")
    field(page).press("Enter")
    expect(
        page.get_by_text(f"Noise multiplier sigma must be a number: {FORMS}. Showing 8.")
    ).to_be_visible()
    expect(slider).to_have_attribute("aria-valuetext", "8")
    page.keyboard.press("Escape")
    slider.press("ArrowRight")
    expect(field(page)).to_have_value("8.5")
    complete(page)
    go_to(page, "Calibrate")
    expect(page.locator("h1")).to_have_text("Which noise fits my budget?")
    expect(slider).to_have_attribute("aria-valuetext", "8.5")
    slider.press("ArrowLeft")
    expect(field(page)).to_have_value("8")


def test_a_move_whose_message_is_lost_is_said_again(page: Page, app: Server):
    wire = Wire(page)
    slider = opened(page, app)
    wire.lost = lambda said: MOVED in said
    slider.press("ArrowRight")
    while not any(map(wire.lost, wire.sent)):
        page.evaluate("() => 0")  # and meanwhile the message comes
    wire.lost = lambda said: False
    assert follows(page, slider) == "2.2"


def test_a_chart_and_its_slider_stay_where_they_were_moved_to_however_long_the_page_takes(
    page: Page, app: Server
):
    wire = Wire(page)
    page.clock.install()
    slider = opened(page, app)
    before = page.locator(LINE).get_attribute("d") or ""
    wire.holding = True
    slider.press("ArrowRight")
    expect(page.locator(LINE)).not_to_have_attribute("d", before)
    ahead = page.locator(LINE).get_attribute("d") or ""
    while not page.locator("[data-testid=stApp][data-test-script-state=running]").count():
        wire.let_one_through()
    page.clock.run_for(LATE)
    assert page.locator(LINE).get_attribute("d") == ahead
    expect(slider).to_have_attribute("aria-valuetext", "2.2")
    expect(field(page)).to_have_value("2")
    wire.release()
    assert follows(page, slider) == "2.2"
    expect(page.locator(LINE)).to_have_attribute("d", ahead)


def test_what_was_typed_after_a_lost_move_holds(page: Page, app: Server):
    slider = opened(page, app)
    page.evaluate("""() => {
        window.kept = WebSocket.prototype.send;
        window.lost = 0;
        WebSocket.prototype.send = () => { window.lost += 1; };
    }""")
    slider.press("ArrowRight")
    # The hand has rested, and the move was sent to nobody.
    page.wait_for_function("() => window.lost")
    page.evaluate("() => { WebSocket.prototype.send = window.kept; }")
    field(page).fill("7")
    field(page).press("Enter")
    page.wait_for_url(re.compile("sigma=7(&|$)"))
    expect(slider).to_have_attribute("aria-valuetext", "7")
    page.wait_for_selector(STILL)
    slider.press("ArrowRight")  # behind all that was said before
    assert follows(page, slider) == "7.5"
