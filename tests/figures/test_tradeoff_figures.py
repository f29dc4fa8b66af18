"""Charts of an attacker's errors: no curve leaves the square, the band holds the exact curve."""

import itertools
import math

import numpy as np
import pytest

from dpcore.figures import Line, gaussian_line, growth_figure, tradeoff_figure
from dpcore.figures.style import style_of
from dpcore.figures.tradeoff import ALPHA, NO_PROMISE, RATES
from dpcore.privacy.certified.tradeoff_bounds import Band, tradeoff_bounds
from dpcore.privacy.mechanism import Kind, Mechanism
from dpcore.privacy.tradeoff import Gaussian, Pairs, Points

EXACT = tradeoff_bounds(Mechanism.constant(q=1.0, sigma=2.0, steps=4))  # exactly G_1


def drawn(figure) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    return {
        trace.name: (np.asarray(trace.x, float), np.asarray(trace.y, float))
        for trace in figure.data
    }


def region(epsilon: float, kind: Kind = Kind.UPPER) -> Line:
    """What one pair leaves."""
    return Line(style_of("rdp"), Pairs([epsilon], [1e-5]), kind, region=True)


@pytest.mark.parametrize("log", [False, True])
def test_every_curve_stays_between_the_axes_and_blind_guessing(log: bool):
    for mu, epsilon in itertools.product((0.0, 0.5, 40.0, math.inf), (0.0, 1.0, 2000.0, math.inf)):
        for x, y in drawn(
            tradeoff_figure(EXACT, [region(epsilon), gaussian_line(mu)], log=log)
        ).values():
            assert np.all((y >= 0) & (y <= 1)), (mu, epsilon)
            assert np.all(y >= x - 1e-12 if log else y <= 1 - x + 1e-12), (mu, epsilon)


def test_the_band_holds_the_exact_curve_in_both_views():
    for log, exact in ((False, Gaussian(1.0).beta(ALPHA)), (True, Gaussian(1.0).power(RATES))):
        curves = drawn(tradeoff_figure(EXACT, [], log=log))
        low, high = curves["Certified, at least"][1], curves["Certified, at most"][1]
        assert np.all(low <= exact + 1e-12)
        assert np.all(exact <= high + 1e-12)
        assert np.max(high - low) < 1e-3


@pytest.mark.parametrize("log", [False, True])
def test_what_the_hover_says_of_the_band_is_rounded_outwards(log: bool):
    figure = tradeoff_figure(EXACT, [], log=log)
    for word, side in (("at least", -1), ("at most", 1)):
        (trace,) = [each for each in figure.data if each.name == f"Certified, {word}"]
        assert trace.hovertemplate == "%{text}"
        exceeded = side * (np.array([float(each) for each in trace.text]) - trace.y)
        assert exceeded.min() >= 0
        assert exceeded.max() <= 1e-2


def test_only_what_one_pair_leaves_is_filled_up_to_blind_guessing():
    pair = region(1.0)
    figure = tradeoff_figure(None, [pair, gaussian_line(1.0)])
    filled = [trace.name for trace in figure.data if trace.fill]
    assert filled == [pair.style.label]
    edge = figure.data[[trace.name for trace in figure.data].index(pair.style.label) - 1]
    np.testing.assert_allclose(edge.y, 1 - ALPHA)


def test_the_corner_of_what_a_pair_leaves_is_a_point_of_its_edge():
    for epsilon in (0.1, 1.0, 1.561, 8.0):
        pair = region(epsilon, Kind.CERTIFIED)
        # Where the two lines of the region meet: alpha = beta.
        corner = (1 - 1e-5) / (1 + math.exp(epsilon))
        for log, height in ((False, corner), (True, 1 - corner)):
            x, y = drawn(tradeoff_figure(None, [pair], log=log))[pair.style.label]
            place = int(np.argmin(np.abs(x - corner)))
            assert (x[place], y[place]) == pytest.approx((corner, height), abs=1e-12)
            assert np.all(np.diff(x) > 0)


@pytest.mark.parametrize("kind", Kind)
def test_what_the_hover_says_of_pairs_follows_from_their_kind(kind: Kind):
    for log, is_region in itertools.product((False, True), (False, True)):
        each = Line(style_of("rdp"), Pairs([1.0, 2.0], [1e-5, 1e-9]), kind, is_region)
        (trace,) = [
            trace
            for trace in tradeoff_figure(None, [each], log=log).data
            if trace.name == each.style.label
        ]
        if not kind.is_bound:
            assert trace.text is None
            continue
        assert trace.hovertemplate == "%{text}"
        side = 1 if log else -1  # an attacker may do better than what is shown by no means
        exceeded = side * (np.array([float(text) for text in trace.text]) - trace.y)
        assert exceeded.min() >= 0, (log, is_region)
        assert exceeded.max() <= 1e-2, (log, is_region)


def test_a_band_that_says_nothing_and_a_length_that_is_not_certified_are_not_drawn():
    nothing = Band(
        Pairs([], []), Points([], []), "n/a, because there is too little noise.", empty=True
    )
    for band in (None, nothing):
        assert [*drawn(tradeoff_figure(band, [gaussian_line(1.0)]))] == [
            "Blind guessing",
            "G_mu (CLT), mu = 1.00",
        ]
    for log in (False, True):  # a band that is not known yet is another thing
        for band, said in ((None, False), (nothing, True), (EXACT, False)):
            figure = tradeoff_figure(band, [], log=log)
            assert (NO_PROMISE in [each.text for each in figure.layout.annotations]) == said
    assert [*drawn(growth_figure({1: nothing, 4: EXACT}, 1.0))] == [
        "Blind guessing",
        "Certified, T = 4, at least",
        "Certified, T = 4, at most",
        "G_mu (CLT), mu = 1.00",
    ]
