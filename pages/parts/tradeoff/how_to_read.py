"""How the charts of the trade-off page are to be read."""

import streamlit as st

from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.sampling import SAMPLERS
from pages.parts.results.sampled import answers

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
OTHERWISE = {  # view -> where another sampler stands in the picture
    "trade-off": (
        "No attack gets beyond the outer edge of its {area}, the one away from blind guessing: the upper ends of its "
        "epsilons prove that. And there are attacks that get to the inner edge: so far the lower ends prove it."
    ),
    "delta": "At each delta its epsilon lies in the {area}. What lies below promises more privacy than there is.",
    "steps": "Growing steps are drawn for Poisson batches alone.",
}


def say_how_it_is_drawn(sampler: str, mechanism: Mechanism, view: str) -> None:
    """Draw how to read what stands in the picture for batches that are not Poisson."""
    if answers(sampler, mechanism):
        area = "hatched area" if SAMPLERS[sampler].interval else "brown band"
        st.markdown(f"**{SAMPLERS[sampler].title}.** {OTHERWISE[view].format(area=area)}")
