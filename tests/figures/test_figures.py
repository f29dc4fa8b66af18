"""The figures: what they show, and that a notebook gets them in a few lines."""

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from dpcore.figures import (
    charted,
    classes_figure,
    curves_figure,
    epochs_at,
    epsilon_figure,
    norms_figure,
    profile_figure,
)
from dpcore.figures.epsilon import OVERCLAIMED, curves_panel
from dpcore.figures.layout import LINE_PIXELS
from dpcore.figures.style import DEFAULT_ACCOUNTANTS, SIGNS, run_styles, style_of
from dpcore.figures.training import MAX_POINTS, decisions_figure, thinned
from dpcore.privacy.accountants import ACCOUNTANTS, Curve, Kind
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.report.verdict import verdict
from dpcore.privacy.schedule import Recipe

ROOT = Path(__file__).parents[2]
HEADLINE = Mechanism.constant(q=0.01, sigma=4.0, steps=10_000)


def test_what_the_hover_says_of_a_bound_is_rounded_outwards():
    for name, accountant in ACCOUNTANTS.items():
        curve, profile = (
            accountant.curve(HEADLINE, [10, 5000], 1e-5),
            accountant.profile(HEADLINE, [1e-7, 1e-5]),
        )
        drawn = (
            curves_figure({name: curve}, np.array([0.1, 50.0])).data,
            profile_figure({name: profile}).data,
        )
        for axis, traces in zip("yx", drawn, strict=True):
            for trace in [each for each in traces if each.mode == "lines"]:
                if not curve.kind.is_bound:
                    assert trace.text is None, name
                    continue
                side = -1 if trace.name == "Proven lower bound" else 1
                known = [
                    (value, text)
                    for value, text in zip(trace[axis], trace.text, strict=True)
                    if text
                ]
                assert known, name
                assert all(
                    0 <= side * (float(text) - value) <= 1e-2 * value for value, text in known
                ), name


def test_the_notebook_figure_shows_the_four_accountants_over_the_band():
    figure = epsilon_figure(HEADLINE, delta=1e-5)
    lines = figure.data[-len(DEFAULT_ACCOUNTANTS) :]
    assert [trace.name for trace in lines] == [style_of(name).label for name in DEFAULT_ACCOUNTANTS]
    for trace, name in zip(lines, DEFAULT_ACCOUNTANTS, strict=True):
        assert trace.y[-1] == ACCOUNTANTS[name].curve(HEADLINE, [10_000], 1e-5).epsilon[0]
        assert trace.x[-1] == pytest.approx(100)
    upper, lower = (
        next(trace for trace in figure.data if trace.name == f"Proven {end} bound")
        for end in ("upper", "lower")
    )
    assert np.all(np.asarray(lower.y) <= np.asarray(upper.y))


def test_horizons_end_at_the_last_step_and_are_at_most_a_hundred():
    for steps in (1, 2, 99, 100, 101, 10_000, 10**9):
        points = charted(Mechanism.constant(0.5, 1.0, steps))
        assert points[0] == 1
        assert points[-1] == steps
        assert len(points) <= 100
        assert np.all(np.diff(points) > 0)


def test_epochs_count_each_release_at_its_own_rate_and_those_before_the_sampled_steps_at_zero():
    assert epochs_at(
        Recipe("exponential", 0.1).mechanism(0.5, 4.0, 10), np.array([0, 5, 10])
    ).tolist() == [0, 2.5, 5]
    before = Release(1.0, 7.0)
    mechanism = Mechanism((before, Release(1.0, 10.0), Release(0.5, 4.0, 10), Release(1.0, 4.0, 2)))
    assert epochs_at(mechanism, np.array([0, 1, 2, 3, 12, 14])).tolist() == [
        0.0,
        0.0,
        0.0,
        0.5,
        5.0,
        7.0,
    ]
    # Full batches.
    assert epochs_at(Mechanism.constant(1.0, 4.0, 3), np.array([1, 3])).tolist() == [1.0, 3.0]
    figure = epsilon_figure(Mechanism((before, Release(0.01, 4.0, 100))), accountants=["rdp"])
    assert (figure.data[2].x[0], figure.data[2].x[-1]) == (0.0, pytest.approx(1.0))
    assert (
        figure.data[2].y[0] == ACCOUNTANTS["rdp"].curve(Mechanism((before,)), [1], 1e-5).epsilon[0]
    )


def test_an_infinite_epsilon_leaves_a_gap_and_no_label_and_no_curve_at_all_an_empty_chart():
    steps = np.array([1, 2])
    endless = Curve(
        steps, np.full(2, 1e-5), np.array([np.inf, np.inf]), None, Kind.UPPER, "too little noise"
    )
    for curves in ({"rdp": endless}, {}):
        figure = curves_figure(curves, np.array([0.1, 0.2]))
        assert not figure.data
        assert not figure.layout.annotations
    profile_figure({"rdp": endless})


def wild(low: float, high: float) -> dict[str, Curve]:
    """A certified curve, one near it and one far above."""
    steps, deltas = np.array([1, 2]), np.full(2, 1e-5)
    ends = {"moments": (3 * high, Kind.UPPER), "naive": (1e170, Kind.UPPER)}
    curves = {
        name: Curve(steps, deltas, np.array([end / 2, end]), None, kind)
        for name, (end, kind) in ends.items()
    }
    band = Curve(
        steps, deltas, np.array([high / 2, high]), np.array([low / 2, low]), Kind.CERTIFIED
    )
    return curves | {"pld": band}


@pytest.mark.parametrize("high", [1.0, math.inf])
def test_a_curve_far_above_the_certified_one_does_not_flatten_the_others(high: float):
    curves = (
        wild(0.9, high)
        if math.isfinite(high)
        else wild(0.9, 1.0) | {"pld": wild(0.9, math.inf)["pld"]}
    )
    figure = curves_figure(curves, np.array([0.1, 0.2]))
    assert figure.layout.yaxis.range[1] == pytest.approx(1.05 * 3)
    assert style_of("naive").label in [trace.name for trace in figure.data]  # still drawn
    (label,) = [
        each.text for each in figure.layout.annotations if style_of("naive").label in each.text
    ]
    assert "≤ 1e170 " in label
    assert " ↑ " in label
    assert profile_figure(curves).layout.xaxis.range[1] == pytest.approx(1.05 * 3)
    assert 10 ** curves_figure(curves, np.array([0.1, 0.2]), log=True).layout.yaxis.range[1] > 1e170


def test_each_label_says_what_kind_of_number_it_ends_and_carries_the_sign_of_its_verdict():
    texts = [each.text for each in epsilon_figure(HEADLINE).layout.annotations]
    for name, mark in (("moments", "≤"), ("mma", "says"), ("gdp", "≈"), ("pld", "≤")):
        (text,) = [each for each in texts if style_of(name).label in each]
        assert f"</span> {mark} " in text
    curves = {name: ACCOUNTANTS[name].curve(HEADLINE, [1, 10_000], 1e-5) for name in ACCOUNTANTS}
    texts = [
        each.text
        for each in curves_figure(curves, np.array([0.01, 100.0]), log=True).layout.annotations
    ]
    for name, curve in curves.items():
        (text,) = [each for each in texts if style_of(name).label in each]
        sign, _ = SIGNS["worth"][verdict(curve, curves["pld"]).worth]
        assert f"{sign} {style_of(name).label}" in text
    alone = (
        curves_figure({"rdp": curves["rdp"]}, np.array([0.01, 100.0])).layout.annotations[0].text
    )
    assert not {mark for mark, _ in SIGNS["worth"].values()} & set(alone)  # nothing to judge it by


@pytest.mark.parametrize("log", [False, True])
def test_what_an_accountant_claims_below_the_certified_band_is_hatched(log: bool):
    figure = epsilon_figure(HEADLINE, log=log)
    areas = [trace for trace in figure.data if trace.name == OVERCLAIMED]
    area = next(each for each in areas if each.meta["claims"] == style_of("gdp").label)
    assert (area.fill, area.fillpattern.shape) == ("toself", "/")
    assert all(each.visible is False for each in areas), "until a reader points at it"
    gdp = next(trace for trace in figure.data if trace.name == style_of("gdp").label)
    lower = next(trace for trace in figure.data if trace.name == "Proven lower bound")
    there = area.x == gdp.x[-1]
    assert sorted(area.y[there]) == [gdp.y[-1], lower.y[-1]]
    *outline, gap = area.y
    assert np.isnan(gap)
    assert outline[0] == outline[-1]  # closed
    # The band itself is filled up to its own lower bound.
    places = [trace.name for trace in figure.data]
    assert places.index("Proven upper bound") == places.index("Proven lower bound") + 1
    profile = profile_figure({"pld": ACCOUNTANTS["pld"].profile(HEADLINE, [1e-7, 1e-5])})
    assert (profile.data[0].fill, profile.data[0].fillpattern.shape) == ("tozerox", "/")


def test_where_nobody_claims_too_much_nothing_is_hatched():
    curves = {name: ACCOUNTANTS[name].curve(HEADLINE, [1, 10_000], 1e-5) for name in ("rdp", "pld")}
    figure = curves_figure(curves, np.array([0.01, 100.0]))
    assert OVERCLAIMED not in [trace.name for trace in figure.data]


def test_each_stretch_of_too_small_claims_has_its_own_area_and_one_out_of_sight_has_none():
    steps, deltas = np.arange(1, 6), np.full(5, 1e-5)
    lower = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    band = Curve(steps, deltas, 1.01 * lower, lower, Kind.CERTIFIED)
    claims = Curve(steps, deltas, np.array([0.0, 1.0, 3.5, 3.9, 6.0]), None, Kind.CLAIMED)
    how = {"epochs": steps.astype(float), "log": True}
    panel = curves_panel({"pld": band, "mma": claims}, **how)
    (area,) = [each for each in panel.behind if each["name"] == OVERCLAIMED]
    gaps = np.isnan(area["y"])
    assert np.flatnonzero(gaps).tolist() == [5, 9]
    assert np.asarray(area["x"])[~gaps].tolist() == [1, 2, 2, 1, 1, 4, 4, 4]
    assert area["y"][6:9].tolist() == [3.9, 4.0, 3.9]
    assert (area["y"][~gaps] > 0).all(), "0 has no place on a logarithmic axis"
    (label,) = [each.text for each in panel.ends if each.style.label == style_of("mma").label]
    assert " ✕→↕ " in label, "its last number is not too small, earlier ones are"
    panel = curves_panel({"pld": band, "mma": claims}, bounds=(1.0, 2.0), **how)
    assert OVERCLAIMED not in [each["name"] for each in panel.traces]


def test_classes_are_bars_and_long_series_are_thinned_and_keep_their_last_point():
    (bars,) = classes_figure(["a", "b"], [0.25, 1.0]).data
    assert list(bars.y) == [25.0, 100.0]
    _, second = run_styles([True, True])
    (bars,) = classes_figure(["a", "b"], [0.25, 1.0], second).data
    assert bars.marker.color == second.color, "bars have the colour of their run's line"
    x, y = thinned(list(range(100_000)), [2.0 * i for i in range(100_000)])
    assert len(x) == MAX_POINTS
    assert (x[0], x[-1], y[-1]) == (0, 99_999, 199_998)


def test_many_proposals_are_shares_of_neighbours_and_none_is_lost():
    for count in (0, 1, 399, 400, 401, 100_003):
        decisions = "".join("ar"[i % 3 == 0] for i in range(count))
        accepted, rejected = decisions_figure(decisions, 0.01, max(count, 1)).data
        assert len(accepted.y) <= MAX_POINTS, count
        widths = np.asarray(accepted.width) / 0.01
        assert widths.sum() == pytest.approx(count)
        assert (np.asarray(accepted.y) * widths).sum() == pytest.approx(decisions.count("a")), count
        assert (np.asarray(rejected.y) * widths).sum() == pytest.approx(-decisions.count("r")), (
            count
        )


def test_a_norm_of_zero_is_left_out_and_without_a_report_there_is_only_c_which_is_above_0():
    figure = norms_figure([1.0], [[0.0, 0.0, 0.1, 0.2, 0.3]], 0.25)
    assert [bool(np.isnan(each.y[0])) for each in figure.data[:5]] == [
        True,
        True,
        False,
        False,
        False,
    ]
    *fan, clipped = norms_figure([], [], 0.1, end=3.0).data
    assert all(not len(each.y) for each in fan)
    assert list(clipped.y) == [0.1, 0.1]
    with pytest.raises(ValueError, match=r"Expected clip_norm=0"):
        norms_figure([1.0], [[0.1, 0.2, 0.4, 0.8, 1.6]], 0)


def test_labels_right_of_a_plot_stand_below_each_other_the_highest_first():
    curves = {name: ACCOUNTANTS[name].curve(HEADLINE, [1, 10_000], 1e-5) for name in ACCOUNTANTS}
    figure = curves_figure(curves, np.array([0.01, 100.0]))
    notes = figure.layout.annotations
    assert len(notes) == len(ACCOUNTANTS)
    for above, below in pairwise(notes):
        assert above.yshift - below.yshift >= LINE_PIXELS * (1 + above.text.count("<br>"))
    heights = figure.layout.meta["ends"]
    assert heights == sorted((each.last.value for each in curves.values()), reverse=True)
