"""Paper 002: slides on Abadi et al. 2016, who introduced DP-SGD and the moments accountant."""

import numpy as np

from dpcore.papers.abadi import numbers
from dpcore.papers.abadi.numbers import CLAIM, LAYERS, SETTING
from dpcore.papers.abadi.runs import FIGURE_6, NOISE, ON_CIFAR, RUNS, SWEEPS, WORDS
from dpcore.papers.comparison import certified, certified_lower
from dpcore.papers.entry import PrintedClaim
from dpcore.papers.lines import epsilon_lines
from dpcore.papers.paper import Drawing, Line, Paper
from dpcore.papers.words import Numbers, findings, remarks, rounded_down, rounded_up
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import nearest

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


def _two_epsilons() -> Numbers:
    strong = ACCOUNTANTS["strong"].spent(CLAIM.mechanism, DELTA).value
    alone = float(numbers.one_step(SETTING.q, SETTING.sigma, CLAIM.mechanism.steps, DELTA))
    return {
        "certified": rounded_up(certified(CLAIM).value),
        "strong": rounded_up(strong),
        "alone": nearest(alone, 3),
    }


def _calls() -> Numbers:
    mechanism = numbers.with_pca(SETTING.sigma, 7.0, CLAIM.mechanism.steps, LAYERS)
    upper = ACCOUNTANTS["moments"].spent(mechanism, DELTA).value
    lower = certified_lower(PrintedClaim(mechanism, DELTA))
    return {"lower": rounded_down(lower), "upper": rounded_up(upper)}


def _levels() -> Numbers:
    """List the epochs that the three noise levels afford, by each way to count."""
    rows = numbers.AFFORDED.rows({"delta": DELTA})
    _noises, _epsilons, *columns = zip(*rows, strict=True)
    listed = [f"{', '.join(each[:-1])} and {each[-1]}" for each in columns]
    return dict(zip(("once", "twice", "whole", "apart"), listed, strict=True))


DRAWN = WORDS["drawings"]
PAPER = Paper(
    **WORDS["paper"],
    entries=(*numbers.SLIDE_ENTRIES, *numbers.LOG_ENTRIES, *RUNS),
    drawings=(
        Drawing(**DRAWN["figure_2"], lines=_figure_2),
        Drawing(**DRAWN["figure_3"], lines=_figure_3),
        Drawing(**DRAWN["figure_6"], lines=_figure_6),
    ),
    calculators=(numbers.AFFORDED,),
    sweeps=SWEEPS,
    findings=findings(WORDS, {"two_epsilons": _two_epsilons, "calls": _calls, "levels": _levels}),
    remarks=remarks(WORDS),
)
