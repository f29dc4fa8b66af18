"""The gaps in the proofs of paper 000, and the silences of its text."""

import math

from dpcore.papers.paper import Remark
from dpcore.papers.pigdo.accuracies import IMPROVEMENTS, NOT_FOLLOWING
from dpcore.papers.pigdo.numbers import LONGEST, STEPS
from dpcore.papers.pigdo.theorem_3 import (
    DELTA,
    DOMINANT,
    Lambda,
    claimed,
    conditions_hold,
    dominant_from,
    dropped_bounds,
    least_order,
    own_order,
)
from dpcore.privacy.report.numbers import nearest, outward, short

LEAST_Q = 1 / (1 + DOMINANT)  # from which on sigma^2 > 10 q / (1 - q) fails at sigma = 1
RESTRICTED = 32  # lambda in section 5.2
MISCOUNTED = 60_000 / 50_000  # of CIFAR-10's images: how many times the published code takes q too small


def first_failing_epoch() -> int:
    """The first epoch of Figure 4 at which the conditions fail, at the order that the proof uses.

    >>> first_failing_epoch()
    116
    """
    q, sigma = LONGEST.q, LONGEST.sigma
    return next(epoch for epoch in range(1, STEPS) if not conditions_hold(q, sigma, round(epoch / q), Lambda.OWN))


def _dropped() -> str:
    q, order, sigmas = 0.01, 10, (1.0, 2.0)
    sums = [short(sum(dropped_bounds(q, sigma, 3)) / (q / sigma) ** 3) for sigma in sigmas]
    third = math.comb(order + 1, 3) * dropped_bounds(q, 1.0, 3)[2] / (q * order) ** 2
    return (
        f"That the bounds for t = 3 are below O(q^3/sigma^3) hides a constant: at q = {q:g} their sum is {sums[0]} "
        f"times q^3/sigma^3 at sigma = 1, and {sums[1]} times at sigma = 2. At sigma = 1 and lambda = {order} the "
        f"third of them alone is {short(third)} times the term that is kept."
    )


def _shrinking() -> str:
    q = 0.01
    ratios = [
        short(dropped_bounds(q, sigma, t)[2] / dropped_bounds(q, sigma, t + 1)[2])
        for sigma, t in ((1.0, 3), (2.0, 3), (2.0, 4))
    ]
    return (
        "All terms with t >= 3 are left out, on the ground that each is more than ten times the next, so that what is "
        f"left is no upper bound. For (27) it is not so: at q = {q:g} and sigma = 1 the bound for t = 3 is {ratios[0]} "
        f"times that for t = 4, which is larger; at sigma = 2 {ratios[1]} times, and then {ratios[2]} times for t = 4."
    )


def _which_lambda() -> str:
    least = 0.002 * STEPS / RESTRICTED
    return (
        "Which lambda they speak of is not said there. At the order that the proof uses they fail for the paper's own "
        f"Figure 4 from {first_failing_epoch()} epochs on. Section 5.2 chooses “λ ≤ {RESTRICTED}”: at {RESTRICTED} the "
        f"condition on epsilon still holds at its end, where it asks for {short(least)} and MMA gives "
        f"{short(claimed(LONGEST.q, LONGEST.sigma, STEPS))}."
    )


def _improvements() -> str:
    names = [f"{each.printed} ({each.quantity.split(', %')[0]})" for each in NOT_FOLLOWING]
    return (
        f"The improvements are ratios of accuracies, not points, and {len(names)} of {len(IMPROVEMENTS)} do not follow "
        f"from the accuracies to the digits printed: {', '.join(names)}. At sigma = 8 PIAdam reaches 92.02 % in one "
        "paragraph and 92.11 % in the next."
    )


REMARKS = (
    Remark(
        "Equations (1) to (3)",
        "Only the moment of u0/u is bounded. Differential privacy has to hold in both directions, and the moment of "
        "u/u0 is the larger one.",
    ),
    Remark(
        "Equation (8)",
        "Its last step needs (e - 1)(lambda + 1) / (2 (1 - q) lambda) to be at most 1. At q = 0.01 that takes lambda "
        f"of at least {nearest(least_order(0.01), 3)}; after 400 epochs at sigma = 2 the theorem itself uses "
        f"lambda = {nearest(own_order(LONGEST.q, LONGEST.sigma, STEPS), 3)}.",
    ),
    Remark("Proof of Theorem 3, “Modify the upper bound”", _shrinking()),
    Remark(
        "Proof of Theorem 3, on q",
        "That 1/q^2 > sigma^2 > 10 q / (1 - q) “always holds” for q below 0.1 fails at sigma = 1 for every q from "
        f"{outward(LEAST_Q, math.ceil)} to 0.1.",
    ),
    Remark("Proof of Theorem 3, the terms for t = 3", _dropped()),
    Remark(
        "Proof of Theorem 3, on lambda",
        "sigma / (q lambda) > 10 is needed, and 1 / (q^2 lambda) > 10 is asked for instead. But 1 / (q^2 lambda) is "
        "the larger of the two, so that lambda <= 1/(10 q^2) is not enough: lambda < sigma / (10 q) would be. At the "
        f"order that the proof uses this holds for no q and sigma before step {math.ceil(dominant_from(DELTA)):,}, at "
        "delta = 1e-5.",
    ),
    Remark(
        "Proof of Theorem 3, last part",
        "lambda is eliminated as if it could take any value: neither lambda <= 1/(10 q^2) nor that it is a whole "
        "number is asked of lambda = 2 ln(1/delta) / epsilon.",
    ),
    Remark("Theorem 3, conditions", _which_lambda()),
    Remark(
        "Remark 4",
        "That gamma is “usually” above 1 + log gamma says nothing of the bound: it holds for every positive gamma but "
        "1, and the logarithm that is kept is log(1 + gamma).",
    ),
    Remark(
        "Proof of Theorem 3, first line",
        "Noise of sigma C on the mean of a lot is taken as the same as noise of sigma C on its sum. They differ by the "
        "lot size; only the second can be trained with, and is what sigma is charged for here.",
    ),
    Remark(
        "Section 4.1, Table 1",
        "Whether the averages f and s are those of noisy or of raw gradients, of an example or of a lot, is not said. "
        "A state of raw gradients that a lot shares is not private, and no epsilon holds.",
    ),
    Remark(
        "Table 1, Adam",
        "The corrected averages stand in the recursion; Adam corrects a copy and recurs on the uncorrected ones.",
    ),
    Remark(
        "Section 5.1, network",
        "The text has one layer of 1,000 hidden units; the published code trains the convolutional network of a "
        "tutorial, with its library's own differentially private Adam.",
    ),
    Remark(
        "Section 5.1, training accuracies",
        "Without privacy the text prints training accuracies too, 98.62 % on MNIST and 97.94 % on Fashion-MNIST. Only "
        "accuracies on test images are compared here.",
    ),
    Remark(
        "Published code, CIFAR-10",
        "Its q is 600/60,000, although there are 50,000 images, so that q is 0.012. By MMA epsilon at equal epochs "
        f"grows with the root of q, by {nearest(100 * (math.sqrt(MISCOUNTED) - 1), 2)} %.",
    ),
    Remark("Section 5.2, λ ≤ 32", "lambda has been eliminated from MMA's formula, so that λ ≤ 32 cannot change it."),
    Remark(
        "Section 5.2, zCDP",
        "The formula behind the curve is not given. The form for sampled steps fits the description (below the first "
        "curve, above MMA) and is drawn here.",
    ),
    Remark("Section 5.2, Results on MNIST", _improvements()),
    Remark(
        "Section 5.2, EXP, ADADP and ADPPL",
        "Settings of the methods compared with are not given, and lots are drawn by shuffling in the code while random "
        "sampling is charged.",
    ),
)
