"""Figures 2 to 5 of paper 004, with the certified band, which the paper did not have."""

import math
from functools import partial

import numpy as np

from dpcore.papers.entry import PrintedSetting
from dpcore.papers.gaussian_dp import numbers
from dpcore.papers.gaussian_dp.numbers import TABLE_1, WORDS, claim_of
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
    lines = []
    for name in ("moments", "gdp", CERTIFIED):
        lines += profile_lines(name, mechanism, DELTAS)
    return tuple(lines)


def _figure_3(setting: PrintedSetting, with_all_pairs: bool) -> tuple[Line, ...]:
    mechanism = setting.mechanism
    lines = [BLIND]
    for name in ("gdp", CERTIFIED):
        own = ACCOUNTANTS[name].own_tradeoff(mechanism)
        if own is not None and own.lower is not None:
            lines.append(tradeoff_line(ACCOUNTANTS[name].title, own.lower, name))
    pair = Pairs([numbers.moments_epsilon(setting)], [setting.delta])
    lines.append(tradeoff_line("Moments accountant, one pair", pair, "moments"))
    if with_all_pairs:
        every = ACCOUNTANTS["moments"].tradeoff(mechanism, SMALLEST_DELTA).lower
        if every is not None:
            lines.append(tradeoff_line("Moments accountant, all pairs", every, "moments"))
    return tuple(lines)


def _figure_4(usual: PrintedSetting, less: PrintedSetting) -> tuple[Line, ...]:
    epochs = np.arange(1.0, usual.epochs + 1)
    lines: list[Line] = []
    for name, setting in (("moments", usual), ("gdp", less), (CERTIFIED, less)):
        steps = np.floor(epochs * setting.n / setting.batch).astype(np.int64)
        mechanism = claim_of(setting).mechanism
        title = f"{ACCOUNTANTS[name].title}, sigma {setting.sigma:g}"
        lines += epsilon_lines(name, mechanism, epochs, steps, setting.delta, title)
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


def _drawing_3(row: int, setting: PrintedSetting) -> Drawing:
    texts = with_numbers(TEXTS["figure_3"], row=row, sigma=setting.sigma, epochs=setting.epochs)
    return Drawing(**texts, lines=partial(_figure_3, setting, row <= WITH_REGIONS))


def _drawing_4(panel: str, usual: PrintedSetting, less: PrintedSetting) -> Drawing:
    texts = with_numbers(TEXTS["figure_4"], panel=panel, sigma=usual.sigma, less=less.sigma)
    return Drawing(**texts, lines=partial(_figure_4, usual, less))


DRAWINGS = (
    Drawing(**TEXTS["figure_2"], lines=_figure_2),
    *(_drawing_3(row, setting) for row, setting in enumerate(TABLE_1, start=1)),
    _drawing_4("above", numbers.TOP, numbers.TOP_LESS),
    _drawing_4("below", numbers.BOTTOM, numbers.BOTTOM_LESS),
    Drawing(**TEXTS["figure_5"], lines=_figure_5),
)
