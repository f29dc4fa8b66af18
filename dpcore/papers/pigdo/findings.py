"""What paper 000 claims, what holds of it, and where its text is silent."""

import math
from dataclasses import replace

from dpcore.papers.paper import Finding, Remark
from dpcore.papers.pigdo.numbers import MNIST, QUOTED, drawn_at_the_end, epsilon_at_the_end
from dpcore.papers.pigdo.theorem_3 import (
    DELTA,
    Counterexample,
    Lambda,
    assumed_moment,
    bounded_moment,
    claimed,
    counterexamples,
    least_order,
    omitted_moment,
    worst,
)
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.numbers import nearest, outward, plain, short


def _mma_and_moments() -> str:
    moments, rdp, exact = (at_most(epsilon_at_the_end(name)) for name in ("moments", "rdp", CERTIFIED))
    drawn, mma = short(drawn_at_the_end()), short(epsilon_at_the_end("mma"))
    return (
        f"No. Where the figure's first curve is at {drawn} and MMA at {mma}, the moments accountant itself gives "
        f"{moments}, Rényi DP {rdp} and the certified accountant {exact}. That curve is "
        "3 q sqrt(T ln(1/delta)) / sigma, so MMA is two thirds of it by construction."
    )


def _told(each: Counterexample) -> str:
    return (
        f"q = {each.q:g}, sigma = {each.sigma:g}, T = {each.steps:,}: it promises {short(each.claimed)}, at least "
        f"{outward(each.lower, math.floor)} is proven (delta there is at least {outward(each.delta, math.floor)})"
    )


def _theorem_3() -> str:
    strict, loose = counterexamples(Lambda.OWN), counterexamples(Lambda.ANY)
    rates = sorted({each.q for each in strict}, reverse=True)
    shown = "; ".join(_told(next(each for each in strict if each.q == q)) for q in rates)
    return (
        f"Refuted at delta = {plain(DELTA)}. On a small grid {len(strict)} settings meet every condition, at the order "
        f"that the proof uses, and cost more than promised. The worst of each q: {shown}. With any order that meets "
        f"the conditions, which is how the theorem reads, {len(loose)} do, and one step is enough: "
        f"{_told(worst(Lambda.ANY))}."
    )


def _direction() -> str:
    q, sigma, order = 0.01, 1.0, 10
    covered, assumed, left_out = (
        nearest(moment(q, sigma, order), 3) for moment in (bounded_moment, assumed_moment, omitted_moment)
    )
    return (
        "It bounds them in one direction only: how much likelier an output is without an example than with it. At "
        f"q = {q:g}, sigma = {sigma:g}, lambda = {order} that moment is {covered}, within the {assumed} that the "
        f"theorem takes for it. How much likelier it is with the example counts as well, and has the moment {left_out}."
    )


def _three_epsilons() -> str:
    parts = []
    for sigma, epochs, printed in QUOTED:
        mechanism = replace(MNIST, sigma=sigma, epochs=epochs).mechanism
        exact = ACCOUNTANTS[CERTIFIED].curve(mechanism, mechanism.steps, DELTA).last.value
        right = short(claimed(0.01, sigma, mechanism.steps))
        parts.append(
            f"{right} at sigma = {sigma:g} after {epochs} epochs (printed: {printed}; proven: {at_most(exact)})"
        )
    return f"All three were read off at sigma = 2. The paper's own formula gives {'; '.join(parts)}."


def _two_at_a_time() -> str:
    whole = MNIST.mechanism, replace(MNIST, sigma=MNIST.sigma / 2).mechanism
    fine, coarse = (at_most(ACCOUNTANTS[CERTIFIED].curve(each, each.steps, DELTA).last.value) for each in whole)
    return (
        "The published code clips the mean gradient of two examples, and one of them can move it from anywhere to "
        f"anywhere within C. So the sensitivity is 2 C, and sigma = 4 is worth 2: after 100 epochs epsilon is {coarse} "
        f"against {fine}. Here each example is clipped by itself."
    )


def at_most(bound: float) -> str:
    """A proven upper bound, rounded up."""
    return f"at most {outward(bound, math.ceil)}"


FINDINGS = (
    Finding("MMA bounds epsilon better than the moments accountant (section 5.2, Figure 4).", _mma_and_moments),
    Finding("Theorem 3: MMA's epsilon is kept.", _theorem_3),
    Finding("The proof of Theorem 3 bounds the moments of the privacy loss.", _direction),
    Finding("Section 5.2: epsilon is 5.47, 3.39 and 1.86 at sigma 2, 4 and 8.", _three_epsilons),
    Finding("Noise of sigma C protects each example (published code).", _two_at_a_time),
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
        f"lambda = {nearest(-2 * math.log(DELTA) / claimed(0.01, 2.0, 40_000), 3)}.",
    ),
    Remark(
        "Proof of Theorem 3, “Modify the upper bound”",
        "All terms from the third on are left out because each is a tenth of the one before. What is left is not an "
        "upper bound, and whether they shrink depends on lambda, sigma and q.",
    ),
    Remark(
        "Proof of Theorem 3, last part",
        "lambda is eliminated as if it could take any value: neither lambda <= 1/(10 q^2) nor that it is a whole "
        "number is asked of lambda = 2 ln(1/delta) / epsilon.",
    ),
    Remark(
        "Theorem 3, conditions",
        "Which lambda they speak of is not said. At the order that the proof uses they fail for the paper's own "
        "Figure 4 from 200 epochs on.",
    ),
    Remark(
        "Proof of Theorem 3, first line",
        "Noise of sigma C on the mean of a lot is taken as the same as noise of sigma C on its sum. They differ by the "
        "lot size; only the second can be trained with, and is what sigma is charged for here.",
    ),
    Remark(
        "Section 4.1, Table 1",
        "Whether the averages f and s are those of noisy or of raw gradients, of an example or of a lot, is not said. "
        "From raw gradients the state is not private, and no epsilon holds.",
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
        "Section 5.2, λ ≤ 32",
        "The formula of MMA has no order left that could be restricted.",
    ),
    Remark(
        "Section 5.2, zCDP",
        "The formula behind the curve is not given. The form for sampled steps fits the description (below the first "
        "curve, above MMA) and is drawn here.",
    ),
    Remark(
        "Section 5.2, Results on MNIST",
        "The improvements are ratios of accuracies, not points, and one does not follow: 92.02 % over 90.92 % is "
        f"{nearest(100 * (92.02 / 90.92 - 1), 2)} %, not 1.65 %. At sigma = 8 PIAdam reaches 92.02 % in one paragraph "
        "and 92.11 % in the next.",
    ),
    Remark(
        "Section 5.2, EXP, ADADP and ADPPL",
        "Settings of the methods compared with are not given, and lots are drawn by shuffling in the code while random "
        "sampling is charged.",
    ),
)
