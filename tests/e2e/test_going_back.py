"""One entry of the browser's history a page; back and forward restore settings, in the fields and in the address."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.e2e.server import STILL, Server

pytest.importorskip("playwright")
from playwright.sync_api import Locator, Page, expect

PAUSES = (150, 50, 400, 0, 0, 900, 0, 150, 900, 0)  # ms on the other page


def sigma(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Noise multiplier sigma, exact")


def typed(page: Page, value: str) -> None:
    sigma(page).fill(value)
    sigma(page).press("Enter")


def in_address(page: Page, key: str) -> list[str]:
    return parse_qs(urlsplit(page.url).query).get(key, [])


def at(page: Page, name: str) -> None:
    """Wait until the page of this name is drawn and its address is written."""
    page.wait_for_url(re.compile(rf"/{name}(\?|$)"))
    expect(page.locator(STILL)).to_be_visible()


def go(page: Page, title: str, name: str) -> None:
    page.get_by_role("link", name=title, exact=True).click()
    at(page, name)


def opened(page: Page, url: str, name: str) -> None:
    page.goto(url)
    expect(sigma(page)).to_be_visible()
    page.wait_for_function("'onePerPage' in history")
    at(page, name)


def entries(page: Page) -> int:
    return page.evaluate("history.length")


def test_it_is_known_that_a_page_is_being_left_until_the_next_one_is_there(page: Page, app: Server):
    opened(page, app.url + "/tradeoff", "tradeoff")
    assert not page.evaluate("history.onePerPage.leaves()")
    assert page.evaluate("""() => {
        document.querySelector("a[href$='/calibrate']").click();
        return history.onePerPage.leaves();
    }""")
    at(page, "calibrate")
    assert not page.evaluate("history.onePerPage.leaves()")


def test_a_change_of_page_is_one_entry_and_a_change_of_settings_none(page: Page, app: Server):
    opened(page, app.url + "/tradeoff?sigma=3&batch=128&accountants=rdp&view=delta", "tradeoff")
    before = entries(page)
    typed(page, "4")
    page.wait_for_url(re.compile(r"sigma=4"))
    page.locator(".st-key-sigma_slider input[type=range]").focus()
    page.keyboard.press("ArrowRight")
    expect(sigma(page)).not_to_have_value("4")
    assert entries(page) == before
    go(page, "Train", "train")
    assert entries(page) == before + 1
    go(page, "Calibrate", "calibrate")
    assert entries(page) == before + 2


def test_back_and_forward_restore_what_was_chosen_on_each_page(page: Page, app: Server):
    opened(page, app.url + "/tradeoff?sigma=3&view=delta&pair=rdp&accountants=rdp", "tradeoff")
    go(page, "Train", "train")
    typed(page, "5")
    page.wait_for_url(re.compile(r"sigma=5"))
    slider = page.locator(".st-key-sigma_slider input[type=range]")
    expect(slider).to_have_attribute("aria-valuetext", "5")  # sooner than a hand can, Streamlit asks for both pages
    page.go_back()
    at(page, "tradeoff")
    expect(sigma(page)).to_have_value("3")
    expect(page.get_by_role("radio", name="delta")).to_be_checked()
    at(page, "tradeoff")
    assert in_address(page, "sigma") == ["3"]
    assert in_address(page, "accountants") == ["rdp"]
    page.go_forward()
    at(page, "train")
    expect(sigma(page)).to_have_value("5")
    assert in_address(page, "sigma") == ["5"]


def test_address_and_field_agree_however_quickly_one_goes_back(page: Page, app: Server):
    opened(page, app.url + "/calibrate?by=rdp&sigma=3", "calibrate")
    for times, pause in enumerate(PAUSES, 1):
        page.get_by_role("link", name="Train", exact=True).click()
        page.wait_for_url(re.compile(r"/train"))
        page.wait_for_timeout(pause)
        page.go_back()
        at(page, "calibrate")
        page.wait_for_timeout(400)
        at(page, "calibrate")
        expect(sigma(page)).to_have_value("3")
        assert in_address(page, "sigma") == ["3"], f"after going back {times} times"


def test_an_answer_that_was_opened_elsewhere_leaves_calibrate_as_it_was(page: Page, app: Server):
    opened(page, app.url + "/calibrate?by=rdp&sigma=3&target_epsilon=2", "calibrate")
    before = entries(page)
    page.get_by_role("button", name="in Trade-off").click()
    at(page, "tradeoff")
    assert entries(page) == before + 1
    assert "leaving" not in page.url
    page.go_back()
    at(page, "calibrate")
    expect(sigma(page)).to_have_value("3")
    expect(page.get_by_role("textbox", name="Target epsilon, exact")).to_have_value("2")
