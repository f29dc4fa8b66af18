"""The colours: apart for every kind of eye, legible on light and on dark paper, one palette for
each meaning.
"""

from itertools import combinations, product

import numpy as np
import pytest

from dpcore.figures.perturbation import LOOKS as METHOD_LOOKS
from dpcore.figures.style import (
    ATTACK_LOOK,
    BASELINES,
    CERTIFIED_LOOK,
    HOLDS,
    LOOKS,
    NON_PRIVATE,
    PINNED_LOOK,
    REFUTED,
    RUNS,
    SAMPLED_LOOK,
    run_styles,
    style_of,
)
from tests.figures.colour_vision import EYES, contrast, difference, lab

PAPERS = ("#ffffff", "#171614")  # the lightest and the lightest dark one
ACCOUNTED = [color for color, _, _ in (CERTIFIED_LOOK, *LOOKS)]
TRAINED = [*(color for color, _, _ in RUNS), NON_PRIVATE]
BESIDE = [ATTACK_LOOK[0], PINNED_LOOK[0], SAMPLED_LOOK[0]]
TOGETHER = {  # colours that share a chart
    "accountants, an attacker's gain, a pinned setting, another sampler": [*ACCOUNTED, *BESIDE],
    "runs": TRAINED,
    "methods of perturbation": [color for color, _, _ in METHOD_LOOKS],
    "claims, kept or refuted, and what is certified": [HOLDS, REFUTED],
    "growing lengths and the limit": [*TRAINED[:5], style_of("gdp").color],
}
APART = 8.0  # CIEDE2000


def test_the_measure_of_difference_gives_its_authors_figures():
    for one, other, known in [  # Sharma, Wu and Dalal 2005, table 1: pairs 1, 16, 24 and 25
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((50.0, 2.5, 0.0), (58.0, 24.0, 15.0), 19.4535),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ]:
        assert difference(np.array(one), np.array(other)) == pytest.approx(known, abs=1e-4), known


@pytest.mark.parametrize("chart", TOGETHER)
def test_colours_that_share_a_chart_can_be_told_apart_by_every_eye_on_light_and_on_dark_paper(
    chart: str,
):
    for eye in EYES:
        apart = {
            pair: difference(*(lab(each, eye) for each in pair))
            for pair in combinations(TOGETHER[chart], 2)
        }
        nearest = min(apart, key=apart.__getitem__)
        assert apart[nearest] >= APART, (eye, nearest)
    for color in TOGETHER[chart]:
        assert min(contrast(color, paper) for paper in PAPERS) >= 3, color


def apart(ones: list[str], others: list[str]) -> float:
    """The least difference between the two groups."""
    return min(
        difference(lab(one, "all three"), lab(other, "all three"))
        for one, other in product(ones, others)
    )


def test_a_colour_has_one_role():
    assert apart([*ACCOUNTED, *BESIDE], [*TRAINED[:1], NON_PRIVATE, REFUTED]) > 12
    assert apart([*ACCOUNTED, *BESIDE], TRAINED) > 8
    assert apart([*ACCOUNTED, *BESIDE, *TRAINED], [REFUTED]) > 12  # nothing else is red


def test_private_runs_and_baselines_keep_their_looks_in_any_order():
    for order in ([True, False], [False, True], [False, True, False, True]):
        styles = run_styles(order)
        assert styles[order.index(True)][:3] == RUNS[0]
        assert styles[order.index(False)][:3] == BASELINES[0]
        assert len(set(styles)) == len(order)


def test_lines_that_share_a_chart_differ_in_their_dashes_too():
    for lines in ([*LOOKS, CERTIFIED_LOOK, PINNED_LOOK], RUNS, METHOD_LOOKS):
        assert (
            len({dash for _, dash, _ in lines}) == len({glyph for *_, glyph in lines}) == len(lines)
        )
    assert len(set(BASELINES)) == len(BASELINES)
