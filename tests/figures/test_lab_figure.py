"""The lab's chart: epsilon above accuracy, one x axis, marks that walk, ghosts of settings that
were left.
"""

import numpy as np
import pytest

from dpcore.figures import charted, epochs_at
from dpcore.figures.epsilon import Ghost
from dpcore.figures.lab import GHOST, NOW, RUN, LabRun, lab_figure
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
    figure = lab_figure(CURVES, EPOCHS, runs, **how)
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


def test_over_epsilon_the_certified_curve_is_the_diagonal_and_a_baseline_is_level():
    traces, layout = drawn(PRIVATE, BASELINE, across="epsilon")
    (upper,) = [each for each in traces.values() if each["name"] == "Proven upper bound"]
    assert list(upper["x"]) == list(upper["y"])
    assert list(traces[f"{RUN}0"]["x"]) == [0.7, 0.9]
    assert list(traces[f"{RUN}1"]["y"]) == [97.0, 97.0]
    untested, _ = drawn(BASELINE._replace(accuracy=[]), across="epsilon")
    assert len(untested[f"{RUN}1"]["x"]) == 2, "an accuracy that comes has a line to lift"
    assert layout["xaxis"]["title"]["text"] == "certified epsilon"
    assert layout["xaxis"]["range"][1] >= 1.56
    uncertified = lab_figure(
        {"moments": CURVES["moments"]}, EPOCHS, [PRIVATE], across="epsilon"
    ).to_dict()
    assert uncertified["layout"]["xaxis"]["title"]["text"] == "epoch"
