"""Charts that follow a run in the browser: each event once, through sleep and reload, and Python
rests meanwhile.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from threading import Event, Thread

import pytest

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.events import Evaluated, Stepped
from tests.e2e.looks import chosen_of_chart, complete, picture_of
from tests.e2e.looks import opened as opened_at
from tests.e2e.server import Server
from tests.pages.train_page import CLASSES, CONFIG, recorded

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.long

ACCURACY, LOSS = ".st-key-accuracy_chart", ".st-key-loss_chart"
POINTS = "path => document.querySelector(`${path} .live-plot`)?.data?.[0]?.x?.length ?? 0"
SLOWER = 4  # times than this machine
DRAWN = """() => {
    const plots = [...document.querySelectorAll(".live-plot")].filter(each => each.clientWidth);
    const shown = each => each.data?.some(trace => trace.x?.length)
        && each.querySelector(".main-svg .trace path");
    return plots.length > 2 && plots.every(shown);
}"""


@pytest.fixture
def store(app: Server):
    with Store(app.home) as store:
        yield store


@pytest.fixture
def run(store: Store):
    """A run after 40 of its 79 steps; its worker is on another machine, which is this test."""
    run = recorded(store, CONFIG, 40)
    with signs_of_life(store, run):
        yield run
    if store.run(run).active:
        store.end(run, Status.CANCELLED)


@contextmanager
def signs_of_life(store: Store, run: str) -> Iterator[None]:
    """What a worker gives every second, else the run is taken for lost."""
    over = Event()

    def beat() -> None:
        while not over.wait(1):
            store.beat(run)

    beating = Thread(target=beat)
    beating.start()
    try:
        yield
    finally:
        over.set()
        beating.join()


def goes_on(store: Store, run: str, step: int) -> None:
    """What a worker says after a step."""
    store.append(run, Stepped(step, step * CONFIG.q, 1.5, 0.5, (0.1, 0.2, 0.3, 0.4, 0.5), 20.0))
    store.append(run, Evaluated(step, step * CONFIG.q, 0.5 + 0.004 * step, 1.0, CLASSES))


def opened(page: Page, app: Server, run: str, count: int = 4) -> Page:
    opened_at(page, f"{app.url}/runs?one={run}")
    wait_for_points(page, count)
    return page


def wait_for_points(page: Page, count: int) -> None:
    page.wait_for_function(f"count => ({POINTS})('{ACCURACY}') === count", arg=count)


def points(page: Page, path: str = ACCURACY) -> list[float]:
    return page.evaluate("path => document.querySelector(`${path} .live-plot`).data[0].x", path)


def against(page: Page, name: str) -> None:
    """Let the page draw accuracy against something else, which is one request."""
    page.get_by_role("button", name="Chart options").click()
    page.get_by_role("radio", name=name).click()
    page.keyboard.press("Escape")
    page.wait_for_function(
        f"name => document.querySelector('{ACCURACY}"
        " .live-plot').layout.xaxis.title.text.startsWith(name)",
        arg=name,
    )
    complete(page)


def heard_of(page: Page) -> list[bytes | str]:
    """What the browser asks of Python, from now on."""
    said: list[bytes | str] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: said.append(frame)))
    return said


def test_everything_grows_with_the_run_and_python_rests(
    page: Page, app: Server, store: Store, run: str
):
    said, asked = heard_of(page), []
    page.on(
        "request",
        lambda request: asked.append(request.url) if f"/runs/{run}" in request.url else None,
    )
    opened(page, app, run)
    before = len(said)
    drawings = int(page.locator(f"{ACCURACY} .live-chart").get_attribute("data-drawings") or 0)
    for step in (50, 60, 70):
        goes_on(store, run, step)
    wait_for_points(page, 7)
    expect(page.locator(f"{ACCURACY} .annotation-text")).to_have_text("━━ 78.0 %")
    expect(page.get_by_test_id("stMetricValue").first).to_have_text("78.0 %")
    expect(page.get_by_test_id("stProgress")).to_contain_text(
        re.compile(r"step 70 of 79, 20 steps/s, [12] s left on cpu")
    )
    assert points(page) == points(page, LOSS) == [step * CONFIG.q for step in range(10, 71, 10)]
    now = page.evaluate(
        "() => document.querySelector('.st-key-spent_chart .live-plot').layout.shapes[0].x0"
    )
    assert now == 70 * CONFIG.q
    assert len(asked) == 1  # one connection for all the charts
    assert (
        int(page.locator(f"{ACCURACY} .live-chart").get_attribute("data-drawings") or 0)
        <= drawings + 6
    )
    against(page, "epsilon")
    assert len(said) == before + 1  # this click, and nothing before it


def test_proposals_and_norms_follow_too_and_python_rests(page: Page, app: Server, store: Store):
    config = replace(CONFIG, acceptance="sa", public=1000)
    run, said = recorded(store, config, 0), heard_of(page)
    strip, fan = ".st-key-decisions_chart", ".st-key-norms_chart"
    with signs_of_life(store, run):
        opened_at(page, f"{app.url}/runs?one={run}")
        expect(page.locator(f"{strip} .main-svg").first).to_be_visible()
        expect(page.locator(f"{fan} .main-svg").first).to_be_visible()
        before = len(said)
        for step, decisions, accepted in ((3, "aar", 2), (5, "ra", 3)):
            store.append(
                run,
                Stepped(
                    step,
                    step * config.q,
                    1.0,
                    0.9,
                    (0.1, 0.2, 0.3, 0.4, 0.5),
                    20.0,
                    decisions,
                    accepted,
                ),
            )
        expect(page.locator(".st-key-accepted_figures dd").first).to_have_text("3 / 2")
        expect(page.locator(".st-key-accepted_figures dd").last).to_have_text(re.compile(r"[\d.]+"))
        page.wait_for_function(f"() => ({POINTS})('{strip}') === 5 && ({POINTS})('{fan}') === 2")
        shown = page.evaluate(
            f"() => document.querySelector('{strip} .live-plot').data.map(each => each.y)"
        )
        assert shown == [[1, 1, 0, 0, 1], [0, 0, -1, -1, 0]]
        against(page, "epsilon")
        assert len(said) == before + 1
    store.end(run, Status.CANCELLED)


def test_a_browser_that_was_away_gets_each_event_once(
    page: Page, app: Server, store: Store, run: str
):
    opened(page, app, run)
    with page.expect_event("requestfailed", lambda request: "/events?" in request.url):
        page.context.set_offline(True)
        page.evaluate("() => dispatchEvent(new Event('online'))")  # it tries again, and fails
    for step in (50, 60):
        goes_on(store, run, step)
    page.context.set_offline(False)
    wait_for_points(page, 6)
    goes_on(store, run, 70)
    wait_for_points(page, 7)
    assert points(page) == [step * CONFIG.q for step in range(10, 71, 10)]
    page.reload()
    wait_for_points(page, 7)
    assert points(page) == [step * CONFIG.q for step in range(10, 71, 10)]


def test_a_page_that_python_draws_anew_keeps_what_its_browser_has(
    page: Page, app: Server, store: Store, run: str
):
    opened(page, app, run)
    goes_on(store, run, 50)
    wait_for_points(page, 5)
    against(page, "epsilon")
    goes_on(store, run, 60)
    wait_for_points(page, 6)
    spent = points(page)
    assert spent == sorted(spent)
    # Python computes the epsilon at the very step; the browser's is that of the next listed one.
    page.reload()
    wait_for_points(page, 6)
    exact = points(page)
    assert spent[:5] == pytest.approx(exact[:5], rel=1e-6)
    assert exact[5] * (1 - 1e-6) <= spent[5] <= exact[5] * 1.05


def test_a_run_that_ended_before_is_drawn_and_asked_for_no_more(
    page: Page, app: Server, runs: list[str]
):
    asked = []
    page.on(
        "request", lambda request: asked.append(request.url) if "/events?" in request.url else None
    )
    opened(page, app, runs[0], 7)
    against(page, "epsilon")  # drawn anew, it asks for nothing either
    assert asked == []


def test_the_numbers_can_be_read_and_the_chart_kept_with_its_title(
    page: Page, app: Server, store: Store, run: str
):
    opened(page, app, run)
    foot = page.locator(f"{ACCURACY} .live-foot")
    chosen_of_chart(page, "Numbers", ACCURACY)
    expect(foot.locator("tbody tr")).to_have_count(4)
    goes_on(store, run, 50)
    expect(foot.locator("tbody tr")).to_have_count(5)
    expect(foot.locator("tbody tr").last.locator("td").last).to_have_text("70")
    expect(page.get_by_role("figure", name="Line chart of test accuracy")).to_be_visible()
    picture = picture_of(page, "SVG", ACCURACY).read_text()
    assert "MNIST cnn, SGD, sigma 1.23" in picture
    assert f"one={run}" in picture


def test_a_browser_that_cannot_have_the_modules_is_shown_drawn_charts(
    page: Page, app: Server, store: Store, run: str
):
    page.route("**/files/**", lambda route: route.abort())
    page.goto(f"{app.url}/runs?one={run}")
    expect(page.get_by_test_id("stPlotlyChart").first).to_be_visible()
    expect(page.get_by_text(re.compile(r"step 40 of 79.* This is drawn once"))).to_be_visible()


def test_no_chart_stays_blank_after_resume_in_a_slow_browser(page: Page, app: Server, store: Store):
    run = recorded(store, replace(CONFIG, model="mlp", epochs=40.0), 40, Status.CANCELLED)
    opened(page, app, run)
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.get_by_role("button", name="Resume", exact=True).click()
    page.wait_for_url(lambda url: "one=" in url and run not in url)
    (rest,) = (each.id for each in store.runs() if each.id in page.url)
    expect(page.locator(f".st-key-progress_{rest}")).to_be_visible()
    page.wait_for_function(DRAWN)
    store.cancel(rest)


def test_a_run_that_is_taken_out_of_the_store_while_it_is_watched_is_named_and_the_page_goes_on(
    page: Page, app: Server, store: Store
):
    run = recorded(store, CONFIG, 40)
    with signs_of_life(store, run):
        opened(page, app, run)
    with closing(sqlite3.connect(store.path)) as db, db:
        db.execute("DELETE FROM events WHERE run = ?", (run,))
        db.execute("DELETE FROM runs WHERE id = ?", (run,))
    expect(page.get_by_text(f"This machine has no one={run}.")).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)
    page.get_by_role("button", name="All runs").click()
    expect(page.locator("table.runs")).to_be_visible()
