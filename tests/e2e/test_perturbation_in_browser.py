"""A comparison as a reader makes one: a place, Compare, Cancel, compare again, and all of it there after a reload."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from tests.e2e.server import STILL, Server, serving

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

FEW = "methods=none&methods=output&methods=gradient&epsilons=0.5&epsilons=8&fits=50"


@pytest.fixture
def app(browser: object, tmp_path: Path) -> Iterator[Server]:
    """A server of its own: a comparison waits in the queue behind the runs that other tests have started."""
    with serving(tmp_path) as server:
        yield server


def compared(page: Page) -> str:
    """The comparison that the address names."""
    (comparison,) = parse_qs(urlsplit(page.url).query)["comparison"]
    return comparison


def pressed(page: Page, name: str) -> None:
    page.wait_for_selector(STILL)
    page.get_by_role("button", name=name).click()


def test_the_journey_from_a_place_to_a_comparison_its_end_and_a_reload(page: Page, app: Server):
    page.goto(f"{app.url}/perturbation?table=iris&{FEW}&descent=100000")
    place = page.get_by_role("button", name="each gradient")
    pressed(page, "each gradient")
    expect(page.get_by_text("Noise on each gradient: gradient perturbation.")).to_be_visible()
    expect(place).to_have_attribute("aria-pressed", "true")

    pressed(page, "Compare")  # so many steps take minutes
    expect(page.locator(".stProgress")).to_be_visible()
    expect(page.locator(".stProgress")).to_contain_text("of 5 results")
    page.wait_for_url("**comparison=*")
    long = compared(page)
    pressed(page, "Cancel")
    expect(page.get_by_text("The comparison was cancelled.")).to_be_visible()
    expect(page.locator(".stProgress")).to_have_count(0)

    page.locator("summary", has_text="Descent").click()
    steps = page.get_by_role("textbox", name="Steps T of descent, exact")
    steps.fill("20")
    steps.press("Enter")
    page.wait_for_url("**descent=20*")
    pressed(page, "Compare")
    expect(page.get_by_text("Measured here in")).to_be_visible()
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    again = compared(page)
    assert again != long

    page.reload()
    expect(page.get_by_text("Measured here in")).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    expect(place).to_have_attribute("aria-pressed", "true")
    assert compared(page) == again
    with Store(app.home) as store:
        assert [store.run(each).status for each in (long, again)] == [Status.CANCELLED, Status.FINISHED]
        assert store.run(again).request.steps == 20
