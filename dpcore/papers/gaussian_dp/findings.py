"""What paper 004 claims, and what holds of it; and the gaps of its proofs and silences of its text."""

import math
from dataclasses import replace

from dpcore.papers.comparison import certified_lower
from dpcore.papers.gaussian_dp.numbers import (
    EXPERIMENTS,
    TOP,
    TOP_LESS,
    central_epsilon,
    claim_of,
    moments_epsilon,
)
from dpcore.papers.gaussian_dp.runs import COUNTED, ID, SWEEPS, counted_run
from dpcore.papers.paper import Finding, Remark
from dpcore.papers.records import recorded
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.calibration.solve import solve
from dpcore.privacy.calibration.targets import EpsilonTarget
from dpcore.privacy.report.numbers import outward

UNKNOWN = "Not recorded yet; the page Papers can train it."
SETTINGS = [each.setting for each in EXPERIMENTS]
LENGTHS = sorted(math.floor(each.steps) for each in SETTINGS)


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
    sigma = solve(
        "sigma", EpsilonTarget(moments_epsilon(TOP), TOP.delta), q=TOP.q, steps=claim_of(TOP).mechanism.steps
    ).value
    return (
        f"No: at sigma {TOP_LESS.sigma:g} epsilon is at least {spent}. What the moments accountant promises at "
        f"{TOP.sigma:g} is certified down to sigma {outward(sigma, math.ceil)}."
    )


def _against_the_moments() -> str:
    gains, too_far = [], 0
    for each in SETTINGS:
        mechanism = claim_of(each).mechanism
        upper = ACCOUNTANTS[CERTIFIED].curve(mechanism, mechanism.steps, each.delta).last.value
        gains.append(1 - upper / moments_epsilon(each))
        too_far += central_epsilon(each) < certified_lower(claim_of(each))
    return (
        f"Yes: what is certified lies {math.floor(100 * min(gains))} to {math.floor(100 * max(gains))} % below it. "
        f"In {too_far} of {len(SETTINGS)} rows the CLT goes further than is possible."
    )


def _before_the_end() -> str:
    """The epoch from which on less noise is proven to cost more than the usual noise is promised to."""
    epochs = range(1, math.floor(TOP.epochs) + 1)
    steps = [math.floor(epoch / TOP.q) for epoch in epochs]
    least = ACCOUNTANTS[CERTIFIED].curve(claim_of(TOP_LESS).mechanism, steps, TOP.delta).lower
    promised = [moments_epsilon(replace(TOP, epochs=float(epoch))) for epoch in epochs]
    assert least is not None
    crossed = next(i for i, (ours, theirs) in enumerate(zip(least, promised, strict=True)) if ours > theirs)
    return (
        f"At most up to epoch {epochs[crossed] - 1}. After epoch {epochs[crossed]} at least "
        f"{outward(float(least[crossed]), math.floor, 4)} is proven to be spent at sigma {TOP_LESS.sigma:g}, more than "
        f"the {outward(promised[crossed], math.ceil, 4)} that the moments accountant promises at {TOP.sigma:g}."
    )


def _higher() -> str:
    """Accuracies at the end of the upper panel, and at the epochs that the text counts in the lower."""
    ends = {config.sigma: recorded(ID, config) for config in SWEEPS[0].configs}
    more, less = ends[TOP.sigma], ends[TOP_LESS.sigma]
    if not (more and less):
        return UNKNOWN
    verdict = "Yes" if less.mean > more.mean else "Not here"
    return (
        f"{verdict}, at the end: {less.mean:.2f} % with sigma {TOP_LESS.sigma:g}, {more.mean:.2f} with {TOP.sigma:g} "
        f"after {TOP.epochs:g} epochs, one run each. But the smaller sigma spends more."
    )


def _faster() -> str:
    """The accuracies at the epochs by which 95, 96 and 97 % are said to be reached."""
    told: dict[float, list[str]] = {}
    reached = []
    for setting, epochs, printed in COUNTED:
        record = recorded(ID, counted_run(setting, epochs))
        if record is None:
            return UNKNOWN
        told.setdefault(setting.sigma, []).append(f"{record.mean:.2f} after {epochs}")
        reached.append(record.mean >= float(printed))
    verdict = "Yes" if all(reached) else "Not to the epoch"
    said = "; ".join(f"with sigma {sigma:g} accuracy is {', '.join(each)}" for sigma, each in told.items())
    return f"{verdict}: {said}, in %, one run each."


FINDINGS = (
    Finding(
        "The central limit theorem (CLT) tells very accurately what training costs (section 2.2).",
        _accuracy_of_the_limit,
    ),
    Finding("Sigma 1.06 spends no more than the (1.34, 1e-5) of sigma 1.3 (Figure 4).", _less_noise),
    Finding("The moments accountant gives away privacy that a tighter count can use.", _against_the_moments),
    Finding("Sigma 1.06 protects better than 1.3 before epoch 20 (Figure 4).", _before_the_end),
    Finding("Sigma 1.06 has almost always the higher accuracy (Figure 4).", _higher),
    Finding(
        "Sigma 0.638 reaches 95, 96 and 97 % in 18, 26 and 45 epochs, sigma 0.7 in 23, 33 and 64 (Figure 4).", _faster
    ),
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
    Remark(
        "Section 2.2",
        f"Training is said to take “at least tens of thousands of iterations”. The paper's own takes {LENGTHS[0]:,} to "
        f"{LENGTHS[-1]:,}.",
    ),
    Remark(
        "Tables 2 to 4",
        "What other methods reach (nearest neighbours, naive Bayes, decision trees, an LSTM, factorisations) is quoted "
        "there for methods without privacy, in part from libraries. They are not trained here.",
    ),
    Remark("Figure 2", "Its setting is not in the text at hand; it is drawn here for the third row of Table 1."),
    Remark(
        "Figure 4",
        "Epsilon 8.68, sigma 0.638, epoch 70, both mu and the rate are from the published caption, which the text at "
        "hand leaves out.",
    ),
    Remark("Figure 5", "Its setting is not in the text at hand; it is drawn here for the second row of Table 1."),
)
