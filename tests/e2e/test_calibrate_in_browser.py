"""The page about budgets in a browser: moved, clicked on its map, followed from, downloaded from, copied from."""

import csv
import re

import pytest

from tests.e2e.server import Server

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

ANSWER = "h2"
CHANGED = "([path, old]) => { const e = document.querySelector(path); return e && e.textContent !== old }"
TARGET = ".st-key-target_epsilon_slider input[type=range]"


def opened(page: Page, url: str) -> Page:
    page.goto(url)
    expect(page.locator(ANSWER)).to_be_visible()
    return page


def answer(page: Page) -> float:
    """The number in the large answer."""
    found = re.match(r"\w+ = ([\d.,]+)", page.locator(ANSWER).text_content() or "")
    assert found
    return float(found[1].rstrip(",").replace(",", ""))


def field(page: Page, name: str):
    return page.get_by_role("textbox", name=f"{name}, exact")


def drawn(page: Page) -> None:
    """Wait until the map can be clicked."""
    expect(page.locator(".st-key-map .nsewdrag").first).to_be_visible()
    expect(page.get_by_text("Click a point to load")).to_be_visible()


def test_a_key_on_the_target_changes_the_answer_and_the_link_shows_the_same(page: Page, app: Server):
    opened(page, app.url + "/calibrate?by=rdp")
    before = page.locator(ANSWER).text_content()
    first = answer(page)
    page.locator(TARGET).focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(CHANGED, arg=[ANSWER, before])
    page.wait_for_url(re.compile(r"target_epsilon="))
    assert answer(page) < first  # a larger target takes less noise
    shared = opened(page.context.new_page(), page.url)
    assert answer(shared) == answer(page)


def test_another_quantity_and_another_target_are_a_click_away(page: Page, app: Server):
    opened(page, app.url + "/calibrate?by=rdp")
    page.locator(".st-key-solve").get_by_role("radio", name="steps").click()
    expect(page.locator(ANSWER)).to_contain_text("steps = 607")
    page.get_by_role("radio", name="advantage").click()
    expect(field(page, "Target advantage")).to_have_value("0.2")
    expect(
        page.get_by_text("It gives advantage ≤ 0.1").or_(page.get_by_text("It gives advantage ≤ 0.2"))
    ).to_be_visible()


def test_a_click_on_the_map_loads_the_point_here_and_everywhere(page: Page, app: Server):
    page.set_viewport_size({"width": 1400, "height": 2300})
    opened(page, app.url + "/calibrate?by=rdp")
    drawn(page)
    box = page.locator(".st-key-map .nsewdrag").first.bounding_box()
    assert box
    x, y = box["x"] + 0.6 * box["width"], box["y"] + 0.4 * box["height"]
    page.mouse.move(x, y)
    hover = page.locator(".st-key-map .hoverlayer .hovertext")
    expect(hover).to_contain_text("epsilon")
    told = re.search(r"sigma ([\d.]+), ([\d.]+) epochs", hover.text_content() or "")
    assert told
    page.mouse.click(x, y)
    expect(field(page, "Noise multiplier sigma")).to_have_value(told[1])
    page.wait_for_url(re.compile(rf"sigma={re.escape(told[1])}&epochs="))
    epochs = field(page, "Epochs").input_value()
    assert float(epochs) == pytest.approx(float(told[2]), rel=0.02)
    page.get_by_role("link", name="Train", exact=True).first.click()
    expect(page.locator("h1")).to_have_text("Train a private model and watch it")
    expect(field(page, "Noise multiplier sigma")).to_have_value(told[1])
    expect(field(page, "Epochs")).to_have_value(epochs)


def test_the_answer_can_be_used_here_or_opened_on_another_page(page: Page, app: Server):
    opened(page, app.url + "/calibrate?by=rdp")
    drawn(page)
    sigma = f"{answer(page):g}"
    page.get_by_role("button", name="in Train").click()
    expect(page.locator("h1")).to_have_text("Train a private model and watch it")
    expect(field(page, "Noise multiplier sigma")).to_have_value(sigma)
    page.wait_for_url(re.compile(rf"train\?.*sigma={re.escape(sigma)}"))
    page.get_by_role("link", name="Calibrate").click()
    drawn(page)
    page.locator(TARGET).focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(ANSWER)).not_to_have_text(f"sigma = {sigma}")
    page.get_by_role("button", name="Use this answer").click()
    expect(field(page, "Noise multiplier sigma")).to_have_value(f"{answer(page):g}")


def test_the_map_and_the_answers_can_be_downloaded(page: Page, app: Server):
    opened(page, app.url + "/calibrate?by=gdp")
    drawn(page)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download the map").click()
    cells = list(csv.DictReader(waiting.value.path().read_text().splitlines()))
    assert len(cells) > 1000
    assert {cell["kind"] for cell in cells} <= {"approximate", "claimed"}
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download the answers").click()
    answers = {row["accountant"]: row for row in csv.DictReader(waiting.value.path().read_text().splitlines())}
    assert float(answers["gdp"]["answer"]) == answer(page)
    assert answers["gdp"]["verdict"] == "claims_less"


def test_the_statement_of_the_answer_can_be_copied(page: Page, app: Server):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(page, app.url + "/calibrate?by=rdp")
    drawn(page)
    page.get_by_text("Privacy statement, to copy").click()
    box = page.get_by_test_id("stCode")
    expect(box).to_contain_text("noise multiplier 0.96")
    box.hover()
    box.get_by_role("button", name="Copy to clipboard").click()
    mark = "Sampling: Poisson"
    page.wait_for_function("async mark => (await navigator.clipboard.readText()).includes(mark)", arg=mark)


def test_a_target_out_of_reach_is_a_sentence_and_the_map_stays(page: Page, app: Server):
    page.goto(app.url + "/calibrate?by=rdp&target_epsilon=1e-9")
    expect(page.get_by_text("lower the steps or raise epsilon.")).to_be_visible()
    drawn(page)


def test_paper_004s_setting_is_one_click(page: Page, app: Server):
    opened(page, app.url + "/calibrate?by=rdp")
    drawn(page)
    page.get_by_role("button", name="Figure 4, top").click()
    expect(field(page, "Noise multiplier sigma")).to_have_value("1.3")
    expect(page.locator("table.verdicts").last).to_contain_text("1.056")
