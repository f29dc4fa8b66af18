"""Charts in a browser: text that can be read, labels that nothing covers, pictures that say where they come from."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.e2e.server import Server

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

from tests.e2e.test_layout import settled

ADDRESSES = ("", "?against=delta", "tradeoff", "tradeoff?axes=log-log", "tradeoff?view=steps", "calibrate", "train")
JOURNEYS = {("", "dark")}
CHARTS = [("", "epsilon_chart"), ("tradeoff", "attack_chart")]
LEAST = 14  # pixels of text
CONTRAST = 7.0
TEXTS = """() => {
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const seen = color => {
        canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)];
    };
    const paper = seen(getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor);
    const bright = color => color.map(c => c / 255)
        .map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
    const contrast = (a, b) => { const [low, high] = [bright(a), bright(b)].sort((x, y) => x - y);
        return (high + .05) / (low + .05); };
    const shaded = text => {  // an annotation on a shade of its own
        const ground = text.closest('.annotation')?.querySelector('rect.bg');
        return ground && +getComputedStyle(ground).fillOpacity > 0;
    };
    return [...document.querySelectorAll('.js-plotly-plot text')]
        .filter(e => e.textContent.trim() && e.getClientRects().length && !shaded(e) && !e.closest('.heatmaplayer'))
        .filter(e => !e.closest('.scatterlayer') || !document.querySelector('.heatmaplayer'))  // words upon a map
        .map(e => ({text: e.textContent, size: parseFloat(getComputedStyle(e).fontSize),
            contrast: contrast(seen(getComputedStyle(e).fill), paper)}));
}"""
COVERED = """name => {
    const boxes = path => [...document.querySelectorAll(`.st-key-${name} ${path}`)].map(e => e.getBoundingClientRect());
    const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    const bars = boxes('.modebar').filter(e => e.width);
    return boxes('.annotation-text').filter(e => bars.some(bar => meet(e, bar))).length;
}"""


@pytest.mark.parametrize(
    ("address", "theme"),
    [
        pytest.param(address, theme, marks=[] if (address, theme) in JOURNEYS else pytest.mark.long)
        for address in ADDRESSES
        for theme in ("light", "dark")
    ],
)
def test_the_text_of_charts_is_large_and_stands_out(browser, app: Server, runs: list[str], address: str, theme: str):
    context = browser.new_context(viewport={"width": 1366, "height": 900}, color_scheme=theme)
    page = context.new_page()
    query = "&".join(f"run={run}" for run in runs) if address == "train" else ""
    page.goto(f"{app.url}/{address}" + (f"?{query}" if query else ""))
    settled(page)
    expect(page.locator(".js-plotly-plot text").first).to_be_attached()
    found = page.evaluate(TEXTS)
    context.close()
    assert found
    assert [each for each in found if each["size"] < LEAST or each["contrast"] < CONTRAST] == []


def saved(page: Page, chart: str, form: str) -> Path:
    with page.expect_download() as waiting:
        page.locator(f".st-key-{chart}").get_by_role("button", name=form, exact=True).click()
    assert "sigma2-" in waiting.value.suggested_filename
    return waiting.value.path()


def test_a_saved_picture_says_what_it_shows_and_where_it_comes_from(page: Page, app: Server):
    page.goto(f"{app.url}/tradeoff?sigma=2")
    settled(page)
    svg = saved(page, "attack_chart", "SVG").read_text(encoding="utf-8")
    words = re.sub(r"<[^>]*>", " ", svg)
    for said in ("Trade-off function", "sigma = 2", "n = 10,000", "q = 0.0256", "delta = 1e-5", "schedule constant"):
        assert said in words, said
    assert f"{app.url}/tradeoff?" in words.replace(" ", "")
    assert saved(page, "attack_chart", "PNG").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("address", ["", "tradeoff"])
def test_no_toolbar_covers_a_label(page: Page, app: Server, address: str):
    page.goto(f"{app.url}/{address}")
    settled(page)
    name = "attack_chart" if address else "epsilon_chart"
    chart = page.locator(f".st-key-{name} .js-plotly-plot")
    chart.hover()
    page.wait_for_timeout(500)  # a toolbar, where there is one, fades in
    assert page.locator(f".st-key-{name} .annotation-text").count()
    assert page.evaluate(COVERED, name) == 0


@pytest.mark.parametrize(("address", "name"), CHARTS)
def test_on_a_phone_the_plot_has_the_width_and_every_label_is_below_it(
    page: Page, app: Server, address: str, name: str
):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{app.url}/{address}")
    settled(page)
    chart = page.locator(f".st-key-{name} .js-plotly-plot")
    plot = chart.locator(".nsewdrag").first.bounding_box()
    labels = [each.bounding_box() for each in chart.locator(".annotation-text").all()]
    whole = chart.bounding_box()
    assert plot
    assert whole
    assert labels
    assert plot["width"] >= 0.7 * whole["width"]
    ordered = sorted((each for each in labels if each), key=lambda each: each["y"])
    for label in ordered:
        assert label["y"] >= plot["y"] + plot["height"]
        assert label["x"] + label["width"] <= whole["x"] + whole["width"] + 1
        assert label["y"] + label["height"] <= whole["y"] + whole["height"] + 1
    assert all(low["y"] >= high["y"] + high["height"] - 4 for high, low in pairwise(ordered))
