"""The sentences for those who cannot see a chart: its numbers, on the safe side."""

import re

import numpy as np

from dpcore.figures import Line, gaussian_line
from dpcore.figures.alt_texts import (
    curves_alt,
    growth_alt,
    heatmap_alt,
    tradeoff_alt,
)
from dpcore.figures.heatmap import Mark
from dpcore.figures.style import style_of
from dpcore.figures.training import Track
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.certified.tradeoff_bounds import Band, tradeoff_bounds
from dpcore.privacy.mechanism import Kind, Mechanism
from dpcore.privacy.report.numbers import marked
from dpcore.privacy.tradeoff import Gaussian, Pairs, Points

HEADLINE = Mechanism.constant(q=0.01, sigma=4.0, steps=10_000)
EXACT = tradeoff_bounds(Mechanism.constant(q=1.0, sigma=2.0, steps=4))  # exactly G_1
NOTHING = Band(Pairs([], []), Points([], []), "There is too little noise.", empty=True)


def test_every_curve_of_epsilon_is_named_with_its_end_and_the_band_with_both_bounds():
    curves = {name: each.curve(HEADLINE, [1, 10_000], 1e-5) for name, each in ACCOUNTANTS.items()}
    said = curves_alt(curves, np.array([0.01, 100.0]))
    assert said.startswith("Line chart of epsilon against epoch. After 100 epochs: ")
    certified = curves.pop("pld").last
    for name, curve in curves.items():
        end = marked(float(curve.epsilon[-1]), curve.kind)
        assert f"{ACCOUNTANTS[name].title} {end}" in said
    band = re.search(r"\(PLD\) from ([\d.]+) to (\d+\.\d+)", said)
    assert band
    low = float(band[1])
    high = float(band[2])
    assert certified.lower
    assert low <= certified.lower <= certified.value <= high
    assert high - low < 0.05


def test_a_trade_off_curve_is_told_at_one_rate_and_bounds_on_the_safe_side():
    pair = Line(
        style_of("rdp")._replace(label="One pair"), Pairs([1.0], [1e-5]), Kind.UPPER, region=True
    )
    for log, exact in (
        (False, 100 * Gaussian(1.0).beta(0.1)),
        (True, 100 * Gaussian(1.0).power(0.001)),
    ):
        said = tradeoff_alt(EXACT, [pair, gaussian_line(1.0)], log=log)
        low, high = (
            float(each) for each in re.findall(r"Certified from ([\d.]+) to ([\d.]+) %", said)[0]
        )
        assert low <= exact <= high < 1.02 * low
        mark, bound = re.findall(r"One pair (.) ([\d.]+) %", said)[0]
        height = 100 * float(pair.f.power(0.001) if log else pair.f.beta(0.1))
        assert mark == ("≤" if log else "≥")
        assert (float(bound) >= height) if log else (float(bound) <= height)
        assert "mu = 1.00 ≈ " in said
        assert said.endswith("blind guessing 0.1 %." if log else "blind guessing 90 %.")


def test_what_is_not_certified_is_not_told():
    said = tradeoff_alt(NOTHING, [gaussian_line(1.0)])
    assert "Certified" not in said
    assert "nothing proven limits the attacker" in said
    assert "T = 1 " not in growth_alt({1: NOTHING, 4: EXACT}, 1.0)


SGD = Track("SGD", [1.0, 2.0], [0.5, 0.905], averaged=[0.4, 0.8])


def test_a_map_is_told_by_its_corners_the_target_and_the_marks():
    steps = np.array([100, 10_000])
    sigmas = np.array([1.0, 2.0, 4.0, 8.0])
    rows = [
        ACCOUNTANTS["rdp"].curve(Mechanism.constant(0.01, sigma, 10_000), steps, 1e-5)
        for sigma in sigmas.tolist()
    ]
    said = heatmap_alt(
        sigmas, rows, steps * 0.01, 1.0, [Mark(100.0, 4.0, "now"), Mark(100.0, 4.2, "answer")]
    )
    assert (
        f"Epsilon is {marked(float(rows[-1].epsilon[0]), Kind.UPPER)} at sigma 8 after 1 epoch and "
        in said
    )
    low, high = (
        float(each)
        for each in re.findall(r"sigma ([\d.]+) after 1 epoch to sigma ([\d.]+) after", said)[0]
    )
    assert 1 < low < 2
    assert 4 < high < 8
    assert said.endswith(
        "“now” is at sigma 4 and 100 epochs. “answer” is at sigma 4.2 and 100 epochs."
    )
