"""The papers in a browser: a refuted row is opened in the lab and left again, and an accuracy is trained."""

import re
from pathlib import Path

import pytest

from dpcore.papers import PAPERS, Outcome, comparisons
from tests.e2e.server import STILL, Server, serving

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

PAPER = "004"
ROWS = "[aria-label=Numbers] tbody tr"


def field(page: Page, name: str):
    return page.get_by_role("textbox", name=f"{name}, exact")


def test_a_refuted_row_is_read_opened_in_the_lab_and_left_again(page: Page, app: Server):
    refuted = [each for each in comparisons(PAPERS[PAPER]) if each.outcome is Outcome.REFUTED]
    first = refuted[0]
    assert first.entry.setting
    page.goto(f"{app.url}/papers?paper={PAPER}&verdict=refuted")
    expect(page.locator(ROWS)).to_have_count(len(refuted))
    row = page.locator(ROWS).first
    expect(row).to_contain_text(first.entry.quantity)
    expect(row).to_contain_text(first.why)
    page.evaluate("() => { window.session = 'kept' }")
    row.get_by_role("link", name="Lab").click()
    expect(field(page, "Noise multiplier sigma")).to_have_value(f"{first.entry.setting.sigma:g}")
    expect(field(page, "Epochs")).to_have_value(f"{first.entry.setting.epochs:g}")
    assert page.evaluate("() => window.session") == "kept"  # the page was not loaded anew
    page.wait_for_selector(STILL)
    page.go_back()
    expect(page.locator(ROWS)).to_have_count(len(refuted))
    expect(page.locator("h2", has_text=PAPERS[PAPER].title)).to_be_visible()


def test_an_accuracy_is_trained_and_watched_on_the_training_page(browser, page: Page, tmp_path: Path):
    with serving(tmp_path, str(Path(__file__).with_name("paper_app.py"))) as own:
        page.goto(f"{own.url}/papers?paper=999")
        page.get_by_role("button", name="Run it now").click()
        page.get_by_role("link", name="Watch 3 runs on the training page").click()
        expect(page.get_by_text(re.compile("3 seeds: test accuracy"))).to_be_visible()
        expect(page).to_have_url(re.compile(r"/train\?.*run="))
        assert page.url.count("run=") == 3
