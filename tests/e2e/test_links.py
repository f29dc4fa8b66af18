"""Values from a link hold on every later page: in boxes, sliders, curves and the address."""

import re
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest

from pages.parts.shell.menu import PAGES, page_at
from pages.parts.shell.menu import Page as Entry
from tests.e2e.looks import complete, go_to, opened
from tests.e2e.server import ROOT, Server

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

LINKS = re.findall(
    r"\(http://localhost:8501/([^)]*)\)", (ROOT / "README.md").read_text(encoding="utf-8")
)
CURVES = {  # page -> what stands for its curves
    "": ".st-key-epsilon_chart .annotation-text",
    "tradeoff": "table.attack td",
    "calibrate": ".st-key-answer_place h2, .st-key-in_sight h2",
}
OF_A_FIELD = """box => [...box.querySelectorAll('input')].map(each => each.value).join()
    + [...box.querySelectorAll('[data-baseweb=select]')].map(each => each.innerText).join()"""


def boxes(page: Page, names: list[str]) -> dict[str, str]:
    """What the fields of these names show, of those that the page has."""
    places = {name: page.locator(f".st-key-{name}") for name in names}
    return {
        name: place.evaluate(OF_A_FIELD) for name, place in places.items() if place.count() == 1
    }


def sliders(page: Page, names: list[str]) -> dict[str, str]:
    """Where the sliders of these fields stand."""
    places = {name: page.locator(f".st-key-{name}_slider input[type=range]") for name in names}
    return {
        name: place.get_attribute("aria-valuetext") or ""
        for name, place in places.items()
        if place.count()
    }


def in_address(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def curves(page: Page, at: Entry) -> list[str]:
    return page.locator(CURVES[at.address]).all_text_contents()


def walked_to(page: Page, at: Entry) -> Page:
    """The page, complete, after its entry in the menu was chosen."""
    go_to(page, at.title)
    page.wait_for_url(re.compile(rf"/{at.address}(\?|$)"))
    return complete(page)


def directly(page: Page, app: Server, at: Entry, query: str) -> list[str]:
    """The curves of a page that is opened by a link of its own."""
    other = opened(page.context.new_page(), f"{app.url}/{at.address}?{query}")
    found = curves(other, at)
    other.close()
    return found


@pytest.mark.long
@pytest.mark.parametrize("link", LINKS)
def test_what_a_link_of_the_readme_says_holds_on_all_pages_and_back(
    page: Page, app: Server, link: str
):
    path, _, query = link.partition("?")
    first, said = page_at(path), dict(parse_qsl(query))
    names = list(said)
    opened(page, f"{app.url}/{link}")
    shown, address = said | boxes(page, names), in_address(page)
    apart = {
        each: directly(page, app, each, query)
        for each in PAGES
        if each.address in CURVES and first.has_controls
    }
    others = [each for each in PAGES if each != first]
    for each in [*others, *reversed(others[:-1]), first]:
        walked_to(page, each)
        found = boxes(page, names)
        assert found == {name: shown[name] for name in found}, each.title
        stands = sliders(page, names)
        assert stands == {name: shown[name] for name in stands}, each.title
        written = in_address(page)
        assert {name: written.get(name) for name in found} == {
            name: address.get(name) for name in found
        }, each.title
        if each in apart:
            assert curves(page, each) == apart[each], each.title


def test_what_a_link_says_holds_on_the_pages_that_follow_though_nothing_was_touched(
    tab: Page, app: Server
):
    opened(tab, f"{app.url}/?sigma=3&n=60000&batch=600&epochs=100")
    shown = {"n": "60000", "batch": "600", "sigma": "3", "epochs": "100"}
    for address in ("tradeoff", "calibrate", ""):
        walked_to(tab, page_at(address))
        assert boxes(tab, ["n", "batch", "sigma", "epochs"]) == shown
        assert sliders(tab, ["sigma", "epochs"]) == {"sigma": "3", "epochs": "100"}
        written = in_address(tab)
        assert {name: written[name] for name in shown} == {
            name: [text] for name, text in shown.items()
        }


def test_what_a_link_says_of_a_field_that_its_page_does_not_show_waits_for_the_page_that_does(
    tab: Page, app: Server
):
    opened(tab, f"{app.url}/?view=delta&methods=output&methods=gradient&place=gradient")
    walked_to(tab, page_at("calibrate"))
    walked_to(tab, page_at("tradeoff"))
    tab.get_by_text("Compare: accountants").click()
    expect(tab.get_by_role("radio", name="delta")).to_be_checked()
    assert in_address(tab)["view"] == ["delta"]
    walked_to(tab, page_at("perturbation"))
    tab.get_by_role("button", name="2 of 7 methods").click()
    expect(
        tab.locator(".st-key-methods [aria-checked=true], .st-key-methods [aria-pressed=true]")
    ).to_have_count(2)
    assert in_address(tab)["methods"] == ["output", "gradient"]
    assert in_address(tab)["place"] == ["gradient"]


def test_accountants_that_a_link_names_are_chosen_on_the_page_that_follows(tab: Page, app: Server):
    opened(tab, f"{app.url}/?view=delta&accountants=rdp&accountants=gdp")
    walked_to(tab, page_at("tradeoff"))
    chosen = tab.locator(
        ".st-key-accountants [aria-checked=true], .st-key-accountants [aria-pressed=true]"
    )
    expect(chosen).to_have_count(2)
    assert in_address(tab)["accountants"] == ["rdp", "gdp"]
