"""The map of epsilon over sigma and epochs: contours where epsilon is what they say, and something
to click.
"""

import numpy as np
import pytest

from dpcore.figures import heatmap_figure
from dpcore.figures.heatmap import Mark, contour
from dpcore.privacy.accountants import ACCOUNTANTS, Curve, Kind
from dpcore.privacy.mechanism import Mechanism
from tests.figures.colour_vision import contrast

Q, DELTA = 0.01, 1e-5
SIGMAS = np.geomspace(0.5, 20, 40)
STEPS = np.unique(np.geomspace(10, 10_000, 40).round().astype(int))
ROWS = [
    ACCOUNTANTS["rdp"].curve(Mechanism.constant(Q, sigma, int(STEPS[-1])), STEPS, DELTA)
    for sigma in SIGMAS.tolist()
]
EPSILON = np.stack([each.epsilon for each in ROWS])


def made(*epsilons: list[float]) -> tuple[np.ndarray, list[Curve]]:
    """Sigmas 1, 2, 4, ... and rows of given cells, at steps 1, 2, ..."""
    steps = np.arange(len(epsilons[0])) + 1
    rows = [
        Curve(steps, np.full(steps.shape, DELTA), np.array(each), None, Kind.UPPER)
        for each in epsilons
    ]
    return 2.0 ** np.arange(len(rows)), rows


def test_on_a_contour_the_accountant_gives_its_level():
    for level in (0.5, 1.0, 3.0):
        sigmas = contour(SIGMAS, EPSILON, level)
        seen = np.flatnonzero(np.isfinite(sigmas))
        assert seen.size > 20
        for i in seen[::7]:
            curve = ACCOUNTANTS["rdp"].curve(
                Mechanism.constant(Q, float(sigmas[i]), int(STEPS[i])), STEPS[i], DELTA
            )
            assert curve.epsilon[0] == pytest.approx(level, rel=0.02), level


def test_a_contour_lies_between_the_neighbours_and_nowhere_where_none_is_crossed():
    def crossed(level: float, *epsilons: list[float]) -> np.ndarray:
        return contour(2.0 ** np.arange(len(epsilons)), np.array(epsilons), level)

    sigmas = crossed(2.0, [4.0, 9.0, 0.5], [1.0, 8.0, 0.4])
    assert sigmas[0] == pytest.approx(2**0.5)  # half way in both logarithms
    assert np.isnan(sigmas[1:]).all()
    # Beside an infinite one the finite end.
    assert crossed(2.0, [np.inf], [1.0], [0.5]).tolist() == [2.0]
    assert np.isnan(crossed(1.5, [1.0, 2.0])).all()  # one sigma has none


def test_every_cell_tells_its_numbers():
    cells = heatmap_figure(SIGMAS, ROWS, STEPS * Q).data[0]
    assert np.shape(cells.text) == np.shape(cells.customdata) == EPSILON.shape
    assert (cells.y[3], cells.customdata[3][5]) == (SIGMAS[3], STEPS[5])
    assert EPSILON[3, 5] <= float(cells.text[3][5]) <= 1.01 * EPSILON[3, 5]  # a bound is rounded up


def test_a_cell_without_a_promise_is_empty_and_marks_lie_where_they_are_said_to():
    figure = heatmap_figure(
        *made([np.inf, 3.0], [1.0, 2.0]), np.array([1.0, 2.0]), marks=[Mark(5.0, 1.3, "now")]
    )
    assert np.isnan(figure.data[0].z).tolist() == [[True, False], [False, False]]
    assert figure.data[0].text[0][0] == "no number"
    mark = figure.data[-1]
    assert (mark.x[0], mark.y[0], mark.text[0]) == (5.0, 1.3, "<b>now</b>")
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"


def test_colours_mean_the_same_on_every_map_and_white_is_legible_on_all_of_them():
    few, many = (
        heatmap_figure(*made([low, 2 * low]), np.array([1.0, 2.0])).data[0] for low in (0.3, 30.0)
    )
    assert (few.zmin, few.zmax) == (many.zmin, many.zmax)
    assert all(contrast("#ffffff", color) >= 4.5 for _, color in few.colorscale)


def test_no_level_is_written_over_the_word_of_a_mark():
    def place(*marks: Mark) -> np.ndarray:
        notes = {
            each.text: each
            for each in heatmap_figure(SIGMAS, ROWS, STEPS * Q, marks=marks).layout.annotations
        }
        return np.array([notes["2"].x, notes["2"].y])

    alone = place()
    epochs, sigma = 10**alone
    right, up = place(Mark(epochs, sigma, "now")) - alone
    spans = np.log10(STEPS[-1] / STEPS[0]), np.log10(SIGMAS[-1] / SIGMAS[0])
    assert not (-0.05 < right / spans[0] < 0.16 and abs(up / spans[1]) < 0.09)


def test_the_words_of_two_close_marks_stand_on_two_sides():
    def sides(*marks: Mark) -> list[str]:
        drawn = heatmap_figure(SIGMAS, ROWS, STEPS * Q, marks=marks).data[-len(marks) :]
        return [each.textposition.split()[1] for each in drawn]

    assert sides(Mark(5.0, 2.0, "now"), Mark(5.2, 2.1, "answer")) == ["right", "left"]
    assert sides(Mark(5.0, 2.0, "now"), Mark(50.0, 2.1, "answer")) == ["right", "right"]
