"""The page of all runs in a browser: runs are followed in the table, ticked, renamed and deleted."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from dpcore.runs import editing
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from tests.e2e.server import PATIENCE, STILL, Server
from tests.pages.train_page import CONFIG, recorded

pytest.importorskip("playwright")
from playwright.sync_api import Locator, Page, expect

SHORT = RunConfig(model="mlp", batch=256, epochs=12.0)
LONG = RunConfig(model="mlp", batch=256, epochs=400.0)
MARKUP = "<b id=bold>x</b> **y** :red[z] $w$"


def row(page: Page, name: str) -> Locator:
    return page.locator("table.runs tbody tr").filter(has=page.get_by_role("checkbox", name=name, exact=True))


def tick(page: Page, name: str) -> None:
    row(page, name).get_by_role("checkbox").click()
    page.wait_for_selector(STILL)


def in_address(page: Page) -> list[str]:
    return parse_qs(urlsplit(page.url).query).get("run", [])


def test_two_runs_are_followed_compared_renamed_and_deleted(page: Page, app: Server):
    page.goto(f"{app.url}/runs?find=journey")
    expect(page.locator("h1")).to_be_visible()
    with Store(app.home) as store:
        ids = [store.submit(SHORT, f"journey {place}") for place in (1, 2)]
    page.reload()
    first, second = (row(page, f"journey {place}") for place in (1, 2))
    expect(second).to_contain_text(re.compile("queued|running"))
    expect(first).to_contain_text(re.compile(r"running, [1-9]\d? %"), timeout=PATIENCE)  # nobody has reloaded the page
    tick(page, "journey 1")
    tick(page, "journey 2")
    expect(page.locator(".run-key")).to_contain_text("2:")
    for each in (first, second):
        expect(each).to_contain_text("finished", timeout=PATIENCE)
        expect(each).to_contain_text(re.compile(r"\d\d\.\d %"))
        expect(each).to_contain_text("≤")
    assert in_address(page) == ids

    page.reload()
    expect(first.get_by_role("checkbox")).to_be_checked()
    expect(second.get_by_role("checkbox")).to_be_checked()
    tick(page, "journey 1")
    page.get_by_role("button", name="Name, tags, note").click()
    page.get_by_label("Name", exact=True).fill(f"journey {MARKUP}")
    page.get_by_label("Tags, with commas between").fill(MARKUP)
    page.get_by_role("button", name="Save").click()
    expect(row(page, f"journey {MARKUP}")).to_be_visible()
    assert page.locator("#bold").count() == 0

    page.get_by_role("button", name="Delete").click()
    asked = page.get_by_role("dialog")
    expect(asked).to_contain_text("journey <b id=bold>x</b> **y**")
    asked.get_by_role("button", name="Delete").click()
    expect(page.locator("table.runs tbody tr")).to_have_count(1)
    assert in_address(page) == []
    with Store(app.home) as store:
        assert [run.id for run in store.runs() if run.id in ids] == [ids[0]]
        editing.delete(store, ids[0])


def test_every_active_row_keeps_up_however_many_there_are(page: Page, app: Server):
    with Store(app.home) as store:
        runs = [store.submit(LONG, f"crowd {place}") for place in range(9)]
        try:
            page.goto(f"{app.url}/runs?find=crowd&sort=name")
            last = row(page, "crowd 8")
            expect(last).to_contain_text(re.compile(r"queued, number \d, starts in about"), timeout=PATIENCE)
            place = store.run(runs[8]).position
            assert place
            store.cancel(runs[7])
            expect(last).to_contain_text(f"queued, number {place - 1}, starts in about")
            expect(row(page, "crowd 7")).to_contain_text("cancelled")
        finally:
            for run in runs:
                store.cancel(run)
        for each in range(9):
            expect(row(page, f"crowd {each}")).to_contain_text("cancelled")


def test_heads_sort_by_the_keyboard_and_ticks_in_quick_succession_all_count(page: Page, app: Server):
    with Store(app.home) as store:
        ids = [recorded(store, CONFIG, 10 * done, Status.FINISHED) for done in (1, 2, 3)]
        for place, run in enumerate(ids):
            editing.rename(store, run, f"quick {place}")
    page.goto(f"{app.url}/runs?find=quick")
    names = page.locator("table.runs tbody th")
    expect(names).to_have_text(["quick 2", "quick 1", "quick 0"])
    page.get_by_role("button", name="Run", exact=True).focus()
    page.keyboard.press("Enter")
    expect(names).to_have_text(["quick 0", "quick 1", "quick 2"])
    expect(page.locator("th[aria-sort=ascending]")).to_contain_text("Run")
    page.evaluate("() => document.querySelectorAll('table.runs input').forEach((each) => each.click())")
    expect(page.locator("table.runs input:checked")).to_have_count(3)
    page.wait_for_url(re.compile("(run=.*){3}"))
    assert in_address(page) == ids
    with Store(app.home) as store:
        for run in ids:
            editing.delete(store, run)
