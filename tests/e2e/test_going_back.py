"""One entry of the browser's history a page; back and forward restore settings, in the fields and
in the address.
"""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.e2e.looks import Wire, complete, go_to, opened
from tests.e2e.server import Server

pytest.importorskip("playwright")
from playwright.sync_api import Locator, Page, expect

# Messages of the server, behind that which brings the other page, before one goes back.
ANSWERS = (0, 1, 5, 20)


def sigma(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Noise multiplier sigma, exact")


def typed(page: Page, value: str) -> None:
    sigma(page).fill(value)
    sigma(page).press("Enter")
    page.wait_for_url(re.compile(f"sigma={value}"))
    expect(page.locator(".st-key-sigma_slider input[type=range]")).to_have_attribute(
        "aria-valuetext", value
    )
    complete(page)


def in_address(page: Page, key: str) -> list[str]:
    return parse_qs(urlsplit(page.url).query).get(key, [])


def at(page: Page, name: str) -> None:
    """Wait until the page of this name is drawn and its address is written."""
    page.wait_for_url(re.compile(rf"/{name}(\?|$)"))
    complete(page)


def go(page: Page, title: str, name: str) -> None:
    go_to(page, title)
    at(page, name)


def entries(page: Page) -> int:
    return page.evaluate("history.length")


def test_back_and_forward_restore_what_was_chosen_on_each_page_of_which_each_is_one_entry(
    tab: Page, app: Server
):
    opened(tab, f"{app.url}/tradeoff?sigma=2&view=delta&pair=rdp&accountants=rdp")
    before = entries(tab)
    typed(tab, "3")
    tab.locator(".st-key-sigma_slider input[type=range]").press("ArrowRight")
    tab.wait_for_url(re.compile(r"sigma=3\.2"))
    assert entries(tab) == before  # for a change of settings there is none
    go(tab, "Lab", "")
    typed(tab, "5")
    assert entries(tab) == before + 1
    complete(tab)
    tab.go_back()
    at(tab, "tradeoff")
    expect(sigma(tab)).to_have_value("3.2")
    expect(tab.get_by_role("radio", name="delta", include_hidden=True)).to_be_checked()
    at(tab, "tradeoff")
    assert in_address(tab, "sigma") == ["3.2"]
    assert in_address(tab, "accountants") == ["rdp"]
    tab.go_forward()
    at(tab, "")
    expect(sigma(tab)).to_have_value("5")
    assert in_address(tab, "sigma") == ["5"]


@pytest.mark.long
def test_it_is_known_that_a_page_is_being_left_until_the_next_one_is_there(page: Page, app: Server):
    opened(page, f"{app.url}/tradeoff")
    assert not page.evaluate("history.onePerPage.leaves()")
    expect(page.get_by_test_id("stTopNavLink").filter(has_text="Calibrate")).to_be_visible()
    assert page.evaluate("""() => {
        document.querySelector("a[href$='/calibrate']").click();
        return history.onePerPage.leaves();
    }""")
    at(page, "calibrate")
    assert not page.evaluate("history.onePerPage.leaves()")


@pytest.mark.long
@pytest.mark.parametrize("answers", ANSWERS)
def test_address_and_field_agree_however_much_of_the_other_page_has_come_before_one_goes_back(
    page: Page, app: Server, answers: int
):
    wire = Wire(page)
    opened(page, f"{app.url}/calibrate?by=rdp&sigma=3&solve=steps")
    wire.holding = True
    go_to(page, "Lab")
    while "/calibrate" in page.url:
        wire.let_one_through()
    for _ in range(answers):
        wire.let_one_through()
    page.go_back()
    wire.release()
    page.wait_for_url(re.compile("/calibrate"))
    expect(page.locator("h1")).to_have_text("Which noise fits my budget?")
    expect(sigma(page)).to_have_value("3")
    page.locator(".st-key-solve").get_by_role("radio", name="q", exact=True).click()
    page.wait_for_url(re.compile("solve=q"))  # behind all that was said before
    expect(sigma(page)).to_have_value("3")
    assert in_address(page, "sigma") == ["3"]
