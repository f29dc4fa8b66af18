"""The figures of a paper, drawn again, one at a time; its maps are among them."""

from collections.abc import Callable, Sequence

import plotly.graph_objects as go
import streamlit as st

from dpcore.figures.papers import drawing_alt, drawing_figure, map_alt, map_figure
from dpcore.papers import Paper
from dpcore.papers.paper import Cells, Drawing, Line, Map
from pages.parts.components.live_chart import live_chart
from pages.parts.controls.choice import choice_by_title
from pages.parts.explain.terms import linked
from pages.parts.papers import computed
from pages.parts.results.downloads import Columns, csv_button, numbers_table
from pages.parts.shell.layout import SMALL
from pages.parts.shell.present import chart_size


def show_figures(paper: Paper, link: str) -> None:
    """Draw the choice of a figure, and the figure that is chosen."""
    every = named((*paper.drawings, *paper.maps))
    if not every:
        return
    st.subheader("Its figures, drawn again", anchor=False)
    titled = lambda name: f"{every[name].place}: {every[name].title}"  # noqa: E731
    name = choice_by_title("Figure", tuple(every), f"figure_{paper.id}", titled)
    chosen = every[name]
    title = f"{paper.short} ({paper.id}), {chosen.place}: {chosen.title}"
    file = f"paper-{paper.id}-{name}"
    if isinstance(chosen, Drawing):
        _drawing(chosen, f"{title}\n{link}".strip(), file, link)
    else:
        _map(chosen, f"{title}\n{link}".strip(), file, link)


def named(figures: Sequence[Drawing | Map]) -> dict[str, Drawing | Map]:
    """The figures by what the address calls them: their place, with a number where several share it."""
    places = [each.place.lower().replace(" ", "-") for each in figures]
    names = [f"{each}-{places[: place + 1].count(each)}" if places.count(each) > 1 else each
             for place, each in enumerate(places)]  # fmt: skip
    return dict(zip(names, figures, strict=True))


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


def _drawing(drawing: Drawing, title: str, file: str, link: str) -> None:
    lines = computed.lines(drawing)
    figure = drawing_figure(drawing, lines, size=chart_size())
    _draw(figure, drawing_alt(drawing, lines), title, file)
    if drawing.note:
        st.caption(drawing.note)
    _numbers(lambda: drawing_columns(lines, link), file)


def _map(plane: Map, title: str, file: str, link: str) -> None:
    cells = computed.cells(plane)
    _draw(map_figure(plane, cells, size=chart_size()), map_alt(plane, cells), title, file)
    items = "".join(f"<li><b>{area.word}</b>: {linked(area.text)}</li>" for area in plane.areas)
    st.html(f"<ul class=remarks>{items}</ul>")
    if plane.note:
        st.caption(plane.note)
    _numbers(lambda: map_columns(plane, cells, link), file)


def _draw(figure: go.Figure, alt: str, title: str, file: str) -> None:
    live_chart(figure, [], key=f"chart_{file}", alt=alt, title=title, file=file, config=SMALL)


def _numbers(columns: Callable[[], Columns], file: str) -> None:
    numbers_table("The numbers in the figure", f"table_{file}", columns)
    csv_button("Download the figure's numbers (CSV)", columns, f"{file}.csv", f"download_{file}")
