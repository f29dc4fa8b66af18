"""Film the journey of a newcomer on the lab for the README: a slider, Train, both curves, another sigma.

    python tests/benchmarks/film.py [--out docs/lab.gif] [--picture docs/lab.png]

It is the app with a real run: what is filmed takes as long as it takes, on a machine without other work, and the pauses
of the film are its own.
"""

import argparse
import io
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.e2e.conftest import ARGUMENTS, CHROMIUM  # noqa: E402
from tests.e2e.server import STILL, serving  # noqa: E402

SCREEN = {"width": 1366, "height": 768}
WIDTH = 960  # pixels of the film
PAUSE, LAST = 450, 2500  # ms that a frame is shown
WHILE_TRAINING = 8  # frames
PATIENCE = 120_000  # ms
ENDED = "() => ![...document.querySelectorAll('button')].some(each => each.innerText.includes('Cancel'))"


def filmed(page: Any, url: str, take: Callable[[], None]) -> None:
    """Take the frames of the journey."""
    page.goto(url)
    settled(page)
    take()
    slider = page.locator(".st-key-sigma_slider input[type=range]")
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
        settled(page)
        take()
    page.locator(".st-key-train button").click()
    page.wait_for_url(re.compile("run="), timeout=PATIENCE)
    label = page.locator(".st-key-epsilon_chart .annotation-text").filter(has_text="% private")
    label.wait_for(timeout=PATIENCE)
    for _ in range(WHILE_TRAINING):
        take()
        page.wait_for_timeout(700)
    page.wait_for_function(ENDED, timeout=PATIENCE)
    settled(page)
    take()
    for _ in range(5):
        slider.focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(300)
        take()
    settled(page)
    take()


def settled(page: Any) -> None:
    """Wait until the page stands still."""
    page.wait_for_timeout(600)
    page.wait_for_selector(STILL, timeout=PATIENCE)
    page.wait_for_timeout(400)


def main() -> None:
    """Film, and write the film and its last picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "lab.gif")
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    frames: list[bytes] = []
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        page = browser.new_page(viewport=SCREEN)
        filmed(page, server.url, lambda: frames.append(page.screenshot()))
        browser.close()
    if options.picture:
        options.picture.write_bytes(frames[-1])
    write_film(frames, options.out)
    print(f"{len(frames)} frames, {options.out.stat().st_size / 1e3:.0f} kB")


def write_film(frames: list[bytes], out: Path) -> None:
    """Write the frames as a GIF with one palette."""
    height = round(SCREEN["height"] * WIDTH / SCREEN["width"])
    small = [
        Image.open(io.BytesIO(each)).convert("RGB").resize((WIDTH, height), Image.Resampling.LANCZOS) for each in frames
    ]
    palette = small[-1].quantize(64)
    flat = [each.quantize(64, palette=palette, dither=Image.Dither.NONE) for each in small]
    pauses = [PAUSE] * (len(flat) - 1) + [LAST]
    flat[0].save(out, save_all=True, append_images=flat[1:], duration=pauses, loop=0, optimize=True)


if __name__ == "__main__":
    main()
