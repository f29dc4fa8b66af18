"""Lessons as a reader sees them: every target is on its page, a halo points at it, and cards have one
height.
"""

import re

import pytest
from playwright.sync_api import Page, expect

from pages.parts.explain.lesson import TARGETS
from pages.parts.explain.lessons import LESSONS
from tests.e2e.server import Server

pytestmark = pytest.mark.long
PANEL = ".st-key-lesson_panel"
VARIOUS = ("sixty_seconds", "better_features", "shuffled")
SEEN = """(selectors) => selectors.map((each) => document.querySelector(each))
    .some((each) => each?.checkVisibility())"""
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


def places() -> dict[str, tuple[str, int]]:
    """For each name of a target a lesson and a step that point at it."""
    found = {}
    for lesson in LESSONS.values():
        for step in range(1, lesson.length + 1):
            for name in lesson.targets(step):
                found.setdefault(name, (lesson.name, step))
    return found


def test_every_target_is_on_the_page_that_points_at_it(page: Page, app: Server):
    for name, (lesson, step) in places().items():
        opened(page, app, lesson, step)
        page.wait_for_function(SEEN, arg=TARGETS[name])


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
