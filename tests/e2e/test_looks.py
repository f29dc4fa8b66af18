"""Every page in every look: nothing runs out of the window, text of charts can be read, and axe
finds no barrier.

All rules of axe of every impact run, those too that it leaves out by default: it finds nothing on
our pages that it does not find on a bare page of Streamlit's own widgets. Each page stands beside
the bare one, in the same theme and at the same width, with finished runs, and with everything
opened that can be opened. It is opened once, on a phone: what has grown has to shrink again.
Colours do not depend on the width, and are looked at in both themes; the rest does not depend on
the theme, and is looked at wide and narrow. (A tablet shows the columns of the one or of the
other.)
"""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache

import pytest

from dpcore.privacy.accountants import ACCOUNTANTS
from pages.parts.shell.menu import PAGES
from tests.e2e.looks import (
    HEIGHT,
    NARROW,
    SIZES,
    WIDE,
    barriers,
    box,
    complete,
    in_theme,
    opened,
    picture_of,
    resized,
    too_wide,
)
from tests.e2e.server import PATIENCE, ROOT, Server, serving

pytest.importorskip("playwright")
from playwright.sync_api import Page, TimeoutError, expect

pytestmark = pytest.mark.long

Found = dict[tuple[str, str], str]  # rule and the widget around -> an element that breaks it
LOOKS = {  # in this order: size, theme and rules
    "dark": ((1440, 900), "dark", "all"),
    "light": ((1440, 900), "light", "colours"),
    "on a phone": (NARROW, "light", "but colours"),
}
CHARTS = ("?against=delta", "tradeoff?axes=log-log", "tradeoff?view=steps", "tradeoff?view=delta")
STATES = [(page.address, tuple(LOOKS)) for page in PAGES]
STATES += [(each, ()) for each in CHARTS]  # charts alone
STATES += [
    ("?lesson=sampling&step=3", ("dark", "on a phone")),
    ("?lesson=spot_the_fault&step=2", ("dark", "on a phone")),
    ("?sampler=shuffle", ("dark", "light")),
]
STATES += [("train", tuple(LOOKS)), ("train?present=1", ("dark", "on a phone"))]  # a run, whole
LEAST = 14  # pixels of the text of a chart
CONTRAST = 7.0
SCROLLS = """() => [...document.querySelectorAll("[data-testid=stMain], [data-testid=stColumn]")]
    .some(each => each.scrollHeight > each.clientHeight
        && getComputedStyle(each).overflowY !== "visible")"""
TO_THE_TOP = """() => document.querySelectorAll("[data-testid=stMain], [data-testid=stColumn]")
    .forEach(each => each.scrollTo(0, 0))"""
ALL_OPEN = """() => {  // opens expanders; the answer that fills one may shut another
    const shut = [...document.querySelectorAll("details:not([open]) > summary")]
        .filter(each => each.checkVisibility());
    const still = document.querySelector("[data-testid=stApp]")?.dataset
        .testScriptState === "notRunning";
    const rows = shut.filter(each => each.closest("table"));
    if (still && rows.length) rows.forEach(each => each.click());
    else if (still) shut[0]?.click();  // opened at once, Streamlit fills one of two
    const filled = each => !each.checkVisibility() || each.innerText.trim()
        || each.querySelector("canvas, svg, input");
    return !shut.length && [...document.querySelectorAll("details[open] > :not(summary)")]
        .every(filled);
}"""
BROKEN = """async which => {
    const named = tags => axe.getRules(tags).map(({ruleId}) => ruleId);
    const colours = named(["cat.color"]);
    const values = {all: named(), colours,
        "but colours": named().filter(each => !colours.includes(each))}[which];
    const {violations} = await axe.run(document, {runOnly: {type: "rule", values},
        resultTypes: ["violations"]});
    const around = element => {  // Streamlit's two innermost parts; their room is chance:
        const whole = element?.closest("[data-testid=stMultiSelect], [data-testid=stDataFrame]");
        if (whole) return whole.dataset.testid;
        const found = [];
        for (let each = element; each && found.length < 2; each = each.parentElement) {
            if (each.dataset?.testid?.startsWith("st")) found.push(each.dataset.testid);
        }
        return found.join(" in ");
    };
    return violations.flatMap(({id, nodes}) => nodes.map(({target, html, failureSummary}) =>
        [id, around(document.querySelector(target[0])),
            `${html.slice(0, 200)} ${failureSummary}`]));
}"""
TEXTS = """() => {
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const seen = color => {
        canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)];
    };
    const app = document.querySelector('[data-testid=stApp]');
    const paper = seen(getComputedStyle(app).backgroundColor);
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
        .filter(e => e.textContent.trim() && e.getClientRects().length && !shaded(e)
            && !e.closest('.heatmaplayer'))
        .filter(e => !e.closest('.scatterlayer')
            || !document.querySelector('.heatmaplayer'))  // on a map
        .map(e => ({text: e.textContent, size: parseFloat(getComputedStyle(e).fontSize),
            contrast: contrast(seen(getComputedStyle(e).fill), paper)}));
}"""
WITH_CHARTS = {"", "tradeoff", "calibrate", "train", *CHARTS}


@pytest.fixture(scope="module")
def bare(browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Found]]:
    """What axe finds on the bare page in one of the looks."""
    script = ROOT / "tests" / "e2e" / "bare_page.py"
    with serving(tmp_path_factory.mktemp("bare"), str(script)) as server:
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        opened(page, server.url)
        yield cache(lambda look: broken(page, *LOOKS[look]))
        page.close()


def broken(page: Page, size: tuple[int, int], theme: str, rules: str) -> Found:
    """What axe finds on a page at this size and in this theme."""
    in_theme(page, theme)
    resized(page, size)
    open_everything(page)
    barriers(page, {"runOnly": {"type": "rule", "values": ["html-has-lang"]}})  # axe is there
    return {(rule, around): element for rule, around, element in page.evaluate(BROKEN, rules)}


def open_everything(page: Page) -> None:
    """Open every expander, and let the page be as high as what it shows: axe passes over what is
    out of sight.
    """
    page.wait_for_function(ALL_OPEN, polling=200)
    size = page.viewport_size
    assert size
    for _ in range(3):  # what is drawn anew for a larger window may be higher than before
        resized(page, (size["width"], page.evaluate(HEIGHT) + 20))
        if not page.evaluate(SCROLLS):
            break
    page.wait_for_function(ALL_OPEN, polling=200)
    page.evaluate(TO_THE_TOP)  # what stuck to the window's edge is back in its place


def unreadable(page: Page) -> list[dict]:
    """Texts of charts that are small or pale, also once the charts have followed the theme."""
    pale = f"({TEXTS})().filter(each => each.size < {LEAST} || each.contrast < {CONTRAST})"
    assert page.evaluate(f"() => ({TEXTS})().length")
    with suppress(TimeoutError):
        page.wait_for_function(f"() => !{pale}.length")
    return page.evaluate(f"() => {pale}")


@pytest.mark.parametrize(("state", "looks"), STATES, ids=[state for state, _ in STATES])
def test_every_look_of_a_page_can_be_read_used_and_heard(
    in_context, shown_here: Callable[[str], str], bare, state: str, looks: tuple[str, ...]
):
    page = opened(
        in_context(*NARROW, color_scheme="light", reduced_motion="reduce"), shown_here(state)
    )
    own = {"narrow": too_wide(page)}
    for size in (SIZES[1], WIDE, NARROW):
        resized(page, size)
        own[str(size)] = too_wide(page)
    resized(page, (1366, 900))
    for theme in ("light", "dark") if state in WITH_CHARTS else ():
        in_theme(page, theme)
        own[f"charts {theme}"] = unreadable(complete(page))
    for look in looks:
        allowed = bare(look)
        assert allowed, "every rule runs: a bare page breaks some"
        allowed = {
            *allowed,
            *((f"{rule}-enhanced", around) for rule, around in allowed),
        }  # stricter ones
        found = broken(page, *LOOKS[look])
        own[look] = [
            f"{rule} in {where}: {it}"
            for (rule, where), it in found.items()
            if (rule, where) not in allowed
        ]
    assert not any(own.values()), {look: found for look, found in own.items() if found}


@pytest.mark.parametrize(("address", "name"), [("", "epsilon_chart"), ("tradeoff", "attack_chart")])
def test_every_accountant_can_be_chosen_and_every_label_is_inside_wide_and_on_a_phone(
    page: Page, app: Server, address: str, name: str
):
    page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    opened(page, f"{app.url}/{address}")
    if not address:
        page.get_by_role("button", name="Chart options").click()
        row = page.locator(".st-key-accountants [data-testid=stButtonGroup]")
        # Nor that of their help.
        choices = row.locator("button:not(label button, [data-testid=stWidgetLabel] button)")
        expect(choices).to_have_count(len(ACCOUNTANTS) - 1)  # the band is always there
        right, *pills = [each["x"] + each["width"] for each in map(box, [row, *choices.all()])]
        assert max(pills) <= right
        page.keyboard.press("Escape")

    resized(page, NARROW)
    if not address:  # a row of the table tells what its numbers are
        cell = page.locator("table.verdicts td[data-label=Epsilon]").first
        assert re.search(
            "Epsilon|data-label", cell.evaluate("e => getComputedStyle(e, '::before').content")
        )
    chart = page.locator(f".st-key-{name} .live-chart")
    expect(chart.locator(".annotation-text").first).to_be_visible()
    labels, whole = chart.locator(".annotation-text").all(), box(chart)
    assert len(labels) >= 2
    assert all(
        each["x"] + each["width"] <= whole["x"] + whole["width"] + 1 for each in map(box, labels)
    )


def test_a_saved_picture_says_what_it_shows_and_where_it_comes_from(page: Page, app: Server):
    opened(page, f"{app.url}/tradeoff?sigma=2")
    svg = picture_of(page, "SVG", ".st-key-attack_chart").read_text(encoding="utf-8")
    words = re.sub(r"<[^>]*>", " ", svg)
    for said in (
        "Trade-off function",
        "sigma = 2",
        "n = 10,000",
        "q = 0.0256",
        "delta = 1e-5",
        "schedule constant",
    ):
        assert said in words, said
    assert f"{app.url}/tradeoff?" in words.replace(" ", "")
    assert picture_of(page, "PNG", ".st-key-attack_chart").read_bytes().startswith(b"\x89PNG")
