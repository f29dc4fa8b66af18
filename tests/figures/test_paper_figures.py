"""The papers' figures: accountants keep their looks, bounds are rounded outwards, and no curve goes
unnamed.
"""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpcore.figures.papers import drawing_alt, drawing_figure, map_alt, map_figure
from dpcore.figures.style import style_of
from dpcore.papers.catalogue import PAPERS
from dpcore.papers.paper import Area, Cells, Drawing, Line, Map

X = np.array([1.0, 10.0, 100.0])
RDP = Line("Rényi DP", X, np.array([0.3, 0.6, 1.0312]), "rdp")
CLT = Line("Central limit theorem", X, np.array([0.1, 0.2, 0.90049]), "gdp")
LOWER = Line("Proven, at least", X, np.array([0.2, 0.5, 0.99961]), "pld", lower=True)
UPPER = Line("Proven, at most", X, np.array([0.21, 0.52, 1.00012]), "pld")
PRINTED = Line("As printed", X, np.array([2.0, 3.0, 4.0]))
FIGURE = Drawing(
    "Figure 2", "Epsilon, q = 0.01", "epoch", "epsilon", lambda: (RDP, CLT, UPPER, LOWER, PRINTED)
)
AREAS = (Area("refuted", "Below."), Area("holds", "Above."))
PLANE = Map(
    "Theorem 3",
    "Where it holds",
    "epochs",
    "sigma",
    AREAS,
    lambda: CELLS,
    log_x=True,
    log_y=True,
)
CELLS = Cells(
    X, np.array([1.0, 4.0]), np.array([[0, 0, 1], [1, 1, 1]]), (("a", "b", "c"), ("d", "e", "f"))
)


def written(figure: Any) -> dict[str, str]:
    """What stands beside the end of each curve."""
    return {
        note.name: note.text.split("</span> ")[1].split("<br>")[0]
        for note in figure.layout.annotations
    }


def test_a_curve_has_its_accountants_colour_and_dash_and_its_own_name():
    lines = FIGURE.lines()
    figure: Any = drawing_figure(FIGURE, lines)
    looks = {trace.name: (trace.line.color, trace.line.dash) for trace in figure.data}
    for each in lines[:-1]:
        assert looks[each.name] == (style_of(each.accountant).color, style_of(each.accountant).dash)
    assert looks[PRINTED.name][0] not in {style_of(name).color for name in ("rdp", "gdp", "pld")}


def test_bounds_are_rounded_outwards_and_other_numbers_to_the_nearest():
    ends = written(drawing_figure(FIGURE, FIGURE.lines()))
    assert ends == {
        RDP.name: "≤ 1.04",
        CLT.name: "≈ 0.900",
        LOWER.name: "≥ 0.999",
        UPPER.name: "≤ 1.01",
        PRINTED.name: "4.00",
    }


def test_powers_of_ten_are_all_written_alike_on_a_logarithmic_axis():
    small = Line("RDP", np.array([1e-7, 1e-3]), np.array([2.0, 1.0]), "rdp")
    figure: Any = drawing_figure(replace(FIGURE, x="delta", log_x=True), [small])
    assert sorted(figure.layout.xaxis.ticktext) == ["10⁻³", "10⁻⁴", "10⁻⁵", "10⁻⁶", "10⁻⁷"]


def test_tradeoff_functions_are_named_in_the_corner_by_height_and_told_before_their_end():
    x = np.linspace(0, 1, 101)
    band = Line("Certified", x, (1 - x) * 0.80019, "pld")
    figure = replace(FIGURE, x="type I error", y="type II error")
    low = Line("One pair", x, (1 - x) * 0.5, "rdp")
    drawn: Any = drawing_figure(figure, [low, band])
    assert [note.name for note in drawn.layout.annotations] == ["Certified", "One pair"]
    highest, lowest = drawn.layout.annotations  # in the corner of the plot where no curve lies
    assert (
        (highest.x, highest.y, highest.yref) == (lowest.x, lowest.y, lowest.yref) == (1, 1, "paper")
    )
    assert highest.yshift > lowest.yshift
    told = drawing_alt(figure, [low, band])
    assert "One pair is 0.450, at type I error 0.1" in told
    # Rounded down: an attacker errs at least so often.
    assert "Certified is 0.720, at type I error 0.1" in told


def test_a_curve_without_a_number_is_said_and_not_labelled():
    empty = Line("Nothing", X, np.full(3, np.inf), "mma")
    assert "Nothing has no number" in drawing_alt(FIGURE, [empty, RDP])
    assert [*written(drawing_figure(FIGURE, [empty, RDP]))] == [RDP.name]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_papers_figure_can_be_drawn_and_told(paper: str):
    for drawing in PAPERS[paper].drawings:
        lines = drawing.lines()
        figure: Any = drawing_figure(drawing, lines)
        assert len(figure.data) == len(lines) > 0, drawing.place
        assert all(line.name in drawing_alt(drawing, lines) for line in lines), drawing.place
        low, high = figure.layout.yaxis.range
        assert low < high, drawing.place


def test_every_map_names_each_of_its_areas_and_each_cell_says_what_it_is():
    for plane in (PLANE, *(each for paper in PAPERS.values() for each in paper.maps)):
        cells = plane.cells()
        figure: Any = map_figure(plane, cells)
        assert cells.area.shape == (cells.y.size, cells.x.size) == np.shape(figure.data[0].text)
        there = {plane.areas[place].word for place in np.unique(cells.area)}
        named = {
            re.sub("<.?b>", "", note.text).replace("<br>", " ")
            for note in figure.layout.annotations
        }
        assert named == there, plane.place
        told = map_alt(plane, cells)
        assert all(word in told for word in there)
        counted = [int(each.split()[-1]) for each in told.split("are: ")[1].rstrip(".").split("; ")]
        assert sum(counted) == cells.area.size
