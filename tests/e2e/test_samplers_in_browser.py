"""How batches are drawn, chosen in a browser: the hatched area is there, in both themes, and the choice stays."""

import re

import pytest

from tests.e2e.server import STILL, Server

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

CHART = ".st-key-epsilon_chart"
HATCHED = f"{CHART} .js-fill[style*='url(']"
CHOICE = re.compile("How batches are drawn")


def shown(page: Page, address: str) -> Page:
    page.goto(address)
    expect(page.locator("h1")).to_be_visible()
    page.wait_for_selector(STILL)
    return page


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_shuffle_is_chosen_drawn_told_and_remembered(browser, app: Server, theme: str):
    context = browser.new_context(viewport={"width": 1366, "height": 768}, color_scheme=theme)
    try:
        page = shown(context.new_page(), app.url)
        page.get_by_role("combobox", name=CHOICE).click()
        page.get_by_role("option", name="Shuffled every epoch").click()
        expect(page.get_by_text("and accounted as Poisson: claims")).to_be_visible()
        expect(page.get_by_text("zero-out: epsilon is proven to lie between")).to_be_visible()
        expect(page.locator(HATCHED).first).to_be_attached()
        expect(page.locator(f"{CHART} .annotation-text").filter(has_text="zero-out").first).to_be_visible()
        page.wait_for_url(re.compile("sampler=shuffle"))
        link = page.url
        page.get_by_role("link", name="Trade-off").click()
        expect(page.get_by_role("heading", name="What can an attacker do?")).to_be_visible()
        expect(page.get_by_role("combobox", name=CHOICE)).to_have_value("Shuffled every epoch")
        page.wait_for_url(re.compile("sampler=shuffle"))
        page.go_back()
        expect(page.get_by_role("combobox", name=CHOICE)).to_have_value("Shuffled every epoch")
        other = shown(context.new_page(), link)
        expect(other.get_by_text("zero-out: epsilon is proven to lie between")).to_be_visible()
    finally:
        context.close()
