"""The number line of a claim: the stretch that is proven, what is claimed, both where they are."""

import math

import numpy as np
import pytest

from dpcore.figures.claim import Stretch, claim_alt, claim_figure

ROUNDED = Stretch(0.825, 0.835)


def shown(figure) -> tuple[float, float]:
    low, high = figure.layout.xaxis.range
    return (10**low, 10**high) if figure.layout.xaxis.type == "log" else (low, high)


def test_all_of_it_is_in_sight() -> None:
    for proven in (Stretch(0.862, 0.867), Stretch(3.5, 42.0), Stretch(0.1, 0.2), Stretch(0.5, math.inf)):
        figure = claim_figure("0.83", ROUNDED, proven)
        low, high = shown(figure)
        below, band, rounds, claimed = figure.data
        for value in (proven.low, 0.825, 0.83, 0.835, *([proven.high] if math.isfinite(proven.high) else [])):
            assert low <= value <= high, proven
        assert band.x[0] == below.x[2] == proven.low
        assert band.x[2] == pytest.approx(min(proven.high, high))
        assert (list(rounds.x), list(claimed.x)) == ([0.825, 0.835], [0.83, 0.83])


def test_a_wide_stretch_is_hatched_and_a_narrow_one_filled() -> None:
    narrow, wide = (claim_figure("0.83", ROUNDED, each).data[1] for each in (Stretch(0.862, 0.867), Stretch(0.5, 4.0)))
    assert wide.fillpattern.shape == "/"
    assert narrow.fillpattern.shape is None


def test_what_is_proven_is_rounded_outwards_in_words() -> None:
    figure = claim_figure("0.83", ROUNDED, Stretch(0.86269, 0.86674))
    assert ["0.862 to 0.867" in each.text or "claimed 0.83" in each.text for each in figure.layout.annotations] == [
        True
    ] * 2
    assert claim_alt("0.83", Stretch(0.86269, math.inf)).startswith("Number line of epsilon: at least 0.862 is proven")


def test_where_nothing_is_proven_from_below_the_line_begins_at_zero_or_above() -> None:
    figure = claim_figure("3", Stretch(2.5, 3.5), Stretch(0.0, math.inf))
    assert shown(figure)[0] >= 0
    assert np.isfinite(shown(figure)).all()


def test_a_long_line_has_round_numbers_along_it() -> None:
    axis = claim_figure("3.0", Stretch(2.95, 3.05), Stretch(3.54, 42.1)).layout.xaxis
    assert axis.type == "log"
    assert list(axis.ticktext) == ["5", "10", "20", "50"]
    far = claim_figure("3.0", Stretch(2.95, 3.05), Stretch(1e-3, 1e6)).layout.xaxis
    assert 4 <= len(far.ticktext) <= 8
