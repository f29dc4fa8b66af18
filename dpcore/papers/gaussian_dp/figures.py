"""Figures 2 to 5 of paper 004, drawn again beside the certified band, which the paper did not have."""

import math

import numpy as np

from dpcore.papers.entry import PrintedSetting
from dpcore.papers.gaussian_dp import numbers
from dpcore.papers.gaussian_dp.numbers import EXPERIMENTS, TABLE_1, WORDS, PrivateRow, claim_of
from dpcore.papers.lines import BLIND, epsilon_lines, profile_lines, tradeoff_line
from dpcore.papers.paper import Drawing, Line
from dpcore.papers.words import with_numbers
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.tradeoff import Pairs

TEXTS = WORDS["drawings"]
DELTAS = np.geomspace(1e-10, 1e-3, 57)
SMALLEST_DELTA = 1e-9  # of the curve of all pairs
WITH_REGIONS = 3  # rows of Table 1 for which Figure 3 also draws all pairs
LENGTHS = (1, 100)  # numbers of steps in Figure 5, before that of the experiment


def _figure_2() -> tuple[Line, ...]:
    mechanism = TABLE_1[2].mechanism
    return tuple(
        line
        for name in ("moments", "gdp", CERTIFIED)
        for line in profile_lines(name, mechanism, DELTAS)
    )


def _figure_3(row: PrivateRow, regions: bool) -> tuple[Line, ...]:
    setting, moments = row.setting, ACCOUNTANTS["moments"]
    mechanism = setting.mechanism
    lines = [BLIND]
    for name in ("gdp", CERTIFIED):
        own = ACCOUNTANTS[name].own_tradeoff(mechanism)
        if own is not None and own.lower is not None:
            lines.append(tradeoff_line(ACCOUNTANTS[name].title, own.lower, name))
    pair = Pairs([numbers.moments_epsilon(setting)], [setting.delta])
    lines.append(tradeoff_line("Moments accountant, one pair", pair, "moments"))
    every = moments.tradeoff(mechanism, SMALLEST_DELTA).lower if regions else None
    if every is not None:
        lines.append(tradeoff_line("Moments accountant, all pairs", every, "moments"))
    return tuple(lines)


def _figure_4(usual: PrintedSetting, less: PrintedSetting) -> tuple[Line, ...]:
    epochs = np.arange(1.0, usual.epochs + 1)
    lines: list[Line] = []
    for name, setting in (("moments", usual), ("gdp", less), (CERTIFIED, less)):
        steps = np.floor(epochs * setting.n / setting.batch).astype(np.int64)
        title = f"{ACCOUNTANTS[name].title}, sigma {setting.sigma:g}"
        lines += epsilon_lines(
            name, claim_of(setting).mechanism, epochs, steps, setting.delta, title
        )
    return tuple(lines)


def _figure_5() -> tuple[Line, ...]:
    """Draw the certified function for more and more steps at the same q sqrt(T), and the limit."""
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


def _drawn_3(row: int, experiment: PrivateRow) -> Drawing:
    setting, regions = experiment.setting, row <= WITH_REGIONS
    texts = with_numbers(TEXTS["figure_3"], row=row, sigma=setting.sigma, epochs=setting.epochs)
    return Drawing(**texts, lines=lambda: _figure_3(experiment, regions))


def _drawn_4(panel: str, usual: PrintedSetting, less: PrintedSetting) -> Drawing:
    texts = with_numbers(TEXTS["figure_4"], panel=panel, sigma=usual.sigma, less=less.sigma)
    return Drawing(**texts, lines=lambda: _figure_4(usual, less))


DRAWINGS = (
    Drawing(**TEXTS["figure_2"], lines=_figure_2),
    *(_drawn_3(row, each) for row, each in enumerate(EXPERIMENTS[: len(TABLE_1)], start=1)),
    _drawn_4("above", numbers.TOP, numbers.TOP_LESS),
    _drawn_4("below", numbers.BOTTOM, numbers.BOTTOM_LESS),
    Drawing(**TEXTS["figure_5"], lines=_figure_5),
)
