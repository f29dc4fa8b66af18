"""A chart that grows with the events of runs by itself, in the browser: watching a run costs Python nothing.

The page draws a figure once, with the history so far, and says which trace follows what of which run. From there on
the browser reads the events (`pages/parts/watching/routes.py`) and extends the traces in place. Where the routes are
missing, because a page was opened without app.py, the same figure is drawn by `st.plotly_chart`, and the page must
draw it again as long as `charts_follow()` is false.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import plotly.graph_objects as go
import streamlit as st
from plotly.io.json import to_json_plotly

from pages.parts.components.served import charts_follow, mount
from pages.parts.watching import files

HEIGHT = 340


@dataclass(frozen=True)
class Label:
    """The annotation at the end of a line: the one of this name, made when there is something to say."""

    name: str
    text: str  # in Plotly's markup, with {} where the line's last height goes
    digits: int = 1  # behind the point


@dataclass(frozen=True)
class Table:
    """Where steps lie on an x axis that is no field of an event, as epsilon: at the next step that is listed.

    The values must be rounded to the safe side, and must not fall.
    """

    steps: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Growth:
    """One trace that grows with the events of a run."""

    run: str
    after: int  # number of the last event that is in the figure
    trace: int  # its place in the figure
    event: str = "evaluated"
    y: str = "accuracy"  # field of the event
    item: int | None = None  # of the field, where it is a list; without it a list takes the place of all heights
    scale: float = 1.0
    x: str = "epoch"  # field of the event
    table: Table | None = None  # in place of the field
    level: bool = False  # the newest height everywhere, as of a run that has no place on the x axis
    label: Label | None = None


@dataclass(frozen=True)
class Mark:
    """Where a run is now: a vertical line, and points on curves. A point lies on the curve's own next point."""

    run: str
    after: int
    shape: int | None = None  # place of the line among the figure's shapes
    trace: int | None = None  # place of the trace whose points these are, one for each of the curves
    curves: tuple[int, ...] = ()
    x: str = "epoch"
    table: Table | None = None


def live_chart(
    figure: go.Figure,
    following: Sequence[Growth | Mark],
    *,
    key: str,
    alt: str,
    height: int | None = None,
    title: str = "",
    file: str = "",
    tells: bool = False,
    config: dict[str, Any] | None = None,
) -> None:
    """Draw the figure; its traces grow with the events of the runs that it follows.

    Follow only runs that are active, each from `after`, the number of the last event in the figure. With `tells` the
    page, or the fragment around, is run again once when a run has ended. `title`, of one or several lines, stands
    over a picture that a reader saves in `file`; `alt` is read to those who do not see the chart. `config` is Plotly's.
    """
    if not charts_follow():
        st.plotly_chart(figure, key=key, alt=alt, config=config)
        return
    data = {
        "figure": written(figure),
        "following": [{"kind": type(each).__name__.lower(), **asdict(each)} for each in following],
        "alt": alt,
        "height": height or figure.to_dict()["layout"].get("height") or HEIGHT,
        "title": title,
        "name": file or key,
        "tells": tells,
        "config": config or {},
        "plotly": files.address(files.PLOTLY),
    }
    mount("live_chart", key, data, "ended")


def written(figure: go.Figure) -> str:
    """The figure as JSON, without the template: the browser has the theme.

    >>> written(go.Figure({"data": [{"type": "scatter", "y": [1.0, float("nan")]}]}))
    '{"data":[{"y":[1.0,null],"type":"scatter"}],"layout":{}}'
    """
    bare = figure.to_dict()
    bare["layout"].pop("template", None)
    return str(to_json_plotly(bare))
