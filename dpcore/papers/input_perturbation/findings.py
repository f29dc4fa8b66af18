"""What paper 003 claims, what holds of it, and each gap of its proofs by the number of its equation."""

import math
from dataclasses import replace

from dpcore.papers.input_perturbation.noise_formulas import gradient_noise, local_noise, own_noise
from dpcore.papers.input_perturbation.numbers import BREAST_CANCER, EPSILONS, local_epsilon
from dpcore.papers.paper import Finding, Remark
from dpcore.privacy.report.numbers import outward, plain, short


def _private() -> str:
    given = BREAST_CANCER
    noise = own_noise(given)
    return (
        "Not shown: the constant c is never determined, since the proof hides the remaining loss in it, which "
        f"depends on the data and falls to 0. With c = 1, n = {given.n}, T = {given.steps}, Delta = "
        f"{given.convexity:g} and epsilon = {given.epsilon:g} the formula gives noise of {short(noise)} on each "
        "feature. Drawn anew for each row, that keeps a row's features to epsilon "
        f"{outward(local_epsilon(noise, given.delta), math.ceil)} at delta {plain(given.delta)}; epsilon "
        f"{plain(given.epsilon)} takes noise of {outward(local_noise(given), math.ceil)}."
    )


def _between() -> str:
    noises = [outward(local_noise(replace(BREAST_CANCER, epsilon=each)), math.ceil) for each in EPSILONS]
    told = ", ".join(f"{noise} at epsilon {epsilon:g}" for epsilon, noise in zip(EPSILONS, noises, strict=True))
    return (
        "What can be proven is local: noise drawn anew for each row protects its features, and all that is learnt from "
        "them; its label needs more. In the paper's range that is a standard deviation of "
        f"{told} (delta {plain(BREAST_CANCER.delta)}), on features of rows of norm at most 1."
    )


def _less_noise() -> str:
    ratio = own_noise(BREAST_CANCER) / gradient_noise(BREAST_CANCER)
    return (
        "By its own table it is more wherever Delta is below 1. The two differ by the fourth root of Delta in the "
        f"denominator: at Delta = {BREAST_CANCER.convexity:g} the noise on a feature is {short(ratio)} times that on a "
        "coordinate of the mean gradient, both with constant 1. They lie on different things and cannot be compared."
    )


def _networks() -> str:
    return (
        "Of the methods compared, only noise on clipped gradients and noise on each row by itself are private for a "
        "network with a hidden layer. Its loss is not convex, so Theorem 1 of the paper, output perturbation and "
        "objective perturbation promise nothing. Theorem 3 asks for the Polyak-Lojasiewicz condition instead: nothing "
        "shows that the network meets it, and its proof has the same gaps."
    )


def _as_accurate() -> str:
    given = BREAST_CANCER
    local, gradient = local_noise(given), 2 / given.n * math.sqrt(given.steps) * given.unit_noise
    halved = local_noise(replace(given, epsilon=given.epsilon / 2))
    return (
        "Not with noise that keeps what is promised: at epsilon "
        f"{plain(given.epsilon)} and delta {plain(given.delta)} a row of norm at most 1 takes noise of "
        f"{outward(local, math.ceil)} on each feature, or {outward(halved, math.ceil)} where its label takes half of "
        f"epsilon, and gradient perturbation {outward(gradient, math.ceil)} on each coordinate of the mean gradient in "
        f"{given.steps} steps. The page Perturbation trains them side by side, labels protected."
    )


FINDINGS = (
    Finding("Training on perturbed inputs is (epsilon, delta)-private (Theorem 1).", _private),
    Finding("Perturbing inputs protects data and model at once, between central and local privacy.", _between),
    Finding("Its noise is better than that of gradient perturbation (section 2).", _less_noise),
    Finding("It is as accurate as gradient and output perturbation (section 6, Figures 2 to 4).", _as_accurate),
    Finding("It works for a network with one hidden layer as well (section 6, Figures 2 and 3).", _networks),
)

REMARKS = (
    Remark(
        "Theorem 1, assumptions",
        "No loss is both Lipschitz and strongly convex on the whole space: the gradient of a strongly convex one grows "
        "without end. Only within a ball can it be both, and the algorithm does not project onto one.",
    ),
    Remark(
        "Theorem 2, assumptions",
        "That the parameters are at most D long is taken for granted. Noisy rows may drive them out of any ball.",
    ),
    Remark(
        "Algorithm 1, line 8",
        "The sum of equation (8) is a mean already; the update divides by n once more.",
    ),
    Remark(
        "Equations (8) and (15)",
        "One z is added to all rows. Then the differences of rows are released as they are, and nothing hides them.",
    ),
    Remark(
        "Equation (15), each round",
        "The same z is used in every round, so the rounds are not independent mechanisms and their moments do not "
        "add up as in equation (30).",
    ),
    Remark(
        "Equation (18)",
        "The gradient is taken for Gaussian. It depends on z through the derivative of the loss and through products "
        "with z, and A, B and C hold z themselves.",
    ),
    Remark("Equation (18), variance", "Noise C z has the variance C^2 sigma^2, not C sigma^2; and C may be negative."),
    Remark(
        "Equation (24)",
        "The formula is for two Gaussians of one variance. The row that is replaced multiplies z as well, so the "
        "variances differ.",
    ),
    Remark(
        "Equation (25)",
        "That a gradient is at most G long holds for rows of norm at most 1. A perturbed row has no largest norm.",
    ),
    Remark(
        "Equations (26) and (27)",
        "Strong convexity bounds the length of one gradient from below. C is a signed sum of derivatives of many rows, "
        "which may cancel.",
    ),
    Remark(
        "Equation (26), the loss",
        "The loss of a single row, y theta^T x put into one function, is not strongly convex in theta: it is flat at "
        "right angles to x.",
    ),
    Remark(
        "Equation (28)",
        "That the loss falls in every round is taken for granted. With noisy data, or too long a step, it may rise.",
    ),
    Remark(
        "Equations (28) and (29)",
        "The loss that is left after T rounds is called a constant. It depends on the data and goes to 0, where the "
        "bound says nothing; swallowed by c, it makes c no number.",
    ),
    Remark(
        "Equation (33)",
        "The inequality stands the wrong way round: exp(-lambda epsilon/2) has to be at most delta. The order lambda = "
        "2 ln(1/delta)/epsilon meets it and equation (32) with c = 4 c_2. What keeps c from being a number is c_1 of "
        "equation (29).",
    ),
    Remark(
        "Equation (9)",
        "The square root of Delta does not fit the units: Delta is a curvature, and G^2 a slope squared.",
    ),
    Remark(
        "Equation (36)",
        "In its second line the absolute value is gone, and vectors are multiplied and compared like numbers.",
    ),
    Remark(
        "Equations (38) to (40)",
        "An inequality is multiplied by y (x + z), whose sign is not known, and holds between vectors.",
    ),
    Remark(
        "Equations (41) and (45)",
        "The mean length of z is set to 0. It is about sigma sqrt(d); only the mean of z is 0.",
    ),
    Remark(
        "Equations (48) and (49)",
        "G^2 alpha T and L/2 |theta_0 - theta*|^2 do not fall with n. They are dropped, so the bound (10) does not "
        "follow.",
    ),
    Remark(
        "Equation (51)",
        "For the Polyak-Lojasiewicz case the same lower bound on C is used, and the same constant hidden.",
    ),
    Remark(
        "Section 5.3",
        "The proof of Theorem 3 takes sigma from equation (9), and Theorem 4 from equation (52): (12) is meant.",
    ),
    Remark("Algorithm 1", "Labels are never perturbed, so they are not protected."),
    Remark(
        "Section 2 and section 5.1",
        "The gain over Bassily et al. is n^4 sqrt(Delta) log(n/delta) / T in one place and n^4 log(n) / T in the "
        "other.",
    ),
    Remark(
        "Section 6, T and alpha",
        "They are chosen by cross-validation on the private data, and the choice is not charged. Neither they nor c, "
        "G, Delta and delta are printed, so the figures cannot be recomputed.",
    ),
    Remark(
        "Section 6, data",
        "Breast Cancer is there the table of 699 rows from 1990. Here it is the later one of 569 rows that comes with "
        "scikit-learn, and Iris is two of its three classes, 100 of 150 rows.",
    ),
    Remark(
        "Section 6, methods compared",
        "Output perturbation is ascribed to Wang et al. and gradient perturbation to Zhang et al.; it is the other way "
        "round in the rest of the paper.",
    ),
    Remark("Table 1, Wang et al. 2018", "As printed, the variance of the noise grows with n and with epsilon squared."),
    Remark("Table 1, Fukuchi et al. 2017", "The noise has ln(16/delta), the risk that follows from it ln(16/delta^2)."),
    Remark(
        "Table 1, delta",
        "The delta in the two bounds of Chaudhuri et al. is a chance of failure of the bound, not one of privacy.",
    ),
)
