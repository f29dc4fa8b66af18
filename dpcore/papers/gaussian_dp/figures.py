"""Figures 2 to 5 of paper 004, drawn again beside the certified band, which the paper did not have."""

import math

import numpy as np

from dpcore.papers.entry import Setting
from dpcore.papers.gaussian_dp.numbers import (
    BOTTOM,
    BOTTOM_LESS,
    EXPERIMENTS,
    TABLE_1,
    TOP,
    TOP_LESS,
    Experiment,
    claim_of,
    moments_epsilon,
)
from dpcore.papers.lines import BLIND, LOWER, epsilon_lines, profile_lines, tradeoff_line
from dpcore.papers.paper import Drawing, Line
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.tradeoff import Pairs

DELTAS = np.geomspace(1e-10, 1e-3, 57)
LEAST = 1e-9  # the smallest delta of a pair that all pairs together are made of
WITH_REGIONS = 3  # rows of Table 1 for which Figure 3 draws all pairs, too
LENGTHS = (1, 100)  # numbers of steps in Figure 5 before that of the experiment


def _figure_2() -> tuple[Line, ...]:
    mechanism = TABLE_1[2].mechanism
    return tuple(line for name in ("moments", "gdp", CERTIFIED) for line in profile_lines(name, mechanism, DELTAS))


def _figure_3(row: Experiment, regions: bool) -> tuple[Line, ...]:
    setting, moments = row.setting, ACCOUNTANTS["moments"]
    mechanism = setting.mechanism
    lines = [BLIND]
    for name in ("gdp", CERTIFIED):
        own = ACCOUNTANTS[name].own_tradeoff(mechanism)
        if own is not None and own.lower is not None:
            lines.append(tradeoff_line(ACCOUNTANTS[name].title, own.lower, name))
    pair = Pairs([moments_epsilon(setting)], [setting.delta])
    lines.append(tradeoff_line("Moments accountant, one pair", pair, "moments"))
    every = moments.tradeoff(mechanism, LEAST).lower if regions else None
    if every is not None:
        lines.append(tradeoff_line("Moments accountant, all pairs", every, "moments"))
    return tuple(lines)


def _figure_4(usual: Setting, less: Setting) -> tuple[Line, ...]:
    epochs = np.arange(1.0, usual.epochs + 1)
    lines: list[Line] = []
    for name, setting in (("moments", usual), ("gdp", less), (CERTIFIED, less)):
        steps = np.floor(epochs * setting.n / setting.batch).astype(np.int64)
        title = f"{ACCOUNTANTS[name].title}, sigma {setting.sigma:g}"
        lines += epsilon_lines(name, claim_of(setting).mechanism, epochs, steps, setting.delta, title)
    return tuple(lines)


def _figure_5() -> tuple[Line, ...]:
    """The certified function of ever more steps at the same q sqrt(T), and the limit."""
    setting = TABLE_1[1]
    last = math.floor(setting.steps)
    lines = []
    for steps in (*LENGTHS, last):
        q = setting.q * math.sqrt(last / steps)
        band = tradeoff_bounds(Mechanism.constant(q, setting.sigma, steps))
        lines.append(tradeoff_line(f"T = {steps:,}", band.lower))
    limit = ACCOUNTANTS["gdp"].own_tradeoff(setting.mechanism)
    if limit is not None and limit.lower is not None:
        lines.append(tradeoff_line("The limit, by the CLT", limit.lower, "gdp"))
    return tuple(lines)


def _drawn_3(place: int, row: Experiment) -> Drawing:
    regions = place < WITH_REGIONS
    return Drawing(
        place=f"Figure 3, row {place + 1} of Table 1",
        title=f"What an attacker must get wrong, sigma {row.setting.sigma:g}, {row.setting.epochs:g} epochs",
        x="type I error",
        y="type II error",
        lines=lambda: _figure_3(row, regions),
        note="The pair is at delta = 1e-5. The certified curve is never above the exact one.",
    )


def _drawn_4(place: str, usual: Setting, less: Setting) -> Drawing:
    return Drawing(
        place=place,
        title=f"Epsilon against epoch, sigma {usual.sigma:g} and {less.sigma:g}, delta = 1e-5",
        x="epoch",
        y="epsilon",
        lines=lambda: _figure_4(usual, less),
        note="The right half of the figure; of its left half those accuracies are trained that the text speaks of. The "
        "paper stops where the two counts meet, at an epsilon that the smaller sigma does not keep.",
    )


DRAWINGS = (
    Drawing(
        place="Figure 2",
        title="Epsilon against delta, Table 1's row 3",
        x="delta",
        y="epsilon",
        lines=_figure_2,
        log_x=True,
        note=f"Where the CLT lies below the {LOWER.lower()}, it promises more privacy than there is.",
    ),
    *(_drawn_3(place, row) for place, row in enumerate(EXPERIMENTS[: len(TABLE_1)])),
    _drawn_4("Figure 4, above", TOP, TOP_LESS),
    _drawn_4("Figure 4, below", BOTTOM, BOTTOM_LESS),
    Drawing(
        place="Figure 5",
        title="Ever more steps at the same q sqrt(T), sigma 1.1",
        x="type I error",
        y="type II error",
        lines=_figure_5,
        note="Certified, never above the exact curves. No theorem says how near they are to the limit at a given T.",
    ),
)
