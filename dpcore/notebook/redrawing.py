"""A figure widget that takes the place of one figure after another without being drawn anew."""

from typing import Any

import plotly.graph_objects as go


def redraw(shown: go.FigureWidget, figure: go.Figure) -> None:
    """Make the widget show the figure: lines that stay are moved in place, in one message to the browser."""
    old, new = lines_of(shown), lines_of(figure)
    with shown.batch_update():
        if [line.name for line in old] == [line.name for line in new]:
            for line, moved in zip(old, new, strict=True):
                line.update(moved.to_plotly_json(), overwrite=True)
        else:
            shown.data = ()
            shown.add_traces(new)
        shown.layout = figure.layout


def lines_of(figure: go.Figure | go.FigureWidget) -> list[Any]:
    """The traces of a figure."""
    return list(figure.data)
