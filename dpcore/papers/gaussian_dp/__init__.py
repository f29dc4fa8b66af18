"""Paper 004: deep learning with Gaussian differential privacy, its central limit theorem and its experiments."""

import math

from dpcore.papers.comparison import certified_lower
from dpcore.papers.gaussian_dp.figures import DRAWINGS
from dpcore.papers.gaussian_dp.numbers import (
    ADULT,
    EXPERIMENTS,
    IMDB,
    TABLE_1,
    TOP,
    TOP_LESS,
    central_epsilon,
    claim_of,
    moments_epsilon,
    of_figure_4,
    of_tables,
    of_text,
)
from dpcore.papers.gaussian_dp.runs import RUNS
from dpcore.papers.paper import Finding, Paper, Remark
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.calibration.solve import sigma_for
from dpcore.privacy.calibration.targets import EpsilonTarget
from dpcore.privacy.report.numbers import outward

SETTINGS = [each.setting for each in EXPERIMENTS]


def _accuracy_of_the_limit() -> str:
    below, above = [], []
    for each in SETTINGS:
        claim, epsilon = claim_of(each), central_epsilon(each)
        upper = ACCOUNTANTS[CERTIFIED].curve(claim.mechanism, claim.mechanism.steps, claim.delta).last.value
        lower = certified_lower(claim)
        below += [1 - epsilon / lower] if epsilon < lower else []
        above += [epsilon / upper - 1] if epsilon > upper else []
    return (
        f"No: in {len(below)} of {len(SETTINGS)} rows its epsilon lies below the proven lower bound, by as much as "
        f"{math.floor(100 * max(below))} %. With the least noise it lies {math.floor(100 * max(above))} % too high."
    )


def _less_noise() -> str:
    spent = outward(certified_lower(claim_of(TOP_LESS)), math.floor)
    sigma = sigma_for(EpsilonTarget(moments_epsilon(TOP), TOP.delta), TOP.q, claim_of(TOP).mechanism.steps).value
    return (
        f"No: at sigma {TOP_LESS.sigma:g} epsilon is at least {spent}. What the moments accountant promises at "
        f"{TOP.sigma:g} is certified down to sigma {outward(sigma, math.ceil)}."
    )


def _against_the_moments() -> str:
    gains = []
    for each in SETTINGS:
        mechanism = claim_of(each).mechanism
        upper = ACCOUNTANTS[CERTIFIED].curve(mechanism, mechanism.steps, each.delta).last.value
        gains.append(1 - upper / moments_epsilon(each))
    return (
        f"Yes: what is certified lies {math.floor(100 * min(gains))} to {math.floor(100 * max(gains))} % below it. "
        "The CLT goes further than is true."
    )


FINDINGS = (
    Finding(
        "The central limit theorem (CLT) tells accurately what training costs (section 3.1).", _accuracy_of_the_limit
    ),
    Finding("Sigma 1.06 spends no more than the (1.34, 1e-5) of sigma 1.3 (Figure 4).", _less_noise),
    Finding("The moments accountant gives away privacy that a tighter count can use.", _against_the_moments),
)
REMARKS = (
    Remark(
        "Equation (3.1)",
        "A limit for ever more steps at a constant q sqrt(T). For a given T nothing bounds its error, and epsilon at "
        "delta = 1e-5 looks far into the tail, where a central limit is worst.",
    ),
    Remark(
        "Theorems 1 and 2",
        "They compare the limits of both counts, and say nothing of any number of steps that somebody trains.",
    ),
    Remark(
        "Section 3.1",
        "Poisson subsampling is what is counted. The published MNIST script draws shuffled batches of a fixed size, "
        "for which that count is no proof.",
    ),
    Remark(
        "Algorithms 1 and 2",
        "They divide by the size of the batch that was drawn, which depends on who is in it: the noisy sum is "
        "private, but its quotient by that size is no post-processing of it. Here the expected size divides.",
    ),
    Remark(
        "Table 1",
        "T = epochs n / B is no whole number; the script takes a few steps less, in whole batches. This moves no "
        "epsilon of the table by more than 0.04.",
    ),
    Remark(
        "Section 4.1",
        "The experiments on other data are announced with mu of at most 2; Tables 2 and 3 print 2.03 and 2.07.",
    ),
    Remark("Figure 2", "Its setting is not in the text at hand; it is drawn here for the third row of Table 1."),
)

PAPER = Paper(
    id="004",
    short="Gaussian DP",
    title="Deep learning with Gaussian differential privacy",
    authors="Bu, Dong, Long and Su",
    published="Harvard Data Science Review 2020, arXiv 1911.11607",
    about="Trade-off functions as the measure of privacy, and a central limit theorem that gives them in closed form.",
    settings={f"Gaussian DP, MNIST, sigma {each.sigma:g}": each for each in TABLE_1}
    | {"Gaussian DP, Adult": ADULT, "Gaussian DP, IMDb": IMDB},
    entries=(*of_tables(), *of_text(), *of_figure_4(), *RUNS),
    drawings=DRAWINGS,
    findings=FINDINGS,
    remarks=REMARKS,
)
