"""Files that browsers load: the installed package's plotly.min.js, and the components' modules.

    GET /files/<stamp>/<name>

The names are a fixed list and nothing of a request becomes a path. The stamp changes with what is
served, so browsers and caches may keep an answer forever; another stamp than the present one is
unknown. This file imports no other of ours: every page asks it whether the routes are there at all.
"""

import asyncio
import gzip
import hashlib
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

PLOTLY = "plotly.min.js"
MODULES = (
    "live_chart.js",
    "live_figures.js",
    "run_progress.js",
    "figure_growth.js",
    "chart_theme.js",
    "mounted.js",
    "hatching.js",
    "labels_below.js",
    "numbers_table.js",
    "preview.js",
    "presented.js",
    "runs.js",
    "answers.js",
    "replay.js",
)
# Chromium then compiles every function beside the page's thread, which else does it when plotly
# first runs: 130 ms. To other browsers it is a comment.
EAGER = b"//# allFunctionsCalledOnLoad\n"
COMPONENTS = Path(__file__).parents[1] / "components"
FOREVER = "public, max-age=31536000, immutable"
serving = False  # `routes` of routes.py says that it is so


def served() -> bool:
    """True if this process answers the routes: not for a page run alone, nor without a server."""
    return serving


@cache
def content(name: str) -> bytes:
    """A file that browsers may load, by its name."""
    if name == PLOTLY:
        return EAGER + (files("plotly") / "package_data" / name).read_bytes()
    return (COMPONENTS / name).read_bytes()


@cache
def packed(name: str) -> bytes:
    return gzip.compress(content(name), 6, mtime=0)


@cache
def stamp_of(name: str) -> str:
    """The part of a file's address that changes with its content.

    All modules have one stamp, since they load each other.
    """
    if name == PLOTLY:
        return f"plotly-{version('plotly')}-eager"
    return hashlib.sha256(b"".join(map(content, MODULES))).hexdigest()[:16]


def address(name: str) -> str:
    """The address of a file on this server.

    >>> address("live_chart.js").endswith("/live_chart.js")
    True
    """
    return f"/files/{stamp_of(name)}/{name}"


async def file(request: Request) -> Response:
    name = request.path_params["name"]
    known = name in (PLOTLY, *MODULES)
    if not known or request.path_params["stamp"] != stamp_of(name):
        return PlainTextResponse("There is no such file.", 404)
    headers = {"Cache-Control": FOREVER, "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):  # no browser names it to refuse it
        body = await asyncio.to_thread(packed, name)  # the first time takes a second
        headers["Content-Encoding"] = "gzip"
    else:
        body = await asyncio.to_thread(content, name)
    return Response(body, headers=headers, media_type="text/javascript")


FILES = Route("/files/{stamp}/{name}", file)
