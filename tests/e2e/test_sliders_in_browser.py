"""Sliders in a browser: the page follows a drag, a key, a finger and the field, and is never asked for too much."""

import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.e2e.server import PATIENCE, STILL, Server

pytest.importorskip("playwright")
from playwright.sync_api import Locator, Page, expect

from tests.e2e.slider_in_browser import LINE, SLIDER, field, opened

WATCH = """path => {
    window.lines = [];
    const look = () => {
        const now = document.querySelector(path)?.getAttribute('d');
        if (now && now !== window.lines.at(-1)) window.lines.push(now);
        requestAnimationFrame(look);
    };
    look();
}"""
CHARTS = [("", "epsilon_chart"), ("tradeoff", "attack_chart")]


@pytest.fixture
def sent(page: Page) -> list[list[object]]:
    """What sliders have sent to the server, with the number of each message."""
    values: list[list[object]] = []

    def note(frame: str | bytes) -> None:
        text = frame if isinstance(frame, str) else frame.decode("utf-8", "replace")
        values.extend(json.loads(each)["value"] for each in re.findall(r'\{"event":"moved","value":\[.*?\]\}', text))

    page.on("websocket", lambda socket: socket.on("framesent", note))
    return values


def previews_of(page: Page) -> list[str]:
    """The stops for which charts are asked for, in their order."""
    asked: list[str] = []
    note = lambda request: asked.extend(parse_qs(urlsplit(request.url).query)["text"])  # noqa: E731
    page.on("request", lambda request: note(request) if "/previews/" in request.url else None)
    return asked


def place(slider: Locator, share: float) -> tuple[float, float]:
    """A place on the slider, as a share of its width."""
    box = slider.bounding_box()
    assert box
    return box["x"] + share * box["width"], box["y"] + box["height"] / 2


def dragged(page: Page, slider: Locator, moves: int, pause: float) -> None:
    """Take the slider and pull it to the right, without letting go."""
    page.mouse.move(*place(slider, 0.2))
    page.mouse.down()
    for move in range(moves + 1):
        page.mouse.move(*place(slider, 0.2 + 0.6 * move / moves))
        page.wait_for_timeout(pause)


def test_the_curves_follow_the_finger_one_request_at_a_time_and_the_last_value_is_shown(
    page: Page, app: Server, sent: list[list[object]]
):
    slider = opened(page, app)
    page.evaluate(WATCH, LINE)
    dragged(page, slider, 40, 75)
    drawn, asked = page.evaluate("window.lines.length") - 1, len(sent)
    assert drawn >= 3  # in three seconds, before the mouse is let go, on a busy machine too
    assert asked <= drawn + 2  # never one that waits for another
    page.mouse.up()
    last = slider.get_attribute("aria-valuetext") or ""
    expect(field(page)).to_have_value(last)
    page.wait_for_url(re.compile(f"sigma={re.escape(last)}(&|$)"))
    assert sent[-1][0] == last
    page.wait_for_selector(STILL)
    expect(slider).to_have_attribute("aria-valuetext", last)


def twenty_stops(slider: Locator) -> None:
    slider.focus()
    slider.evaluate(
        """input => {
            for (let stop = 0; stop < 20; stop++) {
                input.stepUp();
                input.dispatchEvent(new Event('input', {bubbles: true}));
            }
        }"""
    )


def test_of_twenty_stops_passed_at_once_the_chart_asks_for_two_and_the_page_for_one(
    page: Page, app: Server, sent: list[list[object]]
):
    slider, previews = opened(page, app), previews_of(page)
    twenty_stops(slider)
    last = slider.get_attribute("aria-valuetext") or ""
    expect(field(page)).to_have_value(last)
    page.wait_for_selector(STILL)
    assert previews == ["2.2", last]
    assert [value for value, _ in sent] == [last]


def test_where_no_chart_follows_twenty_stops_passed_at_once_are_two_requests(
    page: Page, app: Server, sent: list[list[object]]
):
    page.route("**/previews/**", lambda route: route.abort())
    slider = opened(page, app)
    slider.focus()
    page.keyboard.press("ArrowRight")  # from here on it is known
    expect(field(page)).to_have_value("2.2")
    page.wait_for_selector(STILL)
    page.route("**/previews/**", lambda route: route.fulfill(status=204))
    twenty_stops(slider)
    last = slider.get_attribute("aria-valuetext") or ""
    expect(field(page)).to_have_value(last)
    page.wait_for_selector(STILL)
    assert sent[-1][0] == last
    assert len(sent) <= 3


def test_the_chart_is_there_before_the_page_is_asked_and_is_what_the_page_draws(
    page: Page, app: Server, sent: list[list[object]]
):
    slider = opened(page, app)
    before = page.locator(LINE).get_attribute("d")
    slider.focus()
    slider.evaluate("input => { input.stepUp(); input.dispatchEvent(new Event('input', {bubbles: true})); }")
    page.wait_for_function(
        "([path, old]) => document.querySelector(path).getAttribute('d') !== old", arg=[LINE, before]
    )
    ahead = page.locator(LINE).get_attribute("d")
    expect(field(page)).to_have_value("2.2")
    page.wait_for_selector(STILL)
    page.wait_for_timeout(500)
    assert page.locator(LINE).get_attribute("d") == ahead
    page.reload()
    expect(page.locator(LINE)).to_have_attribute("d", ahead or "")


def test_a_move_is_not_lost_where_something_is_pressed_right_after_it(page: Page, app: Server):
    slider = opened(page, app)
    slider.focus()
    slider.evaluate("input => { input.stepUp(); input.dispatchEvent(new Event('input', {bubbles: true})); }")
    page.get_by_role("button", name="Pin this setting").click()
    expect(field(page)).to_have_value("2.2")
    page.wait_for_url(re.compile(r"pin="))


def test_two_quick_drags_end_where_the_second_ends(page: Page, app: Server):
    slider = opened(page, app)
    for share in (0.8, 0.4):
        page.mouse.move(*place(slider, 0.2))
        page.mouse.down()
        page.mouse.move(*place(slider, share), steps=4)
        page.mouse.up()
    last = slider.get_attribute("aria-valuetext") or ""
    expect(field(page)).to_have_value(last)
    page.wait_for_selector(STILL)
    expect(slider).to_have_attribute("aria-valuetext", last)


@pytest.mark.parametrize(("address", "chart"), CHARTS)
def test_a_chart_is_drawn_anew_without_being_taken_away(page: Page, app: Server, address: str, chart: str):
    page.goto(f"{app.url}/{address}?sigma=2")
    plot = page.locator(f".st-key-{chart} .main-svg").first
    expect(plot).to_be_attached()
    page.wait_for_selector(STILL)
    plot.evaluate("svg => { window.first = svg; }")
    slider = page.locator(SLIDER)
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(field(page)).to_have_value("2.2")
    page.wait_for_selector(STILL)
    assert plot.evaluate("svg => svg === window.first")


def test_the_keys_of_a_slider_move_it(page: Page, app: Server):
    slider = opened(page, app)
    for key, value in (("ArrowLeft", "1.9"), ("ArrowUp", "2"), ("PageUp", "3.8"), ("Home", "0.3"), ("End", "100")):
        slider.focus()
        page.keyboard.press(key)
        expect(slider).to_have_attribute("aria-valuetext", value)
        expect(field(page)).to_have_value(value)
        page.wait_for_selector(STILL)


def test_a_slider_has_the_name_of_its_number_and_words_at_its_ends(page: Page, app: Server):
    slider = opened(page, app)
    expect(page.get_by_role("slider", name="Noise multiplier sigma")).to_have_count(1)
    words = page.locator(".st-key-sigma_slider").get_by_text("more accurate")
    slider.hover()
    expect(words).to_be_visible()
    covered = """e => {
        const box = e.getBoundingClientRect();
        return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2) !== e;
    }"""
    assert not words.evaluate(covered)


def test_every_slider_stands_beside_its_field_on_a_projector(page: Page, app: Server):
    page.set_viewport_size({"width": 1024, "height": 768})
    opened(page, app)
    apart = """() => [...document.querySelectorAll('input[type=range]')].filter(slider => {
        const field = slider.closest('[class*=_number]').querySelector('input[type=text]');
        const [a, b] = [slider, field].map(each => each.getBoundingClientRect());
        return a.width && (a.left < b.right || a.top > b.bottom);
    }).map(slider => slider.ariaLabel)"""
    assert page.evaluate(apart) == []


def test_a_finger_on_the_slider_sets_it(browser, app: Server):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    slider = opened(page, app)
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box
    slider.tap(position={"x": 0.8 * box["width"], "y": 10})
    last = slider.get_attribute("aria-valuetext") or ""
    assert float(last) > 5
    expect(field(page)).to_have_value(last)
    context.close()


def test_a_link_a_typed_number_nonsense_and_another_page_set_the_slider(page: Page, app: Server):
    slider = opened(page, app, "sigma=3.14159")
    expect(slider).to_have_attribute("aria-valuetext", "3.14159")
    field(page).fill("7.77")
    field(page).press("Enter")
    expect(slider).to_have_attribute("aria-valuetext", "7.77")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(field(page)).to_have_value("8")
    field(page).fill("lots")
    field(page).press("Enter")
    expect(page.get_by_text("Expected sigma=lots to be a number. Showing 8.")).to_be_visible()
    expect(slider).to_have_attribute("aria-valuetext", "8")
    page.keyboard.press("Escape")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(field(page)).to_have_value("8.5")
    page.get_by_role("link", name="Calibrate").click()
    expect(page.locator("h1")).to_have_text("Which noise fits my budget?")
    expect(page.locator(SLIDER)).to_have_attribute("aria-valuetext", "8.5")
    page.locator(SLIDER).focus()
    page.keyboard.press("ArrowLeft")
    expect(field(page)).to_have_value("8")
