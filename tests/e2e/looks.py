"""A page in a browser: opened until all of it is there, and looked at: what runs out of it, and
what axe finds.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.server import STILL

pytest.importorskip("playwright")
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import FloatRect, Locator, Page, TimeoutError, WebSocketRoute, expect

SIZES = ((1366, 768), (1024, 768), (390, 844))
WIDE, NARROW = SIZES[0], SIZES[-1]
SHORTEST = 100  # pixels of a slider that a hand can still set
# Streamlit shows grey bars where the code of a part is still loading, and a chart draws itself
# after its code has come.
UNFINISHED = """() => {
    const all = path => [...document.querySelectorAll(path)].filter(each => each.checkVisibility());
    const fits = plot => {
        const drawn = plot.querySelector('.main-svg')?.getBoundingClientRect().width;
        return !plot.clientWidth || Math.abs(drawn - plot.clientWidth) <= 1;
    };
    return Object.entries({
        'a script': document.querySelector('[data-testid=stApp]')
            ?.dataset.testScriptState !== 'notRunning',
        'the heading': !all('h1').length,
        'what is stale': all('[data-testid=stSkeleton], [data-stale=true]').length,
        'a component': !all('[data-testid=stBidiComponentRegular]')
            .every(each => each.children.length > 1),
        'a width': !all('.live-plot').every(fits),
        'a chart': !all('[data-testid=stPlotlyChart]').every(e => e.querySelector('.main-svg')),
        'a table': !all('[data-testid=stDataFrame]')
            .every(each => each.querySelector('[role=gridcell]')),
    }).filter(([, missing]) => missing).map(([name]) => name);
}"""
OUTSIDE = """() => {
    const width = document.documentElement.clientWidth;
    const shown = document.querySelectorAll('button, input, [data-testid=stSelectbox], table');
    // parts that scroll by themselves
    const scrolls = e => e.closest('[role=region], [data-testid=stMultiSelectTagsContainer]');
    return [...shown].filter(e => e.getClientRects().length && !scrolls(e)
        && e.getBoundingClientRect().right > width)
        .map(e => `${e.tagName} ${e.innerText.slice(0, 40)}`);
}"""
SLIDERS = (
    "() => [...document.querySelectorAll('input[type=range]')].map(e =>"
    " e.getBoundingClientRect().width)"
)
IS_DARK = """() => getComputedStyle(document.querySelector("[data-testid=stApp]")).backgroundColor
    .match(/[0-9]+/g).slice(0, 3).every(each => each < 128)"""
AT_REST = "() => document.getAnimations().every(each => each.playState !== 'running')"
NEXT_FRAME = "() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
HEIGHT = """() => Math.max(...[
    ...document.querySelectorAll("[data-testid=stMain], [data-testid=stColumn]")]
    .map(each => each.scrollHeight + 100))"""  # of the page, and of a column that scrolls by itself
BARRIERS = """async options => {
    const {violations} = await axe.run(document, {resultTypes: ["violations"], ...options});
    return violations.flatMap(({id, nodes}) => nodes.map(({html, failureSummary}) =>
        `${id}: ${html.slice(0, 200)} ${failureSummary}`));
}"""


def go_to(page: Page, title: str) -> None:
    """Choose a page from the menu."""
    page.get_by_test_id("stTopNavLink").filter(has_text=title).click()


def complete(page: Page) -> Page:
    """The page, once its script has ended and every part of it is drawn in its width."""
    page.wait_for_selector(STILL)
    try:
        page.wait_for_function(f"() => !({UNFINISHED})().length", polling=100)
    except TimeoutError as error:
        raise AssertionError(f"The page still waits for {page.evaluate(UNFINISHED)}.") from error
    return page


UNFOLDED = """() => new Promise((done) => {
    const folded = document.querySelector('.st-key-all_settings');
    let height = -1, same = 0;
    const look = () => {
        const now = folded.getBoundingClientRect().height;
        same = now === height ? same + 1 : 0;
        height = now;
        if (same > 20) done(); else requestAnimationFrame(look);
    };
    look();
})"""


def all_settings(page: Page) -> None:
    """Open the settings of the Lab that are folded."""
    folded = page.locator(".st-key-all_settings details:not([open]) summary")
    if folded.count():
        folded.click()
    expect(page.locator(".st-key-reset")).to_be_visible()
    page.evaluate(UNFOLDED)  # a press on what still moves would miss it
    complete(page)


def alone(page: Page) -> None:
    """Switch off the run without privacy that the Lab starts beside another one."""
    all_settings(page)
    page.get_by_text("non-private run beside it").click()
    expect(page.locator(".st-key-baseline input")).not_to_be_checked()
    complete(page)


def shown_whole(page: Page) -> None:
    """Follow the link below the Lab's chart to all of a run."""
    page.get_by_role("link", name="One run, whole").first.click()
    page.wait_for_url(re.compile(r"/runs\?.*one="))


def opened(page: Page, url: str) -> Page:
    """The page, complete at this address."""
    page.goto(url)
    return complete(page)


def resized(page: Page, size: tuple[int, int]) -> None:
    """Give the window another size, and wait until the page is drawn for it."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.evaluate(NEXT_FRAME)
    complete(page)


def in_theme(page: Page, theme: str) -> None:
    """Let the browser prefer this theme, and wait until the page has followed."""
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    page.wait_for_function(f"() => ({IS_DARK})() === {'true' if theme == 'dark' else 'false'}")


def too_wide(page: Page) -> list[str]:
    """What runs out of the window, and sliders that are too short for a hand."""
    # Those of shut expanders have no width.
    sliders = [each for each in page.evaluate(SLIDERS) if each]
    return page.evaluate(OUTSIDE) + [
        f"slider of {each} pixels" for each in sliders if each < SHORTEST
    ]


def barriers(page: Page, options: dict | None = None) -> list[str]:
    """What axe finds on the page as it stands."""
    page.mouse.move(0, 0)  # what the pointer rests on has other colours
    page.wait_for_function(
        "() => !document.querySelector('[role=tooltip]')"
    )  # Streamlit's lie outside of every landmark
    page.evaluate(NEXT_FRAME)
    page.wait_for_function(AT_REST)  # what is only half faded in has no contrast yet
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    return page.evaluate(BARRIERS, options or {})


def looked_at(page: Page) -> None:
    """Axe finds nothing on the page, and nothing runs out of it, now and on a phone."""
    found = {"axe": barriers(complete(page)), "wide": too_wide(page)}
    resized(page, NARROW)
    found["narrow"] = too_wide(page)
    assert not any(found.values()), found
    expect(page.get_by_test_id("stException")).to_have_count(0)


def box(what: Locator) -> FloatRect:
    """Where something stands, once it is to be seen: a label is a new element each time its chart
    is drawn.
    """
    while not (found := what.bounding_box()):
        expect(what).to_be_visible()
    return found


def inside(page: Page, what: Locator) -> bool:
    """Whether all of it is on the screen."""
    place, size = box(what), page.viewport_size
    assert size
    return place["y"] >= 0 and place["x"] >= 0 and place["y"] + place["height"] <= size["height"]


def in_the_middle(page: Page, what: Locator) -> Locator:
    """Something that was unfolded, once all is at rest and it is scrolled to the middle.

    Options that are opened before the browser has told of a scroll are shut by it.
    """
    page.wait_for_function(AT_REST)
    what.evaluate("each => each.scrollIntoView({block: 'center'})")
    page.evaluate(NEXT_FRAME)
    return what


def drag(page: Page, slider: Locator, share: float) -> None:
    """Take the slider at a fifth of its width, and let go at another share."""
    place = box(slider)
    page.mouse.move(place["x"] + 0.2 * place["width"], place["y"] + place["height"] / 2)
    page.mouse.down()
    page.mouse.move(place["x"] + share * place["width"], place["y"] + place["height"] / 2, steps=20)
    page.mouse.up()


def moves_of(page: Page) -> list[list[object]]:
    """The moves of sliders that the server hears of from now on, each with its number."""
    values: list[list[object]] = []

    def note(frame: str | bytes) -> None:
        text = frame if isinstance(frame, str) else frame.decode("utf-8", "replace")
        moves = [json.loads(each)["moved"] for each in re.findall(r'\{"moved":\[.*?\]\}', text)]
        # Every later request says them again.
        values.extend(each for each in moves if each not in values)

    page.on("websocket", lambda socket: socket.on("framesent", note))
    return values


class Wire:
    """What a tab and its server say to each other from when it is opened: a test may hold it up or
    let it get lost.
    """

    def __init__(self, page: Page, lost: Callable[[bytes], bool] = lambda said: False) -> None:
        self.sent: list[bytes] = []  # to the server, lost or not
        self.held: list[bytes | str] = []  # from the server
        self.holding = False
        self.page, self.lost = page, lost
        page.route_web_socket(re.compile("stream"), self._between)

    def _between(self, socket: WebSocketRoute) -> None:
        self.socket, server = socket, socket.connect_to_server()
        self.to_server = server.send

        def up(message: bytes | str) -> None:
            self.sent.append(message if isinstance(message, bytes) else message.encode())
            if not self.lost(self.sent[-1]):
                server.send(message)

        socket.on_message(up)
        server.on_message(
            lambda message: self.held.append(message) if self.holding else socket.send(message)
        )

    def let_one_through(self) -> None:
        """Let the browser have the next message of the server, once it is there."""
        while not self.held:
            self.page.evaluate("() => 0")  # and meanwhile the server may answer
        self.socket.send(self.held.pop(0))
        self.page.evaluate("() => new Promise(heard => setTimeout(heard))")

    def release(self) -> None:
        """Hold up nothing any more."""
        while self.held:
            self.socket.send(self.held.pop(0))
        self.holding = False


def chosen_of_chart(page: Page, choice: str, within: str = "body") -> None:
    """Choose in the menu of a chart: Numbers, SVG or PNG."""
    page.locator(f"{within} .live-more").click()
    page.locator(f"{within} .live-menu").get_by_role("button", name=choice).click()


def picture_of(page: Page, kind: str, within: str) -> Path:
    """The picture of a chart that its menu brings."""
    with page.expect_download() as waiting:
        chosen_of_chart(page, kind, within)
    return waiting.value.path()


def saved(page: Page, button: str, within: str = "body") -> Path:
    """The file that a button brings."""
    with page.expect_download() as waiting:
        page.locator(within).get_by_role("button", name=button).click()
    return waiting.value.path()
