"""Check a claim in a browser: a press opens a run, and a person says what a number is."""

import pytest

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

from tests.e2e.looks import NARROW, barriers, inside, opened, resized, too_wide
from tests.e2e.server import Server
from tests.pages.check_page import RUNS

pytestmark = pytest.mark.long

LABEL = "Paste the claim of a paper, a model card or a training log"
NAMELESS = "Noise multiplier 1.1; we drew 0.01, ran it 1000 times, and got 1.6 at 1e-5."


def paste(page: Page, app: Server, text: str) -> None:
    opened(page, f"{app.url}/check")
    box = page.get_by_role("textbox", name=LABEL)
    box.fill(text)
    box.press("Control+Enter")


def test_a_row_is_opened_by_a_press_or_the_keyboard_and_the_focus_stays(page: Page, app: Server):
    paste(page, app, RUNS)
    rows, card = page.locator("table.claimed tbody tr"), page.locator(".st-key-claim_verdict")
    expect(rows).to_have_count(4)
    rows.nth(1).click()
    rows.nth(2).click()  # faster than the page can answer
    expect(card).to_contain_text("Refuted")
    expect(page.get_by_role("textbox", name="Sigma")).to_have_value("1")
    fourth = rows.nth(3).get_by_role("button")
    fourth.press("Enter")
    expect(card).to_contain_text("Holds")
    expect(fourth).to_have_attribute("aria-pressed", "true")
    expect(fourth).to_be_focused()
    resized(page, NARROW)
    rows.nth(2).click()
    expect(card).to_contain_text("Refuted")
    assert too_wide(page) == []
    assert barriers(page) == []


def test_numbers_get_their_names_by_two_presses_each_also_by_keyboard(page: Page, app: Server):
    paste(page, app, NAMELESS)
    text, menu = page.locator(".read"), page.locator(".claim-menu")
    card = page.locator(".st-key-claim_verdict")
    for number, field in (("0.01", "Rate q"), ("1000", "Steps T"), ("1.6", "Claimed epsilon")):
        text.get_by_role("button", name=number).click()  # without waiting for the page
        menu.get_by_role("button", name=field).click()
    last = text.get_by_role("button", name="1e-5")
    last.press("Enter")
    expect(menu).to_be_visible()
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    expect(last).to_be_focused()
    last.press("Enter")
    menu.get_by_role("button", name="Delta").press("Enter")
    expect(card).to_contain_text("Holds")
    expect(card).to_contain_text("Set by hand: Claimed epsilon, Delta, Rate q, Steps T.")
    expect(page.locator(".read .set")).to_have_count(4)
    expect(page.get_by_role("textbox", name="Steps T")).to_have_value("1000")
    resized(page, NARROW)
    last.click()
    assert inside(page, menu)
    assert barriers(page) == []


def test_a_value_under_its_name_is_taken_by_one_press_and_a_second_one_asks(
    page: Page, app: Server
):
    paste(
        page,
        app,
        "On text we use sigma = 1.5 and q = 0.01. On images the guarantee is epsilon = 3.",
    )
    text, menu = page.locator(".read"), page.locator(".claim-menu")
    sigma = text.get_by_role("button", name="1.5")
    sigma.click()
    expect(page.get_by_role("textbox", name="Sigma")).to_have_value("1.5")
    expect(menu).to_be_hidden()
    expect(sigma).to_contain_class("set")
    sigma.click()
    menu.get_by_role("button", name="Claimed epsilon").click()
    expect(page.get_by_role("textbox", name="Claimed epsilon")).to_have_value("1.5")
    expect(page.get_by_role("textbox", name="Sigma")).to_have_value("")


def test_a_long_text_begins_with_its_first_value(page: Page, app: Server):
    claim = "epsilon = 3.1, sigma = 1.1, q = 0.01, 20 epochs"
    paste(page, app, "Nothing is said here.\n" * 60 + claim)
    expect(page.locator(".read mark").first).to_be_in_viewport()
    assert page.locator(".read").evaluate("each => each.scrollTop") > 100
