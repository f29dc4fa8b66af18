"""How batches are drawn: by Poisson's coins unless another way is chosen, which is then accounted for beside them."""

import streamlit as st

from dpcore.privacy.report.glossary import help_on
from dpcore.privacy.report.statement import counting_notes
from dpcore.privacy.sampling import SAMPLERS
from pages.parts.controls.choice import choice_by_title

KEY = "sampler"  # in the session and in the address
LABEL = "How batches are drawn"
MISTAKES = "Where counting goes wrong"


def sampler_choice() -> str:
    """Draw the choice; the id of a sampler."""
    return choice_by_title(
        LABEL, tuple(SAMPLERS), KEY, lambda name: SAMPLERS[name].title, help_on("sampler", "adjacency")
    )


def counting_mistakes(q: float) -> None:
    """Draw what to heed, whatever the sampler, behind a button."""
    with st.popover(MISTAKES, type="tertiary", icon=":material/warning:"):
        for note in counting_notes(q):
            st.markdown(f"- {note}")
