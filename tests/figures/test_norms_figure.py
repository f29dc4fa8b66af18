"""The fan of gradient norms: quantiles in their order, C where it is."""

import math

import numpy as np
import pytest

from dpcore.figures import norms_figure

EPOCHS = [0.5, 1.0, 1.5]
NORMS = [[0.1, 0.2, 0.4, 0.8, 1.6], [0.2, 0.3, 0.5, 0.9, 1.7], [0.3, 0.4, 0.6, 1.0, 1.8]]


def test_each_quantile_is_a_line_and_the_fan_is_filled_between_them():
    *fan, clipped = norms_figure(EPOCHS, NORMS, 0.25).data
    assert [list(each.y) for each in fan] == np.array(NORMS).T.tolist()
    assert [list(each.x) for each in fan] == [EPOCHS] * 5
    assert [each.fill for each in fan] == [None, *["tonexty"] * 4]
    outer, inner = fan[1].fillcolor, fan[2].fillcolor
    assert [each.fillcolor for each in fan[1:]] == [outer, inner, inner, outer]
    assert outer != inner
    assert (clipped.name, list(clipped.y)) == ("C", [0.25, 0.25])


def test_the_line_of_c_crosses_the_whole_chart_and_is_named():
    figure = norms_figure(EPOCHS, NORMS, 0.25, end=5.0)
    assert list(figure.data[-1].x) == [0.0, 5.0]
    assert figure.layout.xaxis.range[1] >= 5.0
    (note,) = figure.layout.annotations
    assert note.text.endswith("C = 0.25")
    assert figure.layout.yaxis.type == "log"
    assert note.y == pytest.approx(math.log10(0.25))


def test_a_norm_of_zero_is_left_out_before_the_first_report_there_is_only_c_and_a_c_that_is_none_is_named():
    figure = norms_figure([1.0], [[0.0, 0.0, 0.1, 0.2, 0.3]], 0.25)
    assert [bool(np.isnan(each.y[0])) for each in figure.data[:5]] == [True, True, False, False, False]
    *fan, clipped = norms_figure([], [], 0.1, end=3.0).data
    assert all(not len(each.y) for each in fan)
    assert list(clipped.y) == [0.1, 0.1]
    with pytest.raises(ValueError, match=r"Expected clip_norm=0"):
        norms_figure(EPOCHS, NORMS, 0)
