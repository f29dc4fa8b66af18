"""The lab's charts: epsilon on a fixed axis with marks and ghosts, and accuracy."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from dpcore.figures import charted, epochs_at
from dpcore.figures.epsilon import Ghost
from dpcore.figures.lab import (
    GHOST,
    NO_PROMISE,
    NOW,
    RUN,
    LabRun,
    lab_accuracy_figure,
    lab_epsilon_figure,
)
from dpcore.figures.layout import NORMAL
from dpcore.figures.style import BASELINES, RUNS, Style
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism

MECHANISM, OTHER = Mechanism.constant(0.0256, 1.23, 196), Mechanism.constant(0.0256, 2.0, 196)
STEPS = charted(MECHANISM)
EPOCHS = epochs_at(MECHANISM, STEPS)
CURVES = {name: ACCOUNTANTS[name].curve(MECHANISM, STEPS, 1e-5) for name in ("moments", "pld")}
PRIVATE = LabRun(
    Style(*RUNS[0], "private"), 0, [1.0, 2.0], [0.5, 0.8], [0.7, 0.9], end=5.0, most=1.56
)
BASELINE = LabRun(
    Style(*BASELINES[0], "non-private"), 1, [1.0, 3.0], [0.9, 0.97], level=True, end=5.0
)


def drawn(*runs: LabRun, **how) -> tuple[dict, dict]:
    """The traces by what tells them apart, and the layout."""
    return _parts(lab_epsilon_figure(CURVES, EPOCHS, runs, **how))


def _parts(figure: go.Figure) -> tuple[dict, dict]:
    traces = [trace.to_plotly_json() for trace in figure.data]  # type: ignore[attr-defined]
    return {trace.get("uid", trace["name"]): trace for trace in traces}, figure.to_dict()["layout"]


def test_the_mark_walks_on_every_curve_of_the_settings_that_train():
    for now in (0.5, 2.0, 4.9):
        traces, layout = drawn(PRIVATE._replace(now=now))
        assert layout["shapes"][0]["x0"] == layout["shapes"][0]["x1"] == pytest.approx(now)
        heights = sorted(traces[NOW]["y"])
        assert heights == pytest.approx(
            sorted(float(np.interp(now, EPOCHS, each.epsilon)) for each in CURVES.values())
        )
    traces, layout = drawn(PRIVATE)  # no run trains
    assert NOW not in traces
    assert not layout.get("shapes")


def ghostly(run: LabRun) -> LabRun:
    """The run, as of settings that are no longer chosen."""
    curve = ACCOUNTANTS["pld"].curve(OTHER, charted(OTHER), 1e-5)
    return run._replace(
        style=run.style._replace(label="sigma 2"),
        ghost=Ghost("sigma 2", curve, epochs_at(OTHER, charted(OTHER))),
    )


def test_settings_that_are_left_stay_as_a_ghost_with_their_label_and_a_mark_of_their_own():
    run = ghostly(PRIVATE)._replace(now=2.0)
    traces, layout = drawn(run)
    ghost = traces[f"{GHOST}0"]
    assert ghost["line"]["width"] < NORMAL.pen
    assert ghost["y"][-1] == pytest.approx(ACCOUNTANTS["pld"].curve(OTHER, [196], 1e-5).epsilon[0])
    assert any("sigma 2" in note["text"] and "≤" in note["text"] for note in layout["annotations"])
    assert run.ghost
    assert run.ghost.epochs is not None
    assert list(traces[NOW]["y"]) == pytest.approx(
        [float(np.interp(2.0, run.ghost.epochs, run.ghost.curve.epsilon))]
    )


def test_over_epsilon_a_baseline_is_level_and_what_nothing_is_proven_of_is_not_drawn():
    unproven = PRIVATE._replace(place=2, spent=())
    runs = [PRIVATE, BASELINE, unproven]
    traces, layout = _parts(lab_accuracy_figure(runs, by_epsilon=True, end=1.2))
    assert list(traces[f"{RUN}0"]["x"]) == [0.7, 0.9]
    assert list(traces[f"{RUN}1"]["y"]) == [97.0, 97.0]
    assert list(traces[f"{RUN}2"]["y"]) == []
    assert [note["name"] for note in layout["annotations"]] == [f"{RUN}1", f"{RUN}0"]
    untested = [BASELINE._replace(accuracy=[])]
    traces, _ = _parts(lab_accuracy_figure(untested, by_epsilon=True, end=1.2))
    assert len(traces[f"{RUN}1"]["x"]) == 2, "an accuracy that comes has a line to lift"
    assert layout["xaxis"]["title"]["text"] == "certified epsilon"
    assert layout["xaxis"]["range"][1] >= 1.56


def test_the_axis_of_accuracy_begins_so_high_that_a_price_of_a_few_points_is_seen():
    for last, floor in ((0.97, 80.0), (0.801, 80.0), (0.799, 70.0), (0.04, 0.0)):
        _, layout = _parts(lab_accuracy_figure([PRIVATE._replace(accuracy=[0.1, last])]))
        assert layout["yaxis"]["range"][0] == floor, last
    _, layout = _parts(lab_accuracy_figure(without="no store"))
    assert layout["annotations"][0]["text"] == "no store"


def test_two_settings_are_drawn_on_the_same_axis_and_what_leaves_it_says_so():
    ranges = []
    for sigma in (0.4, 4.0, 100.0):
        mechanism = Mechanism.constant(0.0256, sigma, 196)
        steps = charted(mechanism)
        curve = ACCOUNTANTS["pld"].curve(mechanism, steps, 1e-5)
        figure = lab_epsilon_figure({"pld": curve}, epochs_at(mechanism, steps))
        ranges.append(list(figure.layout.yaxis.range))
    assert ranges == [[-2.0, 2.0]] * 3
    much = Mechanism.constant(0.0256, 0.1, 196)
    curve = ACCOUNTANTS["pld"].curve(much, charted(much), 1e-5)
    figure = lab_epsilon_figure({"pld": curve}, epochs_at(much, charted(much)))
    assert "↑" in figure.layout.annotations[0].text


def at_sigma(sigma: float, *names: str, **how) -> Any:
    """The chart of 196 steps with this noise."""
    mechanism = Mechanism.constant(0.0256, sigma, 196)
    steps = charted(mechanism)
    curves = {name: ACCOUNTANTS[name].curve(mechanism, steps, 1e-5) for name in names}
    return lab_epsilon_figure(curves, epochs_at(mechanism, steps), **how)


def test_what_lies_below_the_axis_says_so_in_its_label_and_the_greatest_stands_first():
    names = ("mma", "moments", "gdp", "pld", "rdp")
    texts = [note.text for note in at_sigma(100.0, *names).layout.annotations]
    below = [text.rpartition(" ↓ ")[2] for text in texts if " ↓ " in text]
    assert below == ["Rényi", "Certified", "CLT"]
    assert len(texts) == 5
    assert not any("↓" in note.text for note in at_sigma(4.0, *names).layout.annotations)
    linear = at_sigma(100.0, *names, log=False)
    assert not any("↓" in note.text for note in linear.layout.annotations)
    run = ghostly(PRIVATE)
    assert run.ghost
    noisy = Mechanism.constant(0.0256, 100.0, 196)
    least = run.ghost._replace(curve=ACCOUNTANTS["pld"].curve(noisy, charted(noisy), 1e-5))
    _, layout = drawn(run._replace(ghost=least))
    assert any("↓" in note["text"] and "sigma 2" in note["text"] for note in layout["annotations"])


@pytest.mark.parametrize("log", [True, False])
def test_a_plot_without_a_proven_epsilon_says_so(log: bool):
    assert at_sigma(4.0).layout.margin.r < at_sigma(4.0, "gdp").layout.margin.r  # room for the text
    for names in ((), ("mma",), ("gdp",)):
        assert NO_PROMISE in [
            note.text for note in at_sigma(4.0, *names, log=log).layout.annotations
        ]
    for sigma, seen in ((4.0, False), (0.1, False), (0.05, log)):  # at first 79, then above 100
        texts = [note.text for note in at_sigma(sigma, "pld", "rdp", log=log).layout.annotations]
        assert (NO_PROMISE in texts) == seen, sigma


@pytest.mark.parametrize(("expected", "floor"), [(None, 80), (0.92, 80), (0.7535, 70), (0.0, 0)])
def test_the_axis_of_accuracy_reaches_down_to_what_a_run_is_expected_to_learn(expected, floor):
    figure: Any = lab_accuracy_figure(end=5.0, expected=expected)
    assert figure.layout.yaxis.range[0] == floor
