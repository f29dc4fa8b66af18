"""A browser for the end-to-end tests: Debian's Chromium.

Where there is none they are skipped, under CI they fail.

Of its two packages the one without windows, `chromium-headless-shell`, is preferred: `chromium`
draws its own window's buttons even where nobody sees them, and takes two thirds more of the
processor for the same pages.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from tests.e2e.server import PATIENCE, Server, serving
from tests.pages.audit_page import recorded as audited
from tests.pages.check_page import CLAIM
from tests.pages.perturbation_page import recorded as compared
from tests.pages.train_page import CONFIG, recorded

BROWSERS = [Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium")]
CHROMIUM = next((each for each in BROWSERS if each.exists()), BROWSERS[-1])
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """Chromium, without a screen."""
    if not CHROMIUM.exists():
        reason = f"{CHROMIUM} is missing: install Debian's package chromium"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def app(browser: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app, served for all tests of this session."""
    with serving(tmp_path_factory.mktemp("app")) as server:
        yield server


@pytest.fixture(scope="session")
def runs(app: Server) -> list[str]:
    """A private run and a baseline in the app's store, both finished, with their events."""
    configs = CONFIG, replace(CONFIG, private=False)
    with Store(app.home) as store:
        return [recorded(store, config, 70, Status.FINISHED) for config in configs]


@pytest.fixture(scope="session")
def shown_here(app: Server, runs: list[str]) -> Callable[[str], str]:
    """Completes an address so that its page shows something: the runs, a comparison, an audit, a
    claim.
    """
    with Store(app.home) as store:
        comparison = compared(store, status=Status.FINISHED)
        audit = audited(store)

    def completed(address: str) -> str:
        asked = {"run": [audit] if address.startswith("audit") else runs, "comparison": comparison}
        if address.startswith("train"):  # leads on to the run, whole
            asked = {"run": runs[0]}
        if address == "check":
            asked |= CLAIM
        return f"{app.url}/{address}{'&' if '?' in address else '?'}{urlencode(asked, doseq=True)}"

    return completed


@pytest.fixture
def in_context(browser) -> Iterator[Callable[..., object]]:
    """Opens a tab of a browser that shares nothing with the others; at the end of the test it is
    closed.
    """
    contexts = []

    def tab(width: int = 1366, height: int = 768, **options: object) -> object:
        contexts.append(browser.new_context(viewport={"width": width, "height": height}, **options))
        contexts[-1].set_default_timeout(PATIENCE)
        return contexts[-1].new_page()

    yield tab
    for each in contexts:
        each.close()


@pytest.fixture
def page(in_context: Callable[..., object], app: Server) -> object:
    """A tab of its own, without a cookie or a memory of the last one."""
    return in_context(1400, 900)


@pytest.fixture(scope="session")
def one_browser(browser) -> Iterator[object]:
    """A browser whose tabs share what they have loaded: plotly is compiled once, which saves a
    fifth of all.
    """
    context = browser.new_context(viewport={"width": 1366, "height": 768}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    yield context
    context.close()


@pytest.fixture
def tab(one_browser, app: Server) -> Iterator[object]:
    """A new tab of that browser, which asks nothing of any other host."""
    page, asked = one_browser.new_page(), set()
    page.on("request", lambda request: asked.add(request.url))
    yield page
    page.close()
    ours = app.url, app.url.replace("http", "ws"), "data:", f"blob:{app.url}"
    assert {url for url in asked if not url.startswith(ours)} == set()
