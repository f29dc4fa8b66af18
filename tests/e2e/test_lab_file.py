"""The lab in a file, opened from the disk in Chromium without a network."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from dpcore.labfile.codes import INFINITE, text_of
from dpcore.labfile.page import page_of
from dpcore.labfile.shipped import shipped
from dpcore.labfile.stops import Stop, opened
from dpcore.labfile.table import Table
from dpcore.training.recorded import recorded
from tests.labfile.tables import FEW, certainty, drawn, shown_live, small_table

READY = "#lab:not([hidden])"
SHOWN = """() => {
    const text = (id) => document.getElementById(id).textContent;
    const accountants = {};
    for (const row of document.querySelectorAll('#verdicts tr')) {
        const name = row.querySelector('th').textContent.trim().replace(/^■ /, '');
        const cells = [...row.querySelectorAll('td')].map((cell) => cell.textContent);
        accountants[name] = [cells[0], cells[1], row.querySelector('td b').textContent[0]];
    }
    return {
        accountants,
        said: text('said'),
        lower: written('lower', true),
        people: text('people-right'),
        sure: text('sure'),
        reason: text('reason'),
    };
}"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a few stops."""
    path = tmp_path_factory.mktemp("file") / "lab.html"
    path.write_text(page_of(small_table(), "mnist"), encoding="utf-8")
    return path


@pytest.fixture
def opened_page(in_context: Callable[..., object], file: Path) -> Iterator[Callable[..., object]]:
    """Opens a file offline; nothing else is asked for, and the console stays empty."""
    asked: list[str] = []
    said: list[str] = []

    def open_file(
        width: int = 1366, path: Path = file, after: str = "", **options: object
    ) -> object:
        page = in_context(width, 800, offline=True, **options)
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(f"{path.as_uri()}{after}")
        page.wait_for_selector(READY)
        return page

    yield open_file
    assert {url.partition("#")[0].rpartition("/")[2] for url in asked} == {"lab.html"}
    assert said == []


def move(page, table: Table, stop: Stop) -> dict:
    """Move the sliders of a page to a stop, and read what it shows."""
    batch, sigma, epochs = table.stops.places(stop)
    page.evaluate("(place) => go(place)", {"batch": batch, "sigma": sigma, "epochs": epochs})
    return page.evaluate(SHOWN)


def assert_live(page, table: Table, stop: Stop) -> None:
    """Every number at a stop is the live lab's, digit for digit."""
    live = shown_live(stop, table.n, table.delta)
    shown = move(page, table, stop)
    assert shown["accountants"] == live["accountants"], stop
    assert (shown["lower"], shown["people"]) == (live["lower"], live["people"]), stop
    assert certainty(shown["sure"]) == live["sure"], stop
    assert live["steps"] in shown["said"], stop


def test_the_file_shows_the_numbers_of_the_live_lab(opened_page) -> None:
    page = opened_page()
    for sigma in FEW.sigma:
        for epochs in (1.0, 150.0):
            assert_live(page, small_table(), Stop(sigma, 256, epochs))
    assert_live(page, small_table(), Stop(1.23, 10_000, 5.0))


@pytest.mark.long
def test_two_hundred_drawn_stops_of_the_file_are_the_live_lab_s(
    opened_page, tmp_path: Path
) -> None:
    path = tmp_path / "lab.html"
    table = shipped()
    path.write_text(page_of(table, "mnist"), encoding="utf-8")
    page = opened_page(path=path)
    for stop in drawn(table.stops, 200, seed=48):
        assert_live(page, table, stop)


def test_the_browser_writes_every_code_as_dpcore_does(opened_page) -> None:
    codes = [*range(0, 45_000, 3), 1, 899, 900, 901, INFINITE]
    page = opened_page()
    for bound in (True, False):
        wanted = [text_of(code, bound) for code in codes]
        asked = "([codes, bound]) => codes.map((code) => textOf(code, bound))"
        assert page.evaluate(asked, [codes, bound]) == wanted


def test_a_phone_needs_no_scroll_to_the_side_and_lists_the_curves(opened_page) -> None:
    page = opened_page(390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator("#ends li").count() == 5
    sliders = page.locator("#sliders").bounding_box()
    assert sliders["y"] + sliders["height"] <= 800  # within reach of a thumb


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_sliders_by_hand_move_all_pictures_and_the_address(opened_page, scheme: str) -> None:
    page = opened_page(color_scheme=scheme)
    before = {
        name: page.inner_html(f"#{name}") for name in ("chart", "people", "ruler", "tradeoff")
    }
    page.focus("#sigma")
    page.keyboard.press("Home")
    assert page.inner_text("#of-sigma") == "0.3"
    assert all(page.inner_html(f"#{name}") != was for name, was in before.items())
    assert "sigma=0.3&batch=256&epochs=5" in page.url
    page.reload()
    page.wait_for_selector(READY)
    assert page.inner_text("#of-sigma") == "0.3"


def test_an_address_with_nonsense_opens_at_the_default(opened_page) -> None:
    start = opened("mnist", small_table().n)
    page = opened_page(after="#sigma=abc&batch=-1&epochs=&x=<script>")
    assert page.inner_text("#of-sigma") == f"{start.sigma:g}"
    assert page.inner_text("#of-epochs") == f"{start.epochs:g}"


def test_calibration_finds_the_least_sigma_and_says_where_there_is_none(opened_page) -> None:
    page = opened_page()
    for asked, said in (
        ("1", "Sigma 4: epsilon ≤"),
        ("2", "Sigma 1.23: epsilon ≤"),
        ("0", "above 0"),
        ("1e-9", "No stop"),
        ("x", "above 0"),
        ("Infinity", "above 0"),
        ("1,000", "Write it without a comma"),
        ("3,5", "Write it without a comma"),
        (" 1000 ", "It is the smallest stop."),
    ):
        page.fill("#target", asked)
        assert said in page.inner_text("#enough"), asked
    before = page.inner_text("#of-sigma")
    for refused in ("1,000", "3,5", "Infinity", ""):
        page.fill("#target", refused)
        page.press("#target", "Enter")
        assert page.inner_text("#of-sigma") == before, refused
    page.fill("#target", "1")
    page.press("#target", "Enter")
    assert page.inner_text("#of-sigma") == "4"


def recorded_at_most(page) -> float:
    """The most that was recorded with at most the epsilon on screen, of 100."""
    shown = float(page.inner_text("#said").split()[2])
    return max(100 * row.accuracy for row in recorded("mnist", "sample") if row.epsilon <= shown)


def test_what_is_recorded_fits_below_the_epsilon_or_a_sentence_says_that_nothing_does(
    opened_page,
) -> None:
    page = opened_page()
    move(page, small_table(), Stop(1.23, 256, 5.0))
    assert "Recorded" in page.inner_text("#recorded")
    assert page.inner_text("#right") == f"{recorded_at_most(page):.0f} of 100 right"
    move(page, small_table(), Stop(100.0, 256, 0.1))
    assert page.inner_text("#right") == "–"
    assert "No run as private as this is recorded" in page.inner_text("#recorded")


def test_no_promise_at_all_is_said_and_drawn(opened_page) -> None:
    page = opened_page()
    shown = move(page, small_table(), Stop(0.3, 256, 150.0))
    assert shown["people"] == "100 of 100"
    assert "No promise at all" in shown["sure"]
    assert "None, above 100" in shown["reason"]


def test_labels_are_moved_apart_and_keep_their_order(opened_page) -> None:
    page = opened_page()
    spread = page.evaluate("() => spread([50, 52, 51, 300, 10], 19, 14, 306)")
    falling = sorted(range(5), key=lambda k: [50, 52, 51, 300, 10][k])
    placed = [spread[k] for k in falling]
    assert all(high - low >= 19 for low, high in pairwise(placed))
    assert spread[4] == 14
    assert spread[3] == 300


HATCHED = """() => [...document.querySelectorAll('.claimed')].filter((each) => {
    const { width, height } = each.getBBox();
    return each.checkVisibility() && width * height > 0;
}).map((each) => each.dataset.area)"""


@pytest.mark.parametrize("width", [1366, 390])
def test_what_claims_too_much_is_hatched_while_one_points_at_its_label(opened_page, width) -> None:
    page = opened_page(width)
    move(page, small_table(), Stop(1.23, 256, 5.0))
    assert page.evaluate(HATCHED) == []
    marks = page.locator("[data-claims]")
    assert [each.get_attribute("data-claims") for each in marks.all()] == ["mma", "gdp"]
    for plane in ("gdp", "mma"):
        page.locator(f"[data-claims={plane}]").hover()
        assert page.evaluate(HATCHED) == [plane]
    page.locator("h1").hover()
    assert page.evaluate(HATCHED) == []
    page.focus("#epochs")
    page.keyboard.press("Tab")
    assert page.evaluate(HATCHED) == ["mma"]
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(HATCHED) == []
    move(page, small_table(), Stop(100.0, 256, 5.0))
    assert marks.count() == 0, "what CLT claims too much lies below the axis"


def test_a_tap_hatches_until_the_next_one(opened_page) -> None:
    page = opened_page(390, has_touch=True, is_mobile=True)
    move(page, small_table(), Stop(1.23, 256, 5.0))
    page.locator("[data-claims=gdp]").tap()
    assert page.evaluate(HATCHED) == ["gdp"]
    page.locator("#said").tap()
    assert page.evaluate(HATCHED) == []


def test_labels_beyond_the_axis_keep_the_order_of_their_values(opened_page) -> None:
    page = opened_page()
    move(page, small_table(), Stop(100.0, 256, 5.0))
    script = """() => [...document.querySelectorAll('#chart text')]
        .filter((each) => each.textContent.startsWith('■'))
        .sort((one, other) => one.getAttribute('y') - other.getAttribute('y'))
        .map((each) => each.textContent.split(' ').at(-1))"""
    assert page.evaluate(script) == ["MMA", "Moments", "Rényi", "Certified", "CLT"]


def test_a_card_of_the_lesson_moves_sigma(opened_page) -> None:
    page = opened_page()
    assert page.locator("#lesson li").count() == 5
    page.locator("#lesson button", has_text="Set sigma to 4").first.click()
    assert page.inner_text("#of-sigma") == "4"


@pytest.mark.parametrize("sandbox", ["allow-scripts", ""])
def test_in_a_sandbox_it_works_or_says_its_numbers_as_text(
    in_context, file: Path, tmp_path: Path, sandbox: str
) -> None:
    outer = tmp_path / "outer.html"
    outer.write_text(
        f'<iframe sandbox="{sandbox}" src="{file.as_uri()}" width=1200 height=700></iframe>'
    )
    page = in_context(offline=True)
    page.goto(outer.as_uri())
    inner = page.frames[1]
    inner.wait_for_selector(READY if sandbox else "#still")
    if sandbox:
        inner.focus("#sigma")
        inner.page.keyboard.press("Home")
        assert inner.inner_text("#of-sigma") == "0.3"
    else:
        assert "the best spy has at most" in inner.inner_text("#still")
        assert inner.is_hidden("#lab")
