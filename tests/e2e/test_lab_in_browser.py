"""The lab as a newcomer uses it: what they need is in sight, explained, and in the link that they
pass on.
"""

import re

import pytest

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from tests.e2e.looks import (
    all_settings,
    alone,
    box,
    complete,
    go_to,
    in_the_middle,
    inside,
    opened,
    resized,
)
from tests.e2e.server import Server
from tests.pages.train_page import CONFIG, recorded

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.long

CHART = ".st-key-epsilon_chart"
LABELS = f"{CHART} .annotation-text"
SIGMA = "Noise multiplier sigma, exact"
SIZES = (1440, 900), (1366, 768), (1024, 768), (901, 768)
SCROLLED = "() => document.querySelector('[data-testid=stMain]').scrollTop"
CHOICE = re.compile("How batches are drawn")


def test_sigma_the_button_and_the_chart_share_the_screen_and_most_is_above_the_fold(
    page: Page, app: Server
):
    opened(page, app.url)
    for width, height in SIZES:
        resized(page, (width, height))
        chart = box(page.locator(f"{CHART} .live-plot"))
        assert chart["y"] + 0.75 * chart["height"] < height, width
        assert inside(page, page.get_by_role("textbox", name=SIGMA)), width
        assert inside(page, page.locator(".st-key-train button")), width
    resized(page, (1366, 768))
    for key in ("train", "optimizer", "learnt", "kept", "answers", "epsilon_chart", "all_settings"):
        assert inside(page, page.locator(f".st-key-{key}")), key


CONTROLS = """() => [...document.querySelectorAll(
    'button, input:not([type=range]), summary, a[href], [role=listbox]')].filter(each => {
        const place = each.getBoundingClientRect();
        const part = each.closest('[data-testid=stSelectbox]') && each.tagName === 'BUTTON';
        return each.checkVisibility({checkVisibilityCSS: true}) && place.width && !part
            && place.top < innerHeight && place.bottom > 0;
    }).length"""
WORDS = """() => {
    const texts = document.createTreeWalker(
        document.querySelector('#root'), NodeFilter.SHOW_TEXT), words = [];
    while (texts.nextNode()) {
        const within = texts.currentNode.parentElement, range = document.createRange();
        range.selectNodeContents(texts.currentNode);
        const place = range.getBoundingClientRect();
        const unread = within.closest('[data-testid=stIconMaterial], style, script');
        if (!unread && within.clientHeight !== 1 && place.width > 2 && place.height > 2 && place.top < innerHeight
            && place.bottom > 0 && within.checkVisibility({checkVisibilityCSS: true}))
            words.push(...texts.currentNode.textContent.match(/[A-Za-z]{2,}\\S*/g) ?? []);
    }
    return words;
}"""


def test_the_first_screen_is_calm(page: Page, app: Server):
    page.set_viewport_size({"width": 1366, "height": 768})
    opened(page, app.url)
    assert page.evaluate(CONTROLS) <= 30  # a number with its slider is one control
    words = page.evaluate(WORDS)
    assert len(words) <= 130, words
    for folded in ("pin_this", "reset", "mistakes", "baseline", "sampling", "length"):
        expect(page.locator(f".st-key-{folded}")).not_to_be_visible()
    all_settings(page)
    for folded in ("pin_this", "reset", "mistakes", "baseline", "sampling", "length"):
        expect(page.locator(f".st-key-{folded}")).to_be_visible()


def test_the_first_screen_is_calm_after_a_run_too_and_the_rows_of_digits_have_names(
    page: Page, app: Server
):
    page.set_viewport_size({"width": 1366, "height": 768})
    opened(page, f"{app.url}/?epochs=2")
    names = ["20 test images", "private", "non-private"]
    assert page.locator(".answers > b").all_inner_texts() == ["20 test images", "", ""]
    page.locator(".st-key-train button").click()
    expect(page.get_by_role("button", name="Play again")).to_be_visible()
    complete(page)
    assert page.locator(".answers > b").all_inner_texts() == names
    assert page.evaluate(CONTROLS) <= 30
    words = page.evaluate(WORDS)
    assert len(words) <= 130, words


SMALL = """() => {
    const texts = document.createTreeWalker(document.querySelector('.st-key-hero'), NodeFilter.SHOW_TEXT), small = [];
    while (texts.nextNode()) {
        const { currentNode } = texts, within = currentNode.parentElement, range = document.createRange();
        range.selectNodeContents(currentNode);
        const { width, height } = range.getBoundingClientRect();
        const read = width > 2 && height > 2 && within.clientHeight !== 1 && within.checkVisibility({checkVisibilityCSS: true})
            && !within.closest('style, script');
        if (read && currentNode.textContent.trim() && parseFloat(getComputedStyle(within).fontSize) < 28)
            small.push(currentNode.textContent);
    }
    return small;
}"""
OVER = "() => { const {scrollHeight, clientHeight} = document.querySelector('[data-testid=stMain]'); return scrollHeight - clientHeight; }"


def test_in_front_of_a_class_all_is_large_and_fits(in_context, app: Server):
    with Store(app.home) as store:
        run = recorded(store, CONFIG, 70, Status.FINISHED)
    for query in ("", f"&run={run}"):
        for size in ((1920, 1080), (1366, 768)):
            page = opened(in_context(*size), f"{app.url}/?present=1{query}")
            expect(page.locator(LABELS).first).to_be_visible()
            complete(page)
            page.wait_for_function(f"() => ({OVER})() <= 0")
            if size == (1920, 1080):
                assert page.evaluate(SMALL) == []


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (1024, 768), (390, 844)])
def test_a_delta_that_is_too_large_moves_nothing_on_the_first_screen(
    page: Page, app: Server, width: int, height: int
):
    page.set_viewport_size({"width": width, "height": height})
    keys = ("learnt", "kept", "answers", "accuracy_chart", "epsilon_chart", "train", "optimizer")
    places = []
    for delta in ("9.9e-5", "1e-4"):
        opened(page, f"{app.url}/?delta={delta}")
        places.append([box(page.locator(f".st-key-{key}"))["y"] for key in keys])
    assert places[0] == places[1]
    expect(page.get_by_text("Delta is too large")).to_be_visible()
    page.get_by_role("button", name="1/n^1.1 ≈ 3.9e-5").click()
    expect(page.get_by_role("textbox", name="Delta, exact")).to_have_value("3.9e-5")
    expect(page.get_by_text("Delta is too large")).to_have_count(0)


def test_no_button_of_help_is_called_just_help(page: Page, app: Server):
    opened(page, app.url)
    expect(page.get_by_role("button", name="Help on Noise multiplier sigma")).to_be_visible()
    expect(page.get_by_role("button", name="Help", exact=True)).to_have_count(0)


@pytest.mark.parametrize(("width", "height"), [(800, 900), (390, 844)])
def test_below_900_pixels_the_numbers_stay_in_sight_while_the_controls_scroll(
    page: Page, app: Server, width: int, height: int
):
    page.set_viewport_size({"width": width, "height": height})
    opened(page, app.url)
    sigma = page.get_by_role("textbox", name=SIGMA)
    sigma.scroll_into_view_if_needed()
    before = page.evaluate(SCROLLED)
    page.mouse.move(width / 2, height - 40)
    page.mouse.wheel(0, 120)
    page.wait_for_function(f"before => ({SCROLLED})() >= before + 120", arg=before)
    number, place = box(page.locator(".st-key-kept")), box(sigma)
    assert 0 <= number["y"] < height / 3
    if width < 480:
        assert box(page.locator(".st-key-in_sight"))["height"] < 260
    assert number["y"] < place["y"] < height


def test_on_a_phone_numbers_digits_and_button_come_before_the_sliders_and_curves_have_labels(
    page: Page, app: Server
):
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, app.url)
    order = ("learnt", "answers", "train", "epsilon_chart", "sigma_slider")
    tops = [box(page.locator(f".st-key-{each}"))["y"] for each in order]
    assert tops == sorted(tops)
    assert tops[2] < 844, "the button is in sight"
    expect(page.locator(LABELS)).to_have_count(5)
    expect(page.locator(LABELS).filter(has_text="≤ 0.318 ✓ Certified")).to_be_visible()


def test_on_a_phone_the_numbers_below_wait_until_they_are_asked_for(page: Page, app: Server):
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, app.url)
    tall = "() => document.querySelector('[data-testid=stMain]').scrollHeight"
    at_first = page.evaluate(tall)
    assert at_first < 2400
    expect(page.locator(".st-key-tradeoff_chart")).not_to_be_visible()
    page.get_by_text("Show the numbers and the rest").click()
    expect(page.locator(".st-key-tradeoff_chart .main-svg").first).to_be_visible()
    assert page.evaluate(tall) > at_first + 1000
    complete(page)
    resized(page, (1366, 768))
    expect(page.get_by_text("Show the numbers and the rest")).not_to_be_visible()


def chart_below_the_number(page: Page) -> float:
    """However far the page is scrolled."""
    return box(page.locator(CHART))["y"] - box(page.locator(".st-key-learnt"))["y"]


def test_a_run_is_paused_stepped_and_played(page: Page, app: Server):
    opened(page, f"{app.url}/?epochs=40")
    alone(page)
    page.locator(".st-key-train button").click()
    pace, said = (
        page.locator("[class*=st-key-pace_] button").first,
        page.locator(".run-progress").first,
    )
    below = chart_below_the_number(page)
    pace.click()
    expect(said).to_contain_text("paused at step")
    shown, changed = page.locator(".st-key-held_step"), page.locator(".st-key-what_changed")
    expect(shown).to_contain_text("An example of one step with these settings")
    assert chart_below_the_number(page) == below
    chart, over = box(page.locator(CHART)), box(shown)
    assert over["y"] == chart["y"]
    assert over["height"] <= chart["height"]
    now = ""
    # It stops with its next report, a quarter of a second later.
    while now != (now := said.inner_text()):
        page.wait_for_timeout(1000)
    at = int(re.findall(r"step ([\d,]+) of", now)[0].replace(",", ""))
    for taken in (1, 2):
        page.locator("[class*=st-key-step_] button:enabled").first.click()
        expect(said).to_contain_text(f"paused at step {at + taken:,} of")
        expect(changed).to_contain_text(f"after step {at + taken - 1:,}, ")
        expect(changed).to_contain_text(f"after step {at + taken:,}; loss")
    pace.click()
    expect(shown).to_have_count(0)
    expect(said).to_contain_text("left on cpu")
    page.get_by_role("button", name="Cancel").first.click()
    expect(said).to_have_count(0)


def test_an_open_list_stays_open_while_a_run_ends_above_it(page: Page, app: Server):
    opened(page, f"{app.url}/?epochs=30")
    alone(page)
    choice = page.get_by_role("combobox", name=CHOICE)
    page.locator(".st-key-train button").click()
    run = page.locator(".run-progress")
    expect(run).to_be_visible()
    in_the_middle(page, choice).click()
    expect(choice).to_have_attribute("aria-expanded", "true")
    expect(run).to_be_visible()
    expect(run).to_have_count(0)
    complete(page)
    expect(choice).to_have_attribute("aria-expanded", "true")
    page.get_by_role("option", name="Fixed size").click()
    expect(choice).to_have_value("Fixed size")


def test_the_noise_on_a_gradient_follows_sigma(page: Page, app: Server):
    opened(page, app.url)
    noisy, more = page.locator(".noise .noisy"), page.locator(".noise-more")
    drawn = "e => getComputedStyle(e).filter + getComputedStyle(e.lastChild).opacity"
    said = "e => getComputedStyle(e.querySelector('.noisy + figcaption'), '::after').content"

    def shown():
        more_noise = more.locator(".noisy")
        return noisy.evaluate(drawn), more_noise.evaluate(drawn), more.evaluate(said)

    slider = page.get_by_role("slider", name="Noise multiplier sigma")
    at_first = shown()
    assert at_first[0] == at_first[1]
    expect(page.get_by_role("textbox", name=SIGMA)).to_have_value(at_first[2].strip('"'))
    page.locator(".noise").click()
    expect(page.get_by_text("This is what one step learns")).to_be_visible()
    slider.press("Home")
    at_least = shown()  # at once, before the page has run
    assert not {*at_first} & {*at_least}
    expect(page.get_by_role("textbox", name=SIGMA)).to_have_value(at_least[2].strip('"'))
    # The run of the page has left it open.
    expect(page.get_by_text("This is what one step learns")).to_be_visible()
    assert shown() == at_least
    strength = "e => parseFloat(getComputedStyle(e).filter.slice(9)) * getComputedStyle(e.lastChild).opacity"
    seen = []
    for end in ("Home", "End"):
        slider.press(end)
        seen.append(noisy.evaluate(strength) / float(slider.get_attribute("aria-valuetext") or ""))
    assert seen[0] == pytest.approx(seen[1], rel=0.01)  # twice the noise is seen as twice the noise


def test_start_stays_in_sight_however_far_the_settings_scroll(page: Page, app: Server):
    page.set_viewport_size({"width": 1366, "height": 768})
    page.emulate_media(reduced_motion="reduce")
    start = opened(page, app.url).locator(".st-key-train button")
    page.locator(".st-key-form summary").first.click()
    runs = page.get_by_role("textbox", name="Runs, exact")
    expect(runs).to_be_visible()
    page.wait_for_function(
        "() => document.getAnimations().every(each => each.playState !== 'running')"
    )
    runs.scroll_into_view_if_needed()
    assert inside(page, runs)
    assert inside(page, start)


def test_a_link_to_a_run_with_its_ghost_and_a_step_shown_that_stands_still(in_context, app: Server):
    with Store(app.home) as store:
        run = recorded(store, CONFIG, 70, Status.FINISHED)
    page = opened(in_context(reduced_motion="reduce"), f"{app.url}/?run={run}")
    page.get_by_role("slider", name="Noise multiplier sigma").press("End")
    # The curves as they were.
    expect(page.locator(LABELS).filter(has_text="sigma 1.23").first).to_be_visible()
    page.wait_for_url(re.compile("sigma=100"))
    other = opened(in_context(), page.url)
    expect(other.get_by_role("textbox", name=SIGMA)).to_have_value("100")
    expect(other.locator(LABELS).filter(has_text="sigma 1.23").first).to_be_visible()
    page.get_by_text("See one step").click()
    stages = page.locator(".step-shown > li")
    expect(stages).to_have_count(4)
    assert stages.nth(3).evaluate("e => getComputedStyle(e).animationName") == "none"
    expect(stages.nth(1)).to_contain_text("Take one gradient for each example")


def test_a_shuffle_is_chosen_drawn_told_and_remembered(in_context, app: Server):
    page = opened(in_context(color_scheme="dark"), app.url)
    page.get_by_text("All settings").click()
    in_the_middle(page, page.get_by_role("combobox", name=CHOICE)).click()
    page.get_by_role("option", name="Shuffled every epoch").click()
    expect(page.get_by_text("and accounted as Poisson: claims")).to_be_visible()
    expect(page.get_by_text("zero-out: epsilon is proven to lie between")).to_be_visible()
    expect(page.locator(f"{CHART} .js-fill[style*='url(']").first).to_be_attached()  # hatched
    expect(page.locator(LABELS).filter(has_text="zero-out").first).to_be_visible()
    page.wait_for_url(re.compile("sampler=shuffle"))
    link = page.url
    complete(page)
    go_to(page, "Trade-off")
    expect(page.get_by_role("heading", name="What can an attacker do?")).to_be_visible()
    expect(page.get_by_role("combobox", name=CHOICE)).to_have_value("Shuffled every epoch")
    page.wait_for_url(re.compile("sampler=shuffle"))
    complete(page)
    page.go_back()
    expect(page.get_by_text("zero-out: epsilon is proven to lie between")).to_be_visible()
    other = opened(page.context.new_page(), link)
    expect(other.get_by_text("zero-out: epsilon is proven to lie between")).to_be_visible()
