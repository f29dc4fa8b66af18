"""Two browsers at once in a classroom: a run is its owner's, the teacher's key opens all, and all
see what is shown.
"""

import os
from collections.abc import Iterator

import pytest

from dpcore.runs.limits import SHARED
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.runs.teacher_key import teacher_key
from pages.parts.classroom import PROJECTED, TITLE
from pages.parts.runs.actions import NOT_YOURS
from tests.e2e.looks import alone, barriers, complete, in_theme, opened, shown_whole
from tests.e2e.server import Server, serving
from tests.pages.train_page import CONFIG, recorded

pytest.importorskip("playwright")
from playwright.sync_api import Locator, Page, expect


@pytest.fixture(scope="module")
def room(browser: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A classroom, served."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, SHARED, "1")
        with serving(tmp_path_factory.mktemp("classroom")) as server:
            yield server


@pytest.fixture
def browsers(in_context) -> tuple[Page, Page]:
    """A tab in each of two browsers that share nothing."""
    return in_context(reduced_motion="reduce"), in_context(reduced_motion="reduce")


def started(page: Page, room: Server) -> None:
    """A long run, started in this browser."""
    alone(opened(page, f"{room.url}/?features=pixels&model=mlp&epochs=200"))
    page.locator(".st-key-train button").click()
    shown_whole(page)


def cancel_of(page: Page) -> Locator:
    return page.get_by_role("button", name="Cancel", exact=True)


def action(page: Page, name: str) -> Locator:
    """A button for the ticked runs on the page of all runs."""
    return page.locator(".st-key-run_actions").get_by_role("button", name=name, exact=True)


def sign_in(page: Page, key: str) -> None:
    """Give a key where the classroom's menu is open, which it stays."""
    page.get_by_label("Teacher's key").fill(key)
    page.get_by_role("button", name="Sign in as the teacher").click()


def cookie_of(page: Page) -> str:
    (cookie,) = [
        each for each in page.context.cookies() if each["name"].startswith("dpcore_visitor")
    ]
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Lax"
    return cookie["value"]


def test_one_browser_cannot_stop_anothers_run_and_the_teacher_can(
    room: Server, browsers: tuple[Page, Page]
):
    ann, bob = browsers
    started(ann, room)
    expect(cancel_of(ann)).to_be_enabled()
    with Store(room.home) as store:
        run = store.runs()[0]
        opened(bob, ann.url)
        expect(bob.get_by_test_id("stProgress")).to_contain_text("steps/s")
        expect(cancel_of(bob)).to_have_count(0)

        assert cookie_of(ann) != cookie_of(bob)
        bob.get_by_role("button", name="Classroom").click()
        sign_in(bob, "a guess")
        expect(bob.get_by_text("That is not the teacher's key.")).to_be_visible()
        assert store.run(run.id).active
        sign_in(bob, teacher_key(room.home)[0])
        expect(bob.get_by_text("You are the teacher")).to_be_visible()
        bob.get_by_role("button", name="Show it to everybody").click()
        # Nobody touched this browser.
        shown = ann.get_by_test_id("stExpander").filter(has_text=TITLE)
        expect(shown.locator(".js-plotly-plot")).to_be_visible()
        expect(shown).to_contain_text("steps/s")
        shown.locator("summary").filter(has_text=TITLE).click()
        expect(shown.locator(".js-plotly-plot")).to_be_hidden()

        bob.keyboard.press("Escape")
        complete(bob)
        cancel_of(bob).click()
        bob.get_by_role("dialog").get_by_role("button", name="Cancel this run").click()
        expect(ann.get_by_test_id("stMain")).to_contain_text("cancelled at step")
        assert store.run(run.id).status is Status.CANCELLED


@pytest.mark.long
def test_on_the_page_of_all_runs_too_a_run_is_its_owners_to_cancel_and_the_teachers(
    room: Server, browsers: tuple[Page, Page]
):
    ann, bob = browsers
    started(ann, room)
    before = cookie_of(ann)
    ann.reload()
    expect(cancel_of(ann)).to_be_enabled()  # it is still known whose run it is
    assert cookie_of(ann) == before
    with Store(room.home) as store:
        run = store.runs()[0]
        address = f"{room.url}/runs?run={run.id}&find={run.id}"
        for each in (ann, bob):
            expect(opened(each, address).locator("table.runs tbody tr")).to_contain_text("running")
        expect(action(ann, "Cancel")).to_be_enabled()
        expect(ann.get_by_text(NOT_YOURS)).to_have_count(0)
        expect(bob.get_by_text(NOT_YOURS)).to_be_visible()
        for name in ("Cancel", "Delete", "Name, tags, note"):
            expect(action(bob, name)).to_be_disabled()
        expect(cancel_of(bob)).to_have_count(1)  # beside the run itself there is none
        assert store.run(run.id).active

        bob.get_by_role("button", name="Classroom").click()
        sign_in(bob, teacher_key(room.home)[0])
        expect(bob.get_by_text("You are the teacher")).to_be_visible()
        bob.keyboard.press("Escape")
        complete(bob)
        action(bob, "Cancel").click()
        # Nobody touched this browser.
        expect(ann.locator("table.runs tbody tr")).to_contain_text("cancelled")
        assert store.run(run.id).status is Status.CANCELLED


@pytest.mark.long
def test_a_browser_that_reads_no_cookies_can_look_and_is_told_so(
    room: Server, browsers: tuple[Page, Page]
):
    ann, _ = browsers
    tools = ann.context.new_cdp_session(ann)
    # So it cannot repeat the page's token.
    tools.send("Emulation.setDocumentCookieDisabled", {"disabled": True})
    opened(ann, room.url).locator(".st-key-train button").click()
    expect(
        ann.get_by_role("alert").filter(has_text="The server does not know this browser")
    ).to_be_visible()


@pytest.mark.long
def test_axe_finds_no_barrier_in_the_classroom(room: Server, in_context):
    with Store(room.home) as store:
        store.post(PROJECTED, recorded(store, CONFIG, 40, Status.FINISHED))
    page = opened(in_context(390, 844, reduced_motion="reduce"), f"{room.url}/calibrate")
    expect(page.get_by_text(TITLE)).to_be_visible()
    page.get_by_role("button", name="Classroom").click()
    expect(page.get_by_label("Teacher's key")).to_be_visible()
    for theme in ("light", "dark"):
        in_theme(page, theme)
        assert barriers(complete(page)) == [], theme
