"""The sentences that the pages share."""

import math

SCHEDULES = {
    "exponential": "sigma falls to sigma·exp(-k·e) in epoch e",
    "time": "sigma falls to sigma / (1 + k·e) in epoch e",
    "step": "sigma is multiplied by k every ten epochs",
    "linear": "sigma falls to sigma·(1 - k·e) in epoch e",
}
NEUTRAL = (
    "Neither the clipping norm nor the optimizer changes epsilon. The noise is sigma times C, so C scales what is "
    "hidden and what hides it alike; and the optimizer only works on the noisy sum that is already released "
    "(post-processing). Both change how accurate the model gets."
)
WHY = (
    "**Why they differ.** All of them describe the same noise. The moments accountant and RDP follow the Rényi "
    "divergences of one step, which add up over steps, and turn the total into epsilon at the end: RDP loses less "
    "in that last turn. MMA replaces each step's moment by a simpler formula whose proof drops terms, so it can "
    "fall below the truth. GDP-CLT lets the central limit theorem stand in for the sum of many steps; it is an "
    "approximation and tends to err low when sigma is small or the steps are few. zCDP keeps a single number per "
    "step, strong composition only an (epsilon, delta) per step, and naive composition adds those up: each throws "
    "away more. The grey band comes from the privacy-loss distribution itself, composed numerically with every "
    "rounding error charged to the bounds: the exact epsilon lies inside it, so whatever lies below the band "
    "claims more privacy than there is."
)
TRADEOFF = (
    "The errors an attacker must make when guessing whether one example took part. On the dotted line they might as "
    "well toss a coin; the grey line is all that (epsilon, delta) rules out."
)
NOT_COVERED = (
    "Epsilon is the price of releasing the model. The training loss and the fraction clipped are exact figures of the "
    "training data, shown here for learning: publishing them is not covered."
)
KINDS = {
    "upper": "proven upper bound",
    "certified": "proven from both sides",
    "approximate": "approximation",
    "claimed": "claimed, proof does not cover this",
}
ALT_EPSILON = "Line chart of epsilon against epoch for each chosen accountant, with the certified band."
ALT_PROFILE = "Line chart of delta against epsilon for each chosen accountant, with the certified band."
ALT_TRADEOFF = "Line chart of the least type II error against the type I error of an attacker who guesses membership."
ALT_SCHEDULE = "Line chart of the noise multiplier sigma against epoch."
ALT_ACCURACY = "Line chart of test accuracy over epochs or epsilon, one line for each run shown."
ALT_SPENT = "Line chart of epsilon against epoch of the run in detail; a vertical line marks where it is now."
ALT_LOSS = "Line chart of the training loss against epoch for each run shown."
ALT_CLIPPED = "Line chart of the percentage of gradients clipped against epoch for each private run shown."
ALT_CLASSES = "Bar chart of the test accuracy of each class in the run in detail."


def seconds(value: float) -> str:
    """A duration as one would say it.

    >>> seconds(3.2), seconds(75), seconds(7000)
    ('4 s', '1 min 15 s', '1 h 56 min')
    """
    whole = math.ceil(value)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s".removesuffix(" 0 s")
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def delta_warning(delta: float, n: int) -> str:
    """Why a delta of 1/n or more is no protection."""
    return (
        f"delta={delta:g} is not below 1/n = {1 / n:.3g}: publishing one record outright would pass as private. "
        "Choose a smaller delta."
    )
