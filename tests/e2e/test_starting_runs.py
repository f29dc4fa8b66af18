"""One submission a click, and every submitted run is on the charts and in the address."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from dpcore.runs.store import Store
from pages.parts.controls.faults import UNDER_WAY
from tests.e2e.server import Server

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

PRIVATE, BASELINE = "Start private run", "Start non-private baseline"
CLICK = """([name, clicks, pause]) => {
    const button = () => [...document.querySelectorAll("button")].find(each => each.innerText == name);
    const began = performance.now();
    const click = () => { if (performance.now() - began < 1000) button()?.click(); };
    for (let i = 0; i < clicks; i++) setTimeout(click, i * pause);
}"""  # however busy the page is: Playwright's own click waits for it; but none so late that it is another wish
CASES = ((1, 0), (2, 0), (2, 120), (5, 0), (5, 120))  # clicks, and the pause between them
SETTLED = 4_000  # ms after which nothing that was clicked is still under way


def ids(app: Server) -> set[str]:
    with Store(app.home) as store:
        return {run.id for run in store.runs()}


def in_address(page: Page) -> list[str]:
    return parse_qs(urlsplit(page.url).query).get("run", [])


@pytest.fixture
def ready(page: Page, app: Server):
    """The training page, with a run so long that it is not over before the test is, and what was there before."""
    before = ids(app)
    page.goto(app.url + "/train?epochs=300&features=pixels&model=mlp")
    expect(page.get_by_role("button", name=PRIVATE)).to_be_enabled()
    yield before
    with Store(app.home) as store:
        for run in ids(app) - before:
            store.cancel(run)


@pytest.mark.parametrize(("clicks", "pause"), CASES)
def test_quick_clicks_submit_one_run_which_is_shown(page: Page, app: Server, ready, clicks, pause):
    page.evaluate(CLICK, [PRIVATE, clicks, pause])
    page.wait_for_url(re.compile(r"run="))
    page.wait_for_timeout(SETTLED)
    new = ids(app) - ready
    assert len(new) == 1
    assert in_address(page) == list(new)
    expect(page.get_by_test_id("stProgress")).to_have_count(1)
    expect(page.get_by_test_id("stException")).to_have_count(0)


@pytest.mark.parametrize("pause", [0, 300, 1000, 3000])
def test_a_private_run_and_the_baseline_after_it_are_both_submitted_once_and_shown(
    page: Page, app: Server, ready, pause
):
    page.get_by_role("button", name=PRIVATE).click(no_wait_after=True)
    page.wait_for_timeout(pause)
    page.get_by_role("button", name=BASELINE).click(no_wait_after=True)
    expect(page.get_by_test_id("stProgress")).to_have_count(2)
    page.wait_for_timeout(SETTLED)
    new = ids(app) - ready
    assert len(new) == 2
    assert set(in_address(page)) == new
    expect(page.locator("[data-testid=stMultiSelect] [data-tag]")).to_have_count(2)


def test_the_same_settings_are_not_started_again_while_the_run_is_under_way(page: Page, app: Server, ready):
    page.get_by_role("button", name=PRIVATE).click()
    expect(page.get_by_test_id("stProgress")).to_have_count(1)
    page.get_by_role("button", name=PRIVATE).click()
    expect(page.get_by_text(UNDER_WAY)).to_be_visible()
    assert len(ids(app) - ready) == 1
    page.get_by_role("button", name=BASELINE).click()
    expect(page.get_by_test_id("stProgress")).to_have_count(2)


def test_a_run_that_is_taken_off_the_charts_stays_off(page: Page, app: Server, ready):
    page.get_by_role("button", name=PRIVATE).click()
    expect(page.get_by_test_id("stProgress")).to_have_count(1)
    page.wait_for_timeout(SETTLED)
    page.get_by_role("button", name=BASELINE).click()
    expect(page.get_by_test_id("stProgress")).to_have_count(2)
    page.locator("[data-testid=stMultiSelect] [data-tag]").first.get_by_role("button").click()
    expect(page.get_by_test_id("stProgress")).to_have_count(1)
    page.wait_for_timeout(SETTLED)
    expect(page.get_by_test_id("stProgress")).to_have_count(1)
    assert len(in_address(page)) == 1
