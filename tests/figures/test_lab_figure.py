"""The lab's chart: epsilon above accuracy, one x axis, marks that walk, ghosts of settings that were left."""

import numpy as np
import pytest

from dpcore.figures import charted, epochs_at
from dpcore.figures.epsilon import LIE
from dpcore.figures.ghost_curve import Ghost
from dpcore.figures.lab import CURVE, GHOST, INVITATION, NOW, RUN, LabRun, lab_figure
from dpcore.figures.labels import LINE, End, end_labels
from dpcore.figures.style import style_of
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism

MECHANISM, OTHER = Mechanism.constant(0.0256, 1.23, 196), Mechanism.constant(0.0256, 2.0, 196)
STEPS = charted(MECHANISM)
EPOCHS = epochs_at(MECHANISM, STEPS)
CURVES = {name: ACCOUNTANTS[name].curve(MECHANISM, STEPS, 1e-5) for name in ("moments", "pld")}
PRIVATE = LabRun("private", 0, [1.0, 2.0], [0.5, 0.8], [0.7, 0.9], end=5.0, most=1.56)
BASELINE = LabRun("non-private", 1, [1.0, 3.0], [0.9, 0.97], level=True, end=5.0)


def drawn(*runs: LabRun, **how) -> tuple[dict, dict]:
    """The traces by what tells them apart, and the layout."""
    figure = lab_figure(CURVES, EPOCHS, runs, **how)
    traces = [trace.to_plotly_json() for trace in figure.data]  # type: ignore[attr-defined]
    return {trace.get("uid", trace["name"]): trace for trace in traces}, figure.to_dict()["layout"]


def test_both_plots_share_one_axis_and_one_cursor():
    traces, layout = drawn(PRIVATE)
    assert {trace.get("xaxis", "x") for trace in traces.values()} == {"x"}
    assert traces[f"{RUN}0"]["yaxis"] == "y2"
    assert (layout["hovermode"], layout["hoversubplots"]) == ("x unified", "axis")
    assert layout["xaxis"]["spikemode"] == "across"
    low, high = layout["yaxis2"]["domain"], layout["yaxis"]["domain"]
    assert low[0] == 0 < low[1] < high[0] < high[1] == 1


def test_the_lower_plot_says_what_will_be_there_or_what_is_true_where_there_is_nothing_to_press():
    assert INVITATION in [note["text"] for note in drawn()[1]["annotations"]]
    assert INVITATION not in [note["text"] for note in drawn(PRIVATE)[1]["annotations"]]
    _, layout = drawn(without="cannot be trained")
    assert [note["text"] for note in layout["annotations"] if note.get("yref") == "y2"] == ["cannot be trained"]


def test_the_words_about_the_shaded_region_keep_inside_the_plot():
    for end, place, x in ((5.0, "top left", EPOCHS[-1]), (20.0, "top right", 0.0)):
        traces, layout = drawn(PRIVATE._replace(end=end))
        assert (traces[LIE]["textposition"], traces[LIE]["x"]) == (place, [x])
        assert layout["xaxis"]["range"][1] >= end


def test_accuracies_are_percents_and_labelled_at_their_end():
    traces, layout = drawn(PRIVATE, BASELINE)
    assert list(traces[f"{RUN}0"]["y"]) == [50.0, 80.0]
    texts = {note.get("name"): note["text"] for note in layout["annotations"]}
    assert texts[f"{RUN}0"].endswith("80.0 % private")
    assert texts[f"{RUN}1"].endswith("97.0 % non-private")


def test_the_mark_walks_on_every_curve_of_the_settings_that_train():
    for now in (0.5, 2.0, 4.9):
        traces, layout = drawn(PRIVATE._replace(now=now))
        assert layout["shapes"][0]["x0"] == layout["shapes"][0]["x1"] == pytest.approx(now)
        heights = sorted(traces[NOW]["y"])
        assert heights == pytest.approx(sorted(float(np.interp(now, EPOCHS, each.epsilon)) for each in CURVES.values()))
    traces, layout = drawn(PRIVATE)  # no run trains
    assert NOW not in traces
    assert not layout.get("shapes")


def ghostly(run: LabRun) -> LabRun:
    """The run, as of settings that are no longer chosen."""
    curve = ACCOUNTANTS["pld"].curve(OTHER, charted(OTHER), 1e-5)
    return run._replace(label="sigma 2", ghost=Ghost("sigma 2", curve, epochs_at(OTHER, charted(OTHER))))


def test_settings_that_are_left_stay_as_a_ghost_with_their_label_and_a_mark_of_their_own():
    run = ghostly(PRIVATE)._replace(now=2.0)
    traces, layout = drawn(run)
    ghost = traces[f"{GHOST}0"]
    assert ghost["opacity"] < 1
    assert ghost["y"][-1] == pytest.approx(ACCOUNTANTS["pld"].curve(OTHER, [196], 1e-5).epsilon[0])
    assert any("sigma 2" in note["text"] and "≤" in note["text"] for note in layout["annotations"])
    assert run.ghost
    assert run.ghost.epochs is not None
    assert list(traces[NOW]["y"]) == pytest.approx([float(np.interp(2.0, run.ghost.epochs, run.ghost.curve.epsilon))])


def test_a_ghost_that_costs_more_is_within_the_axis():
    dear = Mechanism.constant(0.0256, 0.9, 196)
    curve = ACCOUNTANTS["pld"].curve(dear, charted(dear), 1e-5)
    _, layout = drawn(PRIVATE._replace(ghost=Ghost("sigma 0.9", curve, EPOCHS)))
    assert layout["yaxis"]["range"][1] >= float(curve.epsilon[-1])


def test_over_epsilon_the_certified_curve_is_the_diagonal_and_a_baseline_is_level():
    traces, layout = drawn(PRIVATE, BASELINE, across="epsilon")
    (upper,) = [each for each in traces.values() if each["name"] == "Proven upper bound"]
    assert list(upper["x"]) == list(upper["y"])
    assert list(traces[f"{RUN}0"]["x"]) == [0.7, 0.9]
    assert list(traces[f"{RUN}1"]["y"]) == [97.0, 97.0]
    assert layout["xaxis"]["title"]["text"] == "certified epsilon"
    assert layout["xaxis"]["range"][1] >= 1.56
    uncertified = lab_figure({"moments": CURVES["moments"]}, EPOCHS, [PRIVATE], across="epsilon").to_dict()
    assert uncertified["layout"]["xaxis"]["title"]["text"] == "epoch"


def test_traces_are_told_apart_by_names_that_css_can_hold():
    traces, _ = drawn(ghostly(PRIVATE)._replace(now=1.0), BASELINE)
    told = [name for name in traces if name.startswith((CURVE, GHOST, RUN, NOW))]
    assert len(told) >= 5
    assert all(name.replace("-", "").isalnum() for name in told)


def test_a_label_at_the_foot_of_its_plot_hangs_out_by_half_a_line_whether_it_has_one_line_or_two():
    height, style = 200, style_of("gdp")
    for name in ("", "Gaussian DP (CLT)"):
        (label,) = end_labels([End(style, 0.0, "≈ 1.00", name)], (0.0, 1.0), height)
        lines = 1 + label["text"].count("<br>")
        assert label["y"] * height - lines * LINE / 2 == pytest.approx(-LINE / 2), name
