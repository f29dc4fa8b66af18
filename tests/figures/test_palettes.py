"""The colours: apart for every kind of eye, legible on light and on dark paper, one palette for each meaning."""

from itertools import combinations, product

import numpy as np
import pytest

from dpcore.figures.epsilon import GHOST_LOOK
from dpcore.figures.number_line import BROKEN, HOLDS
from dpcore.figures.perturbation import LOOKS as METHOD_LOOKS
from dpcore.figures.sampled import LOOK as SAMPLED
from dpcore.figures.style import CERTIFIED_LOOK, LENGTHS, LOOKS, REGION, RUNS, style_of
from dpcore.figures.training import DASHES
from dpcore.privacy.accountants import ACCOUNTANTS
from tests.figures.colour_vision import EYES, contrast, difference, lab

PAPERS = ("#ffffff", "#171614")  # the lightest and the lightest dark one
ACCOUNTED = {CERTIFIED_LOOK[0], *(color for color, _, _ in LOOKS)}  # also those that no accountant has yet
GROWING = [color for color, _, _ in LENGTHS]
METHODS = [color for color, _, _ in METHOD_LOOKS]  # of perturbation
TOGETHER = {  # colours that share a chart
    "accountants": [*ACCOUNTED],
    "runs": [*RUNS],
    "methods of perturbation": METHODS,
    "what is claimed, kept or broken": [BROKEN, HOLDS],
    "lengths and the limit": [*GROWING, style_of("gdp").color],
    "accountants, a sampler, what a pair leaves, and a ghost": [
        *(style_of(name).color for name in ACCOUNTANTS),
        SAMPLED[0],
        REGION.color,
        GHOST_LOOK[0],
    ],
    "accountants, what a pair leaves, and a ghost": [*ACCOUNTED, REGION.color, GHOST_LOOK[0]],
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
def test_colours_that_share_a_chart_can_be_told_apart_by_every_eye_on_light_and_on_dark_paper(chart: str):
    for eye in EYES:
        apart = {pair: difference(*(lab(each, eye) for each in pair)) for pair in combinations(TOGETHER[chart], 2)}
        nearest = min(apart, key=apart.__getitem__)
        assert apart[nearest] >= APART, (eye, nearest)
    for color in TOGETHER[chart]:
        assert min(contrast(color, paper) for paper in PAPERS) >= 3, color


def test_a_colour_that_means_an_accountant_means_nothing_else():
    for palette in (RUNS, GROWING, [REGION.color, GHOST_LOOK[0]], METHODS):
        assert min(difference(lab(one, "all three"), lab(other, "all three"))
                   for one, other in product(palette, ACCOUNTED)) > 5  # fmt: skip


def test_lines_that_share_a_chart_differ_in_their_dashes_too():
    looks = [*LOOKS, CERTIFIED_LOOK]
    for lines in (looks, LENGTHS, [(color, *dash) for color, dash in zip(RUNS, DASHES, strict=True)]):
        assert all(len(set(column)) == len(lines) for column in zip(*lines, strict=True))
