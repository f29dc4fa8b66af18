"""Figures 2, 3 and 6 of paper 002, drawn again."""

import numpy as np

from dpcore.papers.abadi import numbers
from dpcore.papers.abadi.numbers import SETTING
from dpcore.papers.abadi.runs import FIGURE_6, NOISE, ON_CIFAR, WORDS
from dpcore.papers.lines import epsilon_lines
from dpcore.papers.paper import Drawing, Line
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.mechanism import Mechanism

DELTA = SETTING.delta
PRINTED_STRONG = "Strong composition, as printed"
EPOCHS = 400  # the end of the drawings
CIFAR_EXAMPLES = 50_000


def _figure_2() -> tuple[Line, ...]:
    epochs = np.arange(4.0, EPOCHS + 1, 4)
    steps = (100 * epochs).astype(np.int64)
    mechanism = SETTING.after(int(steps[-1]))
    lines = []
    for name in ("moments", "strong", CERTIFIED):
        lines += epsilon_lines(name, mechanism, epochs, steps, DELTA)
    printed = numbers.printed_strong(SETTING.q, SETTING.sigma, steps.astype(float), DELTA)
    lines.append(Line(PRINTED_STRONG, epochs, printed))
    return tuple(lines)


def _figure_3() -> tuple[Line, ...]:
    epochs = np.arange(1.0, EPOCHS + 1, 3)
    steps = 1 + (100 * epochs).astype(np.int64)  # DP-PCA is the first release
    lines = []
    for noise in NOISE:
        mechanism = numbers.with_pca(noise.sigma, noise.pca_sigma, int(steps[-1]) - 1)
        lines += epsilon_lines("moments", mechanism, epochs, steps, DELTA, noise.title)
    return tuple(lines)


def _figure_6() -> tuple[Line, ...]:
    epochs = np.arange(1.0, EPOCHS + 1, 3)
    lots = {each.lot for each in FIGURE_6}
    lines = []
    for lot in sorted(lots):
        q = lot / CIFAR_EXAMPLES
        steps = np.ceil(epochs / q - 1e-9).astype(np.int64)
        mechanism = Mechanism.constant(q, ON_CIFAR["sigma"], int(steps[-1]))
        lines += epsilon_lines("moments", mechanism, epochs, steps, DELTA, f"lots of {lot:,}")
    return tuple(lines)


DRAWN = WORDS["drawings"]
DRAWINGS = (
    Drawing(**DRAWN["figure_2"], lines=_figure_2),
    Drawing(**DRAWN["figure_3"], lines=_figure_3),
    Drawing(**DRAWN["figure_6"], lines=_figure_6),
)
