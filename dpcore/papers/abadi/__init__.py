"""Paper 002: slides on Abadi et al. 2016, who introduced DP-SGD and the moments accountant."""

import math

import numpy as np

from dpcore.papers.abadi import numbers
from dpcore.papers.abadi.numbers import CLAIM, LAYERS, SETTING
from dpcore.papers.abadi.runs import COLOURS, FIGURE_6, NOISE, RUNS, SWEEPS, WORDS
from dpcore.papers.comparison import certified_lower
from dpcore.papers.entry import PrintedClaim
from dpcore.papers.lines import epsilon_lines
from dpcore.papers.paper import Drawing, Line, Paper
from dpcore.papers.words import Numbers, findings, remarks
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import nearest, outward

DELTA = SETTING.delta
PRINTED_STRONG = "Strong composition, as printed"
EPOCHS = 400  # the end of the drawings


def _figure_2() -> tuple[Line, ...]:
    epochs = np.arange(4.0, EPOCHS + 1, 4)
    steps = (100 * epochs).astype(np.int64)
    mechanism = Mechanism.constant(SETTING.q, SETTING.sigma, int(steps[-1]))
    found = [
        line
        for name in ("moments", "strong", CERTIFIED)
        for line in epsilon_lines(name, mechanism, epochs, steps, DELTA)
    ]
    printed = numbers.printed_strong(SETTING.q, SETTING.sigma, steps.astype(float), DELTA)
    return (*found, Line(PRINTED_STRONG, epochs, printed))


def _figure_3() -> tuple[Line, ...]:
    epochs = np.arange(1.0, EPOCHS + 1, 3)
    steps = 1 + (100 * epochs).astype(np.int64)  # DP-PCA is the first release
    lines = []
    for sigma, pca_sigma, _ in NOISE:
        mechanism = numbers.with_pca(sigma, pca_sigma, int(steps[-1]) - 1)
        lines += epsilon_lines(
            "moments", mechanism, epochs, steps, DELTA, f"sigma {sigma:g}, PCA {pca_sigma:g}"
        )
    return tuple(lines)


def _figure_6() -> tuple[Line, ...]:
    epochs = np.arange(1.0, EPOCHS + 1, 3)
    lines = []
    for lot in sorted({lot for _, lot, _ in FIGURE_6}):
        q = lot / 50_000
        steps = np.ceil(epochs / q - 1e-9).astype(np.int64)
        mechanism = Mechanism.constant(q, COLOURS["sigma"], int(steps[-1]))
        lines += epsilon_lines("moments", mechanism, epochs, steps, DELTA, f"lots of {lot:,}")
    return tuple(lines)


LINES = {"figure_2": _figure_2, "figure_3": _figure_3, "figure_6": _figure_6}


def _two_epsilons() -> Numbers:
    spent = (
        ACCOUNTANTS[name].spent(CLAIM.mechanism, DELTA).value for name in (CERTIFIED, "strong")
    )
    certified, strong = (outward(epsilon, math.ceil) for epsilon in spent)
    alone = float(numbers.one_step(SETTING.q, SETTING.sigma, CLAIM.mechanism.steps, DELTA))
    return {"certified": certified, "strong": strong, "alone": nearest(alone, 3)}


def _calls() -> Numbers:
    mechanism = numbers.with_pca(SETTING.sigma, 7.0, CLAIM.mechanism.steps, LAYERS)
    upper = ACCOUNTANTS["moments"].spent(mechanism, DELTA).value
    lower = certified_lower(PrintedClaim(mechanism, DELTA))
    return {"lower": outward(lower, math.floor), "upper": outward(upper, math.ceil)}


def _levels() -> Numbers:
    _, _, *columns = zip(*numbers.AFFORDED.rows({"delta": DELTA}), strict=True)
    told = (f"{', '.join(each[:-1])} and {each[-1]}" for each in columns)
    return dict(zip(("once", "twice", "whole", "apart"), told, strict=True))


PAPER = Paper(
    **WORDS["paper"],
    entries=(*numbers.SLIDE_ENTRIES, *numbers.LOG_ENTRIES, *RUNS),
    drawings=tuple(
        Drawing(**WORDS["drawings"][name], lines=lines) for name, lines in LINES.items()
    ),
    calculators=(numbers.AFFORDED,),
    sweeps=SWEEPS,
    findings=findings(WORDS, two_epsilons=_two_epsilons, calls=_calls, levels=_levels),
    remarks=remarks(WORDS),
)
