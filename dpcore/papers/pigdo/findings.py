"""What paper 000 claims of privacy, and what holds of it."""

import math
from dataclasses import replace

import numpy as np

from dpcore.papers.comparison import certified_lower
from dpcore.papers.entry import Claim
from dpcore.papers.paper import Finding
from dpcore.papers.pigdo.accuracies import ACCURACIES, changes
from dpcore.papers.pigdo.numbers import LONGEST, MNIST, QUOTED, STEPS, drawn_at_the_end, epsilon_at_the_end
from dpcore.papers.pigdo.sweeps import DELTAS, EPSILONS, FIGURE_6B, SIGMA
from dpcore.papers.pigdo.theorem_3 import (
    DELTA,
    DOMINANT,
    Counterexample,
    Lambda,
    assumed_moment,
    bounded_moment,
    claimed,
    closed_form,
    counterexamples,
    drawn_as_moments,
    omitted_moment,
    own_order,
    worst,
)
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.calibration.solve import solve
from dpcore.privacy.calibration.targets import EpsilonTarget
from dpcore.privacy.report.numbers import nearest, outward, plain, short

FEW = 10  # steps, beside the many of Figure 4


def _mma_and_moments() -> str:
    moments, rdp, exact = (at_most(epsilon_at_the_end(name)) for name in ("moments", "rdp", CERTIFIED))
    drawn, mma = drawn_at_the_end(), epsilon_at_the_end("mma")
    few = claimed(LONGEST.q, LONGEST.sigma, FEW) / float(
        drawn_as_moments(LONGEST.q, LONGEST.sigma, np.array([float(FEW)]))[0]
    )
    return (
        f"No. Where the figure's first curve is at {short(drawn)} and MMA at {short(mma)}, the moments accountant "
        f"itself gives {moments}, Rényi DP {rdp} and the certified accountant {exact}. That curve is "
        f"3 q sqrt(T ln(1/delta)) / sigma, of which MMA is {short(mma / drawn)} here (2 in the place of 3) and "
        f"{short(few)} after {FEW} steps."
    )


def _other_accountants() -> str:
    mma, rdp, moments = (epsilon_at_the_end(name) for name in ("mma", "rdp", "moments"))
    return (
        f"No: in Figure 4 it ends {math.floor(100 * (mma / rdp - 1))} % above Rényi DP and "
        f"{math.floor(100 * (mma / moments - 1))} % above the moments accountant itself. Section 5.2 says of the "
        "first that MMA is “slightly higher than RDP”."
    )


def _logarithm() -> str:
    q, sigma = LONGEST.q, LONGEST.sigma
    kept, linear = claimed(q, sigma, STEPS), closed_form(q, sigma, STEPS, DELTA)
    gamma = (q * own_order(q, sigma, STEPS) / sigma) ** 2
    return (
        f"No. At the remark's own example gamma = q^2 lambda^2 / sigma^2 is {short(gamma)}, and gamma in the place of "
        f"log(1 + gamma) gives epsilon {nearest(linear, 6)} instead of {nearest(kept, 6)}. The step from "
        f"{short(drawn_at_the_end())} to {short(kept)} is that from 3 to 2 in front, a constant which Theorem 1 of "
        "Abadi et al. leaves open and the authors chose."
    )


def _told(each: Counterexample) -> str:
    return (
        f"q = {each.q:g}, sigma = {each.sigma:g}, T = {each.steps:,}: it promises {short(each.claimed)}, at least "
        f"{outward(each.lower, math.floor)} is proven (delta there is at least {outward(each.delta, math.floor)})"
    )


def _theorem_3() -> str:
    own, proof, loose = (len(counterexamples(each)) for each in (Lambda.OWN, Lambda.PROOF, Lambda.ANY))
    return (
        f"Refuted at delta = {plain(DELTA)}. On a small grid {own} settings meet every condition at the order that the "
        f"proof uses, and cost more than promised. The worst of them: {_told(worst(Lambda.OWN))}. Of these {proof} "
        f"also meet the proof's own sigma / (q lambda) > {DOMINANT}, from which it takes its conditions. The worst: "
        f"{_told(worst(Lambda.PROOF))}. With any order that meets the conditions, which is how the theorem reads, "
        f"{loose} settings cost more than promised, and one step is enough: {_told(worst(Lambda.ANY))}."
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
    one, two = MNIST.mechanism, replace(MNIST, sigma=MNIST.sigma / 2).mechanism
    fine = ACCOUNTANTS[CERTIFIED].curve(one, one.steps, DELTA).last.value
    coarse = certified_lower(Claim(two, DELTA))
    return (
        "Not by the sigma that is charged. The published code clips the mean gradient of two examples, and one of "
        "them can move it from anywhere to anywhere within C. So the sensitivity is 2 C, and sigma = 4 counts as 2. "
        f"After 100 epochs, charged as if lots were drawn at random, epsilon is at least {outward(coarse, math.floor)} "
        f"then, against {at_most(fine)} where each example is clipped by itself, as here."
    )


def _delta() -> str:
    """The steps that each epsilon of Figure 6(b) affords at its smallest and its largest delta."""
    ends, parts = (DELTAS[0], DELTAS[-1]), []
    for epsilon in EPSILONS:
        mma, certified = (
            [
                solve("steps", EpsilonTarget(epsilon, delta), q=MNIST.q, sigma=SIGMA, accountant=name).value
                for delta in ends
            ]
            for name in ("mma", CERTIFIED)
        )
        parts.append(
            f"epsilon {epsilon:g} affords {mma[0]:,} steps by MMA at delta {plain(ends[0])} and {mma[1]:,} at "
            f"{plain(ends[1])}, certified {certified[0]:,} and {certified[1]:,}"
        )
    changed = "; ".join(f"{change:.2f} points ({title})" for title, change in changes(FIGURE_6B).items())
    said = f"Accuracy changes by {changed}." if changed else "How accuracy changes is not recorded yet."
    return f"{said} The steps change much: at sigma {SIGMA:g} {'; '.join(parts)}."


def at_most(bound: float) -> str:
    """A proven upper bound, rounded up."""
    return f"at most {outward(bound, math.ceil)}"


FINDINGS = (
    Finding("MMA bounds epsilon better than the moments accountant (section 5.2, Figure 4).", _mma_and_moments),
    Finding(
        "MMA has the “tighter bound of privacy loss compared with the other popular privacy accounting method” "
        "(sections 1 and 6).",
        _other_accountants,
    ),
    Finding("It is tighter because log(1 + gamma) is kept and not replaced by gamma (Remark 4).", _logarithm),
    Finding("Theorem 3: MMA's epsilon is kept.", _theorem_3),
    Finding("The proof of Theorem 3 bounds the moments of the privacy loss.", _direction),
    Finding("Section 5.2: epsilon is 5.47, 3.39 and 1.86 at sigma 2, 4 and 8.", _three_epsilons),
    Finding("Noise of sigma C protects each example (published code).", _two_at_a_time),
    *ACCURACIES,
    Finding("Delta has “little impact on the classification accuracy”, whatever epsilon (Figure 6(b)).", _delta),
)
