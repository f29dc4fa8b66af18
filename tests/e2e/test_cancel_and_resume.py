"""A run of another tab is cancelled only after a question; one that goes on is drawn however busy the machine is."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from tests.e2e.server import PATIENCE, STILL, Server
from tests.e2e.test_watching import signs_of_life
from tests.pages.train_page import CONFIG, recorded

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

BURNERS, LONGEST = 3, 240  # processes that keep the cores busy, and seconds until they end by themselves
BURN = f"import time\nend = time.monotonic() + {LONGEST}\nwhile time.monotonic() < end: pass"
DRAWN = """() => {
    const plots = [...document.querySelectorAll(".live-plot")].filter(each => each.clientWidth);
    const shown = each => each.data?.some(trace => trace.x?.length) && each.querySelector(".main-svg .trace path");
    return plots.length > 2 && plots.every(shown);
}"""


@contextmanager
def busy() -> Iterator[None]:
    """Every core has more to do than it can."""
    burners = [subprocess.Popen([sys.executable, "-c", BURN]) for _ in range(BURNERS)]
    try:
        yield
    finally:
        for each in burners:
            each.kill()
            each.wait()


def pressed(page: Page, name: str) -> None:
    page.wait_for_selector(STILL)
    page.get_by_role("button", name=name, exact=True).click()


def test_a_run_of_another_tab_is_cancelled_only_after_a_question(page: Page, app: Server):
    with Store(app.home) as store:
        run = recorded(store, CONFIG, 40)
        with signs_of_life(store, run):
            page.goto(f"{app.url}/train?run={run}")
            question = page.get_by_role("dialog")
            pressed(page, "Cancel")
            expect(question).to_contain_text("was not started in this tab")
            question.get_by_role("button", name="Let it run").click()
            expect(question).to_have_count(0)
            assert not store.run(run).cancelling
            pressed(page, "Cancel")
            question.get_by_role("button", name="Cancel this run").click()
            expect(page.get_by_role("button", name="Cancelling…")).to_be_disabled()
            expect(question).to_have_count(0)
            assert store.run(run).cancelling
        store.end(run, Status.CANCELLED)


def test_no_chart_stays_blank_after_resume_on_a_busy_machine(page: Page, app: Server):
    with Store(app.home) as store:
        run = recorded(store, replace(CONFIG, model="mlp", epochs=40.0), 40, Status.CANCELLED)
        page.goto(f"{app.url}/train?run={run}")
        page.wait_for_function(DRAWN, timeout=PATIENCE)
        with busy():
            pressed(page, "Resume")
            page.wait_for_url(lambda url: "run=" in url and run not in url, timeout=PATIENCE)
            (rest,) = (each.id for each in store.runs() if each.id in page.url)
            expect(page.locator(f".st-key-progress_{rest}")).to_be_visible()
            page.wait_for_function(DRAWN, timeout=2 * PATIENCE)
        store.cancel(rest)
