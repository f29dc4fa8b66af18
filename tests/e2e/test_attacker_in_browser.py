"""Be the attacker in a browser: both pictures at once, at their places, and by the keyboard."""

from itertools import pairwise

import pytest

from dpcore.audit.attack_game import MODELS, known_of, recorded
from pages.parts.attacker.doubt_line import DECADES, place
from tests.e2e.looks import box, in_theme, inside, opened
from tests.e2e.server import Server

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.long

SIZES = ((1366, 768), (1024, 768), (390, 844))
BROKEN = """async () => (await axe.run("[role=dialog]", {resultTypes: ["violations"]}))
    .violations.map(each => each.id + each.nodes[0].html)"""


def window(page: Page, app: Server, size: tuple[int, int]) -> None:
    """Open the game at this size."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    opened(page, app.url)
    rest = page.get_by_text("Show the numbers and the rest")
    if rest.is_visible():  # on a phone
        rest.click()
    page.get_by_role("button", name="Be the attacker").click()
    expect(page.locator(".doubts")).to_have_count(len(MODELS))


@pytest.mark.parametrize("size", SIZES)
def test_the_question_and_both_pictures_share_the_screen(
    page: Page, app: Server, size: tuple[int, int]
) -> None:
    window(page, app, size)
    for what in (page.locator(".asked-digit"), page.get_by_role("button", name="It was not")):
        assert inside(page, what)
    pictures = [page.locator(".doubts").nth(k) for k in range(len(MODELS))]
    for picture in pictures:
        assert inside(page, picture)
        assert box(picture)["x"] + box(picture)["width"] <= size[0]
        steps = [box(picture.locator(".scale span").nth(k)) for k in range(DECADES + 1)]
        for one, other in pairwise(steps):
            assert one["x"] + one["width"] <= other["x"] + 1
    beside = box(pictures[0])["y"] == box(pictures[1])["y"]
    assert beside is (size[0] > 640)


def test_a_dot_lies_above_its_step_of_the_scale(page: Page, app: Server) -> None:
    window(page, app, SIZES[0])
    doubts = sorted(each.plain for each in known_of(recorded()) if each.member)
    picture = page.locator(".doubts").first
    first = box(picture.locator(".scale span").first)
    last = box(picture.locator(".scale span").last)
    begin = first["x"] + first["width"] / 2
    length = last["x"] + last["width"] / 2 - begin
    for k in (0, len(doubts) // 2, len(doubts) - 1):
        dot = box(picture.locator(".members i").nth(k))
        middle = dot["x"] + dot["width"] / 2
        assert middle == pytest.approx(begin + length * place(doubts[k]), abs=1.5)


def test_guesses_and_the_program_by_the_keyboard_in_both_themes(page: Page, app: Server) -> None:
    window(page, app, SIZES[0])
    was = page.get_by_role("button", name="It was", exact=True)
    was.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_text("among the 200. You: ")).to_be_visible()
    expect(was).to_be_focused()
    program = page.get_by_role("button", name="Let a program guess 1,000 times")
    program.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("nobody can get beyond")).to_be_visible()
    assert inside(page, page.get_by_text("nobody can get beyond"))
    for theme in ("light", "dark"):
        in_theme(page, theme)
        assert axe_finds(page) == []


def axe_finds(page: Page) -> list[str]:
    """The barriers of the window."""
    from axe_playwright_python.base import AXE_SCRIPT

    page.evaluate(AXE_SCRIPT)
    return page.evaluate(BROKEN)
