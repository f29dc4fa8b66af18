"""Figures of a paper, drawn again one at a time, with its maps and grids."""

from collections.abc import Callable
from functools import lru_cache
from html import escape
from itertools import cycle
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from dpcore.figures.papers import AREAS, drawing_alt, drawing_figure, map_alt, map_figure
from dpcore.papers.paper import Cells, Drawing, Grid, Line, Lines, Map, Paper
from dpcore.papers.records import recorded
from dpcore.training.settings import SETTINGS
from pages.parts.components.live_chart import live_chart
from pages.parts.controls.widgets import choice_by_title
from pages.parts.papers.opening import by_name
from pages.parts.papers.tables import details_table, recipes_table, values_table
from pages.parts.results.exports import Rows, csv_button
from pages.parts.results.odds import linked


@lru_cache(maxsize=256)
def result_of(compute: Callable[[], Any]) -> Any:
    """A drawing's lines or a map's cells, computed once for all sessions."""
    return compute()


def show_figures(paper: Paper, link: str) -> None:
    """Draw the choice of a figure and the figure; a saved picture has its title and the link."""
    figures = (*paper.drawings, *paper.maps, *paper.grids)
    every = by_name([each.place for each in figures], figures)
    if not every:
        return

    def titled(name: str) -> str:
        return f"{every[name].place}: {every[name].title}"

    name = choice_by_title("Figure, drawn again", tuple(every), f"figure_{paper.id}", titled)
    chosen = every[name]
    title = f"{paper.short} ({paper.id}), {chosen.place}: {chosen.title}\n{link}".strip()
    file = f"paper-{paper.id}-{name}"
    if isinstance(chosen, Map):
        _show_map(chosen, file, title, link)
    else:
        _show_curves(paper, chosen, file, title, link)
    if chosen.note:
        st.caption(chosen.note)


def _show_map(plane: Map, file: str, title: str, link: str) -> None:
    cells = result_of(plane.cells)
    figure = map_figure(plane, cells)
    _show(figure, map_alt(plane, cells), file, title)
    st.html(_areas(plane))
    _download(file, lambda: map_rows(plane, cells, link))


def _show_curves(paper: Paper, chosen: Drawing | Grid, file: str, title: str, link: str) -> None:
    """Draw curves or recorded accuracies, and the tables of a grid."""
    if isinstance(chosen, Drawing):
        drawing = chosen
        lines = result_of(chosen.lines)
    else:
        lines = _recorded_lines(paper, chosen)
        drawing = _drawing(chosen, lines)
    if lines:
        figure = drawing_figure(drawing, lines)
        _show(figure, drawing_alt(drawing, lines), file, title)
        _download(file, lambda: drawing_rows(lines, link))
    if isinstance(chosen, Grid):
        _show_tables(paper, chosen, bool(lines))


def _show_tables(paper: Paper, grid: Grid, some_recorded: bool) -> None:
    if not grid.of_recipes:
        st.html(values_table(paper, grid))
        return
    st.html(recipes_table(paper, grid))
    if some_recorded:
        with st.expander("How each was trained"):
            st.html(details_table(paper, grid))


def drawing_rows(lines: Lines, link: str) -> Rows:
    """Return a row for each point: curve, accountant, x, y, link."""
    rows = []
    for line in lines:
        for x, y in zip(line.x, line.y, strict=True):
            row = {
                "curve": line.name,
                "accountant": line.accountant,
                "x": float(x),
                "y": float(y),
                "link": link,
            }
            rows.append(row)
    return rows


def map_rows(plane: Map, cells: Cells, link: str) -> Rows:
    """Return a row for each cell: x, y, area, what, link."""
    rows = []
    for row, y in enumerate(cells.y):
        for column, x in enumerate(cells.x):
            cell = {
                "x": float(x),
                "y": float(y),
                "area": plane.areas[cells.area[row, column]].word,
                "what": cells.said[row][column],
                "link": link,
            }
            rows.append(cell)
    return rows


def _show(figure: go.Figure, alt: str, file: str, title: str) -> None:
    live_chart(figure, [], key=f"chart_{file}", alt=alt, title=title, file=file)


def _download(file: str, rows: Callable[[], Rows]) -> None:
    csv_button("Download the figure's numbers (CSV)", rows, f"{file}.csv", f"download_{file}")


def _areas(plane: Map) -> str:
    items = []
    for area, color in zip(plane.areas, cycle(AREAS), strict=False):
        patch = f'<i style="background:{color}"></i>'
        items.append(f"<li>{patch}<b>{escape(area.word)}</b>: {linked(area.text)}</li>")
    return f'<ul class="remarks areas">{"".join(items)}</ul>'


def _drawing(grid: Grid, lines: Lines) -> Drawing:
    """Return the figure of a grid's recorded accuracies."""
    x = "epsilon" if grid.of_recipes else SETTINGS[grid.setting].label
    y = "test accuracy, %"
    return Drawing(grid.place, grid.title, x, y, lambda: lines, from_zero=not grid.of_recipes)


def _recorded_lines(paper: Paper, grid: Grid) -> Lines:
    """Return the recorded accuracies of each curve with a record, NaN for missing ones."""
    x = np.array(grid.values, dtype=float)
    lines = []
    for curve in reversed(grid.curves):  # the best first
        y = np.full(x.shape, np.nan)
        for place, config in enumerate(curve.configs):
            record = recorded(paper.id, config)
            if record:
                y[place] = record.mean
        if np.isfinite(y).any():
            lines.append(Line(curve.recipe or "Recorded here", x, y))
    return lines
