"""How soon the accountants page answers: recomputed in process, and from a key press to the redrawn chart in Chromium.

    python tests/benchmarks/page.py [--repeat 21] [--no-browser]

The bare page beside it is Streamlit with one slider and one Plotly chart of one line: what the framework itself takes.
Prints a table, then one JSON object; times in milliseconds.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from dpcore.figures import charted, curves_figure, epochs_at, gaussian_line, tradeoff_figure  # noqa: E402
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED  # noqa: E402
from dpcore.privacy.mechanism import Mechanism  # noqa: E402
from dpcore.privacy.report.statement import odds  # noqa: E402
from pages.parts.controls.mechanism import after_training  # noqa: E402
from pages.parts.results import cache  # noqa: E402
from pages.parts.results.verdict_table import epsilon_sentence, verdict_table  # noqa: E402
from pages.parts.shell.threads import one_thread_for_products  # noqa: E402
from tests.e2e.conftest import ARGUMENTS, CHROMIUM  # noqa: E402
from tests.e2e.server import serving  # noqa: E402

SETTINGS = {  # q, sigma, steps
    "headline": (0.01, 4.0, 10_000),
    "default": (256 / 10_000, 1.23, 196),
    "tutorial": (256 / 60_000, 1.1, 14_062),
    "little noise": (256 / 60_000, 0.7, 10_546),
    "long": (0.01, 2.0, 40_000),
}
TARGETS = {"in process": 150.0, "browser": 350.0}
BARE = """
import plotly.graph_objects as go
import streamlit as st
value = st.slider("value", 1, 100, 10, key="value")
st.plotly_chart(go.Figure(go.Scatter(x=list(range(100)), y=[x ** (value / 20) for x in range(100)])), key="chart")
"""
# The time is taken inside the page: from the key event to the first frame in which the drawn line differs.
WATCH = """([slider, drawn]) => {
    window.answers = [];
    const look = () => document.querySelector(drawn)?.getAttribute('d');
    document.querySelector(slider).addEventListener('keydown', () => {
        const begun = performance.now(), old = look();
        const frame = () => {
            const now = look();
            if (now && now !== old) window.answers.push(performance.now() - begun);
            else requestAnimationFrame(frame);
        };
        requestAnimationFrame(frame);
    }, true);
}"""


def recomputed(q: float, sigma: float, steps: int) -> None:
    """Everything that the page computes: all curves at 100 points, both figures as JSON, the table and the headline."""
    mechanism = Mechanism.constant(q, sigma, steps)
    curves = {name: cache.curve(name, mechanism, 1e-5) for name in ACCOUNTANTS}
    curves_figure(curves, epochs_at(mechanism, charted(mechanism))).to_json()
    tradeoff_figure(cache.band(mechanism), [gaussian_line(cache.mu(mechanism))]).to_json()
    odds(cache.risks(mechanism, 1e-5))
    verdict_table(curves)
    epsilon_sentence(curves[CERTIFIED], after_training(f"{steps * q:g}", steps), "1e-5")


def milliseconds(work: Callable[[], None]) -> float:
    """Processor time of one thread: on a quiet machine the time that passes, and on a busy one still that."""
    begun = time.process_time()
    work()
    return 1000 * (time.process_time() - begun)


def in_process(repeat: int) -> dict[str, list[float]]:
    """Times for each setting; sigma moves a little each time, so that no cache answers."""
    one_thread_for_products()  # as the app does
    recomputed(0.02, 3.0, 500)
    return {
        name: [
            milliseconds(lambda q=q, s=sigma, k=k, t=steps: recomputed(q, s * (1 + 1e-3 * (k + 1)), t))
            for k in range(repeat)
        ]
        for name, (q, sigma, steps) in SETTINGS.items()
    }


def pressed(page, url: str, slider: str, drawn: str, repeat: int) -> list[float]:
    """Times from a key on the slider to the redrawn line."""
    page.goto(url)
    page.wait_for_selector(drawn, state="attached", timeout=60_000)
    page.wait_for_timeout(2000)
    page.evaluate(WATCH, [slider, drawn])
    page.locator(slider).focus()
    for done in range(repeat):
        page.keyboard.press("ArrowRight")
        page.wait_for_function("count => window.answers.length >= count", arg=done + 1, timeout=30_000)
        page.wait_for_timeout(300)
    return page.evaluate("window.answers")


def in_browser(repeat: int) -> dict[str, list[float]]:
    """Times for the bare page and for ours."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = Path(folder)
        (home / "bare.py").write_text(BARE)
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        line = "{} .scatterlayer .trace:last-child path.js-line"
        with serving(home, str(home / "bare.py")) as server:
            bare = pressed(page, server.url, ".st-key-value input[type=range]", line.format(".st-key-chart"), repeat)
        with serving(home) as server:
            slider, drawn = ".st-key-sigma_slider input[type=range]", line.format(".st-key-epsilon_chart")
            ours = pressed(page, server.url, slider, drawn, repeat)
        browser.close()
    return {"bare page": bare, "accountants page": ours}


def main() -> None:
    """Measure, print the table and the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=21)
    parser.add_argument("--no-browser", action="store_true")
    options = parser.parse_args()
    measured = {"in process": in_process(options.repeat)}
    if not options.no_browser:
        measured["browser"] = in_browser(options.repeat)
    print(f"{'where':<12} {'what':<18} {'median ms':>10} {'worst ms':>10} {'target ms':>10}")
    for where, each in measured.items():
        for what, times in each.items():
            goal = f"{TARGETS[where]:.0f}" if what != "bare page" else ""
            print(f"{where:<12} {what:<18} {statistics.median(times):>10.1f} {max(times):>10.1f} {goal:>10}")
    medians = {where: {k: statistics.median(v) for k, v in each.items()} for where, each in measured.items()}
    print(json.dumps({"milliseconds": medians, "repeat": options.repeat}))


if __name__ == "__main__":
    main()
