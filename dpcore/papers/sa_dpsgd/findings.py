"""What paper 001 claims, what holds of it, and where its text is silent."""

import math
from itertools import pairwise

import numpy as np

from dpcore.papers.paper import Finding, Remark
from dpcore.papers.sa_dpsgd.free_rejections import Selection
from dpcore.papers.sa_dpsgd.numbers import (
    BUDGET,
    DELTA,
    LIMITS,
    NAMES,
    Q0,
    acceptance,
    affordable,
    affordable_as_printed,
    proven_epsilon,
    saved_share,
    setting,
    theorem_1,
    whole_epochs,
)
from dpcore.papers.sa_dpsgd.runs import TABLE_3
from dpcore.privacy.report.numbers import outward, percent, plain, short

ONE = Selection(sigma=2.0, distance=6.0)  # one step, as long as it takes
MANY, STEPS = Selection(sigma=20.0, distance=30.0, limit=LIMITS["MNIST"]), 1000  # with the paper's own limit


def _free() -> str:
    return (
        "No. A step that was kept is no fresh Gaussian: it was kept because it came out as it did. Take 0 without an "
        f"example and 1 with it, add noise of sigma = {MANY.sigma:g}, and keep what lies {MANY.distance:g} or more "
        f"from the middle, with at most {MANY.limit} rejections in a row, as in Table 2, each step judged alone. For "
        f"{STEPS:,} accepted steps the paper's count charges epsilon {short(theorem_1(1.0, MANY.sigma, STEPS))}, or "
        f"{short(MANY.accepted_only(DELTA, STEPS))} if counted exactly, and at least "
        f"{outward(MANY.epsilon_after(STEPS, DELTA), math.floor)} is proven."
    )


def _one_step() -> str:
    counted = Selection(ONE.sigma, 0.0)  # all are good
    return (
        f"Not even one does. With noise of sigma = {ONE.sigma:g}, kept from a distance of {ONE.distance:g} on, "
        f"however long that takes, epsilon 0.5 goes with delta of at least {outward(ONE.delta(0.5), math.floor)}; "
        f"counted as one Gaussian it would be {short(counted.delta(0.5))}."
    )


def _three() -> str:
    parts = []
    for name in NAMES:
        tau, most = whole_epochs(name), LIMITS[name] + 1
        low, high = (outward(proven_epsilon(name, count), math.ceil) for count in (tau, most * tau))
        parts.append(
            f"{name}: {low} for {tau:,} proposals, {high} for {tau:,} accepted steps with up to {most - 1} rejections "
            "before each"
        )
    return (
        "Only as a count of accepted steps. If proposals are judged on public data alone, their number is fixed "
        f"beforehand and each is charged, epsilon is at most as follows. {'; '.join(parts)}. If the loss that judges "
        "them looks at private data, nothing is proven."
    )


def _gap() -> str:
    gaps = {name: [row[-2] - row[-1] for row in table.values()] for name, table in TABLE_3.items()}
    growing = [name for name in NAMES if all(a <= b for a, b in pairwise(gaps[name]))]
    others = [f"{name} {', '.join(f'{gap:.2f}' for gap in gaps[name])}" for name in NAMES if name not in growing]
    return (
        f"By Table 3 the gap in epsilon to AUTO-S grows with accuracy on {' and '.join(growing)}, and does not on "
        f"{'; '.join(others)}. It counts accepted steps alone."
    )


def _saving() -> str:
    shares = {(name, accuracy): saved_share(name, accuracy) for name, table in TABLE_3.items() for accuracy in table}
    least, most = min(shares.values()), max(shares.values())
    name, accuracy = max(shares, key=shares.__getitem__)
    return (
        f"In accepted steps it saves {percent(least, 0)} to {percent(most, 0)} of those of AUTO-S over the nine rows "
        f"(most for {name} at {accuracy} %). Where a larger share of its proposals than that is rejected, it costs "
        "more than AUTO-S."
    )


def _logarithm() -> str:
    q, sigma = setting("MNIST").q, setting("MNIST").sigma
    return (
        f"As printed it does not: at the setting for MNIST epsilon {BUDGET:g} would pay for "
        f"{affordable_as_printed(q, sigma, BUDGET)} steps. With the logarithm of the sum, which equations (4) and (9) "
        f"leave out, it pays for {affordable(q, sigma, BUDGET):,}."
    )


def _small_probability() -> str:
    tau, rise = whole_epochs("MNIST"), 1e-4
    chance = float(acceptance(np.array([rise]), tau)[0])
    return (
        f"The product of Q0 = {Q0:g} and the accepted steps is {Q0 * tau:,.0f} at the end on MNIST: a step by which "
        f"the loss rises by {plain(rise)} is then accepted with chance {percent(chance)}. It is a threshold in effect, "
        "and where the loss looks at private data no useful bound of privacy follows from the chance."
    )


FINDINGS = (
    Finding("Rejected steps cost no privacy, since nobody sees them (section 3.3, Theorem 1).", _free),
    Finding("An accepted step costs what a step of DP-SGD costs (Theorem 1).", _one_step),
    Finding("SA-DPSGD reaches its accuracies at epsilon 3 (Table 1).", _three),
    Finding("It reaches the same accuracy at a lower privacy cost (Table 3).", _saving),
    Finding("The higher the privacy costs, the bigger is the gap to other methods (section 4.2).", _gap),
    Finding("Equation (4) gives epsilon.", _logarithm),
    Finding("Worse steps are accepted with a small, falling probability (equation (3)).", _small_probability),
)

REMARKS = (
    Remark(
        "Section 3.3",
        "That all follows from noisy gradients is said to make it post-processing. But the energy J looks at data "
        "again, and which steps are rejected depends on it.",
    ),
    Remark(
        "Algorithm 2, line 10",
        "J is the test loss, and elsewhere the value of the objective. Judged on the test images, the accuracy on the "
        "same images is no test any more; judged on private data, the test for acceptance is not private.",
    ),
    Remark(
        "Algorithm 2 and Theorem 1",
        "The loop ends after T proposals, Theorem 1 charges tau accepted steps, and Theorem 2 calls those T. The "
        "experiments end at epsilon 3, so when accepted steps have spent it; the number of proposals is then random.",
    ),
    Remark(
        "Section 3.3, accepted steps",
        "Until the first acceptance the count charges nothing, although each rejection tells something.",
    ),
    Remark(
        "Algorithm 2, line 22",
        "Q is Q0 at first and then Q0 times the accepted steps, so 0 after a first rejection, which accepts anything. "
        "Here Q is Q0 until the first acceptance.",
    ),
    Remark(
        "Table 2", "Neither the number of epochs nor the momentum of SGD is given; the source they are from has both."
    ),
    Remark(
        "Section 3.3, Lemma 3",
        "The better conversion is left out for a fair comparison, so every epsilon of the paper is larger than what "
        "the steps that it counts really cost.",
    ),
    Remark(
        "Table 1, after the slash",
        "98.89, 88.50 and 64.17 % are reached with freely chosen settings, which are not told, so they cannot be "
        "trained here. They are the best of runs on the private data, whose choice is not charged.",
    ),
    Remark(
        "Table 3, MNIST at 98 %",
        "The dash says that DP-SGD with ReLU does not reach it within epsilon 6. What it reaches there is not told.",
    ),
    Remark(
        "Section 4.4",
        "Accuracy is said to stay above 96.5 % for all learning rates from 0.1 to 2.0, to peak at batch 256, and to "
        "change little from Q0 = 1 and from a threshold of 5 on. The sweeps of Figure 4 train that, every proposal "
        "charged.",
    ),
    Remark("Figure 4", "The values on the axes are in the image alone, which the text does not have."),
)
