"""The map of epsilon over sigma and epochs: contours where epsilon is what they say, and something to click."""

import numpy as np
import pytest

from dpcore.figures import heatmap_figure
from dpcore.figures.heatmap import POINTS, Mark, contour
from dpcore.privacy.accountants import ACCOUNTANTS, Kind
from dpcore.privacy.calibration.epsilon_grid import Grid, epsilon_grid
from dpcore.privacy.mechanism import Mechanism

Q, DELTA = 0.01, 1e-5
SIGMAS = np.geomspace(0.5, 20, 40)
STEPS = np.unique(np.geomspace(10, 10_000, 40).round().astype(int))
GRID = epsilon_grid(SIGMAS, STEPS, Q, DELTA, "rdp")


def made(epsilon: list[list[float]]) -> Grid:
    """A grid of given cells, at sigma 1, 2, 4, ..., and steps 1, 2, ..."""
    cells = np.array(epsilon)
    rows, columns = cells.shape
    return Grid(2.0 ** np.arange(rows), np.arange(columns) + 1, cells, None, (Kind.UPPER,) * rows, ("",) * rows)


@pytest.mark.parametrize("level", [0.5, 1.0, 3.0])
def test_on_a_contour_the_accountant_gives_its_level(level: float):
    sigmas = contour(GRID, level)
    seen = np.flatnonzero(np.isfinite(sigmas))
    assert seen.size > 20
    for i in seen[::7]:
        mechanism = Mechanism.constant(Q, float(sigmas[i]), int(STEPS[i]))
        assert ACCOUNTANTS["rdp"].curve(mechanism, mechanism.steps, DELTA).epsilon[0] == pytest.approx(level, rel=0.02)


def test_a_contour_lies_between_the_neighbours_and_nowhere_where_none_is_crossed():
    grid = made([[4.0, 9.0, 0.5], [1.0, 8.0, 0.4]])
    sigmas = contour(grid, 2.0)
    assert sigmas[0] == pytest.approx(2**0.5)  # half way in both logarithms
    assert np.isnan(sigmas[1:]).all()


def test_beside_an_infinite_epsilon_a_contour_takes_the_finite_end():
    assert contour(made([[np.inf], [1.0], [0.5]]), 2.0).tolist() == [2.0]


def test_one_sigma_has_no_contour():
    assert np.isnan(contour(made([[1.0, 2.0]]), 1.5)).all()


def test_the_target_has_a_thick_line_with_a_dark_edge_and_its_own_label():
    figure = heatmap_figure(GRID, STEPS * Q, target=3.0)
    names = [each.name for each in figure.data]
    assert names.count("target") == names.count("edge") == 1
    widths = {each.name: each.line.width for each in figure.data if each.type == "scatter" and each.mode == "lines"}
    assert widths["edge"] > widths["target"] > widths["contour"]
    texts = [each.text for each in figure.layout.annotations]
    assert "<b>epsilon 3</b>" in texts
    assert {"1", "2", "5"} <= set(texts)


def test_a_level_beside_the_target_gives_way_to_it():
    texts = [each.text for each in heatmap_figure(GRID, STEPS * Q, target=2.1).layout.annotations]
    assert "2" not in texts
    assert "<b>epsilon 2.1</b>" in texts


def test_every_cell_has_a_point_to_click_that_tells_its_numbers():
    figure = heatmap_figure(GRID, STEPS * Q)
    points = next(each for each in figure.data if each.name == POINTS)
    assert len(points.x) == len(points.y) == len(points.text) == GRID.epsilon.size
    place = 3 * STEPS.size + 5
    assert (points.y[place], points.customdata[place]) == (SIGMAS[3], STEPS[5])
    assert GRID.epsilon[3, 5] <= float(points.text[place]) <= 1.01 * GRID.epsilon[3, 5]  # a bound is rounded up


def test_a_cell_without_a_promise_is_empty():
    figure = heatmap_figure(made([[np.inf, 3.0], [1.0, 2.0]]), np.array([1.0, 2.0]))
    assert np.isnan(figure.data[0].z).tolist() == [[True, False], [False, False]]
    assert next(each for each in figure.data if each.name == POINTS).text[0] == "no number"


def test_marks_lie_where_they_are_said_to():
    figure = heatmap_figure(GRID, STEPS * Q, marks=[Mark(5.0, 1.3, "now")])
    mark = figure.data[-1]
    assert (mark.x[0], mark.y[0], mark.text[0]) == (5.0, 1.3, "<b>now</b>")
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"


def test_colours_mean_the_same_on_every_map_and_white_is_legible_on_all_of_them():
    few, many = (heatmap_figure(made([[low, 2 * low]]), np.array([1.0, 2.0])).data[0] for low in (0.3, 30.0))
    assert (few.zmin, few.zmax) == (many.zmin, many.zmax)
    for _, color in few.colorscale:
        channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        assert 1.05 / (luminance + 0.05) >= 4.5


def test_the_words_of_marks_keep_clear_of_the_targets_contour():
    sigma = float(np.interp(10.0, GRID.steps * Q, contour(GRID, 1.0)))
    marks = [Mark(10.0, sigma, "answer"), Mark(10.0, 2 * sigma, "now")]
    for target, places in ((1.0, ["bottom right", "top right"]), (None, ["bottom right"] * 2)):
        figure = heatmap_figure(GRID, GRID.steps * Q, target=target, marks=marks)
        assert [each.textposition for each in figure.data[-2:]] == places
