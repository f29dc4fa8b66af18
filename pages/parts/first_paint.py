"""The Lab before its scripts are there: its title, and the curves of the setting in the address.

    GET /?...   Streamlit's own page, with a still picture and the names of all scripts of the Lab

A browser takes seconds to load Streamlit and Plotly. Until the chart itself is drawn,
`first_paint.html` shows the picture in its place. It is computed by the same functions from the
same texts, so that the page finds its curves done.
"""

import asyncio
import json
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from dpcore.figures.lab import lab_epsilon_figure
from dpcore.figures.style import DEFAULT_ACCOUNTANTS
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.numbers import marked
from dpcore.privacy.report.verdict import lowered
from dpcore.privacy.sampling.base import Poisson
from pages.parts.controls.fields import Fields
from pages.parts.lab import epochs_of
from pages.parts.results import cache as curves_of
from pages.parts.serving import files
from pages.parts.shell.menu import LAB
from pages.parts.shell.page_of_style import styled_page
from pages.parts.shell.streamlit_internals import scripts_of
from pages.parts.train.form import form_of

FRAGMENT = Path(__file__).with_suffix(".html")
PLACE = "<!-- the sentence and the curves -->"
# Of Streamlit, on the Lab.
ELEMENTS = (
    "BidiComponent",
    "Html",
    "Button",
    "TextInput",
    "Selectbox",
    "ButtonGroup",
    "Checkbox",
    "Multiselect",
    "PageLink",
    "DownloadButton",
)
SCRIPTS = "[]"  # of those elements: the picture does not wait for them
PLOTLY = "<!-- plotly -->"  # the address of its script
MAX_SECONDS = 0.5  # that the page waits for the picture
UNIT = 1000  # of the picture's width and height, which the browser stretches
MAX_CHARS = 2000  # of an address
# Pixels, as Plotly draws them.
DASHES = {"dash": "9 9", "dot": "3 3", "dashdot": "9 3 3 3", "longdash": "16 9"}


@cache
def page_around() -> tuple[str, str]:
    """Streamlit's page before and after the picture; it names all scripts of the Lab."""
    scripts = [files.address(name) for name in (*files.MODULES, files.PLOTLY)]
    links = [f'<link rel="modulepreload" href="{each}">' for each in scripts]
    head, end, rest = styled_page(LAB).partition("</head>")
    body, close, last = rest.rpartition("</body>")
    fragment = FRAGMENT.read_text(encoding="utf-8").replace(PLOTLY, files.address(files.PLOTLY))
    fragment = fragment.replace(SCRIPTS, json.dumps(scripts_of(ELEMENTS)))
    before, _, after = fragment.partition(PLACE)
    return f"{head}{''.join(links)}{end}{body}{before}", f"{after}{close}{last}"


def first_curves(texts: Mapping[str, str]) -> str:
    """The sentence and the curves of a setting as HTML; "" where they take long, or there are none.

    Errors: ValueError for texts that cannot be read, or do not go together.
    """
    if "lesson" in texts or texts.get("against") == "delta":  # another picture
        return ""
    form = form_of(Fields(texts), "cpu")
    mechanism = form.mechanism
    if form.sampler != Poisson.name or mechanism is None:
        return ""
    if curves_of.slow(mechanism, form.delta):
        return ""
    names = [name for name in ACCOUNTANTS if name in (*DEFAULT_ACCOUNTANTS, CERTIFIED)]
    curves = {name: curves_of.curve(name, mechanism, form.delta) for name in names}
    log = texts.get("scale") != "linear"
    figure = lab_epsilon_figure(curves, epochs_of(form), log=log)
    last = curves[CERTIFIED].last
    if not np.isfinite(last.value):
        return ""
    sentence = f"Epsilon {marked(last.value, last.kind)} {lowered(form.after)}."
    return f"<h2>{escape(sentence)}</h2><figure>{_picture(figure)}</figure>"


def _picture(figure: Any) -> str:
    """The lines of a figure, stretched over its place, with their labels beside it."""
    axis = figure.layout.yaxis
    low, high = axis.range
    _, right = figure.layout.xaxis.range

    def height(y: Any) -> Any:
        return UNIT * (high - y) / (high - low)

    lines = []
    for trace in figure.data:
        if trace.mode != "lines" or not trace.line.width:
            continue
        across = np.asarray(trace.x, dtype=float) * UNIT / right
        y = np.asarray(trace.y, dtype=float)
        heights = height(np.log10(y) if axis.type == "log" else y)
        drawn = np.isfinite(heights)
        points = zip(across[drawn], heights[drawn], strict=True)
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        pen = f'stroke="{trace.line.color}" stroke-width="{trace.line.width}"'
        dash = DASHES.get(trace.line.dash, "")
        lines.append(f'<polyline points="{path}" {pen} stroke-dasharray="{dash}"/>')
    labels = [f"<p>{each.text}</p>" for each in figure.layout.annotations]
    view = f'viewBox="0 0 {UNIT} {UNIT}" preserveAspectRatio="none"'
    return f"<svg {view}>{''.join(lines)}</svg><div>{''.join(labels)}</div>"


async def answer(request: Request) -> Response:
    """The page with the picture of the address's setting; without one where that takes long."""
    before, after = page_around()
    texts = dict(request.query_params) if len(request.url.query) <= MAX_CHARS else {}
    try:
        drawn = await asyncio.wait_for(asyncio.to_thread(first_curves, texts), MAX_SECONDS)
    except (ValueError, RuntimeError, TimeoutError):  # the page itself says what is wrong
        drawn = ""
    return HTMLResponse(f"{before}{drawn}{after}", headers={"Cache-Control": "no-cache"})


FIRST_PAINT = Route("/", answer)
