"""Runs in a browser: a click starts each once, and the table of all runs keeps up with them."""

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from tests.e2e.looks import alone, complete, opened
from tests.e2e.server import Server
from tests.pages.train_page import recorded

pytest.importorskip("playwright")
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.long

LONG = RunConfig(model="mlp", batch=256, epochs=400.0)
PRIVATE, BASELINE = ".st-key-train button", ".st-key-train_baseline button"
CLICKS = """([path, clicks]) => {
    for (let i = 0; i < clicks; i++) document.querySelector(path)?.click();
}"""  # at once, however busy the page is: Playwright's own click waits for it


def row(page: Page, name: str) -> Locator:
    return page.locator("table.runs tbody tr").filter(
        has=page.get_by_role("checkbox", name=name, exact=True)
    )


def in_address(page: Page) -> list[str]:
    return parse_qs(urlsplit(page.url).query).get("run", [])


@pytest.fixture
def store(app: Server) -> Iterator[Store]:
    """The app's store; the runs that a test starts are cancelled at its end."""
    with Store(app.home) as store:
        before = {run.id for run in store.runs()}
        yield store
        for run in store.runs():
            if run.id not in before:
                store.cancel(run.id)


def test_the_rows_of_runs_are_followed_without_a_reload_and_ticks_stay(
    page: Page, app: Server, store: Store
):
    run = store.submit(LONG, "followed")
    opened(page, f"{app.url}/runs?find=followed")
    expect(row(page, "followed")).to_contain_text(re.compile(r"running, [1-9]\d? %"))
    row(page, "followed").get_by_role("checkbox").click()
    page.wait_for_url(re.compile("run="))
    store.cancel(run)
    for each in ("cancelled", re.compile(r"\d\d\.\d %"), "≤"):
        expect(row(page, "followed")).to_contain_text(each)
    assert in_address(page) == [run]
    page.reload()
    expect(row(page, "followed").get_by_role("checkbox")).to_be_checked()


def test_the_table_fits_beside_two_ticked_runs_on_a_laptop(in_context, app: Server, store: Store):
    settings = RunConfig(features="scatter_upright", model="linear", sigma=4.0)
    runs = [recorded(store, settings, 40, Status.FINISHED) for _ in range(2)]
    page = opened(in_context(1366, 768), f"{app.url}/runs?run={runs[0]}&run={runs[1]}")
    expect(page.get_by_text("All 2 ticked runs together")).to_be_visible()
    box = page.locator(".runs-box")
    assert box.evaluate("box => box.scrollWidth - box.clientWidth") == 0
    expect(page.get_by_text(re.compile(r"^Run \d+, upright scattering$")).first).to_be_visible()


def test_every_active_row_keeps_up_however_many_there_are(page: Page, app: Server, store: Store):
    runs = [store.submit(LONG, f"crowd {place}") for place in range(9)]
    opened(page, f"{app.url}/runs?find=crowd&sort=name")
    last = row(page, "crowd 8")
    expect(last).to_contain_text(re.compile(r"queued, number \d, starts in about"))
    place = store.run(runs[8]).position
    assert place
    store.cancel(runs[7])
    expect(last).to_contain_text(f"queued, number {place - 1}, starts in about")
    expect(row(page, "crowd 7")).to_contain_text("cancelled")
    for run in runs:
        store.cancel(run)
    for each in range(9):
        expect(row(page, f"crowd {each}")).to_contain_text("cancelled")


def test_quick_clicks_submit_one_run_and_once_it_has_ended_one_more_another(
    page: Page, app: Server, store: Store
):
    before = {run.id for run in store.runs()}
    opened(page, f"{app.url}/?epochs=300&features=pixels&model=mlp")
    alone(page)
    page.evaluate(CLICKS, [PRIVATE, 5])
    expect(page.get_by_test_id("stProgress")).to_have_count(1)
    # The next request, behind all that was clicked.
    page.locator(BASELINE).click()
    expect(page.get_by_text("Next: run without privacy.")).to_have_count(1)
    expect(page.get_by_test_id("stProgress")).to_have_count(1)
    expect(page.locator("[data-testid=stMultiSelect] [data-tag]")).to_have_count(2)
    complete(page)
    new = {run.id for run in store.runs()} - before
    assert len(new) == 2
    private, baseline = in_address(page)
    assert {private, baseline} == new
    expect(page.locator(f".st-key-progress_{private}")).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)

    page.locator("[data-testid=stMultiSelect] [data-tag]").first.get_by_role("button").click()
    expect(page.locator(f".st-key-progress_{private}")).to_have_count(0)
    expect(page.locator(f".st-key-progress_{baseline}")).to_be_visible()
    expect(page.get_by_test_id("stProgress")).to_have_count(1)
    complete(page)
    page.get_by_role("button", name="Chart options").click()
    page.get_by_role(
        "radio", name="epsilon", exact=True
    ).click()  # drawn again, what was taken off stays off
    page.wait_for_url(re.compile("x=epsilon"))
    complete(page)
    expect(page.locator(f".st-key-progress_{baseline}")).to_be_visible()
    expect(page.get_by_test_id("stProgress")).to_have_count(1)
    assert in_address(page) == [baseline]

    for run in new:
        store.cancel(run)
    expect(page.get_by_test_id("stProgress")).to_have_count(0)
    assert all(store.run(run).status is Status.CANCELLED for run in in_address(page))
    complete(page)
    # One click is enough where nothing of it is under way.
    page.locator(PRIVATE).click()
    expect(page.locator("[data-testid=stMultiSelect] [data-tag]")).to_have_count(2)
    (again,) = {run.id for run in store.runs()} - before - new
    expect(page.locator(f".st-key-progress_{again}")).to_be_visible()


def test_a_click_on_a_name_opens_the_run_whole_and_its_link_shows_the_same(
    page: Page, app: Server, store: Store
):
    run = store.submit(LONG, "opened")
    opened(page, f"{app.url}/runs?find=opened")
    row(page, "opened").get_by_role("button", name="opened", exact=True).click()
    page.wait_for_url(re.compile(f"one={run}"))
    progress = page.get_by_test_id("stProgress")
    expect(progress).to_contain_text("steps/s")
    expect(page.locator("table.runs")).to_have_count(0)
    other = opened(page.context.new_page(), page.url)
    expect(other.get_by_test_id("stProgress")).to_contain_text("steps/s")
    store.cancel(run)
    expect(progress).to_contain_text("cancelled at step")
    page.get_by_role("button", name="All runs").click()
    expect(row(page, "opened")).to_contain_text("cancelled")
    complete(page)
    assert "one=" not in page.url
