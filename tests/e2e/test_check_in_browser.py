"""A claim in a browser: a printed one is opened, its verdict read, its sentence copied, and another one is pasted."""

import pytest

from dpcore.claims import checked
from dpcore.claims.worked import EXAMPLES
from tests.e2e.server import STILL, Server

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

REFUTED = next(each for each in EXAMPLES if each.name == "clt")
CARD = (
    "epsilon = 3.0, delta = 1e-5, noise multiplier 1.068, batch 512, 60,000 examples, 40 epochs; batches are shuffled"
)


def verdict(page: Page):
    return page.locator(".st-key-claim_verdict")


def test_a_printed_claim_is_opened_kept_in_the_address_and_left_for_a_pasted_one(page: Page, app: Server):
    page.goto(f"{app.url}/check")
    page.get_by_role("button", name=REFUTED.title, exact=True).click()
    expect(verdict(page)).to_contain_text("Refuted")
    expect(verdict(page).locator(".js-plotly-plot .main-svg").first).to_be_visible()
    expect(page.get_by_text(checked(REFUTED.claim).review)).to_be_visible()
    page.wait_for_selector(STILL)
    assert "claim_epsilon=0.83" in page.url
    page.reload()
    expect(verdict(page)).to_contain_text("Refuted")
    page.get_by_role("radio", name="text or JSON").click()
    page.get_by_role("textbox", name="Paste it here").fill(CARD)
    page.get_by_role("textbox", name="Paste it here").press("Control+Enter")
    expect(verdict(page)).to_contain_text("shuffled batches")
    expect(page.locator("mark", has_text="60,000")).to_be_visible()
    page.get_by_role("button", name="Edit it as numbers").click()
    expect(page.get_by_role("textbox", name="Epochs")).to_have_value("40")
    expect(verdict(page)).to_contain_text("Refuted")


def test_the_sentence_for_a_review_is_copied(page: Page, app: Server):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{app.url}/check")
    page.get_by_role("button", name=REFUTED.title, exact=True).click()
    page.get_by_text(checked(REFUTED.claim).review).hover()
    page.get_by_role("button", name="Copy to clipboard").click()
    sentence = checked(REFUTED.claim).review
    page.wait_for_function("async told => (await navigator.clipboard.readText()).includes(told)", arg=sentence)
