"""An audit as a reader makes one: a broken trainer is chosen, audited, caught, and there again after a reload."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from pages.parts.shell.menu import page_at
from tests.e2e.server import STILL, Server, serving
from tests.e2e.test_layout import NARROW, RESIZED, resized, too_wide
from tests.pages.audit_page import recorded

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

SMALL = "audit_batch=500&audit_epochs=0.5&canaries=100&torch_beside=no"


@pytest.fixture
def app(browser: object, tmp_path: Path) -> Iterator[Server]:
    """A server of its own: an audit waits in the queue behind the runs that other tests have started."""
    with serving(tmp_path) as server:
        yield server


def audited(page: Page) -> str:
    """The audit that the address names."""
    (run,) = parse_qs(urlsplit(page.url).query)["run"]
    return run


def test_the_journey_from_a_broken_trainer_to_its_verdict_and_a_reload(page: Page, app: Server):
    page.goto(f"{app.url}/audit?trainer=half_noise&{SMALL}")
    page.wait_for_selector(STILL)
    page.get_by_role("button", name="Audit").click()
    page.wait_for_url("**run=*")
    expect(page.get_by_text("What is claimed does not hold: Noise")).to_be_visible()
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    expect(page.locator("table.audits tbody tr").first).to_contain_text("fails")
    run = audited(page)

    page.reload()
    expect(page.get_by_text("What is claimed does not hold: Noise")).to_be_visible()
    assert audited(page) == run
    with Store(app.home) as store:
        assert store.run(run).status is Status.FINISHED
        assert store.run(run).request.trainer == "half_noise"


@pytest.mark.long
def test_a_finished_audit_fits_every_screen(browser, app: Server):
    with Store(app.home) as store:
        run = recorded(store)
    context = browser.new_context(viewport={"width": NARROW[0], "height": NARROW[1]})
    page = context.new_page()
    page.goto(f"{app.url}/audit?run={run}")
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    page.wait_for_selector(STILL)
    found = {"as opened": too_wide(page, page_at("audit").has_controls)}
    for size in RESIZED:
        resized(page, size)
        found[str(size)] = too_wide(page, page_at("audit").has_controls)
    assert not any(found.values()), found
    context.close()
