"""Figures 2, 3 and 6 of paper 002, drawn again."""

import numpy as np

from dpcore.papers.abadi.rows import (
    NOISE,
    ON_CIFAR,
    SETTING,
    WORDS,
    noise_title,
    printed_strong,
    with_pca,
)
from dpcore.papers.lines import epsilon_lines
from dpcore.papers.paper import Line, Lines
from dpcore.papers.words import drawing
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.mechanism import Mechanism

DELTA = SETTING.delta
EPOCHS = 400  # the end of the drawings
LOTS = (2000, 4000)  # of Figure 6


def _figure_2() -> Lines:
    epochs = np.arange(4.0, EPOCHS + 1, 4)
    steps = (100 * epochs).astype(np.int64)
    mechanism = SETTING.after(int(steps[-1]))
    lines = epsilon_lines(("moments", "strong", CERTIFIED), mechanism, epochs, steps, DELTA)
    printed = printed_strong(SETTING.q, SETTING.sigma, steps.astype(float), DELTA)
    return [*lines, Line("Strong composition, as printed", epochs, printed)]


def _figure_3() -> Lines:
    epochs = np.arange(1.0, EPOCHS + 1, 3)
    steps = 1 + (100 * epochs).astype(np.int64)  # DP-PCA is the first release
    lines = []
    for level in NOISE:
        mechanism = with_pca(level.sigma, level.pca_sigma, int(steps[-1]) - 1)
        lines += epsilon_lines(["moments"], mechanism, epochs, steps, DELTA, noise_title(level))
    return lines


def _figure_6() -> Lines:
    epochs = np.arange(1.0, EPOCHS + 1, 3)
    lines = []
    for lot in LOTS:
        q = lot / ON_CIFAR.examples
        steps = np.ceil(epochs / q - 1e-9).astype(np.int64)
        mechanism = Mechanism.constant(q, ON_CIFAR.sigma, int(steps[-1]))
        lines += epsilon_lines(["moments"], mechanism, epochs, steps, DELTA, f"lots of {lot:,}")
    return lines


TEXTS = WORDS["drawings"]
DRAWINGS = (
    drawing(TEXTS["figure_2"], _figure_2),
    drawing(TEXTS["figure_3"], _figure_3),
    drawing(TEXTS["figure_6"], _figure_6),
)
