"""The app as a whole in a browser: reached by a link, page by page, and training while nobody
looks.
"""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from tests.e2e.looks import alone, complete, opened, shown_whole
from tests.e2e.server import Server, serving
from tests.e2e.test_journeys import field

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.long

FEW = "methods=none&methods=output&methods=gradient&epsilons=0.5&epsilons=8&fits=50"


def in_address(page: Page, name: str) -> list[str]:
    return parse_qs(urlsplit(page.url).query).get(name, [])


def test_a_link_into_a_fresh_server_opens_the_page_within_the_app(in_context, tmp_path: Path):
    with serving(tmp_path) as server:
        page = opened(in_context(), f"{server.url}/train?sigma=2")
        expect(page.get_by_test_id("stTopNavLink").filter(has_text="Lab")).to_be_visible()
        expect(page.get_by_text("Page not found")).to_have_count(0)
        expect(field(page)).to_have_value("2")


def test_a_page_runs_alone(in_context, tmp_path: Path):
    with serving(tmp_path, "pages/lab.py") as server:
        page = opened(in_context(), server.url)
        expect(page.locator(".st-key-epsilon_chart .annotation-text").first).to_be_visible()


def test_training_survives_a_reload_and_can_be_cancelled(page: Page, app: Server):
    alone(opened(page, f"{app.url}/?features=pixels&model=mlp&epochs=200"))
    page.locator(".st-key-train button").click()
    shown_whole(page)
    progress, accuracy = (
        page.get_by_test_id("stProgress").first,
        page.get_by_test_id("stMetricValue").first,
    )
    expect(progress).to_contain_text("steps/s")
    expect(accuracy).to_have_text(re.compile(r"[\d.]+ %"))
    (run,) = in_address(page, "one")
    page.reload()  # in the middle
    expect(progress).to_contain_text("steps/s")
    expect(accuracy).to_have_text(re.compile(r"[\d.]+ %"))
    complete(page)
    assert in_address(page, "one") == [run]
    page.get_by_role("button", name="Cancel", exact=True).click()
    # Another session began it.
    page.get_by_role("dialog").get_by_role("button", name="Cancel this run").click()
    expect(progress).to_contain_text("cancelled at step")
    with Store(app.home) as store:
        assert store.run(run).status is Status.CANCELLED


def test_a_comparison_is_cancelled_made_again_with_fewer_steps_and_there_after_a_reload(
    in_context, tmp_path: Path
):
    # Of its own: a comparison waits in the queue behind other runs.
    with serving(tmp_path) as server:
        page = opened(in_context(), f"{server.url}/perturbation?table=iris&{FEW}&descent=100000")
        page.get_by_role("button", name="Compare").click()  # so many steps take minutes
        expect(page.locator(".stProgress")).to_contain_text("of 5 results")
        page.wait_for_url("**comparison=*")
        (long,) = in_address(page, "comparison")
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_text("The comparison was cancelled.")).to_be_visible()
        expect(page.locator(".stProgress")).to_have_count(0)
        complete(page)
        page.locator("summary", has_text="Descent").click()
        steps = field(page, "Steps T of descent")
        steps.fill("20")
        steps.press("Enter")
        page.wait_for_url("**descent=20*")
        complete(page)
        page.get_by_role("button", name="Compare").click()
        expect(page.get_by_text("Tested on")).to_be_visible()
        (again,) = in_address(page, "comparison")
        page.reload()
        expect(page.get_by_text("Tested on")).to_be_visible()
        expect(page.locator(".js-plotly-plot")).to_have_count(2)
        assert in_address(page, "comparison") == [again]
        with Store(server.home) as store:
            assert [store.run(each).status for each in (long, again)] == [
                Status.CANCELLED,
                Status.FINISHED,
            ]
