"""Lessons as a reader sees them: a halo points at each target, which is in the window, and cards have
one height.
"""

import json
import re

import pytest
from playwright.sync_api import Page, expect

from pages.parts.explain.lesson import TARGETS, Lesson
from pages.parts.explain.lessons import LESSONS
from tests.e2e.server import Server

pytestmark = pytest.mark.long
PANEL = ".st-key-lesson_panel"
VARIOUS = ("sixty_seconds", "better_features", "shuffled")
# The names of the targets that each halo is around once it has come, and whether it is in the
# window, and covered neither by the header nor by the card.
LOOK = """window.looks = [];
    const met = (targets) => targets.map((each) => document.querySelector(each))
        .find((each) => each?.checkVisibility() && each.offsetHeight);
    const look = (halo) => {
        const { left, top, right, bottom } = halo.getBoundingClientRect();
        const near = (one, other) => Math.abs(one - other) < 6;
        const isAround = (box) => near(top, box.top) && near(bottom, box.bottom) && near(left, box.left);
        const around = Object.entries(window.targets)
            .filter(([_, targets]) => met(targets) && isAround(met(targets).getBoundingClientRect()));
        const isSeen = ([_, targets]) => [0.1, 0.5, 0.9].every((share) => {
            const hit = document.elementFromPoint((left + right) / 2, top + share * (bottom - top));
            const over = hit?.closest('.st-key-lesson_panel, [data-testid=stHeader]');
            return !over || over.contains(met(targets));
        });
        const inWindow = top >= 0 && bottom <= innerHeight && left >= 0 && right <= innerWidth;
        window.looks.push({
            around: around.map(([name]) => name), seen: inWindow && around.every(isSeen), top, bottom,
        });
    };
    new MutationObserver((changes) => changes.forEach(({ addedNodes }) => addedNodes.forEach((each) => {
        if (each.className === "halo") setTimeout(look, 400, each);
    }))).observe(document, { childList: true, subtree: true });"""
NOTE = """window.haloes = [];
    new MutationObserver((changes) => changes.forEach(({ addedNodes }) => addedNodes.forEach((each) => {
        if (each.className !== "halo") return;
        const { top, height } = each.getBoundingClientRect();
        window.haloes.push({ middle: top + height / 2, animation: getComputedStyle(each).animationName });
    }))).observe(document, { childList: true, subtree: true });"""
SETTLED = """() => document.querySelector('.lesson-room') && document.fonts.status === 'loaded' &&
    document.querySelector('[data-test-script-state=notRunning]')"""
HEIGHT = f"() => document.querySelector('{PANEL}').offsetHeight"


def opened(page: Page, app: Server, lesson: str, step: int = 1) -> Page:
    page.goto(f"{app.url}/?lesson={lesson}&step={step}")
    length = LESSONS[lesson].length
    expect(page.locator(PANEL)).to_contain_text(f"step {step} of {length}")
    return page


def meant(lesson: Lesson, step: int) -> set[str]:
    """The names of what a step points at, the one of steps for the length, which is one field."""
    names = set(lesson.targets(step))
    return names - {"epochs"} if "steps" in names else names


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (390, 844)])
@pytest.mark.parametrize("name", LESSONS)
def test_every_halo_is_around_what_the_step_means_and_in_the_window(
    in_context, app: Server, name: str, width: int, height: int
):
    page = in_context(width, height, reduced_motion="reduce")
    page.add_init_script(f"window.targets = {json.dumps(TARGETS)}; {LOOK}")
    lesson = LESSONS[name]
    opened(page, app, name)
    for step in range(1, lesson.length + 1):
        if step > 1:
            page.evaluate("window.looks = []")
            page.locator(PANEL).get_by_role("button", name="Next").click()
            expect(page.locator(PANEL)).to_contain_text(f"step {step} of {lesson.length}")
        names = meant(lesson, step)
        page.wait_for_function(f"window.looks.length >= {len(names)}")
        looks = page.evaluate("window.looks")
        around = [set(look["around"]) for look in looks]
        assert all(names & each for each in around), (step, looks)
        assert names <= set().union(*around), (step, looks)
        assert all(look["seen"] for look in looks), (step, looks)


# The large numbers have come to stand under the card, and in the window.
NUMBERS_SEEN = f"""() => {{
    const box = (each) => document.querySelector(each).getBoundingClientRect();
    const {{ top, bottom }} = box('.st-key-kept .headline');
    return box('{PANEL}').bottom <= top + 1 && bottom <= innerHeight;
}}"""


@pytest.mark.parametrize(
    ("width", "name"), [(1366, "sampling"), (1366, "shuffled"), (1024, "shuffled")]
)
def test_the_card_does_not_cover_the_large_numbers(in_context, app: Server, width: int, name: str):
    page = in_context(width, 768, reduced_motion="reduce")
    page.add_init_script(NOTE)
    opened(page, app, name)
    for step in range(2, LESSONS[name].length + 1):
        page.evaluate("window.haloes = []")
        page.locator(PANEL).get_by_role("button", name="Next").click()
        expect(page.locator(PANEL)).to_contain_text(f"step {step} of")
        page.wait_for_function("window.haloes.length > 0")
        page.wait_for_function(NUMBERS_SEEN)


def test_a_reader_who_scrolls_meanwhile_is_left_where_he_is(in_context, app: Server):
    page = in_context(reduced_motion="reduce")
    page.add_init_script(f"window.targets = {json.dumps(TARGETS)}; {LOOK}")
    scrolled = "() => document.querySelector('[data-testid=stMain]').scrollTop"
    opened(page, app, "not_units", 3)
    page.wait_for_function("window.looks.length === 3")
    page.evaluate("window.looks = []")
    page.locator(PANEL).get_by_role("button", name="Next").click()
    expect(page.locator(PANEL)).to_contain_text("step 4 of")
    page.mouse.wheel(0, 50)
    page.wait_for_function("window.looks.length === 4")
    assert page.evaluate(scrolled) == 50
    page.locator(PANEL).get_by_role("button", name="Back").click()
    expect(page.locator(PANEL)).to_contain_text("step 3 of")
    expect(page.locator(".halo")).to_have_count(3)
    page.locator(PANEL).get_by_role("button", name="Next").click()
    page.wait_for_function(f"({scrolled})() > 300")


def pointed(page: Page, times: int) -> list[dict]:
    """All haloes since the page was opened, once there were so many, and the last is gone."""
    page.wait_for_function(f"window.haloes.length >= {times}")
    expect(page.locator(".halo")).to_have_count(0)
    found = page.evaluate("window.haloes")
    assert len(found) == times
    return found


def test_a_step_points_once_at_what_moved_and_at_what_to_look_at(page: Page, app: Server):
    page.add_init_script(NOTE)
    opened(page, app, "sampling")
    pointed(page, 1)  # the chart
    page.locator(PANEL).get_by_role("button", name="Next").click()
    _, moved, _ = pointed(page, 3)  # the batch, and the chart
    field = page.locator(".st-key-batch_number").bounding_box()
    assert abs(moved["middle"] - field["y"] - field["height"] / 2) < 5
    page.get_by_role("textbox", name="sigma, exact").fill("3")
    page.get_by_role("textbox", name="sigma, exact").press("Enter")
    page.wait_for_url(re.compile("sigma=3"))
    page.wait_for_timeout(500)
    pointed(page, 3)


def test_a_halo_rests_for_readers_who_ask_for_less_motion(in_context, app: Server):
    for motion, animation in (("no-preference", "halo"), ("reduce", "none")):
        page = in_context(reduced_motion=motion)
        page.add_init_script(NOTE)
        opened(page, app, "sampling")
        assert [each["animation"] for each in pointed(page, 1)] == [animation]


@pytest.mark.parametrize(
    ("width", "names"),
    [(1366, LESSONS), (1024, VARIOUS), (390, VARIOUS)],
)
def test_all_cards_of_a_lesson_have_one_height(in_context, app: Server, width: int, names):
    page = in_context(width, 800)
    for lesson in map(LESSONS.__getitem__, names):
        heights = []
        for step in range(1, lesson.length + 1):
            if step > 1:
                page.locator(PANEL).get_by_role("button", name="Next").click()
                expect(page.locator(PANEL)).to_contain_text(f"step {step} of")
            else:
                opened(page, app, lesson.name)
            page.wait_for_function(SETTLED)
            page.wait_for_timeout(200)
            heights.append(page.evaluate(HEIGHT))
        assert max(heights) - min(heights) <= 1, (lesson.name, heights)


def test_the_menu_shows_every_lesson_whole(in_context, app: Server):
    for width, height in ((1366, 768), (390, 844)):
        page = in_context(width, height)
        page.goto(app.url)
        page.get_by_role("button", name="Lessons").click()
        expect(page.locator(".st-key-lesson_list_shown button")).to_have_count(len(LESSONS))
        page.wait_for_timeout(500)
        for box in page.locator(".st-key-lesson_list_shown button").all():
            place = box.bounding_box()
            assert place["y"] + place["height"] < height
            assert box.evaluate("each => each.scrollWidth <= each.clientWidth")


def test_the_line_pointed_at_stays_in_sight_above_the_verdict(in_context, app: Server):
    page = in_context(1024, 768)
    opened(page, app, "spot_the_fault")
    line = page.locator(".st-key-fault_code label:has(input)").nth(14)
    line.click()
    verdict = page.locator(".st-key-fault_verdict")
    expect(verdict).to_contain_text("Right: line 15")
    page.wait_for_timeout(500)
    place, below = line.bounding_box(), verdict.bounding_box()
    assert place
    assert below
    assert place["y"] > 0
    assert place["y"] + place["height"] <= below["y"] + 1
