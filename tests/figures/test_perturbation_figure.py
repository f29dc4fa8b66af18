"""Accuracy and gap against epsilon: means, spreads, levels, and who keeps what was asked for."""

import math
from typing import Any

import numpy as np

from dpcore.figures.perturbation import (
    NOT_PROVEN,
    Level,
    Spread,
    method_style,
    perturbation_alt,
    perturbation_figure,
)

OUTPUT = Spread("output", [0.1, 1.0, 8.0], [[0.5, 0.6], [0.8, 0.9], [0.95, 0.97]])
GAPS = Spread("output", [0.1, 1.0, 8.0], [[30.0, 50.0], [0.2, 0.4], [-1e-4, 1e-4]])
LEVEL = Level(method_style("none"), 0.96)


def named(figure: Any, name: str) -> Any:
    (trace,) = [each for each in figure.data if each.name == name]
    return trace


def test_a_line_is_the_mean_over_seeds_with_a_shade_from_worst_to_best_if_picked_else_with_bars():
    other = OUTPUT._replace(method="gradient")
    figure: Any = perturbation_figure([OUTPUT, other], "accuracy", picked=["output"])
    assert len(figure.data) == 3, "the other has no shade"
    bars = named(figure, "Gradient").error_y
    assert np.allclose([bars.array, bars.arrayminus], [[5.0, 5.0, 1.0]] * 2)
    mean, shade = named(figure, "Output"), figure.data[1]
    assert list(mean.x) == [0.1, 1.0, 8.0]
    assert np.allclose(mean.y, [55.0, 85.0, 96.0])
    assert np.allclose(shade.y, [60.0, 90.0, 97.0, 95.0, 80.0, 50.0])
    assert list(shade.x) == [0.1, 1.0, 8.0, 8.0, 1.0, 0.1]
    assert mean.text[0] == "55.0 %, from 50.0 % to 60.0 %"
    assert figure.layout.xaxis.type == "log"


def test_every_line_is_named_with_its_last_mean_and_a_level_runs_throughout():
    figure: Any = perturbation_figure([OUTPUT], "accuracy", levels=[LEVEL], epsilons=[0.01])
    said = {note.name: note.text for note in figure.layout.annotations}
    assert said["Output"].endswith("Output 96.0 %")
    assert said["Without noise"].endswith("Without noise 96.0 %")
    level = named(figure, "Without noise")
    assert np.allclose(np.log10(level.x), figure.layout.xaxis.range)
    assert list(level.y) == [96.0, 96.0]
    single = OUTPUT._replace(epsilons=[1.0], values=[[0.8, 0.9]])
    low, high = named(perturbation_figure([single], "accuracy", levels=[LEVEL]), "Without noise").x
    assert low < 1 < high, "it is seen beside a single epsilon"


def test_gaps_are_on_a_logarithmic_axis_that_leaves_out_what_is_not_above_0():
    figure: Any = perturbation_figure([GAPS], "gap")
    mean = named(figure, "Output")
    assert np.allclose(mean.y[:2], [40.0, 0.3])
    assert math.isnan(mean.y[2])
    assert mean.text[2] == "0 or less, from 0 or less to 0.000100"
    low, high = figure.layout.yaxis.range
    assert low < -4
    assert high > math.log10(50)
    assert figure.layout.annotations == ()


def test_an_epsilon_that_is_not_kept_is_called_so():
    figure: Any = perturbation_figure([OUTPUT], "accuracy", kept=False)
    assert figure.layout.xaxis.title.text == NOT_PROVEN
    assert "requested and is not proven" in perturbation_alt([OUTPUT], "accuracy", kept=False)
    kept: Any = perturbation_figure([OUTPUT], "accuracy")
    assert kept.layout.xaxis.title.text == "epsilon, proven"
