"""A chart that grows with the events of runs by itself, in the browser: watching a run costs Python
nothing.

The page draws a figure once, with the history so far, and says which trace follows what of which
run. From there on the browser reads the events (`pages/parts/serving/routes.py`) and extends the
traces in place. Where the routes are missing, because a page was opened without app.py, Streamlit
draws the figure as it stands.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, NamedTuple

import plotly.graph_objects as go
import streamlit as st
from plotly.io.json import to_json_plotly

from dpcore.figures.layout import NORMAL, Size, sized
from pages.parts.components.elements import Table, follows, mount, sent
from pages.parts.serving import files, previews
from pages.parts.shell.menu import SMALL, chart_size

HEIGHT = 340
SHARE = 0.5  # of the window's height, for a chart that fits into it


@dataclass(frozen=True)
class Label:
    """The annotation at the end of a line: the one of this name, made when there is something to
    say.
    """

    name: str
    text: str  # in Plotly's markup, with {} where the line's last height goes
    digits: int = 1  # behind the point


@dataclass(frozen=True)
class Growth:
    """One trace that grows with the events of a run."""

    run: str
    after: int  # number of the last event that is in the figure
    trace: int  # its place in the figure
    event: str = "evaluated"
    y: str = "accuracy"  # field of the event
    # Of the field, where it is a list or has names; without it a list takes the place of all
    # heights.
    item: int | str | None = None
    scale: float = 1.0
    x: str = "epoch"  # field of the event
    table: Table | None = None  # in place of the field
    level: bool = False  # the newest height everywhere, as of a run that has no place on the x axis
    label: Label | None = None


@dataclass(frozen=True)
class Mark:
    """Where a run is now: a vertical line, and points on curves.

    A point lies on the curve's own next point.
    """

    run: str
    after: int
    shape: int | None = None  # place of the line among the figure's shapes
    # Place of the trace whose points these are, one for each of the curves.
    trace: int | None = None
    curves: tuple[int, ...] = ()
    x: str = "epoch"
    table: Table | None = None


@dataclass(frozen=True)
class Strip:
    """The proposals of a run under simulated annealing: the two traces of `decisions_figure` and
    nothing else.
    """

    run: str
    after: int
    decisions: str  # until then
    q: float
    most: int  # bars


class Drawing(NamedTuple):
    """A figure, and what in it grows with runs."""

    figure: go.Figure
    following: Sequence[Growth | Mark | Strip] = ()


def live_chart(
    figure: go.Figure,
    following: Sequence[Growth | Mark | Strip],
    *,
    key: str,
    alt: str,
    height: int | None = None,
    title: str = "",
    file: str = "",
    fits: bool = False,
    share: float = SHARE,
    share_in_front: float | None = None,
    preview: Callable[[str, str], Drawing | None] | None = None,
    clicked: Callable[[], None] | None = None,
) -> None:
    """Draw the figure; its traces grow with the events of the runs that it follows.

    Follow only runs that are active, each from `after`, the number of the last event in the figure.
    `title`, of one or several lines, stands over a picture that a reader saves in `file`; `alt` is
    read to those who do not see the chart. A chart that `fits` takes this `share` of the height of
    a low window, or `share_in_front` of a class, as far as its labels allow, so that what stands
    around it is seen too.

    With `preview` the chart follows a slider while it is moved: it says how the chart is drawn
    where the field of a key has a text, or None where the page has to be run for that. It is called
    in threads of its own, so it must not ask Streamlit anything. `clicked` is called before the
    page is run for a click on a point, see `clicked_point`.
    """
    if not follows():
        still_chart(figure, key=key, alt=alt)
        return
    size = chart_size()
    data = drawn(Drawing(figure, following), size) | {
        "preview": previews.address_of(key, preview and partial(_previewed, preview, size)),
        "alt": alt,
        "height": height or figure.layout["height"] or HEIGHT,
        "title": title,
        "name": file or key,
        "fits": fits,
        "share": share if size == NORMAL else share_in_front,
        "presented": size != NORMAL,
        "clicks": clicked is not None,
        "plotly": files.address(files.PLOTLY),
    }
    mount("live_chart", key, data, clicked=clicked)


def still_chart(figure: go.Figure, *, key: str, alt: str) -> None:
    """Draw the figure as it stands."""
    st.plotly_chart(sized(figure, chart_size()), key=key, alt=alt, config=SMALL)


def clicked_point(key: str) -> tuple[float, float] | None:
    """The point of the chart of this key that was clicked, for `clicked`; None if the browser sent
    nonsense.
    """
    match sent(key, "clicked"):
        case [float() | int() as x, float() | int() as y]:
            return float(x), float(y)
    return None


def drawn(drawing: Drawing, size: Size = NORMAL) -> dict[str, Any]:
    """What the browser draws, in type of this size."""
    following = [
        {"kind": type(each).__name__.lower(), **asdict(each)} for each in drawing.following
    ]
    return {"figure": written(sized(drawing.figure, size)), "following": following}


def _previewed(
    preview: Callable[[str, str], Drawing | None], size: Size, field: str, text: str
) -> dict[str, Any] | None:
    found = preview(field, text)
    return drawn(found, size) if found else None


def written(figure: go.Figure) -> str:
    """The figure as JSON, without the template: the browser has the theme.

    >>> written(go.Figure({"data": [{"type": "scatter", "y": [1.0, float("nan")]}]}))
    '{"data":[{"y":[1.0,null],"type":"scatter"}],"layout":{}}'
    """
    bare = figure.to_dict()
    bare["layout"].pop("template", None)
    return str(to_json_plotly(bare))
