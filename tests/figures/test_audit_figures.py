"""The figures of an audit and of a claim: all in sight, bands where they belong, and in words the
same numbers.
"""

import math
import re

import numpy as np
import pytest
from scipy.stats import norm

from dpcore.audit.bounds.e_process import evidence_text
from dpcore.audit.bounds.roc import roc_of
from dpcore.audit.bounds.score_laws import score_laws
from dpcore.audit.events import Traced, Watched
from dpcore.figures.audit import (
    Reached,
    canaries_figure,
    evidence_alt,
    evidence_figure,
    roc_alt,
    roc_figure,
    scores_alt,
    scores_figure,
)
from dpcore.figures.number_line import CLAIM, Mark, Stretch, audit_line_figure, claim_figure
from dpcore.figures.style import REFUTED
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism

TESTS = [Mark(math.inf, "Releases infinite", "bound", refuted=True), Mark(0.7, "One run", "bound"),
         Mark(2.0, "In and out", "estimate")]  # fmt: skip
OWN = Mark(2.6, "Certified 2.5 to 2.6", CLAIM)
ACCOUNTANTS = [
    Mark(1.6, "Gaussian DP (CLT) with a label of more than a line", CLAIM),
    Mark(3.1, "Rényi", CLAIM),
]
CERTIFIED = Stretch(2.5, 2.6)
MECHANISM = Mechanism.constant(q=1.0, sigma=2.0, steps=4)  # exactly 1-GDP


def named(figure, name: str):
    return next(each for each in figure.data if each.name == name)


def in_sight(figure) -> tuple[float, float]:
    low, high = figure.layout.xaxis.range
    return (10**low, 10**high) if figure.layout.xaxis.type == "log" else (low, high)


def test_every_number_of_the_line_is_in_sight_and_each_label_stands_on_the_line_of_its_mark() -> (
    None
):
    for accountants in (ACCOUNTANTS, [], [Mark(80.0, "Naive", CLAIM)]):
        figure = audit_line_figure(TESTS, CERTIFIED, OWN, accountants)
        low, high = in_sight(figure)
        assert all(low <= x <= high for trace in figure.data for x in trace.x), accountants
        marks = [trace.y[0] for trace in figure.data[1:]]
        assert marks == list(figure.layout.yaxis.tickvals) == sorted(marks)
        bottom, top = figure.layout.yaxis.range
        assert top < marks[0] < marks[-1] < bottom
        labels = [
            re.sub(r"<.*?>|  ", "", each.replace("  <br>", " "))
            for each in figure.layout.yaxis.ticktext
        ]
        rows = [*TESTS, OWN, *accountants]
        assert labels == [f"{'✕ ' if row.refuted else ''}{row.label}" for row in rows], accountants


def test_failed_tests_and_the_claim_are_red_and_what_is_infinite_stands_at_the_right_end() -> None:
    figure = audit_line_figure(TESTS, CERTIFIED, OWN._replace(refuted=True), ACCOUNTANTS)
    red = [
        each.name for each in figure.data if each.mode == "markers" and each.marker.color == REFUTED
    ]
    assert red == [TESTS[0].label, OWN.label]
    infinite = next(each for each in figure.data[1:] if each.name == TESTS[0].label)
    assert infinite.x[0] == max(x for each in figure.data[1:] for x in each.x)
    kept = audit_line_figure(TESTS[1:], CERTIFIED, OWN, ACCOUNTANTS)
    assert REFUTED not in [each.marker.color for each in kept.data]


def test_the_roc_lies_in_its_band_and_the_certified_curve_is_that_of_theory() -> None:
    generator = np.random.default_rng(1)
    roc = roc_of(generator.normal(1, 1, 400), generator.normal(0, 1, 400))
    seen = Traced(
        "losses", roc.false_positives, roc.seen, roc.above, roc.below, roc.area, roc.scores
    )
    band = tradeoff_bounds(MECHANISM)
    figure = roc_figure(seen, band)
    least, most, curve, certified = (
        named(figure, name) for name in ("At least", "At most", "Seen", "Certified for the claim")
    )
    assert np.all(np.array(least.y) <= np.array(curve.y) + 1e-12)
    assert np.all(np.array(curve.y) <= np.array(most.y) + 1e-12)
    assert min(min(each.y) for each in figure.data) > 0  # what a logarithmic axis can show
    assert np.allclose(certified.y, norm.cdf(norm.ppf(certified.x) + 1), rtol=1e-3)
    assert most.fill == "tonexty"
    assert "certified is at most" in roc_alt(seen, band)
    assert "Certified" not in str([each.name for each in roc_figure(seen, None).data])


def test_histograms_and_laws_are_densities_and_agree_where_scores_follow_the_laws() -> None:
    generator = np.random.default_rng(2)
    laws = score_laws(MECHANISM)  # Normal(-1/2, 1) without the canary, Normal(1/2, 1) with it
    inside, outside = generator.normal(0.5, 1, 20_000), generator.normal(-0.5, 1, 20_000)
    figure = scores_figure(inside.tolist(), outside.tolist(), laws)
    for name, mean in (("In the data", 0.5), ("Not in it", -0.5)):
        bars, law = named(figure, name), named(figure, f"{name}, theory")
        assert np.sum(np.array(bars.y) * np.array(bars.width)) == pytest.approx(1, abs=1e-9)
        at = np.interp(bars.x, law.x, law.y)
        assert np.max(np.abs(at - bars.y)) < 0.04
        assert np.sum(np.array(bars.x) * bars.y * bars.width) == pytest.approx(mean, abs=0.05)
    swapped = scores_figure(outside.tolist(), inside.tolist(), laws)
    bars, law = named(swapped, "In the data"), named(swapped, "In the data, theory")
    assert np.max(np.abs(np.interp(bars.x, law.x, law.y) - bars.y)) > 0.1
    assert "where theory has 0.50" in scores_alt(inside.tolist(), outside.tolist(), laws)
    for scores in (([], [1.0, 2.0]), ([1.0], [1.0])):  # few, or equal ones
        few = scores_figure(*scores, None)
        assert np.isfinite(few.layout.xaxis.range).all()
        assert len(few.data) == 2


def test_bounds_against_canaries_have_the_certified_band_behind_them() -> None:
    figure = canaries_figure(
        [10, 1000], [1.0, 5.8], [0.0, 0.3], [Reached(50_000, 0.7, "One run")], CERTIFIED
    )
    low, high = in_sight(figure)
    assert low < 10 < 50_000 < high
    assert set(named(figure, "Certified").y) == {2.5, 2.6}


def test_evidence_and_its_line_are_in_sight_and_what_no_axis_holds_is_cut_off() -> None:
    for logs, top in (
        ([(-0.3, -0.4, -0.2)], 2),
        ([(1.5, 1.8, -3.0), (4.2, 4.5, -3.2)], 5),
        ([(9e4, 9e4, -0.3)], 8),
    ):
        figure = evidence_figure(
            [Watched(3 * place + 3, 9, None, evidence=each) for place, each in enumerate(logs)]
        )
        low, high = figure.layout.yaxis.range
        drawn = np.log10([y for trace in figure.data for y in trace.y])
        assert np.all((low <= drawn) & (drawn <= high))
        assert high == pytest.approx(top + 0.1)
        assert figure.data[0].y[0] == 1, "it begins at 1"
        assert figure.data[0].text[-1] == evidence_text(logs[-1][0])
        assert set(figure.data[3].y) == {20}
        assert list(figure.layout.xaxis.range) == [0, 9]
        assert any("≥" in text for text in figure.layout.yaxis.ticktext) == (top == 8)
    assert evidence_alt([Watched(4, 9, None, evidence=logs[0], caught="Caught.")]).endswith(
        "noise. Caught."
    )


ROUNDED = Stretch(0.825, 0.835)


def test_what_is_claimed_and_what_is_proven_are_in_sight() -> None:
    for proven in (
        Stretch(0.862, 0.867),
        Stretch(3.5, 42.0),
        Stretch(0.1, 0.2),
        Stretch(0.5, math.inf),
    ):
        figure = claim_figure("0.83", ROUNDED, proven)
        low, high = in_sight(figure)
        shown = [proven.low, 0.825, 0.83, 0.835]
        if math.isfinite(proven.high):
            shown.append(proven.high)
        for value in shown:
            assert low <= value <= high, proven
        below, band, rounds, claimed = figure.data
        assert band.x[0] == below.x[2] == proven.low
        assert band.x[2] == pytest.approx(min(proven.high, high))
        assert (list(rounds.x), list(claimed.x)) == ([0.825, 0.835], [0.83, 0.83])
    # A lower bound of 0 lies left of any line.
    assert claim_figure("0.83", ROUNDED, Stretch(0.0, 40.0)).data


def test_what_is_proven_is_rounded_outwards_in_words() -> None:
    notes = claim_figure("0.83", ROUNDED, Stretch(0.86269, 0.86674)).layout.annotations
    assert [re.sub(r"<.*> ", "", each.text) for each in notes] == [
        "proven: 0.862 to 0.867",
        "claimed 0.83",
        "refuted",
    ]
