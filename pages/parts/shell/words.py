"""The sentences that the pages share."""

import math

from dpcore.privacy.accountants import ACCOUNTANTS

CLIPPINGS = {
    "flat": "The whole gradient is clipped to C. Charges each step at (q, sigma).",
    "auto_s": "AUTO-S: each gradient times C / (norm + 0.01). Charges each step at (q, sigma).",
    "per_layer": "Each of k layers is clipped to C. Charges each step at (q, sigma / sqrt k).",
}
ACCEPTANCES = {
    "sa": "SA-DPSGD: proposals are judged on a held-out public split. Charges every proposal, rejected ones too.",
}
PROJECTION = "Charges one noisy release at (1, sigma of DP-PCA), then the steps."
INVALID = "invalid: the paper's count of accepted steps"
UNCHANGED = "Sigma does not change within so few epochs: train longer to see it fall."
NEUTRAL = (
    "Neither the clipping norm nor the optimizer changes epsilon. The noise is sigma times C, so C scales what is "
    "hidden and what hides it alike; and the optimizer only works on the noisy sum that is already released "
    "(post-processing). Both change how accurate the model gets."
)
TRADEOFF = "No attack gets below the grey curve; on the dotted line an attacker might as well toss a coin."
NO_BAND = (
    "**Nothing is certified here**, so there is no grey band. On the dotted line an attacker might as well toss a coin."
)
COMING = "The certified band takes a moment at this setting: until it is there, the chart shows the other curves."
HOW_TO_READ = {  # (view, whether axes are logarithmic) -> what the picture means
    ("trade-off", False): (
        "An attacker sees the model and guesses whether **your example** was in the training data. To the right: how "
        "often they accuse someone who was not (type I error). Upwards: how often they miss someone who was (type II). "
        "Every attack is a point, and **no attack gets below the grey band**: there runs the exact curve, between two "
        "proven ones. The dotted line is guessing by coin. The closer the band is to it, the more private."
    ),
    ("trade-off", True): (
        "The same curves as an attacker sees them: of all those they accuse wrongly (to the right), how many do they "
        "find (upwards)? Both scales are logarithmic, so that attacks that accuse hardly anybody wrongly can be read: "
        "those are the ones that harm. **No attack gets above the grey band**; on the dotted line nothing is learned."
    ),
    ("delta", None): (
        "Each point of a curve is one promise (epsilon, delta); all points of a curve hold at once. The exact curve "
        "runs inside the grey band. Whatever lies **below** the band promises more privacy than there is."
    ),
    ("steps", None): (
        "Ever more, ever smaller steps: the number of steps T grows while q times the root of T stays as set, and with "
        "it the mu of the central limit theorem (CLT). Each thin curve is **certified**, the thick one is where the "
        "theorem says they go. Where a certified curve lies on the attacker's side of it (best seen on log-log axes), "
        "the approximation promises more than there is."
    ),
}
PAIR = (
    "The shaded region is what **one pair (epsilon, delta)** leaves to an attacker: far more than there is. "
    "That is why epsilon alone misleads. All pairs of one accountant together leave less than any of them, the exact "
    "curve leaves least."
)
SAME_NUMBERS = "q and sigma must not change from step to step here: choose the constant schedule to see T grow."
RESUME = (
    "Queues its rest as a new run: from its last checkpoint, or anew, with the same seed, where there is none. On the "
    "same device, with as many threads and the same versions, both together cost what one of them costs. Elsewhere a "
    "checkpoint is refused; of a run and its rest begun anew elsewhere, release only one."
)
ALT_EPSILON = "Line chart of epsilon against epoch for each chosen accountant, with the certified band."
ALT_PROFILE = "Line chart of delta against epsilon for each chosen accountant, with the certified band."
ALT_TRADEOFF = (
    "Line chart of the least type II error against the type I error of an attacker who guesses membership: the "
    "certified band, the curve of the central limit theorem, and blind guessing."
)
ALT_ATTACK = {
    False: ALT_TRADEOFF[:-1] + ", with the region of one pair and the curve of all pairs of an accountant.",
    True: "Line chart of the largest true-positive rate against the false-positive rate, both logarithmic: the "
    "certified band, the curve of the central limit theorem, one pair, all pairs, and blind guessing.",
}
ALT_STEPS = "Line chart of certified trade-off curves for growing numbers of steps, and the limit they approach."
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


def after(epochs: str, steps: int) -> str:
    """How a sentence about the end of training begins.

    >>> after("1", 40), after("5000", 200_000)
    ('After 1 epoch (40 steps)', 'After 5,000 epochs (200,000 steps)')
    """
    name = "epoch" if epochs == "1" else "epochs"
    return f"After {float(epochs):,.12g} {name} ({steps:,} {'step' if steps == 1 else 'steps'})"


def on_schedule(trouble: str) -> str:
    """What is wrong with a noise schedule, with the name of its control and the way out.

    >>> on_schedule("Expected rate=0.5 to keep sigma from 1e-06 to 1e+09; at step 78 it is -0.23.")
    'Expected rate k=0.5 to keep sigma from 1e-06 to 1e+09; at step 78 it is -0.23. Lower k or the epochs.'
    """
    return f"{trouble.replace('rate=', 'rate k=', 1)} Lower k or the epochs." if " rate=" in trouble else trouble


def several(runs: int) -> str:
    """What epsilon does not cover where one configuration is trained several times."""
    return (
        f"{runs} runs: each has this epsilon, where it alone is released. To release several of them, or the best, "
        "costs more: every run has used the data."
    )


def why_they_differ() -> str:
    """What each accountant makes of the noise."""
    return " ".join(
        ["**Why they differ.** All of them describe the same noise.", *(each.note for each in ACCOUNTANTS.values())]
    )
