"""What a first-time visitor needs on a page, in one call: what is on the screen, what marks and odds mean."""

import streamlit as st

from dpcore.privacy.report.attack_risk import Risks
from pages.parts.explain.odds import not_promised, odds_icons
from pages.parts.explain.terms import explained, legend

ON_SCREEN = {  # page -> the one sentence that says what it shows; words in brackets explain themselves
    "accountants": (
        "How much privacy training spends, [epsilon|epsilon], after each [epoch|epoch], as each "
        "[accountant|accountant] counts it; the exact value is proven to lie in the [grey band|band]. "
        "Below it, what that buys: the accuracy of real runs."
    ),
    "tradeoff": (
        "How often an attacker who guesses whether you took part must [err|errors]: the "
        "[trade-off function|tradeoff] of the training run, proven to lie in the [grey band|band]."
    ),
}


def on_screen(page: str) -> None:
    """Draw the sentence that says what a page shows."""
    st.html(f"<p class=on-screen>{explained(ON_SCREEN[page], 'screen')}</p>")


def visitor_line(found: Risks) -> None:
    """Draw the odds as x of 100, the legend of the marks, and what all this does not promise.

    `found` are the risks of what is shown, `cache.risks(mechanism, delta)`.
    """
    st.html(f"<div class=visitor>{odds_icons(found)}{legend('legend')}{not_promised()}</div>")
