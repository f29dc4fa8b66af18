"""Figures of a paper, drawn again one at a time, with its maps, sweeps and ladders."""

from collections.abc import Callable
from functools import lru_cache, partial
from html import escape
from itertools import cycle

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from dpcore.figures.papers import AREAS, drawing_alt, drawing_figure, map_alt, map_figure
from dpcore.papers.paper import Cells, Drawing, Ladder, Line, Map, Paper, Sweep
from dpcore.papers.records import recorded
from dpcore.training.config import RunConfig
from dpcore.training.settings import SETTINGS
from pages.parts.components.live_chart import live_chart
from pages.parts.controls.widgets import choice_by_title
from pages.parts.papers.opening import by_name
from pages.parts.papers.tables import details_table, ladder_table, sweep_table
from pages.parts.results.exports import Rows, csv_button
from pages.parts.results.odds import linked
from pages.parts.shell.menu import chart_size

# A drawing's lines or a map's cells, for all sessions.
result_of = lru_cache(maxsize=256)(lambda compute: compute())


def show_figures(paper: Paper, link: str) -> None:
    """Draw the choice of a figure and the chosen figure; a saved picture has its title and the
    link.
    """
    every = by_name(
        lambda each: each.place, (*paper.drawings, *paper.maps, *paper.sweeps, *paper.ladders)
    )
    if not every:
        return
    titled = lambda name: f"{every[name].place}: {every[name].title}"  # noqa: E731
    name = choice_by_title("Figure, drawn again", tuple(every), f"figure_{paper.id}", titled)
    chosen = every[name]
    title = f"{paper.short} ({paper.id}), {chosen.place}: {chosen.title}\n{link}".strip()
    show = partial(_show, f"paper-{paper.id}-{name}", title)
    if isinstance(chosen, Map):
        cells = result_of(chosen.cells)
        figure = map_figure(chosen, cells, size=chart_size())
        show(figure, map_alt(chosen, cells), lambda: map_rows(chosen, cells, link), _areas(chosen))
    elif lines := _lines(paper, chosen):
        drawing = _drawing(chosen, lines)
        figure = drawing_figure(drawing, lines, size=chart_size())
        show(figure, drawing_alt(drawing, lines), lambda: drawing_rows(lines, link))
    if isinstance(chosen, Sweep):
        st.html(sweep_table(paper, chosen))
    if isinstance(chosen, Ladder):
        st.html(ladder_table(paper, chosen))
        if lines:
            with st.expander("How each was trained"):
                st.html(details_table(paper, chosen))
    if chosen.note:
        st.caption(chosen.note)


def drawing_rows(lines: tuple[Line, ...], link: str) -> Rows:
    """Return a row for each point: curve, accountant, x, y, link."""
    return [
        {
            "curve": each.name,
            "accountant": each.accountant,
            "x": float(x),
            "y": float(y),
            "link": link,
        }
        for each in lines
        for x, y in zip(each.x, each.y, strict=True)
    ]


def map_rows(plane: Map, cells: Cells, link: str) -> Rows:
    """Return a row for each cell: x, y, area, what, link."""
    return [
        {"x": float(x), "y": float(y), "area": plane.areas[cells.area[row, column]].word,
         "what": cells.said[row][column], "link": link}
        for row, y in enumerate(cells.y)
        for column, x in enumerate(cells.x)
    ]  # fmt: skip


def _show(
    file: str, title: str, figure: go.Figure, alt: str, rows: Callable[[], Rows], legend: str = ""
) -> None:
    """Draw a figure, its legend, and a button for its numbers."""
    live_chart(figure, [], key=f"chart_{file}", alt=alt, title=title, file=file)
    if legend:
        st.html(legend)
    csv_button("Download the figure's numbers (CSV)", rows, f"{file}.csv", f"download_{file}")


def _areas(plane: Map) -> str:
    items = "".join(
        f'<li><i style="background:{color}"></i><b>{escape(area.word)}</b>:'
        f" {linked(area.text)}</li>"
        for area, color in zip(plane.areas, cycle(AREAS), strict=False)
    )
    return f'<ul class="remarks areas">{items}</ul>'


def _drawing(chosen: Drawing | Sweep | Ladder, lines: tuple[Line, ...]) -> Drawing:
    """Return the figure itself, or one of the recorded accuracies of a sweep or a ladder."""
    if isinstance(chosen, Drawing):
        return chosen
    x = SETTINGS[chosen.setting].label if isinstance(chosen, Sweep) else "epsilon"
    y, from_zero = "test accuracy, %", isinstance(chosen, Sweep)
    return Drawing(chosen.place, chosen.title, x, y, lambda: lines, from_zero=from_zero)


def _lines(paper: Paper, chosen: Drawing | Sweep | Ladder) -> tuple[Line, ...]:
    """Return computed curves, or recorded accuracies with NaN for missing ones; nothing without any
    record.
    """
    if isinstance(chosen, Drawing):
        return result_of(chosen.lines)
    if isinstance(chosen, Sweep):
        shown = [
            each
            for each in chosen.configs
            if isinstance(getattr(each, chosen.setting), int | float)
        ]
        x = np.array([getattr(each, chosen.setting) for each in shown], dtype=float)
        lines = [Line("Recorded here", x, _accuracies(paper, shown))]
    else:  # the best rung first
        x = np.array(chosen.epsilons)
        lines = [
            Line(rung.name, x, _accuracies(paper, [config for _, config in rung.configs]))
            for rung in reversed(chosen.rungs)
        ]
    return tuple(line for line in lines if np.isfinite(line.y).any())


def _accuracies(paper: Paper, configs: list[RunConfig]) -> np.ndarray:
    records = [recorded(paper.id, config) for config in configs]
    return np.array([record.mean if record else np.nan for record in records])
