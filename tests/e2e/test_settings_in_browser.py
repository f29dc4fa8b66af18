"""Settings in a browser: moved, linked, carried from page to page, downloaded, copied."""

import re

import pytest

from tests.e2e.looks import alone, box, complete, go_to, opened, shown_whole
from tests.e2e.server import Server
from tests.e2e.test_journeys import field

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.long

# So many steps take minutes, however late a busy server hears of Cancel.
LONG = "features=pixels&model=mlp&epochs=200"
LABEL = ".st-key-epsilon_chart .annotation-text"
SMALL = ".st-key-tradeoff_chart .scatterlayer .trace:last-child path.js-line"
MOVES = {  # page -> the field that is moved by a key, and what changes with it
    "": ("sigma", LABEL),
    "tradeoff": ("sigma", "table.attack td:nth-child(2)"),
    "calibrate": ("target_epsilon", "h2"),
}


@pytest.mark.parametrize("address", MOVES)
def test_a_key_on_a_slider_changes_the_page_and_its_link_shows_the_same(
    page: Page, app: Server, address: str
):
    name, changes = MOVES[address]
    shown = opened(page, f"{app.url}/{address}").locator(changes).first
    before = shown.text_content() or ""
    page.locator(f".st-key-{name}_slider input[type=range]").press("ArrowRight")
    expect(shown).not_to_have_text(before)
    page.wait_for_url(re.compile(f"{name}="))
    complete(page)
    other = opened(page.context.new_page(), page.url)
    expect(other.locator(changes)).to_have_text(page.locator(changes).all_text_contents())


def test_the_small_chart_of_the_lab_moves_along_and_leads_to_trade_off_and_settings_follow_to_a_run(
    page: Page, app: Server
):
    opened(page, f"{app.url}/?sigma=2&{LONG}")
    before = page.locator(SMALL).get_attribute("d") or ""
    page.locator(".st-key-sigma_slider input[type=range]").press("ArrowRight")
    expect(page.locator(SMALL)).not_to_have_attribute("d", before)
    page.wait_for_url(re.compile(r"sigma=2\.2"))
    complete(page)
    page.get_by_role("link", name="What can an attacker do?").click()
    expect(page.locator("h1")).to_have_text("What can an attacker do?")
    page.wait_for_url(re.compile(r"tradeoff\?.*sigma=2\.2"))
    expect(field(complete(page))).to_have_value("2.2")
    go_to(page, "Lab")
    page.wait_for_url(re.compile(r"/\?.*sigma=2\.2"))
    alone(complete(page))
    page.locator(".st-key-train button").click()
    page.wait_for_url(re.compile("run="))
    page.get_by_role("button", name="Cancel").click()
    shown_whole(page)
    progress = page.get_by_test_id("stProgress").first
    expect(progress).to_contain_text("cancelled")
    complete(page)
    go_to(page, "Lab")
    expect(page.locator(LABEL).first).to_be_visible()
    expect(field(complete(page))).to_have_value("2.2")
    go_to(page, "Runs")
    expect(progress).to_contain_text("cancelled")
    page.wait_for_url(re.compile("one="))


def test_the_statement_is_copied_as_text_and_as_markdown(page: Page, app: Server):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(page, app.url)
    page.get_by_text("Privacy statement, to copy").click()
    statement = page.get_by_test_id("stCode")
    for form, mark in (("text", "Adjacency: add/remove"), ("Markdown", "| Adjacency | add/remove")):
        page.get_by_role("radio", name=form, exact=True).click()
        expect(statement).to_contain_text(mark)
        statement.hover()
        statement.get_by_role("button", name="Copy to clipboard").click()
        page.wait_for_function(
            "async mark => (await navigator.clipboard.readText()).includes(mark)", arg=mark
        )
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "an attacker who starts at 50 % ends up at most" in copied
    assert copied.startswith("### Privacy statement")


def test_a_click_on_the_map_loads_the_point_here_and_everywhere(page: Page, app: Server):
    page.set_viewport_size({"width": 1400, "height": 2300})
    opened(page, f"{app.url}/calibrate?by=rdp")
    expect(page.get_by_text("Click a point to load")).to_be_visible()
    place = box(complete(page).locator(".st-key-map .nsewdrag").first)
    x, y = place["x"] + 0.6 * place["width"], place["y"] + 0.4 * place["height"]
    page.mouse.move(x, y)
    hover = page.locator(".st-key-map .hoverlayer .hovertext")
    expect(hover).to_contain_text("epsilon")
    told = re.search(r"sigma ([\d.]+), ([\d.]+) epochs", hover.text_content() or "")
    assert told
    page.mouse.click(x, y)
    page.wait_for_url(re.compile(rf"epochs=.*sigma={re.escape(told[1])}"))
    expect(page.get_by_text(f"Your present setting (sigma = {told[1]},")).to_be_visible()
    page.get_by_text("Your present sigma").click()  # folded, as it is being solved for
    expect(field(page)).to_have_value(told[1])
    epochs = field(complete(page), "Epochs").input_value()
    assert float(epochs) == pytest.approx(float(told[2]), rel=0.02)
    go_to(page, "Lab")
    expect(page.locator("h1")).to_have_text(
        "Can a network learn from people's digits without giving any one of them away?"
    )
    expect(field(page)).to_have_value(told[1])
    expect(field(page, "Epochs")).to_have_value(epochs)
