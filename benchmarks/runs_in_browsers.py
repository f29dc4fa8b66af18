"""Real browsers among many sessions: when a chart has grown, and when it answers a key, at the
frame that shows it.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from playwright.async_api import Page, async_playwright

from dpcore.figures.lab import CURVE, RUN
from dpcore.runs.store import Store
from dpcore.training.events import Evaluated
from tests.e2e.conftest import ARGUMENTS, CHROMIUM

EVERY = 10.0  # seconds between two moves of a slider
SLIDER, CHART = "sigma", "epsilon_chart"
# In the page: when a run's line grew, and how long a key took to change the curves, both at the
# frame that shows it.
LOOK = f"""() => {{
    const last = {{}};
    Object.assign(window, {{ grown: [], answers: [], pressed: 0 }});
    const curve = (data) => JSON.stringify(data.filter(each => (each.uid ?? '').startsWith('{CURVE}')).map(e => e.y));
    const look = () => {{
        const data = document.querySelector('.st-key-{CHART} .live-plot')?.data ?? [];
        for (const each of data) if ((each.uid ?? '').startsWith('{RUN}')) {{
            const x = each.x?.[each.x.length - 1];
            if (x !== undefined && x !== last[each.uid]) {{
                last[each.uid] = x;
                window.grown.push([each.uid, x, Date.now()]);
            }}
        }}
        if (window.pressed && curve(data) !== window.before) {{
            window.answers.push(performance.now() - window.pressed);
            window.pressed = 0;
        }}
        requestAnimationFrame(look);
    }};
    const key = document.querySelector('.st-key-{SLIDER}_slider input[type=range]');
    key.addEventListener('keydown', () => {{
        window.before = curve(document.querySelector('.st-key-{CHART} .live-plot').data);
        window.pressed = performance.now();
    }}, true);
    look();
}}"""


@asynccontextmanager
async def browsing(urls: Sequence[str]) -> AsyncIterator[list[Page]]:
    """A tab of Chromium at each address, with a memory of its own, that shows its chart."""
    if not urls:
        yield []
        return
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        try:
            pages = []
            for url in urls:
                page = await (
                    await browser.new_context(viewport={"width": 1366, "height": 768})
                ).new_page()
                await page.goto(url, timeout=180_000)
                await page.wait_for_selector(
                    f".st-key-{CHART} .main-svg", state="attached", timeout=180_000
                )
                pages.append(page)
            yield pages
        finally:
            await browser.close()


async def watched(page: Page) -> None:
    """Have the page write down what it shows, and when, and press a key on the slider every now and
    then.
    """
    await page.evaluate(LOOK)
    slider = page.locator(f".st-key-{SLIDER}_slider input[type=range]")
    await asyncio.sleep(random.uniform(0, EVERY))
    while True:
        await slider.focus(timeout=60_000)
        await page.keyboard.press(random.choice(["ArrowRight", "ArrowLeft"]))
        await asyncio.sleep(EVERY)


async def grown_and_answered(
    page: Page, store: Store, runs: Sequence[str], there: dict[tuple[str, int], float]
) -> tuple[list[float], list[float]]:
    """Milliseconds from the store to the frame in which a run's line had grown, and from a key to
    other curves.
    """
    known = {
        (f"{RUN}{place}", event.epoch): there[run, number]
        for place, run in enumerate(runs)
        for number, event in enumerate(store.events(run), 1)
        if isinstance(event, Evaluated) and (run, number) in there
    }
    grown = [
        (uid, epoch, when)
        for uid, epoch, when in await page.evaluate("window.grown")
        if (uid, epoch) in known
    ]
    return [when - 1e3 * known[uid, epoch] for uid, epoch, when in grown], await page.evaluate(
        "window.answers"
    )
