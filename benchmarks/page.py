"""How soon the pages answer: from a key to the redrawn chart, and while a slider is dragged.

    python benchmarks/page.py [--repeat 21]

The bare page beside them is Streamlit with one slider and one Plotly chart of one line: what the
framework itself takes. The pages take turns, one key each, so that whatever else the machine does
falls on all of them alike. Prints tables; times in milliseconds.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.counts import repeats  # noqa: E402
from tests.e2e.conftest import ARGUMENTS, CHROMIUM  # noqa: E402
from tests.e2e.server import serving  # noqa: E402

BARE = """
import plotly.graph_objects as go
import streamlit as st
value = st.slider("value", 1, 100, 10, key="value")
st.plotly_chart(go.Figure(go.Scatter(x=list(range(100)), y=[x ** (value / 20) for x in range(100)])), key="chart")
"""
PLACES = {  # address, slider, chart
    "lab": ("", "sigma", "epsilon_chart"),
    "trade-off": ("tradeoff", "sigma", "attack_chart"),
    "calibrate": ("calibrate", "target_epsilon", "map"),
}
MOST = {"lab": 1.6, "trade-off": 1.6, "calibrate": 2.2}  # times the bare page
# The time is taken inside the page: from the key event to the first frame in which the drawn lines
# differ.
WATCH = """([slider, drawn]) => {
    window.answers = [];
    window.redraws = 0;
    window.look = () => [...document.querySelectorAll(drawn)].map(line => line.getAttribute('d')).join();
    document.querySelector(slider).addEventListener('keydown', () => {
        const begun = performance.now(), old = window.look();
        const frame = () => {
            const now = window.look();
            if (now && now !== old) window.answers.push(performance.now() - begun);
            else requestAnimationFrame(frame);
        };
        requestAnimationFrame(frame);
    }, true);
}"""
COUNT = """() => {
    let old = window.look();
    const frame = () => {
        const now = window.look();
        if (now && now !== old) [old, window.redraws] = [now, window.redraws + 1];
        requestAnimationFrame(frame);
    };
    frame();
}"""
DRAGGED = 5  # seconds
LINES = ".scatterlayer path.js-line"  # of a chart


def opened(browser: Any, url: str, slider: str, drawn: str) -> Any:
    """A tab that stands still and watches its chart."""
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    page.goto(url)
    page.wait_for_selector(drawn, state="attached", timeout=60_000)
    page.wait_for_timeout(3000)
    page.evaluate(WATCH, [slider, drawn])
    return page


def pressed(page: Any, slider: str, done: int) -> None:
    """One key on the slider, and what it takes until the line is redrawn."""
    page.bring_to_front()
    page.locator(slider).focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("count => window.answers.length >= count", arg=done, timeout=30_000)
    page.wait_for_timeout(400)


def dragged(page: Any, slider: str) -> dict[str, float | bool]:
    """Redraws a second while the slider is dragged, and whether the last value is shown in the end."""
    handle, field = page.locator(slider), page.locator(f"{slider.partition('_slider')[0]} input")
    page.bring_to_front()
    box = handle.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.2 * box["width"], middle)
    page.mouse.down()
    page.evaluate(COUNT)
    begun = time.monotonic()
    while (share := (time.monotonic() - begun) / DRAGGED) < 1:
        page.mouse.move(box["x"] + (0.2 + 0.6 * share) * box["width"], middle)
        page.wait_for_timeout(15)
    redraws = page.evaluate("window.redraws")
    page.mouse.up()
    page.wait_for_timeout(3000)
    return {
        "redraws": redraws / DRAGGED,
        "last shown": field.input_value() == handle.get_attribute("aria-valuetext"),
    }


def in_browser(repeat: int) -> tuple[dict[str, list[float]], dict[str, dict[str, float | bool]]]:
    """Times from key to chart for the bare page and for ours, and what a drag on ours does."""
    from playwright.sync_api import sync_playwright

    bare = (".st-key-value input[type=range]", f".st-key-chart {LINES}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = Path(folder)
        (home / "bare.py").write_text(BARE)
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        with serving(home, str(home / "bare.py")) as framework, serving(home) as server:
            tabs = {"bare page": (opened(browser, framework.url, *bare), bare[0])}
            for name, (address, slider, chart) in PLACES.items():
                slider, drawn = (
                    f".st-key-{slider}_slider input[type=range]",
                    f".st-key-{chart} {LINES}",
                )
                tabs[name] = opened(browser, f"{server.url}/{address}", slider, drawn), slider
            for done in range(1, repeat + 1):
                for page, slider in tabs.values():
                    pressed(page, slider, done)
            times = {name: page.evaluate("window.answers") for name, (page, _) in tabs.items()}
            drags = {name: dragged(*tabs[name]) for name in PLACES}
        browser.close()
    return times, drags


def main() -> None:
    """Measure, print the tables and the JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=repeats, default=21)
    repeat = parser.parse_args().repeat
    times, drags = in_browser(repeat)
    bare = statistics.median(times["bare page"])
    print(f"{'key to chart':<14} {'p50 ms':>8} {'p95 ms':>8} {'of bare':>8} {'wanted':>8}")
    for name, each in times.items():
        p50, p95 = statistics.median(each), float(np.quantile(each, 0.95))
        print(f"{name:<14} {p50:>8.0f} {p95:>8.0f} {p50 / bare:>8.2f} {MOST.get(name, ''):>8}")
    for name, drag in drags.items():
        print(f"{name:<14} {'  '.join(f'{what}: {value:.3g}' for what, value in drag.items())}")


if __name__ == "__main__":
    main()
