"""The page about attackers in a browser: moved, followed to, downloaded from, copied from."""

import csv
import re

import pytest

from tests.e2e.server import STILL, Server

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

CELL = "table.attack td.own"
SLIDER = ".st-key-sigma_slider input[type=range]"
DRAWN = ".st-key-{} .scatterlayer .trace:last-child path.js-line"
CHANGED = "([path, old]) => { const e = document.querySelector(path); return e && e.textContent !== old }"
MOVED = "([path, old]) => { const e = document.querySelector(path); return e && e.getAttribute('d') !== old }"


def opened(page: Page, url: str) -> Page:
    page.goto(url)
    expect(page.locator("h1")).to_be_visible()
    page.wait_for_selector(STILL)
    return page


def line(page: Page, chart: str) -> str:
    """The path of a chart's last line."""
    expect(page.locator(DRAWN.format(chart))).to_be_attached()
    return page.locator(DRAWN.format(chart)).get_attribute("d") or ""


def test_a_key_on_the_slider_moves_the_curve_and_its_number(page: Page, app: Server):
    opened(page, app.url + "/tradeoff")
    curve, cell = line(page, "attack_chart"), page.locator(CELL).first.text_content() or ""
    assert re.fullmatch(r"[\d.]+ to [\d.]+ %", cell)
    page.locator(SLIDER).focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(CHANGED, arg=[CELL, cell])
    page.wait_for_function(MOVED, arg=[DRAWN.format("attack_chart"), curve])
    page.wait_for_url(re.compile(r"sigma="))
    after = page.locator(CELL).first.text_content() or ""
    assert float(after.split()[0]) > float(cell.split()[0])  # more noise: the attacker errs more
    shared = opened(page.context.new_page(), page.url)
    expect(shared.locator(CELL).first).to_have_text(after)


def test_the_home_pages_small_chart_moves_along_and_leads_here_with_the_setting(page: Page, app: Server):
    opened(page, app.url + "/?sigma=2")
    before = line(page, "tradeoff_chart")
    page.locator(SLIDER).focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(MOVED, arg=[DRAWN.format("tradeoff_chart"), before])
    page.wait_for_url(re.compile(r"sigma=2\.2"))
    page.get_by_role("link", name="What can an attacker do?").click()
    expect(page.locator("h1")).to_have_text("What can an attacker do?")
    expect(page.get_by_role("textbox", name="Noise multiplier sigma, exact")).to_have_value("2.2")
    page.wait_for_url(re.compile(r"tradeoff\?.*sigma=2\.2"))


def test_a_figure_of_the_paper_is_one_click_and_a_link(page: Page, app: Server):
    opened(page, app.url + "/tradeoff")
    page.get_by_role("button", name="Figure 5").click()
    page.wait_for_url(re.compile(r"view=steps"))
    expect(page.locator(".st-key-steps_chart .annotation-text").first).to_contain_text("Certified, T = 1")
    shared = opened(page.context.new_page(), page.url)
    expect(shared.locator(".st-key-steps_chart .annotation-text").first).to_contain_text("Certified, T = 1")
    expect(shared.get_by_role("textbox", name="Noise multiplier sigma, exact")).to_have_value("1.1")


def test_the_curves_can_be_downloaded(page: Page, app: Server):
    opened(page, app.url + "/tradeoff?sigma=2&pairs=moments")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download these curves").click()
    rows = list(csv.DictReader(waiting.value.path().read_text().splitlines()))
    assert {row["kind"] for row in rows} == {"certified", "approximate", "upper"}
    assert {"Certified, at least", "Certified, at most", "CLT's G_mu"} <= {row["curve"] for row in rows}


@pytest.mark.parametrize("path", ["/", "/tradeoff"])
def test_the_statement_is_copied_as_text_and_as_markdown(page: Page, app: Server, path: str):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(page, app.url + path)
    page.get_by_text("Privacy statement, to copy").click()
    box = page.get_by_test_id("stCode")
    for form, mark in (("text", "Adjacency: add/remove"), ("Markdown", "| Adjacency | add/remove")):
        page.get_by_role("radio", name=form, exact=True).click()
        expect(box).to_contain_text(mark)
        box.hover()
        page.get_by_role("button", name="Copy to clipboard").click()
        page.wait_for_function(
            "async mark => (await navigator.clipboard.readText()).includes(mark)", arg=mark, timeout=10_000
        )
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "Someone who is 50 % sure that you are in the data can become at most" in copied
    assert copied.startswith("### Privacy statement")
