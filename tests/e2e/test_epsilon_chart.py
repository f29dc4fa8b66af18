"""The Lab's chart of epsilon in a browser: what claims too much is hatched while one points at it,
and what lies beyond the axis is said.
"""

import pytest

from tests.e2e.looks import box, complete, opened
from tests.e2e.server import Server

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.long

CHART = ".st-key-epsilon_chart"
LABELS = f"{CHART} .annotation-text"
HATCHED = f"{CHART} .js-fill[style*='url(']"
MARKS = f"{CHART} .live-claims [data-claims]"
UNSAFE = ".signs [data-claims]"
AREAS = """path => [...document.querySelectorAll(path)]
    .map(each => each.getBBox()).filter(({width, height}) => width * height > 0).length"""


def hatched(page: Page, count: int) -> None:
    """Wait until so many areas are hatched; each of them is one that can be seen."""
    expect(page.locator(HATCHED)).to_have_count(count)
    assert page.evaluate(AREAS, HATCHED) == count


def mark(page: Page, label: str):
    return page.locator(f"{MARKS}[data-claims='{label}']")


@pytest.mark.parametrize("scale", ["log", "linear"])
@pytest.mark.parametrize(
    ("sigma", "labels"), [("0.3", ["MMA"]), ("0.7", ["CLT", "MMA"]), ("1.23", ["MMA", "CLT"])]
)
def test_what_claims_too_much_is_hatched_while_a_mouse_points_at_its_label(
    page: Page, app: Server, sigma: str, labels: list[str], scale: str
):
    opened(page, f"{app.url}/?sigma={sigma}&scale={scale}")
    hatched(page, 0)
    assert all(box(each)["height"] >= 24 for each in page.locator(MARKS).all())
    assert [each.get_attribute("data-claims") for each in page.locator(MARKS).all()] == labels
    for label in labels:
        text = page.locator(LABELS).filter(has_text=label)
        assert abs(box(text)["y"] - box(mark(page, label))["y"]) < 8
        mark(page, label).hover()
        hatched(page, 1)
    page.mouse.move(5, 5)
    hatched(page, 0)
    page.locator(UNSAFE).hover()
    hatched(page, len(labels))
    page.mouse.move(5, 5)
    hatched(page, 0)


def test_keys_reach_the_labels_and_the_hatching_stays_while_the_chart_is_drawn_anew(
    page: Page, app: Server
):
    opened(page, f"{app.url}/?sigma=0.7")
    page.locator(f"{CHART} .live-more").focus()
    page.keyboard.press("Shift+Tab")
    expect(mark(page, "MMA")).to_be_focused()
    hatched(page, 1)
    page.set_viewport_size({"width": 1300, "height": 768})
    complete(page)
    expect(mark(page, "MMA")).to_be_focused()
    hatched(page, 1)
    page.keyboard.press("Shift+Tab")
    expect(mark(page, "CLT")).to_be_focused()
    hatched(page, 1)
    page.keyboard.press("Shift+Tab")
    hatched(page, 0)
    page.locator(f"{CHART} .live-more").focus()
    page.keyboard.press("Tab")
    expect(page.locator(UNSAFE)).to_be_focused()
    hatched(page, 2)


@pytest.mark.parametrize("width", [1024, 390])
def test_a_finger_hatches_by_a_tap_until_the_next_one(in_context, app: Server, width: int):
    page = in_context(width, 844, has_touch=True, is_mobile=True)
    opened(page, f"{app.url}/?sigma=0.7")
    hatched(page, 0)
    page.locator(UNSAFE).tap()
    hatched(page, 2)
    page.locator("h1").tap()
    hatched(page, 0)
    page.locator(f"{CHART} [data-claims=CLT]").tap()  # beside the plot, or in the key below it
    hatched(page, 1)
    page.locator("h1").tap()
    hatched(page, 0)


def test_beyond_the_axis_labels_have_arrows_and_the_order_of_their_values(page: Page, app: Server):
    opened(page, f"{app.url}/?sigma=100")
    labels = page.locator(LABELS)
    expect(labels.filter(has_text="↓")).to_have_count(3)
    tops = {each.text_content() or "": box(each)["y"] for each in labels.all()}
    names = [text.rpartition(" ")[2] for text in sorted(tops, key=lambda text: tops[text])]
    assert names == ["MMA", "Moments", "Rényi", "Certified", "CLT"]
    expect(page.locator(MARKS)).to_have_count(0)  # their areas are out of sight


def test_a_plot_without_a_proven_epsilon_says_so(page: Page, app: Server):
    for scale in ("log", "linear"):
        opened(page, f"{app.url}/?sigma=0.01&scale={scale}")
        expect(page.locator(LABELS)).to_have_text(["No proven epsilon below 100:no promise at all"])
        figure = page.locator(f"{CHART} [role=figure]")
        assert "no promise at all" in (figure.evaluate("each => each.ariaLabel") or "")
