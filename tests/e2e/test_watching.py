"""Charts that follow a run in the browser: each event once, through sleep and reload, and Python rests meanwhile."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import pytest

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.events import Evaluated, Finished, Stepped
from dpcore.training.plan import plan
from tests.e2e.server import PATIENCE, STILL, Server, serving
from tests.pages.train_page import CLASSES, CONFIG, recorded

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

ACCURACY, LOSS = ".st-key-accuracy_chart", ".st-key-loss_chart"
POINTS = "path => document.querySelector(`${path} .live-plot`)?.data?.[0]?.x?.length ?? 0"


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


def opened(page: Page, app: Server, run: str) -> Page:
    page.goto(f"{app.url}/train?run={run}")
    wait_for_points(page, 4)
    return page


def wait_for_points(page: Page, count: int) -> None:
    page.wait_for_function(f"count => ({POINTS})('{ACCURACY}') === count", arg=count, timeout=PATIENCE)


def points(page: Page, path: str = ACCURACY) -> list[float]:
    return page.evaluate("path => document.querySelector(`${path} .live-plot`).data[0].x", path)


def test_everything_grows_with_the_run_and_python_rests(page: Page, app: Server, store: Store, run: str):
    talked, asked = [], []
    page.on("request", lambda request: asked.append(request.url) if f"/runs/{run}" in request.url else None)

    def listen(socket) -> None:
        socket.on("framereceived", lambda frame: talked.append(frame))
        socket.on("framesent", lambda frame: talked.append(frame))

    page.on("websocket", listen)
    opened(page, app, run)
    page.wait_for_timeout(1500)
    before = len(talked)
    drawings = int(page.locator(f"{ACCURACY} .live-chart").get_attribute("data-drawings") or 0)
    for step in (50, 60, 70):
        goes_on(store, run, step)
        page.wait_for_timeout(300)
    wait_for_points(page, 7)
    expect(page.locator(f"{ACCURACY} .annotation-text")).to_have_text("━━ 78.0 %")
    expect(page.get_by_test_id("stMetricValue").first).to_have_text("78.0 %")
    expect(page.get_by_test_id("stProgress")).to_contain_text("step 70 of 79, 20 steps/s, 1 s left on cpu")
    assert points(page) == points(page, LOSS) == [step * CONFIG.q for step in range(10, 71, 10)]
    now = page.evaluate("() => document.querySelector('.st-key-spent_chart .live-plot').layout.shapes[0].x0")
    assert now == 70 * CONFIG.q
    assert len(talked) == before
    assert len(asked) == 1  # one connection for all the charts
    assert int(page.locator(f"{ACCURACY} .live-chart").get_attribute("data-drawings") or 0) <= drawings + 6


def test_proposals_and_norms_follow_too_and_python_rests(page: Page, app: Server, store: Store):
    config = replace(CONFIG, acceptance="sa", public=1000)
    run, talked = recorded(store, config, 0), []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: talked.append(frame)))
    strip, fan = ".st-key-decisions_chart", ".st-key-norms_chart"
    with signs_of_life(store, run):
        page.goto(f"{app.url}/train?run={run}")
        expect(page.locator(f"{strip} .main-svg").first).to_be_visible()
        expect(page.locator(f"{fan} .main-svg").first).to_be_visible()
        page.wait_for_selector(STILL)
        page.wait_for_timeout(1500)
        before = len(talked)
        for step, decisions, accepted in ((3, "aar", 2), (5, "ra", 3)):
            store.append(
                run, Stepped(step, step * config.q, 1.0, 0.9, (0.1, 0.2, 0.3, 0.4, 0.5), 20.0, decisions, accepted)
            )
        expect(page.locator(".st-key-accepted_figures dd").first).to_have_text("3 / 2")
        expect(page.locator(".st-key-accepted_figures dd").last).to_have_text(re.compile(r"[\d.]+"))
        page.wait_for_function(f"() => ({POINTS})('{strip}') === 5 && ({POINTS})('{fan}') === 2", timeout=PATIENCE)
        shown = page.evaluate(f"() => document.querySelector('{strip} .live-plot').data.map(each => each.y)")
        assert shown == [[1, 1, 0, 0, 1], [0, 0, -1, -1, 0]]
        assert len(talked) == before
    store.end(run, Status.CANCELLED)


def test_a_browser_that_was_away_gets_each_event_once(page: Page, app: Server, store: Store, run: str):
    opened(page, app, run)
    page.context.set_offline(True)
    for step in (50, 60):
        goes_on(store, run, step)
    page.wait_for_timeout(1500)
    page.context.set_offline(False)
    wait_for_points(page, 6)
    goes_on(store, run, 70)
    wait_for_points(page, 7)
    assert points(page) == [step * CONFIG.q for step in range(10, 71, 10)]
    page.reload()
    wait_for_points(page, 7)
    assert points(page) == [step * CONFIG.q for step in range(10, 71, 10)]


def test_a_page_that_python_draws_anew_keeps_what_its_browser_has(page: Page, app: Server, store: Store, run: str):
    opened(page, app, run)
    goes_on(store, run, 50)
    wait_for_points(page, 5)
    page.get_by_role("radio", name="epsilon").click()
    page.wait_for_function(f"() => document.querySelector('{ACCURACY} .live-plot').layout.xaxis.title.text != 'epoch'")
    goes_on(store, run, 60)
    wait_for_points(page, 6)
    spent = points(page)
    assert spent == sorted(spent)
    page.reload()  # Python computes the epsilon at the very step; the browser's is that of the next listed one
    wait_for_points(page, 6)
    exact = points(page)
    assert spent[:5] == pytest.approx(exact[:5], rel=1e-6)
    assert exact[5] * (1 - 1e-6) <= spent[5] <= exact[5] * 1.05


def test_two_viewers_see_the_same_and_the_end(page: Page, app: Server, store: Store, run: str):
    other = page.context.new_page()
    for each in (page, other):
        opened(each, app, run)
    goes_on(store, run, 50)
    for each in (page, other):
        wait_for_points(each, 5)
    assert points(page) == points(other)
    store.append(run, Finished(plan(CONFIG).steps, 4.0, 0.8))
    store.end(run, Status.FINISHED)
    for each in (page, other):
        expect(each.get_by_test_id("stProgress")).to_contain_text("finished at step 50 of 79")
        expect(each.get_by_role("button", name="Cancel")).to_have_count(0)
        assert len(points(each)) == 5


def test_a_run_that_ended_before_is_drawn_and_asked_for_no_more(page: Page, app: Server, runs: list[str]):
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/events?" in request.url else None)
    page.goto(f"{app.url}/train?run={runs[0]}")
    wait_for_points(page, 7)
    page.wait_for_timeout(1000)
    assert asked == []


def test_the_numbers_can_be_read_and_the_chart_kept_with_its_title(page: Page, app: Server, store: Store, run: str):
    opened(page, app, run)
    foot = page.locator(f"{ACCURACY} .live-foot")
    foot.get_by_text("Numbers").click()
    expect(foot.locator("tbody tr")).to_have_count(4)
    goes_on(store, run, 50)
    expect(foot.locator("tbody tr")).to_have_count(5)
    expect(foot.locator("tbody tr").last.locator("td").last).to_have_text("70")
    expect(page.get_by_role("figure", name="Line chart of test accuracy")).to_be_visible()
    with page.expect_download() as waiting:
        foot.get_by_role("button", name="SVG").click()
    picture = waiting.value.path().read_text()
    assert "MNIST cnn, SGD, sigma 1.23" in picture
    assert f"run={run}" in picture


def test_a_browser_that_cannot_have_the_modules_is_shown_drawn_charts(page: Page, app: Server, store: Store, run: str):
    page.route("**/files/**", lambda route: route.abort())
    page.goto(f"{app.url}/train?run={run}")
    expect(page.get_by_test_id("stPlotlyChart").first).to_be_visible()
    expect(page.get_by_text("step 40 of 79")).to_be_visible()
    goes_on(store, run, 50)
    expect(page.get_by_text("step 50 of 79")).to_be_visible()


def test_a_page_without_the_app_draws_its_charts_itself(browser, tmp_path: Path):
    with serving(tmp_path, "pages/train.py") as server, Store(server.home) as store:
        run = recorded(store, CONFIG, 40)
        with signs_of_life(store, run):
            page = browser.new_page()
            page.goto(f"{server.url}/?run={run}")
            expect(page.get_by_test_id("stPlotlyChart").first).to_be_visible()
            goes_on(store, run, 50)
            expect(page.get_by_text("step 50 of 79")).to_be_visible()
            page.close()
