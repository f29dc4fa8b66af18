"""The lab in a file: how long its export takes, how large it is, how soon it opens and redraws.

    python -m benchmarks.lab_file [--anew] [--repeat 20]

Opens the exported file from the disk in Chromium without a network. "open" is the time from the
navigation to the first drawing; a redraw is one move of sigma, all pictures included, also with a
processor slowed six times. `--anew` computes all numbers, as any other n or delta does; else the
file is made of the table that comes with the package. Prints a table.
"""

import argparse
import gzip
import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks.counts import repeats
from dpcore.__main__ import main as dpcore
from tests.e2e.conftest import ARGUMENTS, CHROMIUM

SLOWED = 6
DRAWN = "() => performance.getEntriesByName('drawn')[0]?.startTime"
REDRAW = """(count) => {
    const times = [];
    for (let k = 0; k < count; k += 1) {
        const begun = performance.now();
        go({ sigma: k % stops.sigma.length });
        document.body.getBoundingClientRect(); // lays it out
        times.push(performance.now() - begun);
    }
    return times;
}"""


def opened(browser: Browser, file: Path, count: int, slowed: int = 1) -> tuple[float, list[float]]:
    """Milliseconds until the file is drawn, and those of each redraw."""
    page = browser.new_context(viewport={"width": 1366, "height": 768}, offline=True).new_page()
    if slowed > 1:
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slowed})
    page.goto(file.as_uri())
    page.wait_for_function(DRAWN)
    first = page.evaluate(DRAWN)
    times = page.evaluate(REDRAW, count)
    page.context.close()
    return first, times


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--anew", action="store_true", help="compute all numbers, in minutes")
    parser.add_argument("--repeat", type=repeats, default=20, help="times that it is opened")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "lab.html"
        begun = time.perf_counter()
        dpcore(["lab", "export", str(file), *(["--anew"] if arguments.anew else [])])
        seconds = time.perf_counter() - begun
        size = file.read_bytes()
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        opens = [opened(browser, file, 1)[0] for _ in range(arguments.repeat)]
        _, redraws = opened(browser, file, 300)
        slow_open, slow_redraws = opened(browser, file, 300, SLOWED)
        browser.close()
    print("| | |\n| --- | --- |")
    print(f"| export{', all computed' if arguments.anew else ''} | {seconds:.1f} s |")
    print(f"| size; gzipped | {len(size):,}; {len(gzip.compress(size)):,} bytes |")
    print(f"| open, median and worst | {statistics.median(opens):.0f}, {max(opens):.0f} ms |")
    print(f"| redraw, median and worst | {statistics.median(redraws):.1f}, {max(redraws):.1f} ms |")
    print(
        f"| slowed {SLOWED} times: open; redraw | {slow_open:.0f};"
        f" {statistics.median(slow_redraws):.1f}, {max(slow_redraws):.1f} ms |"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
