"""The figures of a paper, drawn again, one at a time; its maps are among them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import cycle

import plotly.graph_objects as go
import streamlit as st

from dpcore.figures.papers import AREAS, drawing_alt, drawing_figure, map_alt, map_figure
from dpcore.papers.paper import Cells, Drawing, Ladder, Line, Map, Paper, Sweep
from dpcore.training.settings import SETTINGS
from pages.parts.components.live_chart import live_chart
from pages.parts.controls.widgets import choice_by_title
from pages.parts.papers import computed
from pages.parts.papers.choices import names_of
from pages.parts.papers.sweeps import ACCURACY, details_table, ladder_lines, ladder_table, recorded_lines, sweep_table
from pages.parts.results.exports import Columns, csv_button
from pages.parts.results.odds import linked
from pages.parts.shell.menu import SMALL, chart_size

Figure = Drawing | Map | Sweep | Ladder


def show_figures(paper: Paper, link: str) -> None:
    """Draw the choice of a figure, and the figure that is chosen."""
    every = named((*paper.drawings, *paper.maps, *paper.sweeps, *paper.ladders))
    if not every:
        return
    st.subheader("Its figures, drawn again", anchor=False)
    titled = lambda name: f"{every[name].place}: {every[name].title}"  # noqa: E731
    name = choice_by_title("Figure", tuple(every), f"figure_{paper.id}", titled)
    chosen = every[name]
    export = Export(f"{paper.short} ({paper.id}), {chosen.place}: {chosen.title}", f"paper-{paper.id}-{name}", link)
    if isinstance(chosen, Ladder):
        _ladder(paper, chosen, export)
    elif isinstance(chosen, Sweep):
        _sweep(paper, chosen, export)
    elif isinstance(chosen, Map):
        _map(chosen, export)
    else:
        _drawing(chosen, computed.lines(chosen), export)
    if chosen.note:
        st.caption(chosen.note)


def named(figures: Sequence[Figure]) -> dict[str, Figure]:
    """The figures by what the address calls them: their place, with a number where several share it."""
    return dict(zip(names_of([each.place for each in figures]), figures, strict=True))


@dataclass(frozen=True)
class Export:
    """How a figure that is saved is called, by its title and by its file, and the link that opens it."""

    title: str
    file: str
    link: str

    def draw(self, figure: go.Figure, alt: str) -> None:
        """Draw the figure; a picture of it has title and link."""
        title = f"{self.title}\n{self.link}".strip()
        live_chart(figure, [], key=f"chart_{self.file}", alt=alt, title=title, file=self.file, config=SMALL)

    def offer(self, columns: Callable[[], Columns]) -> None:
        """Draw a button for the numbers in the figure."""
        csv_button("Download the figure's numbers (CSV)", columns, f"{self.file}.csv", f"download_{self.file}")


def drawing_columns(lines: tuple[Line, ...], link: str) -> Columns:
    """One row a point: curve, accountant, x, y, link."""
    points = [
        (each.name, each.accountant, float(x), float(y)) for each in lines for x, y in zip(each.x, each.y, strict=True)
    ]
    names = ("curve", "accountant", "x", "y")
    return {name: [point[place] for point in points] for place, name in enumerate(names)} | {"link": link}


def map_columns(plane: Map, cells: Cells, link: str) -> Columns:
    """One row a cell: x, y, area, what it is, link."""
    rows = [
        (float(x), float(y), plane.areas[cells.area[row, column]].word, cells.said[row][column])
        for row, y in enumerate(cells.y)
        for column, x in enumerate(cells.x)
    ]
    return {name: [each[place] for each in rows] for place, name in enumerate(("x", "y", "area", "what"))} | {
        "link": link
    }


def _drawing(drawing: Drawing, lines: tuple[Line, ...], export: Export) -> None:
    export.draw(drawing_figure(drawing, lines, size=chart_size()), drawing_alt(drawing, lines))
    export.offer(lambda: drawing_columns(lines, export.link))


def _map(plane: Map, export: Export) -> None:
    cells = computed.cells(plane)
    export.draw(map_figure(plane, cells, size=chart_size()), map_alt(plane, cells))
    items = "".join(
        f'<li><i style="background:{color}"></i><b>{escape(area.word)}</b>: {linked(area.text)}</li>'
        for area, color in zip(plane.areas, cycle(AREAS), strict=False)
    )
    st.html(f'<ul class="remarks areas">{items}</ul>')
    export.offer(lambda: map_columns(plane, cells, export.link))


def _sweep(paper: Paper, sweep: Sweep, export: Export) -> None:
    """The accuracies that have been recorded, as a curve, and each setting with a way to train it."""
    if lines := recorded_lines(paper, sweep):
        drawing = Drawing(sweep.place, sweep.title, SETTINGS[sweep.setting].label, ACCURACY, lambda: lines)
        _drawing(drawing, lines, export)
    st.html(sweep_table(paper, sweep))


def _ladder(paper: Paper, ladder: Ladder, export: Export) -> None:
    """What has been recorded of each rung, as curves and as a table with a way to train each run."""
    if lines := ladder_lines(paper, ladder):
        drawing = Drawing(ladder.place, ladder.title, "epsilon", ACCURACY, lambda: lines, from_zero=False)
        _drawing(drawing, lines, export)
    st.html(ladder_table(paper, ladder))
    if lines:
        with st.expander("How each was trained"):
            st.html(details_table(paper, ladder))
