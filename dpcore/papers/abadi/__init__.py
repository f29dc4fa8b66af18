"""Paper 002: slides on Abadi et al. 2016, which brought DP-SGD and the moments accountant."""

import math

import numpy as np

from dpcore.papers.abadi.numbers import (
    AFFORDED,
    CIFAR,
    CIFAR_SIGMA,
    CLAIM,
    LAYERS,
    SETTING,
    certified_epochs,
    coded_epochs,
    of_log,
    of_slides,
    one_step,
    printed_strong,
    with_pca,
)
from dpcore.papers.abadi.runs import LEVELS, RUNS, SWEEPS
from dpcore.papers.lines import epsilon_lines
from dpcore.papers.paper import Drawing, Finding, Line, Paper, Remark
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import nearest, outward

DELTA = SETTING.delta
PRINTED_STRONG = "Strong composition, as printed"
EPOCHS = {"Figure 2": 400, "Figure 3": 400, "Figure 6": 400}  # at which the drawings end


def _figure_2() -> tuple[Line, ...]:
    epochs = np.arange(4.0, EPOCHS["Figure 2"] + 1, 4)
    steps = (100 * epochs).astype(np.int64)
    mechanism = Mechanism.constant(SETTING.q, SETTING.sigma, int(steps[-1]))
    found = [
        line
        for name in ("moments", "strong", CERTIFIED)
        for line in epsilon_lines(name, mechanism, epochs, steps, DELTA)
    ]
    printed = printed_strong(SETTING.q, SETTING.sigma, steps.astype(float), DELTA)
    return (*found, Line(PRINTED_STRONG, epochs, printed))


def _figure_3() -> tuple[Line, ...]:
    epochs = np.arange(1.0, EPOCHS["Figure 3"] + 1, 3)
    steps = 1 + (100 * epochs).astype(np.int64)  # the release of DP-PCA comes first
    lines = []
    for _, sigma, pca_sigma, _, _ in LEVELS:
        mechanism = with_pca(sigma, pca_sigma, int(steps[-1]) - 1)
        lines += epsilon_lines("moments", mechanism, epochs, steps, DELTA, f"sigma {sigma:g}, PCA {pca_sigma:g}")
    return tuple(lines)


def _figure_6() -> tuple[Line, ...]:
    epochs = np.arange(1.0, EPOCHS["Figure 6"] + 1, 3)
    lines = []
    for q in sorted({q for _, q, _ in CIFAR}):
        steps = np.ceil(epochs / q - 1e-9).astype(np.int64)
        mechanism = Mechanism.constant(q, CIFAR_SIGMA, int(steps[-1]))
        lines += epsilon_lines("moments", mechanism, epochs, steps, DELTA, f"lots of {50_000 * q:,.0f}")
    return tuple(lines)


DRAWINGS = (
    Drawing(
        place="Figure 2",
        title="Epsilon against epoch, q = 0.01, sigma = 4, delta = 1e-5",
        x="epoch",
        y="epsilon",
        lines=_figure_2,
        note="The printed curve of strong composition rests on a step that is no bound; the proven one is above it.",
    ),
    Drawing(
        place="Figure 3",
        title="Epsilon against epoch at the three noise levels, DP-PCA included, delta = 1e-5",
        x="epoch",
        y="epsilon",
        lines=_figure_3,
        log_y=True,
        note="By the moments accountant, one call for each lot. The figure's accuracies are trained.",
    ),
    Drawing(
        place="Figure 6",
        title="Epsilon against epoch on CIFAR-10, sigma = 6, delta = 1e-5",
        x="epoch",
        y="epsilon",
        lines=_figure_6,
        note="By the moments accountant, one call for each lot.",
    ),
)


def _two_epsilons() -> str:
    mechanism = CLAIM.mechanism
    certified, strong = (
        outward(ACCOUNTANTS[name].curve(mechanism, mechanism.steps, DELTA).last.value, math.ceil)
        for name in (CERTIFIED, "strong")
    )
    alone = float(one_step(SETTING.q, SETTING.sigma, np.array([float(mechanism.steps)]), DELTA)[0])
    return (
        f"Yes for 1.26: at most {certified} is certified. The 9.34 is what q times the epsilon of a step gives, "
        f"which is {nearest(alone, 3)}, too large for that to be a bound; composition that is proven gives {strong}."
    )


def _calls() -> str:
    mechanism = with_pca(SETTING.sigma, 7.0, CLAIM.mechanism.steps, LAYERS)
    upper = ACCOUNTANTS["moments"].curve(mechanism, mechanism.steps, DELTA).last.value
    lower = ACCOUNTANTS[CERTIFIED].curve(mechanism, mechanism.steps, DELTA).last.lower or 0.0
    return (
        "Not as its code trains: with two layers clipped apart and DP-PCA, if lots were drawn as they are charged, "
        f"epsilon is at least {outward(lower, math.floor)}, and {outward(upper, math.ceil)} by the moments accountant."
    )


def _levels() -> str:
    counts = [
        [f"{epochs(sigma, pca_sigma, epsilon, DELTA, parts):,}" for _, sigma, pca_sigma, epsilon, _ in LEVELS]
        for epochs in (certified_epochs, coded_epochs)
        for parts in (1, LAYERS)
    ]
    whole, apart, once, twice = (f"{', '.join(each[:-1])} and {each[-1]}" for each in counts)
    return (
        f"For some epochs: {whole} are certified where gradients are clipped as a whole, {apart} where each layer is "
        f"clipped apart, as in the code. The moments accountant affords {once} if a lot is charged once, and {twice} "
        "as the code charges it, once a layer. How many it takes to its accuracies, the slides do not say."
    )


FINDINGS = (
    Finding("Epsilon is 1.26 by the moments accountant, 9.34 by strong composition (Figure 2).", _two_epsilons),
    Finding("The 1.26 of Figure 2's setting is what training on MNIST so costs (our reading of the slides).", _calls),
    Finding(
        "Noise (8, 16), (4, 7) and (2, 4) trains within epsilon 0.5, 2 and 8 (Figure 3; arXiv, section 5.2).", _levels
    ),
)
REMARKS = (
    Remark(
        "Differential privacy background",
        "The slides want delta of at least 4/5 exp(-(sigma epsilon)^2 / 2); the theorem behind it has 5/4. The exact "
        "delta of the Gaussian lies below both for every epsilon below 1 and every delta up to 0.75.",
    ),
    Remark(
        "Moments accountant",
        "sigma = sqrt(2 log(1.5/delta)) / epsilon: the theorem has 1.25, and epsilon must be below 1. The larger "
        "constant is on the safe side.",
    ),
    Remark(
        "Moments accountant",
        "A step that is (epsilon, delta) is said to be (O(q epsilon), q delta) after sampling. What is proven is "
        "log(1 + q (e^epsilon - 1)), which is near q epsilon only where epsilon is small.",
    ),
    Remark(
        "Theorem 1",
        "The constants c1 and c2 are not named, so that no epsilon follows from it: the numbers come from the "
        "accountant itself. The statements on naive and strong composition hide their constants, too.",
    ),
    Remark(
        "Moments accountant details",
        "The bound q^2 lambda (lambda + 1) / ((1 - q) sigma^2) + O(q^3 / sigma^3) is printed without its conditions: "
        "q below 1 / (16 sigma), lambda at most sigma^2 ln(1 / (q sigma)), and lambda^3 in the remainder. Its first "
        "term is about twice the exact moment where sigma is large.",
    ),
    Remark(
        "Reference code",
        "Each of the two layers is clipped to C, gets noise sigma C and is charged by a call of its own, as if a lot "
        "had been drawn for each. Both come from one lot: together they are one Gaussian of sigma / sqrt(2), which "
        "costs a little more than two calls.",
    ),
    Remark(
        "Reference code",
        "Lots come from a queue of shuffled examples, and are charged as if each example had been drawn with "
        "probability q by itself. The 1.26 leaves DP-PCA out.",
    ),
)

PAPER = Paper(
    id="002",
    short="Moments accountant",
    title="Deep learning with differential privacy",
    authors="Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar and Zhang (slides by B. Jayaraman)",
    published="CCS 2016, arXiv 1607.00133",
    about="DP-SGD: clip each example's gradient, add noise to the sum; and the moments accountant, which charges it.",
    settings={"Moments accountant, MNIST": SETTING},
    entries=(*of_slides(), *of_log(), *RUNS),
    drawings=DRAWINGS,
    calculators=(AFFORDED,),
    sweeps=SWEEPS,
    findings=FINDINGS,
    remarks=REMARKS,
)
