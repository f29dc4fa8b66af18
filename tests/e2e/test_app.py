"""What only a browser shows: the app is opened, moved, shared, left alone while it trains, reloaded and stopped."""

import csv
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dpcore.runs.store import Store
from tests.e2e.server import STILL, Server, serving
from tests.pages.train_page import CONFIG, recorded

pytest.importorskip("playwright")
from playwright.sync_api import Locator, Page, expect

LABEL = ".st-key-epsilon_chart .annotation-text"
SLIDER = ".st-key-sigma_slider input[type=range]"
RUNNING = 180_000  # ms that a short training run may take on a busy machine
LONG = "features=pixels&model=mlp&epochs=200"  # so many steps take minutes, however late a busy server hears of Cancel


def opened(page: Page, url: str) -> Page:
    page.goto(url)
    expect(page.locator("h1")).to_be_visible()
    return page


def labels(page: Page) -> list[str]:
    """The labels at the ends of the curves, once they are drawn."""
    expect(page.locator(LABEL).first).to_be_visible()
    return page.locator(LABEL).all_text_contents()


def exact_sigma(page: Page) -> Locator:
    """The field beside the slider."""
    return page.get_by_role("textbox", name="Noise multiplier sigma, exact")


def accuracy(page: Page) -> float:
    """The test accuracy shown, in percent; 0 before the first."""
    shown = page.get_by_test_id("stMetricValue").first.text_content() or ""
    return float(found[1]) if (found := re.match(r"([\d.]+) %", shown.strip())) else 0.0


def wait_for_accuracy(page: Page, percent: float) -> None:
    """Wait until the test accuracy shown is at least this, or the run is over."""
    page.wait_for_function(
        """least => {
            const text = name => document.querySelector(`[data-testid=${name}]`)?.innerText;
            const over = / (finished|failed|lost|cancelled) at /.test(text('stProgress'));
            return over || parseFloat(text('stMetricValue')) >= least;
        }""",
        arg=percent,
        timeout=RUNNING,
    )
    assert accuracy(page) >= percent, page.get_by_test_id("stProgress").first.inner_text()


def start(page: Page, button: str = "Start private run") -> None:
    page.get_by_role("button", name=button).click()
    page.wait_for_url(re.compile(r"run="))


def test_a_key_on_the_sigma_slider_redraws_the_curve_and_its_address_shows_the_same(page: Page, app: Server):
    opened(page, app.url)
    before = labels(page)
    page.locator(SLIDER).focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "([path, old]) => { const e = document.querySelector(path); return e && e.textContent !== old }",
        arg=[LABEL, before[0]],
    )
    page.wait_for_url(re.compile(r"sigma="))
    shared = opened(page.context.new_page(), page.url)
    expect(exact_sigma(shared)).to_have_value("1.3")
    linked = labels(shared)
    assert linked != before
    expect(page.locator(LABEL)).to_have_text(linked)  # in the end: the first label may change before the others do


def test_keys_pressed_faster_than_the_page_answers_all_count(page: Page, app: Server):
    opened(page, app.url + "/?sigma=2")
    labels(page)
    page.locator(SLIDER).focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    expect(exact_sigma(page)).to_have_value("4")  # 2.2, 2.4 ... 4.0
    page.wait_for_url(re.compile(r"sigma=4(&|$)"))
    page.wait_for_selector(STILL)
    expect(page.locator(SLIDER)).to_have_attribute("aria-valuetext", "4")


def test_a_number_typed_into_a_field_moves_the_slider_and_nonsense_is_a_sentence(page: Page, app: Server):
    opened(page, app.url)
    field = exact_sigma(page)
    field.fill("3.7")
    field.press("Enter")
    expect(page.locator(SLIDER)).to_have_attribute("aria-valuetext", "3.7")
    field.fill("lots")
    field.press("Enter")
    expect(page.get_by_text("Expected sigma=lots to be a number. Showing 3.7.")).to_be_visible()
    assert labels(page)


def test_the_curves_can_be_downloaded(page: Page, app: Server):
    opened(page, app.url + "/?sigma=2")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download all accountants").click()
    rows = list(csv.DictReader(waiting.value.path().read_text().splitlines()))
    assert {row["accountant"] for row in rows} >= {"moments", "rdp", "mma", "gdp", "pld"}


def test_nothing_is_asked_of_any_other_host(page: Page, app: Server):
    asked: set[str] = set()
    page.on("request", lambda request: asked.add(request.url))
    labels(opened(page, app.url))
    assert {
        url for url in asked if not url.startswith((app.url, "data:", "blob:", app.url.replace("http", "ws")))
    } == set()


def test_a_link_into_a_fresh_server_opens_the_page_within_the_app(browser, tmp_path: Path):
    with serving(tmp_path) as server:
        page = browser.new_page()
        opened(page, server.url + "/train?sigma=2")
        expect(page.get_by_role("link", name="Lab")).to_be_visible()
        expect(page.get_by_text("Page not found")).to_have_count(0)
        expect(exact_sigma(page)).to_have_value("2")
        page.close()


def test_settings_and_runs_follow_from_page_to_page(page: Page, app: Server):
    opened(page, app.url + "/?sigma=3&" + LONG)
    labels(page)
    page.get_by_role("link", name="Train").click()
    expect(exact_sigma(page)).to_have_value("3")
    page.wait_for_url(re.compile(r"train\?.*sigma=3"))
    start(page)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_test_id("stProgress").first).to_contain_text("cancelled")
    page.get_by_role("link", name="Lab").click()
    labels(page)
    expect(exact_sigma(page)).to_have_value("3")
    page.get_by_role("link", name="Train").click()
    expect(page.get_by_test_id("stProgress").first).to_contain_text("cancelled")
    page.wait_for_url(re.compile(r"run="))


def test_a_page_runs_alone(browser, tmp_path: Path):
    with serving(tmp_path, "pages/accountants.py") as server:
        page = browser.new_page()
        opened(page, server.url)
        assert labels(page)
        page.close()


def test_training_streams_survives_a_reload_and_can_be_cancelled(page: Page, app: Server):
    opened(page, app.url + "/train?epochs=8")
    start(page)
    wait_for_accuracy(page, 1)
    page.reload()  # in the middle
    expect(page.get_by_test_id("stProgress").first).to_contain_text("of 313")
    assert "run=" in page.url
    wait_for_accuracy(page, 80)
    expect(page.get_by_test_id("stProgress").first).to_contain_text("finished at step 313", timeout=RUNNING)
    assert accuracy(page) > 80
    opened(page, app.url + "/train?" + LONG)
    start(page)
    expect(page.get_by_test_id("stProgress").first).to_contain_text("steps/s", timeout=RUNNING)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_test_id("stProgress").first).to_contain_text("cancelled at step")


def test_the_server_never_holds_torch(page: Page, app: Server):
    opened(page, app.url + "/train")
    expect(page.get_by_role("button", name="Start private run")).to_be_visible()
    maps = Path(f"/proc/{app.pid}/maps").read_text()
    assert "numpy" in maps
    assert "torch" not in maps


def test_a_run_that_is_taken_out_of_the_store_while_it_is_watched_is_named_and_the_page_goes_on(
    page: Page, app: Server
):
    with Store(app.home) as store:
        run = recorded(store, CONFIG, 40)  # its worker is on another machine: nobody ends it
        opened(page, f"{app.url}/train?run={run}")
        expect(page.get_by_text("step 40 of 79")).to_be_visible()
        with closing(sqlite3.connect(store.path)) as db, db:
            db.execute("DELETE FROM events WHERE run = ?", (run,))
            db.execute("DELETE FROM runs WHERE id = ?", (run,))
    expect(page.get_by_text(f"No longer in the run store: run '{run}'.")).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(page.get_by_role("button", name="Start private run")).to_be_enabled()
