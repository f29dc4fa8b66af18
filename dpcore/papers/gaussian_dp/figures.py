"""Figures 2 to 5 of paper 004, with the certified band, which the paper did not have."""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from dpcore.papers.entry import PrintedSetting
from dpcore.papers.gaussian_dp.rows import (
    BOTTOM,
    BOTTOM_LESS,
    TABLE_1,
    TOP,
    TOP_LESS,
    WORDS,
    claim_of,
    moments_epsilon,
)
from dpcore.papers.lines import BLIND, curve_lines, epsilon_lines, tradeoff_line
from dpcore.papers.paper import Drawing, Line, Lines
from dpcore.papers.words import drawing
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.tradeoff import Pairs

DELTAS = np.geomspace(1e-10, 1e-3, 57)
SMALLEST_DELTA = 1e-9  # of the curve of all pairs
WITH_REGIONS = 3  # rows of Table 1 for which Figure 3 also draws all pairs
LENGTHS = (1, 100)  # numbers of steps in Figure 5, before that of the experiment


def _figure_2() -> Lines:
    lines = []
    for name in ("moments", "gdp", CERTIFIED):
        curve = ACCOUNTANTS[name].profile(TABLE_1[2].mechanism, DELTAS)
        lines += curve_lines(name, DELTAS, curve)
    return lines


def _own_lines(accountant: str, mechanism: Mechanism, title: str = "") -> list[Line]:
    """Return the trade-off function that an accountant proves by itself, if it has one."""
    own = ACCOUNTANTS[accountant].own_tradeoff(mechanism)
    if own is None or own.lower is None:
        return []
    return [tradeoff_line(title or ACCOUNTANTS[accountant].title, own.lower, accountant)]


def _figure_3(setting: PrintedSetting, with_all_pairs: bool) -> Lines:
    mechanism = setting.mechanism
    pair = Pairs([moments_epsilon(setting)], [setting.delta])
    lines = [
        BLIND,
        *_own_lines("gdp", mechanism),
        *_own_lines(CERTIFIED, mechanism),
        tradeoff_line("Moments accountant, one pair", pair, "moments"),
    ]
    if with_all_pairs:
        every = ACCOUNTANTS["moments"].tradeoff(mechanism, SMALLEST_DELTA).lower
        if every is not None:
            lines.append(tradeoff_line("Moments accountant, all pairs", every, "moments"))
    return lines


def _figure_4(usual: PrintedSetting, less: PrintedSetting) -> Lines:
    epochs = np.arange(1.0, usual.epochs + 1)
    steps = np.floor(epochs * usual.n / usual.batch).astype(np.int64)
    lines: list[Line] = []
    for name, setting in (("moments", usual), ("gdp", less), (CERTIFIED, less)):
        mechanism = claim_of(setting).mechanism
        title = f"{ACCOUNTANTS[name].title}, sigma {setting.sigma:g}"
        lines += epsilon_lines([name], mechanism, epochs, steps, setting.delta, title)
    return lines


def _figure_5() -> Lines:
    """Draw the certified function for more and more steps at the same q sqrt(T), and the limit."""
    setting = TABLE_1[1]
    last = math.floor(setting.steps)
    lines = []
    for steps in (*LENGTHS, last):
        q = setting.q * math.sqrt(last / steps)
        band = tradeoff_bounds(Mechanism.constant(q, setting.sigma, steps))
        lines.append(tradeoff_line(f"T = {steps:,}", band.lower))
    return [*lines, *_own_lines("gdp", setting.mechanism, "The limit, by the CLT")]


def _drawings() -> Iterator[Drawing]:
    texts = WORDS["drawings"]
    yield drawing(texts["figure_2"], _figure_2)
    for row, setting in enumerate(TABLE_1, start=1):
        lines = partial(_figure_3, setting, row <= WITH_REGIONS)
        yield drawing(texts["figure_3"], lines, vars(setting) | {"row": row})
    for panel, usual, less in (("above", TOP, TOP_LESS), ("below", BOTTOM, BOTTOM_LESS)):
        numbers = {"panel": panel, "sigma": usual.sigma, "less": less.sigma}
        yield drawing(texts["figure_4"], partial(_figure_4, usual, less), numbers)
    yield drawing(texts["figure_5"], _figure_5)


DRAWINGS = tuple(_drawings())
