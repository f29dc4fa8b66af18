"""How still the lab stands and how soon it speaks: the top of its chart through a drag, a start and
an end.

    python -m benchmarks.lab [--repeat 5]

First picture and first chart are the times from opening a new tab on a warm server to the still
picture, and to the chart that takes its place; of that, the work is the time in which the page's
own thread ran, whatever else the machine did. First accuracy is the time from the click on Train
to the first accuracy of the private run in the headline, beside a baseline that is known. The top
of the chart is looked at in every frame, and must stay within a pixel. Prints a table; times in
seconds, medians; "cold" is the first visit of a fresh server, which trains the baseline before.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from benchmarks.counts import repeats
from tests.e2e.conftest import ARGUMENTS, CHROMIUM
from tests.e2e.server import STILL, serving

CHART = ".st-key-epsilon_chart .main-svg"
# Playwright listens for errors. So V8 finds the place of each that is thrown, one inside of plotly
# while it loads, and parses all of plotly again for it: 0.4 s that no reader's browser takes. With
# this, V8 notes all places at once.
LIKE_A_READERS = "--js-flags=--no-enable-lazy-source-positions"
# The page's scripts keep its thread busy right after the picture, so a question asked from outside
# would be answered late: the browser's own clock says when it was painted.
PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"
WATCH = """() => {
    window.tops = [];
    const look = () => {
        const chart = document.querySelector('.st-key-epsilon_chart .live-plot');
        if (chart) window.tops.push(chart.getBoundingClientRect().top);
        requestAnimationFrame(look);
    };
    look();
}"""


def moved(page: Page) -> float:
    """How far the top of the chart has moved since the last look, in pixels."""
    tops = page.evaluate("() => window.tops.splice(0)")
    return max(tops) - min(tops) if tops else float("nan")


def looked_at(page: Page, url: str) -> dict[str, float]:
    """One visit: opened, dragged, trained to the end."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    begun = time.perf_counter()
    page.goto(url, wait_until="commit")
    page.wait_for_selector("#first-paint polyline", state="attached")
    page.wait_for_selector(CHART)
    shown = time.perf_counter() - begun
    found = {"first picture, s": page.evaluate(PAINTED) / 1000, "first chart, s": shown}
    metrics = devtools.send("Performance.getMetrics")["metrics"]
    found["work until then, s"] = sum(
        each["value"] for each in metrics if each["name"] == "TaskDuration"
    )
    page.wait_for_selector(STILL)
    page.wait_for_timeout(1000)
    page.evaluate(WATCH)
    slider = page.locator(".st-key-sigma_slider input[type=range]")
    place = slider.bounding_box()
    assert place
    y = place["y"] + place["height"] / 2
    page.mouse.move(place["x"] + 0.3 * place["width"], y)
    page.mouse.down()
    for step in range(30):
        page.mouse.move(place["x"] + (0.3 + 0.01 * step) * place["width"], y)
        page.wait_for_timeout(100)
    page.mouse.up()
    page.wait_for_timeout(2000)
    found["chart moved in a drag, px"] = moved(page)
    begun = time.perf_counter()
    page.locator(".st-key-train button").click()
    page.wait_for_function(
        "() => document.querySelector('.st-key-headline .headline')?.textContent.includes('% at epsilon')"
    )
    found["first accuracy, s"] = time.perf_counter() - begun
    page.wait_for_function(
        "() => document.querySelector('.st-key-headline .headline')?.textContent.includes('costs')"
    )
    page.wait_for_timeout(4000)
    found["chart moved in a run, px"] = moved(page)
    return found


def main(words: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description="How still the lab stands, and how soon it speaks."
    )
    parser.add_argument("--repeat", type=repeats, default=5)
    repeat = parser.parse_args(words).repeat
    found = []
    with (
        sync_playwright() as playwright,
        tempfile.TemporaryDirectory() as home,
        serving(Path(home)) as server,
    ):
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=[*ARGUMENTS, LIKE_A_READERS]
        )
        for place in range(repeat + 1):  # the first one warms the server
            page = browser.new_context(viewport={"width": 1366, "height": 768}).new_page()
            found.append(looked_at(page, f"{server.url}/?sigma={1 + place / 100:g}"))
            page.context.close()
        browser.close()
    for name in found[0]:
        values = [each[name] for each in found[1:]]
        print(
            f"{name:<28} {statistics.median(values):8.2f}   worst {max(values):8.2f}   cold"
            f" {found[0][name]:8.2f}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
